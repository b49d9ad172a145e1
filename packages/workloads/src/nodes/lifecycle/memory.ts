/**
 * What a simulated node remembers of a pod for as long as something is still to happen to it: times to the millisecond, which the
 * status has in seconds only, and what its processes do. After a restart the status has to do.
 */
import type { Work } from '@plat-dev/lib/slices';
import type { Sources } from '../container-view.ts';
import type { KeptFiles } from '../shell/files.ts';
import type { Stop } from './container-stop.ts';
import type { ProbeRecord } from './probes.ts';
import type { Process } from './process.ts';

export class PodMemory {
  readonly uid: string;
  private readonly times = new Map<string, number>();
  private readonly processes = new Map<string, Process>();
  private readonly stops = new Map<string, Stop>();
  private readonly probes = new Map<string, ProbeRecord>();
  /** How often clients wrote in its containers. */
  writes = 0;
  /** Files that commands of the pod wrote to its volumes, by volume. */
  readonly volumes = new Map<string, KeptFiles>();
  /** Config maps and secrets as its commands see them, and since when. */
  sources: { readonly at: number; readonly value: Sources } | undefined;

  get hasFiles(): boolean {
    return [...this.volumes.values()].some(({ contents, removed }) => contents.size + removed.size > 0);
  }

  constructor(uid: string) {
    this.uid = uid;
  }
  time(what: string): number | undefined {
    return this.times.get(what);
  }
  /** The time at which something was first noted. */
  since(what: string, now: number): number {
    const knownTime = this.times.get(what);
    if (knownTime !== undefined) return knownTime;
    this.times.set(what, now);
    return now;
  }
  note(what: string, at: number): void {
    this.times.set(what, at);
  }
  drop(what: string): void {
    this.times.delete(what);
    this.stops.delete(what);
  }
  /** How a container stops, found once for each reason. */
  *stop(what: string, find: () => Work<Stop>): Work<Stop> {
    const stop = this.stops.get(what) ?? (yield* find());
    this.stops.set(what, stop);
    return stop;
  }
  /** The process of one run of a container, found once. */
  *process(run: string, find: () => Work<Process>): Work<Process> {
    const knownProcess = this.processes.get(run);
    if (knownProcess !== undefined) return knownProcess;
    const newProcess = yield* find();
    keepOnly(this.processes, run, newProcess);
    return newProcess;
  }
  /** A probe of one run of a container. */
  probe(run: string): ProbeRecord | undefined {
    return this.probes.get(run);
  }
  noteProbe(run: string, record: ProbeRecord): void {
    keepOnly(this.probes, run, record);
  }
}

/** Only the present run of each container is of interest: there are never many. */
function keepOnly<T>(all: Map<string, T>, run: string, value: T): void {
  const container = run.slice(0, run.lastIndexOf('#') + 1);
  for (const old of all.keys()) if (old !== run && old.startsWith(container)) all.delete(old);
  all.set(run, value);
}

/** A pod on a simulated node, with a clock of its own, for tests. */
import type { Loose } from '@plat-dev/controllers/testing';
import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce, noWork } from '@plat-dev/lib/slices';
import { Files } from '../shell/files.ts';
import type { NodeEvent } from './container-world.ts';
import { Lifecycles, type StageSpec } from './lifecycle.ts';
import { PodMemory } from './memory.ts';
import { nextStatus } from './pod-status.ts';
import { processOf } from './process.ts';

export const START = Date.UTC(2024, 0, 1);

export class Life {
  readonly pod: Loose;
  readonly memory = new PodMemory('u1');
  readonly events: NodeEvent[] = [];
  lifecycles: Lifecycles;
  blocked: Record<string, Loose> = {};
  healthy = true;
  sure = true;
  probes = 0;
  /** Seconds at which the command of the container changes its files. */
  changes: number[] = [];
  at = 0;
  writes = 0;
  due: number | undefined;
  /** Whether a file is known to be missing. */
  knows: (path: string) => boolean = () => true;
  message = '';
  stop: Loose = { afterMs: 0, exitCode: 0 };
  refusal: Loose;

  constructor(spec: Loose, stages: readonly StageSpec[] = [], metadata: Loose = {}) {
    const withDefaults = { restartPolicy: 'Always', containers: [{ name: 'main', image: 'nginx:1.25' }], ...spec };
    this.pod = { metadata: { name: 'p', namespace: 'ns', uid: 'u1', ...metadata }, spec: withDefaults, status: { phase: 'Pending' } };
    this.lifecycles = new Lifecycles(stages);
  }
  /** Goes to a time in seconds, through everything that is due on the way. */
  to(seconds: number): this {
    for (let steps = 0; steps < 200; steps++) {
      this.step();
      const next = this.due === undefined ? Number.POSITIVE_INFINITY : (this.due - START) / 1000;
      if (next > seconds) break;
      this.at = Math.max(next, this.at);
    }
    this.at = seconds;
    this.step();
    return this;
  }
  private step(): void {
    const now = START + this.at * 1000;
    const { pod, memory, lifecycles } = this;
    const next = atOnce(
      nextStatus({
        pod,
        now,
        memory,
        lifecycles,
        hostIP: '172.16.0.2',
        podIP: () => '10.128.0.2',
        blocked: (container) => this.blocked[container.name],
        process: (container, role, restartCount) =>
          processOf({
            pod,
            container,
            role,
            lifecycle: lifecycles.of(container.name),
            seed: `${restartCount}`,
            environment: () => ({ variables: new Map(), files: new Files(new Map(), undefined, this.knows) }) as Loose,
          }),
        message: () => noWork(this.message),
        stop: (container) => noWork(this.stop[container.name] ?? this.stop),
        probe: () => {
          this.probes++;
          const changes = this.changes.map((seconds) => START + seconds * 1000);
          return noWork({ ok: this.healthy, sure: this.sure, changesAt: () => noWork(changes.find((at) => at > now)) });
        },
        event: (event) => void this.events.push(event),
        refusesResize: () => this.refusal,
      }),
    );
    if (jsonText(next.status) !== jsonText(pod.status)) this.writes++;
    pod.status = next.status;
    this.due = next.due;
  }
  get state(): Loose {
    return this.pod.status.containerStatuses[0];
  }
  condition(type: string): Loose {
    return this.pod.status.conditions.find((one: Loose) => one.type === type);
  }
  get reasons(): string[] {
    return this.events.map(({ reason }) => reason);
  }
}

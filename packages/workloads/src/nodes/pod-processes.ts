/** What the processes of containers do, found by running their commands: how long they run, what they leave behind, how they stop. */

import type { ControllerContext } from '@plat-dev/controllers/runtime/controller';
import type { Work } from '@plat-dev/lib/slices';
import type { WorkloadPod } from '../shared/pods.ts';
import type { Annotations } from './annotations.ts';
import { argvOf } from './container-command.ts';
import { linesOfRun } from './container-log.ts';
import { noSources, type Sources } from './container-view.ts';
import { environmentAtStart } from './disks.ts';
import type { Stop } from './lifecycle/container-stop.ts';
import type { ContainerStatus } from './lifecycle/container-world.ts';
import { KILLED, startOf } from './lifecycle/containers.ts';
import { delayOf, fraction, type Lifecycles } from './lifecycle/lifecycle.ts';
import type { PodMemory } from './lifecycle/memory.ts';
import {
  type Container,
  containersOf,
  messageAfter,
  type Process,
  processOf,
  processOfCommand,
  type Role,
  roleOf,
  workOf,
} from './lifecycle/process.ts';
import { endOfLog, limitedMessage } from './lifecycle/termination-message.ts';
import { contentsOf, sourceNames } from './pod-sources.ts';
import type { KeptFiles } from './shell/files.ts';
import { type Environment, isProgram } from './shell/run.ts';

/** A pod, and what decides what its containers do. */
export interface PodRun {
  readonly pod: WorkloadPod;
  readonly memory: PodMemory;
  readonly lifecycles: Lifecycles;
  readonly ofNamespace: Annotations;
}

/** How long config maps and secrets that were read are used. */
export const SOURCES_MS = 10_000;

export class PodProcesses {
  private readonly context: Pick<ControllerContext, 'client' | 'clock' | 'identity'>;

  /** What the API has for pods that see none of its objects. */
  private readonly sources: Sources;

  constructor(context: Pick<ControllerContext, 'client' | 'clock' | 'identity'>, nameserver: string) {
    this.context = context;
    this.sources = { ...noSources, nameserver };
  }

  /** Reads what the commands of a pod see of the API, where they see any of it. */
  async prepare(pod: WorkloadPod, memory: PodMemory): Promise<void> {
    const { client, clock, identity } = this.context;
    const at = clock.now();
    if (memory.sources !== undefined && at - memory.sources.at < SOURCES_MS) return;
    const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
    const isSimulated = containers.some((container) => isProgram(argvOf(container)[0] ?? ''));
    const { configMaps, secrets } = isSimulated ? sourceNames(pod) : { configMaps: [], secrets: [] };
    const isRead = [...secrets, ...configMaps].some((name) => name !== identity.rootCAConfigMap);
    memory.sources = isRead ? { at, value: { ...this.sources, ...(await contentsOf(client, pod)) } } : undefined;
  }

  /** The process of one run of a container. */
  *process(run: PodRun, container: Container, role: Role, restartCount: number): Work<Process> {
    const { pod, memory, lifecycles } = run;
    return yield* memory.process(`${container.name}#${restartCount}`, () => {
      const seed = `${pod.metadata.uid}/${container.name}/${restartCount}`;
      const environment = (): Environment => this.environment(run, container, seed);
      return processOf({ pod, container, role, lifecycle: lifecycles.of(container.name), seed, environment });
    });
  }
  private environment({ pod, memory }: PodRun, container: Container, seed: string, volumes = memory.volumes): Environment {
    let randomDraws = 0;
    const world = {
      sources: memory.sources?.value ?? this.sources,
      now: () => this.context.clock.now(),
      random: () => Math.floor(fraction(`${seed}/${randomDraws++}`) * 32768),
    };
    return environmentAtStart(pod, container, world, volumes);
  }

  /** The termination message of a container that exits now: of its life cycle, of its file, or the end of its log. */
  *message(run: PodRun, container: Container, role: Role, status: ContainerStatus, exitCode: number): Work<string> {
    const { pod, memory, lifecycles, ofNamespace } = run;
    const { identity, clock } = this.context;
    const lifecycle = lifecycles.of(container.name);
    const startedAt = startOf(memory, status);
    const endedProcess = yield* this.process(run, container, role, status.restartCount);
    const ranMs = clock.now() - startedAt;
    const text = (role === 'init' ? lifecycle.init : lifecycle.exit).message ?? messageAfter(endedProcess, ranMs);
    if (text !== '' || exitCode === 0 || container.terminationMessagePolicy !== 'FallbackToLogsOnError') return limitedMessage(pod, text);
    const environment = (): Environment => this.environment(run, container, 'log', copied(memory.volumes));
    const lines = linesOfRun({ identity, pod, ofNamespace }, container, 0, environment, workOf(containersOf(pod)));
    return limitedMessage(pod, yield* endOfLog(lines, ranMs));
  }

  /** How a container stops if that is asked of it now. */
  *stop(run: PodRun, container: Container, status: ContainerStatus): Work<Stop> {
    const { pod, memory, lifecycles } = run;
    const { terminate } = lifecycles.of(container.name);
    const hookMs = yield* this.hookMs(run, container);
    const exitCode = (pod.spec?.restartPolicy ?? 'Always') === 'Always' ? 0 : TERMINATED;
    if (terminate !== undefined) return { afterMs: hookMs + delayOf(terminate, `${pod.metadata.uid}/stop`), exitCode };
    if (container.lifecycle?.stopSignal === 'SIGKILL') return { afterMs: hookMs, exitCode: KILLED };
    const main = yield* this.process(run, container, roleOf(pod, container), status.restartCount);
    if (main.ignoresTerm !== true) return { afterMs: hookMs, exitCode };
    if (main.runMs === undefined) return { afterMs: Number.POSITIVE_INFINITY, exitCode };
    const leftMs = startOf(memory, status) + main.runMs - this.context.clock.now();
    return { afterMs: Math.max(hookMs, leftMs), exitCode: main.exitCode };
  }
  /** How long the command takes that a container runs before it is stopped. One that is not simulated takes no time. */
  private *hookMs(run: PodRun, container: Container): Work<number> {
    const { exec, sleep } = container.lifecycle?.preStop ?? {};
    if (sleep != null) return Number(sleep.seconds) * 1000;
    const command = exec?.command ?? [];
    if (command.length === 0) return 0;
    const environment = this.environment(run, container, 'hook', copied(run.memory.volumes));
    const hook = yield* processOfCommand(command, environment, { work: workOf(containersOf(run.pod)) });
    return hook === undefined ? 0 : (hook.runMs ?? Number.POSITIVE_INFINITY);
  }
}

const TERMINATED = 143;

/** What stops within its grace period exits by itself; the rest is killed. */
export const within = ({ afterMs, exitCode }: Stop, graceMs: number): Stop =>
  afterMs > graceMs ? { afterMs: graceMs, exitCode: KILLED } : { afterMs, exitCode };

/** For a command that leaves nothing behind. */
const copied = (volumes: ReadonlyMap<string, KeptFiles>): Map<string, KeptFiles> =>
  new Map([...volumes].map(([id, { contents, removed }]) => [id, { contents: new Map(contents), removed: new Set(removed) }]));

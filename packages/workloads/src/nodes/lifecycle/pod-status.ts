/** The next status of a pod on a simulated node: pure functions of its status, its life cycle and the time. */
import type { Work } from '@plat-dev/lib/slices';
import { formatTime } from '@plat-dev/meta/time';
import { phaseOf as phaseNow } from '../../shared/pod-state.ts';
import { conditionsOf, phaseOf, type States } from './conditions.ts';
import type { ContainerStatus, ContainerWorld, Status } from './container-world.ts';
import { earliest, exited, KILLED, progress, waitingStatus } from './containers.ts';
import { reasonOf } from './lifecycle.ts';
import type { Container, Role } from './process.ts';

export interface PodWorld extends ContainerWorld {
  readonly hostIP: string;
  /** The address of the pod, taken when it starts. Undefined: the node has none left. */
  readonly podIP: () => string | undefined;
}

export interface NextStatus {
  /** The same object if nothing changed. */
  readonly status: Status;
  /** When it changes next, in milliseconds since 1970. */
  readonly due: number | undefined;
}

const byName = (statuses: readonly ContainerStatus[] | null | undefined, name: string): ContainerStatus | undefined =>
  statuses?.find((one) => one.name === name);

/** The status of a pod that runs, or is about to. Finished pods stay as they are. */
export function* nextStatus(world: PodWorld): Work<NextStatus> {
  const { pod, now } = world;
  const old: Status = pod.status ?? {};
  const phase = phaseNow(pod);
  if (phase === 'Succeeded' || phase === 'Failed') return { status: old, due: undefined };
  const init = yield* initStates(world);
  const main = yield* mainStates(world, init);
  const states: States = { init: init.statuses, main: main.statuses, initialized: init.done, initFailed: init.failed };
  const next = phaseOf(pod, states);
  const ephemeral = ephemeralStates(world);
  const hasStarted = [...states.init, ...states.main].some(({ state }) => state?.running != null || state?.terminated != null);
  const podIP = old.podIP ?? (hasStarted ? world.podIP() : undefined);
  const status: Status = {
    ...old,
    phase: next,
    conditions: conditionsOf(pod, states, next, now),
    hostIP: world.hostIP,
    ...(podIP !== undefined && { podIP, podIPs: old.podIPs ?? [{ ip: podIP }] }),
    startTime: old.startTime ?? formatTime(now),
    ...(states.init.length > 0 && { initContainerStatuses: [...states.init] }),
    containerStatuses: [...states.main],
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
  };
  return { status, due: next === 'Succeeded' || next === 'Failed' ? undefined : earliest(init.due, main.due) };
}

interface InitStates {
  readonly statuses: readonly ContainerStatus[];
  readonly done: boolean;
  readonly failed: boolean;
  readonly due: number | undefined;
}

/** One after another: those behind the first that has not succeeded wait. */
function* initStates(world: PodWorld): Work<InitStates> {
  const { pod } = world;
  const statuses: ContainerStatus[] = [];
  let open = false;
  let failed = false;
  let due: number | undefined;
  for (const container of pod.spec?.initContainers ?? []) {
    const old = byName(pod.status?.initContainerStatuses, container.name);
    if (open) {
      statuses.push(old ?? waitingStatus(container, 'PodInitializing'));
      continue;
    }
    yield;
    const next = yield* progress(world, container, 'init', old);
    statuses.push(next.status);
    if (next.status.state?.terminated?.exitCode === 0) continue;
    open = true;
    failed = next.status.state?.terminated != null && pod.spec?.restartPolicy === 'Never';
    due = next.due;
  }
  return { statuses, done: !open, failed, due };
}

function* mainStates(world: PodWorld, init: InitStates): Work<{ statuses: readonly ContainerStatus[]; due: number | undefined }> {
  const { pod } = world;
  let due: number | undefined;
  const statuses: ContainerStatus[] = [];
  for (const container of pod.spec?.containers ?? []) {
    const old = byName(pod.status?.containerStatuses, container.name);
    if (!init.done) {
      statuses.push(old ?? waitingStatus(container, 'PodInitializing'));
      continue;
    }
    yield;
    const next = yield* progress(world, container, 'main', old);
    due = earliest(due, next.due);
    statuses.push(next.status);
  }
  return { statuses, due };
}

/** Ephemeral containers are added to a running pod, and are never restarted. */
function ephemeralStates(world: PodWorld): ContainerStatus[] {
  const { pod, now } = world;
  return (pod.spec?.ephemeralContainers ?? []).map((container) => {
    const old = byName(pod.status?.ephemeralContainerStatuses, container.name);
    if (old !== undefined) return old;
    const { started: _started, ...waitingState } = waitingStatus(container as unknown as Container, '');
    return { ...waitingState, state: { running: { startedAt: formatTime(now) } } };
  });
}

export type StoppedWorld = Pick<ContainerWorld, 'pod' | 'now' | 'memory' | 'message'>;

/** The status of a pod whose containers were stopped with their exit codes. */
export function* stoppedStatus(world: StoppedWorld, exitCodeOf: (container: Container) => number): Work<Status> {
  const { pod, now } = world;
  const old: Status = pod.status ?? {};
  const stop = function* (statuses: readonly ContainerStatus[] | null | undefined, role: Role): Work<ContainerStatus[]> {
    const all = role === 'init' ? pod.spec?.initContainers : pod.spec?.containers;
    const stopped: ContainerStatus[] = [];
    for (const status of statuses ?? []) {
      const container = all?.find(({ name }) => name === status.name);
      if (status.state?.running == null || container === undefined) {
        stopped.push(status);
        continue;
      }
      const exitCode = exitCodeOf(container);
      stopped.push(yield* exited(world, container, role, status, { exitCode, reason: reasonOf(exitCode) }));
    }
    return stopped;
  };
  const main = yield* stop(old.containerStatuses, 'main');
  const init = yield* stop(old.initContainerStatuses, 'init');
  const isInitialized = init.every(({ state }) => state?.terminated?.exitCode === 0);
  const states: States = { init, main, initialized: isInitialized, initFailed: false };
  const phase = main.length === 0 ? phaseNow(pod) : phaseOf(pod, states);
  return {
    ...old,
    phase,
    conditions: conditionsOf(pod, states, phase, now),
    ...(init.length > 0 && { initContainerStatuses: init }),
    ...(main.length > 0 && { containerStatuses: main }),
  };
}

/** The status of a pod that its node ended, for a reason such as DeadlineExceeded or Evicted. */
export function* failedStatus(world: StoppedWorld, reason: string, message: string): Work<Status> {
  return { ...(yield* stoppedStatus(world, () => KILLED)), phase: 'Failed', reason, message };
}

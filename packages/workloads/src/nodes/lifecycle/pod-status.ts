/** The next status of a pod on a simulated node: pure functions of its status, its life cycle and the time. */
import { isSidecar } from '@plat-dev/kinds/core/pods/pod-amounts';
import type { Work } from '@plat-dev/lib/slices';
import { formatTime, timeMillis } from '@plat-dev/meta/time';
import { phaseOf as phaseNow } from '../../shared/pod-state.ts';
import type { WorkloadPod } from '../../shared/pods.ts';
import { conditionsOf, phaseOf, type States } from './conditions.ts';
import type { ContainerStatus, ContainerWorld, Status } from './container-world.ts';
import { backoffMs, earliest, exited, KILLED, progress, restarts, restartsPod, waitingStatus } from './containers.ts';
import { reasonOf } from './lifecycle.ts';
import { type Container, roleOf } from './process.ts';
import { type Refusal, resizeConditions, resizeOf, withResources } from './resize.ts';

export interface PodWorld extends ContainerWorld {
  readonly hostIP: string;
  /** The address of the pod, taken when it starts. Undefined: the node has none left. */
  readonly podIP: () => string | undefined;
  /** Why the node cannot give the containers what they are to have; undefined if it can. */
  readonly refusesResize: () => Refusal | undefined;
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
  const resize = resizeOf(world);
  const resizing: PodWorld = { ...world, restartsToResize: resize.restarts };
  const init = yield* initStates(resizing);
  const main = yield* mainStates(resizing, init);
  const computed: States = { init: init.statuses, main: main.statuses, initialized: init.done, initFailed: init.failed };
  const again = yield* restartedPod(world, computed);
  const last = again === undefined ? yield* withSidecarsEnded(world, computed) : undefined;
  const { states, next } = again ?? (last as EndOfPod);
  const ephemeral = ephemeralStates(world);
  const hasStarted = [...states.init, ...states.main].some(({ state }) => state?.running != null || state?.terminated != null);
  const podIP = old.podIP ?? (hasStarted ? world.podIP() : undefined);
  const status: Status = {
    ...old,
    phase: next,
    conditions: resizeConditions(pod, resize, states, conditionsOf(pod, states, next, now), now),
    hostIP: world.hostIP,
    ...(podIP !== undefined && { podIP, podIPs: old.podIPs ?? [{ ip: podIP }] }),
    startTime: old.startTime ?? formatTime(now),
    // Servers that count the changes of pods are told which of them their nodes have seen.
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    ...(states.init.length > 0 && { initContainerStatuses: withResources(pod, resize, states.init) }),
    containerStatuses: withResources(pod, resize, states.main),
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
  };
  if (again !== undefined) return { status, due: again.due };
  return { status, due: isOver(next) ? undefined : earliest(last?.due, earliest(init.due, main.due)) };
}

const isOver = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

interface EndOfPod {
  readonly states: States;
  readonly next: string;
  readonly due?: number | undefined;
}

/** Sidecars end after all other containers have, in the reverse of the order in which they were started; only then is the pod over. */
function* withSidecarsEnded(world: PodWorld, states: States): Work<EndOfPod> {
  const { pod, now, memory } = world;
  const next = phaseOf(pod, states);
  if (!isOver(next)) return { states, next };
  const init = [...states.init];
  for (let i = init.length - 1; i >= 0; i--) {
    const status = init[i] as ContainerStatus;
    const container = pod.spec?.initContainers?.[i];
    if (status.state?.running == null || container === undefined) continue;
    const ending = `${status.name}/ended`;
    const { afterMs, exitCode } = yield* memory.stop(ending, () => world.stop(container, status));
    const due = memory.since(ending, now) + afterMs;
    if (now < due) return { states: { ...states, init }, next: states.initialized ? 'Running' : 'Pending', due };
    init[i] = yield* exited(world, container, 'sidecar', status, { exitCode, reason: reasonOf(exitCode) });
  }
  return { states: { ...states, init }, next };
}

/** The exit of a container may restart all of them, init containers first: after a delay, from the second time on. */
function* restartedPod(world: PodWorld, states: States): Work<EndOfPod | undefined> {
  const { pod, now, memory } = world;
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const statuses = [...states.init, ...states.main];
  const cause = containers.findIndex((container, i) => {
    const end = statuses[i]?.state?.terminated;
    return end != null && restartsPod(container, end.exitCode);
  });
  const status = statuses[cause];
  if (status === undefined) return undefined;
  const due = (memory.time(`${status.name}/finished`) ?? timeMillis(status.state?.terminated?.finishedAt ?? '')) + backoffMs(status);
  if (now < due) return { states, next: 'Running', due };
  const restarted: ContainerStatus[] = [];
  for (const [i, one] of statuses.entries()) {
    const container = containers[i] as Container;
    const role = roleOf(pod, container);
    const ended = one.state?.running == null ? one : yield* exited(world, container, role, one, { exitCode: KILLED, reason: 'Error' });
    const last = ended.state?.terminated ?? ended.lastState?.terminated;
    const runs = { lastState: last == null ? {} : { terminated: last }, restartCount: one.restartCount };
    restarted.push({ ...waitingStatus(container, 'PodInitializing'), ...runs });
  }
  const [init, main] = [restarted.slice(0, states.init.length), restarted.slice(states.init.length)];
  return { states: { init, main, initialized: false, initFailed: false }, next: 'Running', due: now };
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
  const wasInitialized = hasBegun(pod.status?.containerStatuses);
  const isEnding = isEnded(pod);
  for (const container of pod.spec?.initContainers ?? []) {
    const old = byName(pod.status?.initContainerStatuses, container.name);
    if (isSidecar(container) && !open) {
      yield;
      const next = isEnding && old !== undefined ? { status: old, due: undefined } : yield* progress(world, container, 'sidecar', old);
      statuses.push(next.status);
      due = earliest(due, next.due);
      // The next container waits until it has started; those that run do not wait for it to start again.
      open = next.status.started !== true && !wasInitialized;
      continue;
    }
    if (open) {
      statuses.push(old ?? waitingStatus(container, 'PodInitializing'));
      continue;
    }
    yield;
    const next = yield* progress(world, container, 'init', old);
    statuses.push(next.status);
    if (next.status.state?.terminated?.exitCode === 0) continue;
    open = true;
    const end = next.status.state?.terminated;
    failed = end != null && !restartsPod(container, end.exitCode) && !restarts(pod, container, 'init', end.exitCode);
    due = earliest(due, next.due);
  }
  return { statuses, done: !open, failed, due };
}

const hasBegun = (statuses: readonly ContainerStatus[] | null | undefined): boolean =>
  statuses?.some(({ state, lastState }) => state?.running != null || state?.terminated != null || lastState?.terminated != null) ?? false;

/** Whether all main containers have exited, and none of them starts again. */
function isEnded(pod: WorkloadPod): boolean {
  const main = pod.status?.containerStatuses ?? [];
  if (main.length === 0 || main.length !== (pod.spec?.containers?.length ?? 0)) return false;
  return isOver(phaseOf(pod, { init: [], main, initialized: true, initFailed: false }));
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
  const stop = function* (
    statuses: readonly ContainerStatus[] | null | undefined,
    all: readonly Container[] | null | undefined,
  ): Work<ContainerStatus[]> {
    const stopped: ContainerStatus[] = [];
    for (const status of statuses ?? []) {
      const container = all?.find(({ name }) => name === status.name);
      if (status.state?.running == null || container === undefined) {
        stopped.push(status);
        continue;
      }
      const exitCode = exitCodeOf(container);
      stopped.push(yield* exited(world, container, roleOf(pod, container), status, { exitCode, reason: reasonOf(exitCode) }));
    }
    return stopped;
  };
  const main = yield* stop(old.containerStatuses, pod.spec?.containers);
  const init = yield* stop(old.initContainerStatuses, pod.spec?.initContainers);
  const isInitialized = init.every(({ name, state }) => roleOf(pod, { name }) === 'sidecar' || state?.terminated?.exitCode === 0);
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

/**
 * The states of one container of a simulated pod, from its status as it is to its status now.
 *
 *   waiting (pull) → running → terminated → running again, at once the first time, then after 10 s, 20 s, … 5 min
 */
import { createHash } from 'node:crypto';
import { matchingRule, mayRestart } from '@plat-dev/kinds/validation/pods/container-restarts';
import type { Work } from '@plat-dev/lib/slices';
import { formatTime, timeMillis } from '@plat-dev/meta/time';
import type { WorkloadPod } from '../../shared/pods.ts';
import { liveness, readiness, startup } from './container-probes.ts';
import { type ContainerStatus, type ContainerWorld, fieldPathOf } from './container-world.ts';
import { delayOf, reasonOf } from './lifecycle.ts';
import type { PodMemory } from './memory.ts';
import type { Container, Role } from './process.ts';

export interface Progress {
  readonly status: ContainerStatus;
  /** When its state changes next, in milliseconds since 1970. */
  readonly due: number | undefined;
}

const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 300_000;
/** A container that ran so long begins again without a delay. */
const STABLE_MS = 2 * LONGEST_BACKOFF_MS;

export const waitingStatus = (container: Container, reason: string, message?: string): ContainerStatus => ({
  name: container.name,
  state: { waiting: { reason, ...(message !== undefined && { message }) } },
  lastState: {},
  ready: false,
  restartCount: 0,
  image: container.image ?? '',
  imageID: '',
  started: false,
});

/** Whether a container that exited starts again. One whose exit restarts the whole pod waits for that. */
export function restarts({ spec }: WorkloadPod, container: Container, role: Role, exitCode: number): boolean {
  if ((role === 'init' && exitCode === 0) || restartsPod(container, exitCode)) return false;
  const { restartPolicy } = spec ?? {};
  return mayRestart(container as RestartingContainer, restartPolicy == null ? {} : { restartPolicy }, exitCode);
}
export const restartsPod = (container: Container, exitCode: number): boolean =>
  matchingRule(container as RestartingContainer, exitCode)?.action === 'RestartAllContainers';
type RestartingContainer = Parameters<typeof matchingRule>[0];

/** Each turn of it is one change of state; more than these in one moment wait for the next. */
const TURNS = 6;

export function* progress(world: ContainerWorld, container: Container, role: Role, old: ContainerStatus | undefined): Work<Progress> {
  let status = old ?? waitingStatus(container, 'ContainerCreating');
  for (let turn = 0; turn < TURNS; turn++) {
    const next = yield* step(world, container, role, status);
    if (next.status === status || next.due !== undefined) return next;
    status = next.status;
  }
  return { status, due: world.now };
}

function* step(world: ContainerWorld, container: Container, role: Role, status: ContainerStatus): Work<Progress> {
  if (status.state?.running != null) return yield* running(world, container, role, status);
  if (status.state?.terminated != null) return terminated(world, container, role, status);
  return waiting(world, container, role, status);
}

function waiting(world: ContainerWorld, container: Container, role: Role, status: ContainerStatus): Progress {
  const { now, memory, pod } = world;
  const image = container.image ?? '';
  const isReplaced = status.image !== image;
  const last = status.lastState?.terminated;
  if (status.state?.waiting?.reason === 'CrashLoopBackOff' && last != null && !isReplaced) {
    const due = (memory.time(`${container.name}/finished`) ?? timeMillis(last.finishedAt ?? '')) + backoffMs(status);
    return now < due ? { status, due } : { status: restarted(world, container, role, status), due: undefined };
  }
  if (isReplaced) memory.drop(`${container.name}/pull`);
  const lifecycle = world.lifecycles.of(container.name);
  const path = fieldPathOf(container, role);
  const isNew = memory.time(`${container.name}/pull`) === undefined;
  const began = memory.since(`${container.name}/pull`, now);
  const pullMs = delayOf(lifecycle.pull, `${pod.metadata.uid}/${container.name}/pull`);
  if (isNew && (pullMs > 0 || lifecycle.pull.fails))
    world.event({ type: 'Normal', reason: 'Pulling', message: `Pulling image ${JSON.stringify(image)}`, fieldPath: path });
  if (now < began + pullMs) return { status: waitingAs(container, status, 'ContainerCreating'), due: began + pullMs };
  if (lifecycle.pull.fails) return { status: notPulled(world, container, role, status), due: undefined };
  const blocked = world.blocked(container);
  if (blocked !== undefined) return { status: waitingAs(container, status, blocked.reason, blocked.message), due: undefined };
  const pulled = pullMs > 0 ? `Successfully pulled image ${JSON.stringify(image)} in ${pullMs / 1000}s` : presentMessage(container);
  world.event({ type: 'Normal', reason: 'Pulled', message: pulled, fieldPath: path });
  // Of a container that was running before, the image was changed.
  return { status: started(world, container, role, status, status.restartCount + (last == null ? 0 : 1)), due: undefined };
}

/** The same status if it has that reason already, so that nothing is written. */
function waitingAs(container: Container, status: ContainerStatus, reason: string, message?: string): ContainerStatus {
  const oldWaiting = status.state?.waiting;
  const isSame = oldWaiting?.reason === reason && oldWaiting.message === message && status.image === container.image;
  return isSame ? status : { ...waitingStatus(container, reason, message), ...runsOf(status) };
}
/** What is known of earlier runs. */
const runsOf = ({ lastState = {}, restartCount }: ContainerStatus): Pick<ContainerStatus, 'lastState' | 'restartCount'> => ({
  lastState,
  restartCount,
});

function notPulled({ event }: ContainerWorld, container: Container, role: Role, status: ContainerStatus): ContainerStatus {
  if (status.state?.waiting?.reason === 'ImagePullBackOff') return status;
  const image = JSON.stringify(container.image ?? '');
  const fieldPath = fieldPathOf(container, role);
  event({ type: 'Warning', reason: 'Failed', message: `Failed to pull image ${image}: not found`, fieldPath });
  event({ type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull', fieldPath });
  event({ type: 'Normal', reason: 'BackOff', message: `Back-off pulling image ${image}`, fieldPath });
  return { ...waitingStatus(container, 'ImagePullBackOff', `Back-off pulling image ${image}`), ...runsOf(status) };
}

const presentMessage = ({ image = '' }: Container): string => `Container image ${JSON.stringify(image)} already present on machine`;

/** The first start reports how the image came; for each later one it is there. */
function restarted(world: ContainerWorld, container: Container, role: Role, status: ContainerStatus): ContainerStatus {
  world.event({ type: 'Normal', reason: 'Pulled', message: presentMessage(container), fieldPath: fieldPathOf(container, role) });
  return started(world, container, role, status, status.restartCount + 1);
}

function started(world: ContainerWorld, container: Container, role: Role, status: ContainerStatus, restartCount: number): ContainerStatus {
  const { now, memory, event, pod } = world;
  const fieldPath = fieldPathOf(container, role);
  const { name } = container;
  event({ type: 'Normal', reason: 'Created', message: `Created container ${name}`, fieldPath });
  event({ type: 'Normal', reason: 'Started', message: `Started container ${name}`, fieldPath });
  memory.note(`${name}/started`, now);
  const image = container.image ?? '';
  return {
    name,
    state: { running: { startedAt: formatTime(now) } },
    lastState: status.lastState ?? {},
    ready: false,
    restartCount,
    image,
    imageID: `${image.replace(/[:@][^/]*$/, '')}@sha256:${hex(image)}`,
    containerID: `containerd://${hex(`${pod.metadata.uid}/${name}/${restartCount}`)}`,
    ...(container.lifecycle?.stopSignal != null && { stopSignal: container.lifecycle.stopSignal }),
    started: role !== 'init' && (world.lifecycles.of(name).ready.probes !== true || container.startupProbe == null),
  };
}

const hex = (text: string): string => createHash('sha256').update(text).digest('hex');

function* running(world: ContainerWorld, container: Container, role: Role, status: ContainerStatus): Work<Progress> {
  const { now, memory } = world;
  const { name } = container;
  const isReplaced = status.image !== (container.image ?? '') || world.restartsToResize?.(container, status) === true;
  if (role !== 'init' && isReplaced) return yield* replaced(world, container, role, status);
  const startedAt = startOf(memory, status);
  const { runMs, exitCode, reason } = yield* memory.process(`${name}#${status.restartCount}`, () =>
    world.process(container, role, status.restartCount),
  );
  if (runMs !== undefined && now >= startedAt + runMs)
    return { status: yield* exited(world, container, role, status, { exitCode, reason }), due: undefined };
  const exitDue = runMs === undefined ? undefined : startedAt + runMs;
  if (role === 'init') return { status, due: exitDue };
  const start = yield* startup(world, container, status, startedAt);
  if (start.result === false) return { status: yield* killed(world, container, role, status, 'startup'), due: undefined };
  const isStarted = start.result === true;
  const live = isStarted ? yield* liveness(world, container, status, startedAt) : {};
  if (live.result === false) return { status: yield* killed(world, container, role, status, 'liveness'), due: undefined };
  const { ready, due } = isStarted ? yield* readiness(world, container, status, startedAt) : { ready: false };
  const next = ready === status.ready && isStarted === status.started ? status : { ...status, ready, started: isStarted };
  return { status: next, due: earliest(earliest(due, exitDue), earliest(start.due, live.due)) };
}

/** When the present run of a container began, in milliseconds since 1970. */
export const startOf = (memory: PodMemory, { name, state }: ContainerStatus): number =>
  memory.time(`${name}/started`) ?? timeMillis(state?.running?.startedAt ?? '');

/**
 * A running container whose image was changed, or that gets other resources by a restart, is stopped, and started again whatever the
 * pod says about restarts.
 */
function* replaced(world: ContainerWorld, container: Container, role: Role, status: ContainerStatus): Work<Progress> {
  const { memory, now } = world;
  const change = `${container.name}/change#${status.restartCount}`;
  if (memory.time(change) === undefined) {
    const message = `Container ${container.name} definition changed, will be restarted`;
    world.event({ type: 'Normal', reason: 'Killing', message, fieldPath: fieldPathOf(container, role) });
  }
  const { afterMs, exitCode } = yield* memory.stop(change, () => world.stop(container, status));
  const due = memory.since(change, now) + afterMs;
  if (now < due) return { status, due };
  memory.drop(change);
  const { terminated } = (yield* exited(world, container, role, status, { exitCode, reason: reasonOf(exitCode) })).state ?? {};
  const runs = { lastState: { ...(terminated != null && { terminated }) }, restartCount: status.restartCount };
  return { status: { ...waitingStatus(container, 'ContainerCreating'), image: '', ...runs }, due: undefined };
}

/** The container is stopped because of a probe, and restarted as the pod says. */
function* killed(
  world: ContainerWorld,
  container: Container,
  role: Role,
  status: ContainerStatus,
  kind: 'startup' | 'liveness',
): Work<ContainerStatus> {
  const message = `Container ${container.name} failed ${kind} probe, will be restarted`;
  world.event({ type: 'Normal', reason: 'Killing', message, fieldPath: fieldPathOf(container, role) });
  return yield* exited(world, container, role, status, { exitCode: KILLED, reason: 'Error' });
}
export const KILLED = 137;

export const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b);

export function* exited(
  world: Pick<ContainerWorld, 'now' | 'memory' | 'message'>,
  container: Container,
  role: Role,
  status: ContainerStatus,
  { exitCode, reason }: { readonly exitCode: number; readonly reason: string },
): Work<ContainerStatus> {
  const { now, memory } = world;
  const message = yield* world.message(container, role, status, exitCode);
  memory.note(`${status.name}/finished`, now);
  const { containerID } = status;
  const terminated = {
    exitCode,
    reason,
    ...(message !== '' && { message }),
    startedAt: status.state?.running?.startedAt ?? formatTime(now),
    finishedAt: formatTime(now),
    ...(containerID !== undefined && { containerID }),
  };
  return { ...status, state: { terminated }, ready: false, started: false } as ContainerStatus;
}

function terminated(world: ContainerWorld, container: Container, role: Role, status: ContainerStatus): Progress {
  const { pod, now, memory, event } = world;
  const end = status.state?.terminated;
  if (end == null || !restarts(pod, container, role, end.exitCode)) {
    const ready = role === 'init' && end?.exitCode === 0;
    return { status: status.ready === ready ? status : { ...status, ready }, due: undefined };
  }
  const wait = backoffMs(status);
  const finished = memory.time(`${container.name}/finished`) ?? timeMillis(end.finishedAt ?? '');
  const withLastState: ContainerStatus = { ...status, lastState: { terminated: end } };
  if (now >= finished + wait) return { status: restarted(world, container, role, withLastState), due: undefined };
  event({
    type: 'Warning',
    reason: 'BackOff',
    message: `Back-off restarting failed container`,
    fieldPath: fieldPathOf(container, role),
  });
  const { name, namespace, uid } = pod.metadata;
  const message = `back-off ${backoffText(wait)} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`;
  return { status: { ...withLastState, state: { waiting: { reason: 'CrashLoopBackOff', message } } }, due: finished + wait };
}

/** The first restart is immediate, and so is one after a long run. */
export function backoffMs({ restartCount, state, lastState }: ContainerStatus): number {
  const end = state?.terminated ?? lastState?.terminated;
  const ran = end == null ? 0 : timeMillis(end.finishedAt ?? '') - timeMillis(end.startedAt ?? '');
  if (restartCount === 0 || ran >= STABLE_MS) return 0;
  return Math.min(FIRST_BACKOFF_MS * 2 ** (restartCount - 1), LONGEST_BACKOFF_MS);
}
/** As Go prints it: `10s`, `1m20s`, `5m0s`. */
function backoffText(millis: number): string {
  const seconds = millis / 1000;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

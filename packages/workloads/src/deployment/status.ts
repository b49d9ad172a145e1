/** The status of a deployment: counts of its replica sets, and conditions that say whether it is available and makes progress. */
import { formatTime, timeMillis } from '@plat-dev/meta/time';
import type { ReplicaSetObject } from '../replicaset/kinds.ts';
import type { DeploymentObject, Limits } from './limits.ts';
import { availableOf, podsOf, readyOf, sizeOf, sum, UNLIMITED } from './sets.ts';

export type DeploymentStatusObject = NonNullable<DeploymentObject['status']>;
export type Conditions = NonNullable<DeploymentStatusObject['conditions']>;
export type DeploymentCondition = Conditions[number];
export type ConditionChange = Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>;

export const conditionOf = (conditions: Conditions, type: string): DeploymentCondition | undefined =>
  conditions.find((condition) => condition.type === type);
const withoutCondition = (conditions: Conditions, type: string): Conditions => conditions.filter((condition) => condition.type !== type);

/** Sets a condition, unless it has the status and the reason already. */
export function withCondition(conditions: Conditions, change: ConditionChange, now: number): Conditions {
  const old = conditionOf(conditions, change.type);
  if (old?.status === change.status && old?.reason === change.reason) return conditions;
  return renewCondition(conditions, change, now);
}
/** Sets a condition with the time of now. */
function renewCondition(conditions: Conditions, change: ConditionChange, now: number): Conditions {
  const old = conditionOf(conditions, change.type);
  const time = formatTime(now);
  const lastTransitionTime = old?.status === change.status ? old.lastTransitionTime : time;
  return [...withoutCondition(conditions, change.type), { ...change, lastUpdateTime: time, lastTransitionTime }];
}

/** The state of a deployment from which its status follows. */
export interface State {
  readonly deployment: DeploymentObject;
  readonly limits: Limits;
  readonly sets: readonly ReplicaSetObject[];
  /** The set with the deployment's template. */
  readonly current: ReplicaSetObject | undefined;
  /** Conditions so far, and how often the hash of a template belonged to another. */
  readonly conditions: Conditions;
  readonly collisionCount: number | undefined;
  readonly now: number;
}

/** Counts, and whether enough pods are available. */
export function statusOf({ deployment, limits, sets, current, conditions, collisionCount, now }: State): DeploymentStatusObject {
  const available = sum(sets, availableOf);
  const isAvailable = available >= limits.desired - limits.unavailable;
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sum(sets, podsOf),
    updatedReplicas: current === undefined ? 0 : podsOf(current),
    readyReplicas: sum(sets, readyOf),
    availableReplicas: available,
    unavailableReplicas: Math.max(sum(sets, sizeOf) - available, 0),
  };
  const knownConditions = withCondition(
    conditions,
    isAvailable
      ? { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
      : {
          type: 'Available',
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        },
    now,
  );
  return {
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
    conditions: knownConditions,
    ...(collisionCount !== undefined && { collisionCount }),
  };
}

/** The same while it rolls out, with its progress and what replica sets failed to do. */
export function rolloutStatusOf(state: State): DeploymentStatusObject {
  const status = statusOf(state);
  return { ...status, conditions: withFailures(progressOf(state, status), state) };
}

export const hasDeadline = ({ spec }: DeploymentObject): boolean =>
  spec?.progressDeadlineSeconds != null && spec.progressDeadlineSeconds !== UNLIMITED;

/** All pods are of the newest template, and available. */
export function isComplete({ metadata, spec }: DeploymentObject, status: DeploymentStatusObject): boolean {
  const desired = spec?.replicas ?? 1;
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  return (
    updatedReplicas === desired && replicas === desired && availableReplicas === desired && observedGeneration >= (metadata.generation ?? 0)
  );
}

/** More new pods, fewer old ones, or more that are ready or available than before. */
export function hasProgressed(before: DeploymentStatusObject, after: DeploymentStatusObject): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatusObject): number => replicas - updatedReplicas;
  const grown = (['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const).some(
    (count) => (after[count] ?? 0) > (before[count] ?? 0),
  );
  return grown || old(after) < old(before);
}

function progressOf(state: State, status: DeploymentStatusObject): Conditions {
  const { deployment, current, now } = state;
  const conditions = status.conditions ?? [];
  if (!hasDeadline(deployment)) return withoutCondition(conditions, 'Progressing');
  const progressing = conditionOf(conditions, 'Progressing');
  // Nothing is rolled out: pods come and go, which is no progress of a rollout, and no lack of it.
  if ((status.replicas ?? 0) === (status.updatedReplicas ?? 0) && progressing?.reason === 'NewReplicaSetAvailable') return conditions;
  const subject =
    current === undefined
      ? `Deployment ${JSON.stringify(deployment.metadata.name)}`
      : `ReplicaSet ${JSON.stringify(current.metadata.name)}`;
  const change = (holds: string, reason: string, what: string): ConditionChange => ({
    type: 'Progressing',
    status: holds,
    reason,
    message: `${subject} ${what}`,
  });
  if (isComplete(deployment, status))
    return withCondition(conditions, change('True', 'NewReplicaSetAvailable', 'has successfully progressed.'), now);
  // The time of the last progress counts, also when the reason stays the same.
  if (hasProgressed(deployment.status ?? {}, status))
    return renewCondition(conditions, change('True', 'ReplicaSetUpdated', 'is progressing.'), now);
  if (isTimedOut(deployment, progressing, now))
    return withCondition(conditions, change('False', 'ProgressDeadlineExceeded', 'has timed out progressing.'), now);
  return conditions;
}

/** When the lack of progress becomes a failure, in milliseconds since 1970. */
function deadlineOf({ spec }: DeploymentObject, { lastUpdateTime }: DeploymentCondition): number {
  return (lastUpdateTime == null ? 0 : timeMillis(lastUpdateTime)) + (spec?.progressDeadlineSeconds ?? 0) * 1000;
}
function isTimedOut(deployment: DeploymentObject, progressing: DeploymentCondition | undefined, now: number): boolean {
  if (progressing === undefined || progressing.reason === 'NewReplicaSetAvailable') return false;
  return progressing.reason === 'ProgressDeadlineExceeded' || deadlineOf(deployment, progressing) < now;
}

/** Milliseconds after which progress is checked again; undefined where nothing is expected. */
export function nextCheckMs(deployment: DeploymentObject, status: DeploymentStatusObject, now: number): number | undefined {
  const progressing = conditionOf(status.conditions ?? [], 'Progressing');
  if (!hasDeadline(deployment) || progressing === undefined || isComplete(deployment, status)) return undefined;
  if (progressing.reason === 'ProgressDeadlineExceeded' || progressing.reason === 'NewReplicaSetAvailable') return undefined;
  return Math.max(deadlineOf(deployment, progressing) - now, 0) + 1;
}

const REPLICA_FAILURE = 'ReplicaFailure';

/** A failure of the current set, or else of any other. */
function withFailures(conditions: Conditions, { sets, current, now }: State): Conditions {
  const failures = [...(current === undefined ? [] : [current]), ...sets].flatMap(({ status }) =>
    (status?.conditions ?? []).filter(({ type }) => type === REPLICA_FAILURE),
  );
  const failure = failures[0];
  if (failure === undefined) return withoutCondition(conditions, REPLICA_FAILURE);
  const { status, reason, message, lastTransitionTime } = failure;
  const old = conditionOf(conditions, REPLICA_FAILURE);
  if (old?.status === status && old?.reason === reason) return conditions;
  const time = lastTransitionTime ?? formatTime(now);
  return [
    ...withoutCondition(conditions, REPLICA_FAILURE),
    {
      type: REPLICA_FAILURE,
      status,
      lastUpdateTime: time,
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : time,
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
    },
  ];
}

/**
 * The time of a pause does not count as lack of progress. A failure that was reported stays.
 *
 *   pause    Progressing Unknown DeploymentPaused       resume   Progressing Unknown DeploymentResumed
 */
export function withPause(deployment: DeploymentObject, now: number): Conditions {
  const conditions = deployment.status?.conditions ?? [];
  const reason = conditionOf(conditions, 'Progressing')?.reason;
  if (!hasDeadline(deployment) || reason === 'ProgressDeadlineExceeded') return conditions;
  const isPaused = deployment.spec?.paused === true;
  if (isPaused === (reason === 'DeploymentPaused')) return conditions;
  const [next, message] = isPaused ? ['DeploymentPaused', 'Deployment is paused'] : ['DeploymentResumed', 'Deployment is resumed'];
  return withCondition(conditions, { type: 'Progressing', status: 'Unknown', reason: next as string, message: message as string }, now);
}

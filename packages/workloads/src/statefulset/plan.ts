/**
 * What a stateful set needs next, decided on its pods as they are. With ordered pods one thing is done at a time, and only when
 * all before it are ready: members are created from the first one up, deleted from the last one down, and replaced by those of
 * the new revision from the last one down to the partition. Parallel pods wait for none but those that are replaced.
 *
 *   3 replicas, ordered      nothing           create web-0
 *                            0 ready           create web-1
 *                            0 ready, 1 not    wait for web-1
 *   1 replica                0, 1, 2 ready     delete web-2
 *   new template             0, 1, 2 ready     delete web-2, which is created again with the new template
 */
import type { Identity } from '@plat-dev/meta/identity';
import { type Revision, templateIn } from '../revisions/revision.ts';
import { scaledDown } from '../shared/amounts.ts';
import { availability, isReady, isTerminating, phaseOf } from '../shared/pod-state.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import { hasIdentity, memberPod, ordinalOf, revisionOf, type StatefulSetObject, templateOf, withIdentity } from './members.ts';

export interface View {
  readonly set: StatefulSetObject;
  /** The revision of the members that have not been updated, and that of the template. */
  readonly current: Revision;
  readonly update: Revision;
  readonly pods: readonly WorkloadPod[];
  readonly now: number;
  readonly identity: Identity;
  /** Whether a feature is on. */
  readonly feature: (name: string) => boolean;
}

export type Action =
  | { readonly type: 'create'; readonly pod: WorkloadPod }
  | { readonly type: 'repair'; readonly pod: WorkloadPod }
  | { readonly type: 'delete'; readonly pod: WorkloadPod; readonly why: 'failed' | 'succeeded' | 'surplus' | 'old' };

/** How many pods there are, of which sort. */
export interface Counts {
  replicas: number;
  ready: number;
  available: number;
  current: number;
  updated: number;
}

export interface Plan {
  /** Before the actions. */
  readonly counts: Counts;
  readonly actions: readonly Action[];
  /** Whether actions depend on each other: a failed one is the last. */
  readonly isOrdered: boolean;
  /** Members beyond the number of replicas. */
  readonly surplus: readonly WorkloadPod[];
  /** Milliseconds until the next ready pod is available. */
  readonly wait: number | undefined;
}

/** Members that are created in one round; when they are seen, others follow. */
const ACTIONS_LIMIT = 500;

type Health = 'available' | 'ready' | 'unhealthy';

interface Members {
  /** How many are wanted, and the ordinal of the first. */
  readonly size: number;
  readonly start: number;
  /** By ordinal. A set may want many more than there are. */
  readonly membersByOrdinal: ReadonlyMap<number, WorkloadPod>;
  /** Those with other ordinals, from the lowest. */
  readonly surplus: readonly WorkloadPod[];
  readonly health: ReadonlyMap<WorkloadPod, Health>;
}

export function planStatefulSet(view: View): Plan {
  const { set } = view;
  const counts = countPods(view);
  const { members, wait } = sortMembers(view);
  const isOrdered = set.spec?.podManagementPolicy !== 'Parallel';
  const actions: Action[] = [];
  if (set.metadata.deletionTimestamp === undefined && fill(view, members, isOrdered, actions) && shrink(members, isOrdered, actions))
    roll(view, members, actions);
  return { counts, actions, isOrdered, surplus: members.surplus, wait };
}

function countPods({ pods, current, update, ...view }: View): Counts {
  const counts = { replicas: 0, ready: 0, available: 0, current: 0, updated: 0 };
  for (const pod of pods) {
    counts.replicas++;
    if (isRunning(pod)) {
      counts.ready++;
      if (availability(pod, minReadySeconds(view), view.now) === true) counts.available++;
    }
    if (!isTerminating(pod)) addRevision(counts, pod, current, update, 1);
  }
  return counts;
}
function addRevision(counts: Counts, pod: WorkloadPod, current: Revision, update: Revision, by: number): void {
  const revision = revisionOf(pod);
  if (revision === current.metadata.name) counts.current += by;
  if (revision === update.metadata.name) counts.updated += by;
}

/** What an action that was done changes in the counts. */
export function countAction(counts: Counts, { type, pod, ...action }: Action, current: Revision, update: Revision): void {
  if (type === 'repair') return;
  const by = type === 'create' ? 1 : -1;
  addRevision(counts, pod, current, update, by);
  const why = (action as { why?: string }).why;
  if (type === 'create' || why === 'failed' || why === 'succeeded') counts.replicas += by;
}

const minReadySeconds = ({ set, feature }: Pick<View, 'set' | 'feature'>): number =>
  feature('StatefulSetMinReadySeconds') ? (set.spec?.minReadySeconds ?? 0) : 0;
const isRunning = (pod: WorkloadPod): boolean => phaseOf(pod) === 'Running' && isReady(pod);

/** The ordinal of the first member, of releases that have it. */
const startOf = ({ spec }: StatefulSetObject): number => spec?.ordinals?.start ?? 0;

function sortMembers(view: View): { members: Members; wait: number | undefined } {
  const size = view.set.spec?.replicas ?? 1;
  const start = startOf(view.set);
  const membersByOrdinal = new Map<number, WorkloadPod>();
  const surplus: WorkloadPod[] = [];
  const health = new Map<WorkloadPod, Health>();
  const seconds = minReadySeconds(view);
  let wait = Number.POSITIVE_INFINITY;
  for (const pod of view.pods) {
    const ordinal = ordinalOf(pod);
    if (ordinal < 0) continue;
    if (ordinal >= start && ordinal < start + size) membersByOrdinal.set(ordinal, pod);
    else surplus.push(pod);
    const available = isRunning(pod) && !isTerminating(pod) ? availability(pod, seconds, view.now) : false;
    if (typeof available === 'number') wait = Math.min(wait, available);
    health.set(pod, available === true ? 'available' : available === false ? 'unhealthy' : 'ready');
  }
  surplus.sort((a, b) => ordinalOf(a) - ordinalOf(b));
  return { members: { size, start, membersByOrdinal, surplus, health }, wait: Number.isFinite(wait) ? wait : undefined };
}

/** Creates members that are missing, and again those that have failed. False: the rest has to wait. */
function fill(view: View, { size, start, membersByOrdinal, health }: Members, isOrdered: boolean, actions: Action[]): boolean {
  for (let ordinal = start; ordinal < start + size; ordinal++) {
    const pod = membersByOrdinal.get(ordinal);
    if (pod === undefined) {
      if (actions.length >= ACTIONS_LIMIT) return false;
      actions.push({ type: 'create', pod: newMember(view, ordinal) });
      if (isOrdered) return false;
      continue;
    }
    const phase = phaseOf(pod);
    // It is created again as soon as it is gone.
    if ((phase === 'Failed' || phase === 'Succeeded') && !isTerminating(pod))
      actions.push({ type: 'delete', pod, why: phase === 'Failed' ? 'failed' : 'succeeded' });
    if (isOrdered && health.get(pod) !== 'available') return false;
    if (!isTerminating(pod) && !hasIdentity(view.set, pod, view.identity))
      actions.push({ type: 'repair', pod: withIdentity(view.set, pod, view.identity) });
  }
  return true;
}

/** A member as its revision has it: below the partition that of the others, above it the new one. */
function newMember({ set, current, update, identity }: View, ordinal: number): WorkloadPod {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  const currentCount = rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0);
  if (type !== 'RollingUpdate' || ordinal >= startOf(set) + currentCount)
    return memberPod(set, templateOf(set), ordinal, update.metadata.name ?? '', identity);
  return memberPod(set, templateIn(current), ordinal, current.metadata.name ?? '', identity);
}

/** Deletes members from the last one down. False: the rest has to wait. */
function shrink({ membersByOrdinal, surplus, health }: Members, isOrdered: boolean, actions: Action[]): boolean {
  const isSick = (pod: WorkloadPod): boolean => health.get(pod) === 'unhealthy';
  const firstSick = [...membersByOrdinal.values()].filter(isSick).sort((a, b) => ordinalOf(a) - ordinalOf(b))[0] ?? surplus.find(isSick);
  for (const pod of [...surplus].reverse()) {
    if (isTerminating(pod)) {
      if (isOrdered) return false;
      continue;
    }
    // A sick member below has to recover first, or nothing would keep two of them from being away; the lowest one may go itself.
    if (isOrdered && health.get(pod) !== 'available' && pod !== firstSick) return false;
    actions.push({ type: 'delete', pod, why: 'surplus' });
    if (isOrdered) return false;
  }
  return true;
}

/** Deletes members of other revisions, from the last one down to the partition, so that they are created with the new one. */
function roll({ set, update, feature }: View, { size, start, membersByOrdinal, health }: Members, actions: Action[]): void {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (type === 'OnDelete') return;
  const partition = rollingUpdate?.partition ?? 0;
  let room = 1;
  const isLimited = feature('MaxUnavailableStatefulSet') && rollingUpdate?.maxUnavailable !== undefined;
  if (isLimited) {
    const healthy = [...membersByOrdinal.values()].filter((pod) => health.get(pod) === 'available').length;
    room = Math.max(1, scaledDown(rollingUpdate.maxUnavailable ?? 1, size)) - (size - healthy);
  }
  for (let ordinal = start + size - 1; ordinal >= start + partition && room > 0; ordinal--) {
    const pod = membersByOrdinal.get(ordinal);
    if (pod !== undefined && revisionOf(pod) !== update.metadata.name && !isTerminating(pod)) {
      if (!actions.some((action) => action.pod === pod)) actions.push({ type: 'delete', pod, why: 'old' });
      room--;
    } else if (!isLimited && (pod === undefined || health.get(pod) !== 'available')) return;
  }
}

/**
 * How many pods of a job have succeeded and failed. Without tracking, the pods that are there are counted, and a deleted one is
 * forgotten. With tracking, each pod holds a finalizer until it is counted, in steps that a crash cannot count twice:
 *
 *   pod ended, has the finalizer    its uid goes into status.uncountedTerminatedPods
 *   status written                  the finalizer is removed
 *   finalizer is gone               the uid moves to status.succeeded or status.failed
 *
 * The index of a pod is enough for successes of Indexed jobs.
 */
import { setOwn } from '@plat-dev/lib/own';
import { isFinished, isTerminating, phaseOf } from '../shared/pod-state.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import { countsAsFailed } from './failures.ts';
import { Indexes } from './indexes.ts';
import { completionsOf, hasFinalizer, indexOf, isIndexed, type JobNames, type JobObject, type Status } from './job.ts';

export interface Counts {
  readonly succeeded: number;
  readonly failed: number;
  /** Indexes that have succeeded, of Indexed jobs. */
  readonly indexes: Indexes;
}

/** The pods of a job and how they are counted. */
export interface CountedJob {
  readonly job: JobObject;
  readonly pods: readonly WorkloadPod[];
  readonly names: JobNames;
  readonly tracked: boolean;
}

/** Uids that a status holds at a time: more are counted when these are. */
export const MAX_UNCOUNTED = 500;

const uidOf = ({ metadata }: WorkloadPod): string => metadata.uid ?? '';
const statusIndexes = (job: JobObject): Indexes => Indexes.parse(job.status?.completedIndexes ?? '', completionsOf(job) ?? 0);

/** The index of a pod of an Indexed job, if it is one that counts; of another job any pod counts. */
function counts({ job, names }: CountedJob, pod: WorkloadPod): boolean {
  if (!isIndexed(job)) return true;
  const index = indexOf(pod, names);
  return index !== undefined && index < (completionsOf(job) ?? 0);
}

export function countPods(counted: CountedJob): Counts {
  const { job, pods, names, tracked } = counted;
  const { succeeded: counting = [], failed: failing = [] } = job.status?.uncountedTerminatedPods ?? {};
  const countedUids = new Set(tracked ? [...(counting ?? []), ...(failing ?? [])] : []);
  let succeeded = tracked ? (job.status?.succeeded ?? 0) + (counting ?? []).length : 0;
  let failed = tracked ? (job.status?.failed ?? 0) + (failing ?? []).length : 0;
  const endedIndexes: number[] = [];
  for (const pod of pods) {
    if (!counts(counted, pod) || (tracked && (!hasFinalizer(pod, names) || countedUids.has(uidOf(pod))))) continue;
    if (phaseOf(pod) === 'Succeeded') {
      succeeded++;
      if (isIndexed(job)) endedIndexes.push(indexOf(pod, names) as number);
    } else if (countsAsFailed(pod, tracked)) failed++;
  }
  if (!isIndexed(job)) return { succeeded, failed, indexes: Indexes.none };
  const indexes = (tracked ? statusIndexes(job) : Indexes.none).with(endedIndexes);
  return { succeeded: indexes.count, failed, indexes };
}

export interface CollectedPods {
  /** The status to write before finalizers are removed. */
  readonly status: Status;
  /** Pods whose finalizer is removed after that. */
  readonly release: readonly WorkloadPod[];
  /** More pods are finished than a status can hold. */
  readonly more: boolean;
}

/** Takes finished pods into a status. `all`: the job is finished, and so are its pods. */
export function collect(counted: CountedJob, oldStatus: Status, all: boolean): CollectedPods {
  const { job, pods, names } = counted;
  const finalizedUids = new Set(pods.filter((pod) => hasFinalizer(pod, names)).map(uidOf));
  const status = moveCounted(oldStatus, (uid) => finalizedUids.has(uid));
  const succeeded = [...(status.uncountedTerminatedPods?.succeeded ?? [])];
  const failed = [...(status.uncountedTerminatedPods?.failed ?? [])];
  const uncountedUids = new Set([...succeeded, ...failed]);
  const done = statusIndexes(job);
  const indexes: number[] = [];
  const release: WorkloadPod[] = [];
  let more = false;
  for (const pod of pods) {
    if (!finalizedUids.has(uidOf(pod)) || !(isFinished(pod) || isTerminating(pod) || all)) continue;
    if (indexes.length + succeeded.length + failed.length >= MAX_UNCOUNTED) {
      more = true;
      break;
    }
    release.push(pod);
    if (uncountedUids.has(uidOf(pod)) || !counts(counted, pod)) continue;
    if (phaseOf(pod) !== 'Succeeded') failed.push(uidOf(pod));
    else if (isIndexed(job)) indexes.push(indexOf(pod, names) as number);
    else succeeded.push(uidOf(pod));
  }
  const next: Status = { ...status, uncountedTerminatedPods: uncounted(succeeded, failed) };
  if (!isIndexed(job)) return { status: next, release, more };
  const now = done.with(indexes);
  return { status: { ...next, ...numbers({ succeeded: now.count }), ...texts({ completedIndexes: now.toString() }) }, release, more };
}

/** The status after finalizers were removed: the uids of pods that no longer hold one move to the counts. */
export function moveCounted(status: Status, holds: (uid: string) => boolean): Status {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const keptSucceeded = (succeeded ?? []).filter(holds);
  const keptFailed = (failed ?? []).filter(holds);
  return {
    ...status,
    ...numbers({
      succeeded: (status.succeeded ?? 0) + (succeeded ?? []).length - keptSucceeded.length,
      failed: (status.failed ?? 0) + (failed ?? []).length - keptFailed.length,
    }),
    uncountedTerminatedPods: uncounted(keptSucceeded, keptFailed),
  };
}

export const isAllCounted = ({ uncountedTerminatedPods: uncounted }: Status): boolean =>
  (uncounted?.succeeded ?? []).length + (uncounted?.failed ?? []).length === 0;

const uncounted = (succeeded: string[], failed: string[]): NonNullable<Status['uncountedTerminatedPods']> => ({
  ...(succeeded.length > 0 && { succeeded }),
  ...(failed.length > 0 && { failed }),
});

/** Fields of a status as they are written: zeros and empty texts are left out. */
export function numbers<K extends string>(fields: Record<K, number>): Partial<Record<K, number>> {
  const nonZero: Partial<Record<K, number>> = {};
  for (const key in fields) setOwn(nonZero, key, fields[key] === 0 ? undefined : fields[key]);
  return nonZero;
}
const texts = (fields: { completedIndexes: string }): { completedIndexes?: string } =>
  fields.completedIndexes === '' ? {} : { completedIndexes: fields.completedIndexes };

/** What a job asks for and how far it is, read from the object. */

import { trackingAnnotation } from '@plat-dev/kinds/batch/job-rules';
import type { Job, JobStatus } from '@plat-dev/kinds/batch/schema/v1';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import { own } from '@plat-dev/lib/own';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import type { About } from '../shared/events.ts';
import type { WorkloadPod } from '../shared/pods.ts';

/** A job as received. It is shared: nobody may change it. */
export type JobObject = Wire<Job>;
export type Status = Part<JobStatus>;
export type Condition = NonNullable<Status['conditions']>[number];

export const aboutJob = (job: JobObject): About => ({ apiVersion: 'batch/v1', kind: 'Job', metadata: job.metadata });

export const parallelismOf = ({ spec }: JobObject): number => spec?.parallelism ?? 1;
/** Undefined: the first pod that succeeds says that the work is done. */
export const completionsOf = ({ spec }: JobObject): number | undefined => spec?.completions ?? undefined;
export const backoffLimitOf = ({ spec }: JobObject): number => spec?.backoffLimit ?? 6;
export const isIndexed = ({ spec }: JobObject): boolean => spec?.completionMode === 'Indexed';
export const isSuspended = ({ spec }: JobObject): boolean => spec?.suspend === true;

const holds = (job: JobObject, type: string): boolean =>
  (job.status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
export const isComplete = (job: JobObject): boolean => holds(job, 'Complete');
export const isFinishedJob = (job: JobObject): boolean => holds(job, 'Complete') || holds(job, 'Failed');

/** The status says that it is suspended. */
export const wasSuspended = (job: JobObject): boolean => holds(job, 'Suspended');

/** Names that mark the pods of jobs. */
export interface JobNames {
  /** Marks a job whose pods are counted by their finalizer. */
  readonly tracking: string;
  /** Held by a pod until its job has counted it. It has the same name. */
  readonly finalizer: string;
  /** The index of a pod of an Indexed job. */
  readonly index: string;
}
export function jobNames(identity: Identity): JobNames {
  const tracking = trackingAnnotation(identity);
  return { tracking, finalizer: tracking, index: domainName(identity, 'job-completion-index', 'batch') };
}

export const isMarkedTracked = (job: JobObject, { tracking }: JobNames): boolean => own(job.metadata.annotations, tracking) !== undefined;
export const hasFinalizer = (pod: WorkloadPod, { finalizer }: JobNames): boolean => (pod.metadata.finalizers ?? []).includes(finalizer);

/** The index of a pod; undefined where it has none or an invalid one. */
export function indexOf(pod: WorkloadPod, { index }: JobNames): number | undefined {
  const text = own(pod.metadata.annotations, index);
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

export function newCondition(type: string, status: string, reason: string, message: string, now: number): Condition {
  const time = formatTime(now);
  return {
    type,
    status,
    lastProbeTime: time,
    lastTransitionTime: time,
    ...(reason !== '' && { reason }),
    ...(message !== '' && { message }),
  };
}

/**
 * The conditions with one of them as given. Undefined where nothing changes: it says so already, or it does not hold and was
 * never there.
 */
export function withCondition(conditions: readonly Condition[], next: Condition): Condition[] | undefined {
  const old = conditions.find(({ type }) => type === next.type);
  if (old === undefined) return next.status === 'False' ? undefined : [...conditions, next];
  if (old.status === next.status && old.reason === next.reason && old.message === next.message) return undefined;
  const merged = old.status === next.status ? { ...next, lastTransitionTime: old.lastTransitionTime } : next;
  return conditions.map((one) => (one === old ? merged : one));
}

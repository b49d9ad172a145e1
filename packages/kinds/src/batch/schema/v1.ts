/** Jobs and cron jobs. */
import { always, bool, type Infer, int32, int64, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { PodTemplateSpec } from '../../core/schema/pods/pod.ts';
import { ObjectReference } from '../../core/schema/references.ts';
import { LabelSelector, ObjectMeta } from '../../meta.ts';

export const JobSpec = message('batch.v1.JobSpec', {
  parallelism: ptr(1, int32),
  completions: ptr(2, int32),
  activeDeadlineSeconds: ptr(3, int64),
  backoffLimit: ptr(7, int32),
  selector: ptr(4, LabelSelector),
  manualSelector: ptr(5, bool),
  template: req(6, PodTemplateSpec),
  ttlSecondsAfterFinished: ptr(8, int32),
  completionMode: ptr(9, string),
  suspend: ptr(10, bool),
});
export type JobSpec = Infer<typeof JobSpec>;

export const JobTemplateSpec = message('batch.v1.JobTemplateSpec', {
  metadata: always(1, ObjectMeta),
  spec: always(2, JobSpec),
});
export type JobTemplateSpec = Infer<typeof JobTemplateSpec>;

const CronJobSpec = message('batch.v1.CronJobSpec', {
  schedule: req(1, string),
  timeZone: ptr(8, string, { gate: 'CronJobTimeZone' }),
  startingDeadlineSeconds: ptr(2, int64),
  concurrencyPolicy: opt(3, string, { enum: ['Allow', 'Forbid', 'Replace'] }),
  suspend: ptr(4, bool),
  jobTemplate: req(5, JobTemplateSpec),
  successfulJobsHistoryLimit: ptr(6, int32),
  failedJobsHistoryLimit: ptr(7, int32),
});

export const CronJobStatus = message('batch.v1.CronJobStatus', {
  active: opt(1, list(ObjectReference)),
  lastScheduleTime: ptr(4, time),
  lastSuccessfulTime: ptr(5, time),
});
export type CronJobStatus = Infer<typeof CronJobStatus>;

export const CronJob = object('batch.v1.CronJob', {
  metadata: always(1, ObjectMeta),
  spec: always(2, CronJobSpec),
  status: always(3, CronJobStatus),
});
export type CronJob = Infer<typeof CronJob>;

const JobCondition = message('batch.v1.JobCondition', {
  type: req(1, string),
  status: req(2, string),
  lastProbeTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: opt(5, string),
  message: opt(6, string),
});

const UncountedTerminatedPods = message('batch.v1.UncountedTerminatedPods', {
  succeeded: opt(1, list(string, 'set')),
  failed: opt(2, list(string, 'set')),
});

export const JobStatus = message('batch.v1.JobStatus', {
  conditions: opt(1, list(JobCondition), { patch: 'merge', mergeKey: 'type' }),
  startTime: ptr(2, time),
  completionTime: ptr(3, time),
  active: opt(4, int32),
  succeeded: opt(5, int32),
  failed: opt(6, int32),
  completedIndexes: opt(7, string),
  uncountedTerminatedPods: ptr(8, UncountedTerminatedPods),
  ready: ptr(9, int32, { gate: 'JobReadyPods' }),
});
export type JobStatus = Infer<typeof JobStatus>;

export const Job = object('batch.v1.Job', {
  metadata: always(1, ObjectMeta),
  spec: always(2, JobSpec),
  status: always(3, JobStatus),
});
export type Job = Infer<typeof Job>;

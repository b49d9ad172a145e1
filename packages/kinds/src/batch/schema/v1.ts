/** Jobs and cron jobs. */
import { always, bool, type Infer, int32, int64, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { PodTemplateSpec } from '../../core/schema/pods/pod.ts';
import { ObjectReference } from '../../core/schema/references.ts';
import { LabelSelector, ObjectMeta } from '../../meta.ts';
import { pointerValues } from '../../published-values.ts';

const PodFailurePolicyOnExitCodesRequirement = message('batch.v1.PodFailurePolicyOnExitCodesRequirement', {
  containerName: always(1, string, { nullable: true, from: { '1.28': { always: false } } }),
  operator: req(2, string, { enum: ['In', 'NotIn'] }),
  values: req(3, list(int32, 'set')),
});

const PodFailurePolicyOnPodConditionsPattern = message('batch.v1.PodFailurePolicyOnPodConditionsPattern', {
  type: req(1, string),
  status: req(2, string, { from: { '1.35': { required: false } } }),
});

const PodFailurePolicyRule = message('batch.v1.PodFailurePolicyRule', {
  action: req(1, string, { enum: ['Count', 'FailJob', 'Ignore'], from: { '1.28': { enum: ['Count', 'FailIndex', 'FailJob', 'Ignore'] } } }),
  onExitCodes: always(2, PodFailurePolicyOnExitCodesRequirement, { nullable: true, from: { '1.28': { always: false } } }),
  onPodConditions: always(3, list(PodFailurePolicyOnPodConditionsPattern), { from: { '1.28': { always: false } } }),
});

const PodFailurePolicy = message('batch.v1.PodFailurePolicy', {
  rules: req(1, list(PodFailurePolicyRule)),
});

const SuccessPolicyRule = message('batch.v1.SuccessPolicyRule', {
  succeededIndexes: ptr(1, string),
  succeededCount: ptr(2, int32),
});

const SuccessPolicy = message('batch.v1.SuccessPolicy', {
  rules: req(1, list(SuccessPolicyRule)),
});

export const JobSpec = message('batch.v1.JobSpec', {
  parallelism: ptr(1, int32),
  completions: ptr(2, int32),
  activeDeadlineSeconds: ptr(3, int64),
  podFailurePolicy: ptr(11, PodFailurePolicy, { since: '1.25', gate: 'JobPodFailurePolicy' }),
  successPolicy: ptr(16, SuccessPolicy, { since: '1.30', gate: 'JobSuccessPolicy' }),
  backoffLimit: ptr(7, int32),
  backoffLimitPerIndex: ptr(12, int32, { since: '1.28', gate: 'JobBackoffLimitPerIndex' }),
  maxFailedIndexes: ptr(13, int32, { since: '1.28', gate: 'JobBackoffLimitPerIndex' }),
  selector: ptr(4, LabelSelector),
  manualSelector: ptr(5, bool),
  template: req(6, PodTemplateSpec),
  ttlSecondsAfterFinished: ptr(8, int32),
  completionMode: ptr(9, string, pointerValues('Indexed', 'NonIndexed')),
  suspend: ptr(10, bool),
  podReplacementPolicy: ptr(14, string, { since: '1.28', gate: 'JobPodReplacementPolicy', enum: ['Failed', 'TerminatingOrFailed'] }),
  managedBy: ptr(15, string, { since: '1.30', gate: 'JobManagedBy' }),
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
  spec: always(2, CronJobSpec, { from: { '1.36': { required: true } } }),
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
  terminating: ptr(11, int32, { since: '1.28', gate: 'JobPodReplacementPolicy' }),
  completedIndexes: opt(7, string),
  failedIndexes: ptr(10, string, { since: '1.28', gate: 'JobBackoffLimitPerIndex' }),
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

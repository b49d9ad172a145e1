import type { Descriptions } from '../../description-texts.ts';

export const batch: Descriptions = {
  'batch.Job': {
    $: 'Runs pods until a number of them has succeeded.',
    spec: 'Desired pods, and when the job is complete or has failed.',
    status: 'Observed progress of the job.',
  },
  'batch.JobSpec': {
    $: 'The desired behavior of a job. Completions, selector, template and completionMode cannot be changed.',
    parallelism: 'Most pods that run at the same time. Defaults to 1; 0 pauses the job.',
    completions:
      'Number of pods that must succeed. If it is not set, any success completes the job. Defaults to 1 if parallelism is not set either.',
    activeDeadlineSeconds: 'Seconds after its start at which the job is stopped and has failed, whatever its pods do. Must be positive.',
    backoffLimit: 'Number of retries before the job has failed. Defaults to 6.',
    selector: 'Labels of the pods that count. The server generates it; leave it empty.',
    manualSelector:
      'Use the given selector and labels of the template instead of generated ones. A wrong selector takes over pods of others. Defaults to false.',
    template: 'What the pods are created from. Their restartPolicy must be Never or OnFailure.',
    ttlSecondsAfterFinished:
      'Seconds after its end at which the job is deleted with its pods. 0 deletes at once; without it the job is kept.',
    completionMode:
      'NonIndexed counts successes; Indexed gives each pod an index from 0 to completions - 1, each of which must succeed once. Defaults to NonIndexed.',
    suspend: 'Keep no pods running: active ones are deleted, and the start time is reset when it becomes false again. Defaults to false.',
    podFailurePolicy:
      'What failed pods do to the job, by their exit codes and conditions. Without it every failure counts towards backoffLimit.',
    successPolicy: 'When an Indexed job has succeeded although not all of its indexes have. Cannot be changed.',
    backoffLimitPerIndex: 'Number of retries of each index, for Indexed jobs. An index that exceeds it has failed. Cannot be changed.',
    maxFailedIndexes: 'Most indexes that may fail before the whole job does. Only allowed with backoffLimitPerIndex.',
    podReplacementPolicy:
      'When a pod is replaced: TerminatingOrFailed as soon as it is being deleted, Failed only when it has ended. Defaults to TerminatingOrFailed, and to Failed if there is a podFailurePolicy, which allows nothing else.',
    managedBy: 'Controller that carries out the job, as domain/path. Without it the one of the control plane does. Cannot be changed.',
  },
  'batch.PodFailurePolicy': {
    $: 'What failed pods do to their job.',
    rules:
      'Rules in their order, at most 20: the first that matches a failed pod applies. Without one the failure counts towards backoffLimit.',
  },
  'batch.PodFailurePolicyRule': {
    $: 'What a failed pod does to its job. Exactly one of onExitCodes and onPodConditions is set.',
    action:
      'FailJob ends the job, FailIndex ends the index of the pod, Ignore replaces the pod without counting it, Count counts it towards backoffLimit.',
    onExitCodes: 'Exit codes of containers that match.',
    onPodConditions: 'Conditions of the pod that match, at most 20; one of them is enough.',
  },
  'batch.PodFailurePolicyOnExitCodesRequirement': {
    $: 'Exit codes of the containers of a failed pod. Containers that succeeded are left out.',
    containerName: 'Container that is looked at. Without it all containers are.',
    operator: 'In matches if an exit code is among the values, NotIn if one is not.',
    values: 'Exit codes in ascending order, from 1 to 255 of them. 0 is not allowed with In.',
  },
  'batch.PodFailurePolicyOnPodConditionsPattern': {
    $: 'A condition of a failed pod.',
    type: 'Type of the condition that the pod must have.',
    status: 'Status that the condition must have. Defaults to True.',
  },
  'batch.SuccessPolicy': {
    $: 'When an Indexed job has succeeded although not all of its indexes have.',
    rules: 'Rules in their order, from 1 to 20: one that is met is enough. The remaining pods are then ended.',
  },
  'batch.SuccessPolicyRule': {
    $: 'Indexes that must succeed. At least one of the fields is set.',
    succeededIndexes: 'Indexes of which all must succeed, or succeededCount of them, as numbers and ranges: 1,3-5,7.',
    succeededCount: 'Number of indexes that must succeed, of succeededIndexes if that is set.',
  },
  'batch.JobStatus': {
    $: 'The observed state of a job.',
    conditions: 'Observed conditions: Complete, Failed or Suspended.',
    startTime: 'When the controller began with the job. Reset when a suspended job is resumed.',
    completionTime: 'When the job completed successfully. Not set for failed jobs.',
    active: 'Number of pods that are pending or running.',
    succeeded: 'Number of pods that succeeded.',
    failed: 'Number of pods that failed.',
    completedIndexes: 'Indexes that have succeeded, for Indexed jobs, as numbers and ranges: 1,3-5,7.',
    uncountedTerminatedPods: 'Terminated pods that are not yet part of the counts.',
    ready: 'Number of active pods that are ready.',
    terminating: 'Number of pods that are being deleted and have not ended yet.',
    failedIndexes: 'Indexes that have failed, for jobs with backoffLimitPerIndex, as numbers and ranges: 1,3-5,7.',
  },
  'batch.JobCondition': {
    $: 'One observed aspect of the state of a job.',
    type: 'Complete, Failed or Suspended.',
  },
  'batch.UncountedTerminatedPods': {
    $: 'UIDs of terminated pods that are not yet part of the counts of their job.',
    succeeded: 'UIDs of those that succeeded.',
    failed: 'UIDs of those that failed.',
  },
  'batch.CronJob': {
    $: 'Creates jobs on a schedule.',
    spec: 'When jobs are created, and from what.',
    status: 'Jobs that run, and when the last was created.',
  },
  'batch.CronJobSpec': {
    $: 'The desired behavior of a cron job.',
    schedule:
      'When to create jobs, in cron format: minute, hour, day of month, month, day of week. @hourly, @daily and the like are allowed.',
    timeZone:
      'Time zone of the schedule, by its name in the time zone database, such as Europe/Berlin. Defaults to that of the controller.',
    startingDeadlineSeconds:
      'Seconds after its time within which a missed job may still be created. Later it counts as failed. No limit by default.',
    concurrencyPolicy:
      'What happens while the last job still runs: Allow creates the next, Forbid skips it, Replace cancels the last. Defaults to Allow.',
    suspend: 'Create no further jobs; jobs that run are not touched. Defaults to false.',
    jobTemplate: 'What the jobs are created from.',
    successfulJobsHistoryLimit: 'Number of successful jobs to keep. Defaults to 3.',
    failedJobsHistoryLimit: 'Number of failed jobs to keep. Defaults to 1.',
  },
  'batch.CronJobStatus': {
    $: 'The observed state of a cron job.',
    active: 'Jobs of this cron job that are running.',
    lastScheduleTime: 'When a job was last created on schedule.',
    lastSuccessfulTime: 'When a job last completed successfully.',
  },
  'batch.JobTemplateSpec': {
    $: 'What a job has when it is created from this template.',
    metadata: 'Labels and annotations that the jobs get.',
    spec: 'Desired behavior of the jobs.',
  },
};

/**
 * Validation of the status of a job. Controllers other than that of the server may write it (`managedBy`), so that from release 1.30 on
 * a job that is finished stays so, and its counts, times and indexes agree. A rule holds for what a write changes: what was stored
 * before may stay.
 */
import { equal } from '@plat-dev/lib/equal';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { immutableProblem } from '@plat-dev/meta/names';
import { timeMillis } from '@plat-dev/meta/time';
import type { KindEnv } from '../kind.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateCounts } from '../validation/replicas.ts';
import { indexesProblem, sharedIndex } from './job-indexes.ts';
import type { Job } from './schema/v1.ts';

const at = Path.of('status');
const conditionsAt = at.child('conditions');

const has = ({ status }: Job, type: string, value = 'True'): boolean =>
  status.conditions?.some((condition) => condition.type === type && condition.status === value) ?? false;
const isFinished = (job: Job): boolean => has(job, 'Complete') || has(job, 'Failed');

export function validateJobStatusUpdate(job: Job, old: Job, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(job, old, errors, env);
  validateCounts(job.status, env.since('1.28') ? counts : counts.slice(0, 4), at, errors);
  validateUncounted(job, errors);
  if (!env.since('1.30')) return;
  const strict = env.feature('JobManagedBy');
  if (strict) {
    validateConditions(job, old, errors, env);
    if (isFinished(job)) validateFinished(job, old, errors, env);
    validateIndexes(job, old, errors);
    if (env.since('1.31')) validatePods(job, old, errors);
  }
  validateSuccess(job, old, errors, env);
  if (strict) validateChanges(job, old, errors, env);
  if (has(old, SUCCESS) && !has(job, SUCCESS)) refuse(errors, 'cannot disable the SuccessCriteriaMet=True condition');
  if (has(old, 'Complete') && !has(old, SUCCESS) && has(job, SUCCESS))
    refuse(errors, 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
}
const counts = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const;
const SUCCESS = 'SuccessCriteriaMet';

function validateUncounted({ status: { uncountedTerminatedPods: uncounted } }: Job, errors: FieldErrors): void {
  const uids = new Set<string>();
  for (const field of ['succeeded', 'failed'] as const)
    uncounted?.[field]?.forEach((uid, i) => {
      const here = at.child('uncountedTerminatedPods').child(field).index(i);
      if (uid === '') errors.invalid(here, uid, 'must not be empty');
      else if (uids.has(uid)) errors.duplicate(here, uid);
      uids.add(uid);
    });
}

/** An error of several conditions, which shows no value. */
const refuse = (errors: FieldErrors, detail: string): void => errors.add('FieldValueInvalid', conditionsAt, `Invalid value: ${detail}`);

function validateConditions(job: Job, old: Job, errors: FieldErrors, env: KindEnv): void {
  const changed = (...types: string[]): boolean => types.some((type) => has(job, type) !== has(old, type));
  const complete = has(job, 'Complete');
  const failed = has(job, 'Failed');
  if (changed('Complete', 'Failed') && complete && failed) refuse(errors, 'cannot set Complete=True and Failed=true conditions');
  if (changed('Complete', 'FailureTarget') && complete && has(job, 'FailureTarget'))
    refuse(errors, 'cannot set Complete=True and FailureTarget=true conditions');
  validateCompletionTime(job, old, errors);
  if (!env.since('1.31')) return;
  const indexesChanged = job.status.failedIndexes !== old.status.failedIndexes;
  if ((changed('Failed') || indexesChanged) && failed && !has(job, 'FailureTarget'))
    refuse(errors, 'cannot set Failed=True condition without the FailureTarget=true condition');
  if (changed('Complete', SUCCESS) && complete && !has(job, SUCCESS))
    refuse(errors, 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
}

function validateCompletionTime(job: Job, old: Job, errors: FieldErrors): void {
  const { startTime, completionTime } = job.status;
  const here = at.child('completionTime');
  const timeChanged = completionTime !== old.status.completionTime;
  if (timeChanged || has(job, 'Complete') !== has(old, 'Complete')) {
    if (completionTime !== undefined && !has(job, 'Complete'))
      errors.invalid(here, completionTime, 'cannot set completionTime when there is no Complete=True condition');
    if (completionTime === undefined && has(job, 'Complete')) errors.required(here, 'completionTime is required for Complete jobs');
  }
  if (!timeChanged && startTime === old.status.startTime) return;
  if (startTime !== undefined && completionTime !== undefined && timeMillis(completionTime) < timeMillis(startTime))
    errors.invalid(here, completionTime, 'must be equal to or after `startTime`');
}

/** A finished job has started, and its pods are counted. */
function validateFinished({ spec, status }: Job, old: Job, errors: FieldErrors, env: KindEnv): void {
  const finishes = !isFinished(old);
  const { active = 0, startTime, uncountedTerminatedPods: uncounted } = status;
  if ((finishes || active !== (old.status.active ?? 0)) && active > 0)
    errors.invalid(at.child('active'), active, 'active>0 is invalid for finished job');
  const neverStarts = env.since('1.32') && spec.suspend === true && spec.completions === 0;
  if ((finishes || startTime !== old.status.startTime) && startTime === undefined && !neverStarts)
    errors.required(at.child('startTime'), 'startTime is required for finished job');
  const uncountedPods = [...(uncounted?.succeeded ?? []), ...(uncounted?.failed ?? [])];
  if ((finishes || !equal(uncounted, old.status.uncountedTerminatedPods)) && uncountedPods.length > 0)
    errors.invalid(at.child('uncountedTerminatedPods'), uncounted, 'must be empty for finished job');
}

function validateIndexes({ spec, status }: Job, old: Job, errors: FieldErrors): void {
  const { completedIndexes: completed = '', failedIndexes: failed } = status;
  const completedChanged = completed !== (old.status.completedIndexes ?? '');
  const failedChanged = failed !== old.status.failedIndexes;
  const { completions } = spec;
  const check = (field: string, text: string): void => {
    const problem = completions === undefined ? undefined : indexesProblem(text, completions);
    if (problem !== undefined) errors.invalid(at.child(field), text, `error parsing ${field}: ${problem}`);
  };
  if (completedChanged) check('completedIndexes', completed);
  if (failedChanged && failed !== undefined && spec.backoffLimitPerIndex !== undefined) check('failedIndexes', failed);
  if (completedChanged && completed !== '' && spec.completionMode !== 'Indexed')
    errors.invalid(at.child('completedIndexes'), completed, 'cannot set non-empty completedIndexes when non-indexed completion mode');
  if (failed === undefined) return;
  if (failedChanged && spec.backoffLimitPerIndex === undefined)
    errors.invalid(at.child('failedIndexes'), failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null');
  if (completions === undefined || !(failedChanged || completedChanged)) return;
  const shared = sharedIndex(completed, failed, completions);
  if (shared !== undefined)
    errors.invalid(at.child('failedIndexes'), failed, `failedIndexes and completedIndexes overlap at index: ${shared}`);
}

function validatePods(job: Job, old: Job, errors: FieldErrors): void {
  const { active = 0, ready, terminating = 0 } = job.status;
  const finished = isFinished(job);
  if ((finished !== isFinished(old) || terminating !== (old.status.terminating ?? 0)) && finished && terminating > 0)
    errors.invalid(at.child('terminating'), terminating, 'terminating>0 is invalid for finished job');
  if ((ready !== old.status.ready || active !== (old.status.active ?? 0)) && ready !== undefined && ready > active)
    errors.invalid(at.child('ready'), ready, 'cannot set more ready pods than active');
}

/** Since 1.31 jobs without a success policy may have met their criteria, too. */
function validateSuccess(job: Job, old: Job, errors: FieldErrors, env: KindEnv): void {
  const met = has(job, SUCCESS);
  const anyJob = env.since('1.31') && (env.feature('JobManagedBy') || env.feature('JobPodReplacementPolicy') || has(old, SUCCESS));
  if (met && !anyJob && job.spec.completionMode !== 'Indexed') refuse(errors, 'cannot set SuccessCriteriaMet to NonIndexed Job');
  if (met && has(job, 'Failed')) refuse(errors, 'cannot set SuccessCriteriaMet=True and Failed=true conditions');
  if (met && has(job, 'FailureTarget')) refuse(errors, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  if (met && !anyJob && job.spec.successPolicy === undefined)
    refuse(errors, 'cannot set SuccessCriteriaMet=True for Job without SuccessPolicy');
  if (job.spec.successPolicy !== undefined && !met && has(job, 'Complete'))
    refuse(errors, 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
}

/** What is counted once stays counted, and what has ended does not begin again. */
function validateChanges(job: Job, old: Job, errors: FieldErrors, env: KindEnv): void {
  const { spec, status } = job;
  const terminal = env.since('1.31') ? ['Failed', 'Complete', 'FailureTarget'] : ['Failed', 'Complete'];
  for (const type of terminal) if (has(old, type) && !has(job, type)) refuse(errors, `cannot disable the terminal ${type}=True condition`);
  const { failed = 0, succeeded = 0, startTime, completionTime } = status;
  if (failed < (old.status.failed ?? 0)) errors.invalid(at.child('failed'), failed, 'cannot decrease the failed counter');
  const shrinks = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!shrinks && succeeded < (old.status.succeeded ?? 0))
    errors.invalid(at.child('succeeded'), succeeded, 'cannot decrease the succeeded counter');
  const { startTime: oldStart, completionTime: oldEnd } = old.status;
  if (completionTime !== undefined && oldEnd !== undefined && completionTime !== oldEnd)
    errors.invalid(at.child('completionTime'), completionTime, immutableProblem);
  const resumes = env.since('1.32') && has(old, 'Suspended') && has(job, 'Suspended', 'False');
  if (oldStart !== undefined && startTime !== oldStart && !resumes && spec.suspend !== true)
    errors.invalid(at.child('startTime'), startTime, 'field is immutable for unsuspended job once set');
}

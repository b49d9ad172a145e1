/** Cron jobs. */
import type { Work } from '@plat-dev/lib/slices';
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { ageCell, nameCell, selectorCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { podTemplateDefaults } from '../core/pods/pod-defaults.ts';
import { podGates } from '../core/pods/pod-gates.ts';
import { containerCells, NONE } from '../core/pods/template-cells.ts';
import { type KindEnv, kind, type Strategy } from '../kind.ts';
import { status } from '../subresources.ts';
import { notNegative, word } from '../validation/field-checks.ts';
import { invalidText, selectorText, unsupportedText } from '../validation/go-text.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { keepsSpec, prepareTemplate, templateWarnings } from '../validation/workload.ts';
import { failurePolicyDefaults, jobWarnings, nameWarnings } from './job.ts';
import { validateJobSpec } from './job-rules.ts';
import { isTimeZone, LONGEST_SCHEDULE, scheduleProblem } from './schedule.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

type CronJob = v1.CronJob;
const specAt = Path.of('spec');
const jobAt = specAt.child('jobTemplate').child('spec');
const policies = ['Allow', 'Forbid', 'Replace'];
/** The name of a job is that of its cron job and the scheduled minute, which takes eleven characters. */
const maxName = 52;

function defaults({ spec }: CronJob, env: KindEnv): void {
  spec.concurrencyPolicy ??= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  failurePolicyDefaults(spec.jobTemplate.spec);
  podTemplateDefaults(spec.jobTemplate.spec.template, env);
}

function* validateSpec({ spec }: CronJob, old: CronJob | undefined, errors: FieldErrors, env: KindEnv): Work<void> {
  // One that was stored without the limit may stay.
  if (spec.schedule.length <= LONGEST_SCHEDULE || spec.schedule !== old?.spec.schedule) validateSchedule(spec, old, errors, env);
  notNegative(spec.startingDeadlineSeconds, specAt, 'startingDeadlineSeconds', errors);
  if (spec.timeZone !== undefined && spec.timeZone !== old?.spec.timeZone) validateTimeZone(spec.timeZone, errors, env);
  word(spec.concurrencyPolicy, policies, specAt.child('concurrencyPolicy'), errors);
  const job = spec.jobTemplate.spec;
  yield* validateJobSpec(job, jobAt, errors, env);
  if (job.selector !== undefined)
    invalidText(errors, jobAt.child('selector'), selectorText(job.selector), '`selector` will be auto-generated');
  if (job.manualSelector) unsupportedText(errors, jobAt.child('manualSelector'), 'true', ['nil', 'false']);
  notNegative(spec.successfulJobsHistoryLimit, specAt, 'successfulJobsHistoryLimit', errors);
  notNegative(spec.failedJobsHistoryLimit, specAt, 'failedJobsHistoryLimit', errors);
}

function validateSchedule({ schedule, timeZone }: CronJob['spec'], old: CronJob | undefined, errors: FieldErrors, env: KindEnv): void {
  const at = specAt.child('schedule');
  const problem = schedule === '' ? undefined : scheduleProblem(schedule);
  if (schedule === '') errors.required(at);
  else if (problem !== undefined) errors.invalid(at, schedule, problem);
  if (!schedule.includes('TZ')) return;
  if (env.since('1.29') && !old?.spec.schedule.includes('TZ'))
    errors.invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  else if (timeZone !== undefined) errors.invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
}

const zonePart = /^[A-Za-z.\-_0-9+]{1,14}$/;
function validateTimeZone(zone: string, errors: FieldErrors, env: KindEnv): void {
  const at = specAt.child('timeZone');
  if (zone === '') errors.invalid(at, zone, 'timeZone must be nil or non-empty string');
  else if (
    env.since('1.27') &&
    zone.split('/').some((part) => !zonePart.test(part) || part === '.' || part === '..' || part.startsWith('-'))
  )
    errors.invalid(at, zone, `unknown time zone ${zone}`);
  else if (zone.toLowerCase() === 'local')
    errors.invalid(at, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  else if (!isTimeZone(zone)) errors.invalid(at, zone, `unknown time zone ${zone}`);
}

const strategy: Strategy<CronJob> = {
  prepareForCreate(cronJob) {
    cronJob.status = {};
    prepareTemplate(cronJob.spec.jobTemplate.spec.template);
  },
  prepareForUpdate(cronJob, old) {
    cronJob.status = old.status;
    prepareTemplate(cronJob.spec.jobTemplate.spec.template);
  },
  *validate(cronJob, errors, env) {
    yield* validateSpec(cronJob, undefined, errors, env);
    const { name = '' } = cronJob.metadata;
    if (name.length > maxName) errors.invalid(Path.of('metadata', 'name'), name, `must be no more than ${maxName} characters`);
  },
  *validateUpdate(cronJob, old, errors, env) {
    metadataUpdateAgain(cronJob, old, errors, env);
    yield* validateSpec(cronJob, old, errors, env);
  },
  warnings(cronJob, old, env) {
    const { spec } = cronJob;
    const job = spec.jobTemplate.spec;
    const warnings = [
      ...nameWarnings(cronJob, old, env),
      ...jobWarnings(job, jobAt, env),
      ...templateWarnings(cronJob, old, job.template, jobAt.child('template'), env),
    ];
    if (spec.schedule.includes('TZ') && !env.since('1.29'))
      warnings.push(
        `CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see https://${env.identity.domain}/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
      );
    return warnings;
  },
  resetFields: [['status']],
};

const statusStrategy = keepsSpec<CronJob>((cronJob, old, errors, env) => metadataUpdateAgain(cronJob, old, errors, env));

export const CronJobKind = kind<v1.CronJob>({
  group: 'batch',
  kind: 'CronJob',
  plural: 'cronjobs',
  short: ['cj'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: {
    v1: { schema: v1.CronJob, defaults },
    v1beta1: {
      schema: v1beta1.CronJob,
      defaults,
      unknownField: (field) => `field label ${JSON.stringify(field)} not supported for "CronJob"`,
    },
  },
  hub: 'v1',
  generation: true,
  orphansByDefault: ['v1beta1'],
  strategy,
  gated: podGates(({ spec }) => spec.jobTemplate.spec.template),
  subresources: { status: status(statusStrategy) },
  columns: [
    nameColumn,
    { name: 'Schedule', type: 'string', description: 'When jobs are started, in the form of a cron line.' },
    { name: 'Timezone', type: 'string', since: '1.30', description: 'The time zone of the schedule.' },
    { name: 'Suspend', type: 'boolean', description: 'Whether new jobs are held back.' },
    { name: 'Active', type: 'integer', description: 'How many jobs are running.' },
    { name: 'Last Schedule', type: 'string', description: 'How long ago a job was last started.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
  cells: (cronJob, env) => [
    nameCell(cronJob),
    cronJob.spec.schedule,
    cronJob.spec.timeZone ?? NONE,
    cronJob.spec.suspend === undefined ? '<unset>' : cronJob.spec.suspend ? 'True' : 'False',
    cronJob.status.active?.length ?? 0,
    cronJob.status.lastScheduleTime === undefined ? NONE : ageAt(env.now(), cronJob.status.lastScheduleTime),
    ageCell(cronJob, env),
    ...containerCells(cronJob.spec.jobTemplate.spec.template),
    selectorCell(cronJob.spec.jobTemplate.spec.selector),
  ],
});

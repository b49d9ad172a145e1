/** Jobs. */

import { humanDuration } from '@plat-dev/meta/age';
import { Path } from '@plat-dev/meta/field';
import { dns1123Label } from '@plat-dev/meta/names';
import { timeMillis } from '@plat-dev/meta/time';
import { ageCell, nameCell, selectorCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { podTemplateDefaults } from '../core/pods/pod-defaults.ts';
import { templateGates } from '../core/pods/pod-gates.ts';
import { containerCells } from '../core/pods/template-cells.ts';
import { type ApiObject, type GateRule, type KindEnv, kind, type Strategy } from '../kind.ts';
import { status } from '../subresources.ts';
import { keepsSpec, prepareTemplate, templateWarnings } from '../validation/workload.ts';
import { ownLabels, trackingAnnotation, validateJob, validateJobUpdate } from './job-rules.ts';
import { validateJobStatusUpdate } from './job-status-rules.ts';
import { Job, type JobSpec } from './schema/v1.ts';

const templateAt = Path.of('spec', 'template');

const NO_LIMIT = 2 ** 31 - 1;

/** A pattern without a status is about the conditions that are true. */
export function failurePolicyDefaults({ podFailurePolicy }: JobSpec): void {
  for (const rule of podFailurePolicy?.rules ?? [])
    for (const pattern of rule.onPodConditions ?? []) if ((pattern.status ?? '') === '') pattern.status = 'True';
}

function defaults(job: Job, env: KindEnv): void {
  const { metadata, spec } = job;
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : NO_LIMIT;
  // One map for both: labels that are generated for the template later are also those of a job without labels.
  if (spec.template.metadata.labels !== undefined) metadata.labels ??= spec.template.metadata.labels;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  if (env.since('1.28') && env.feature('JobPodReplacementPolicy'))
    spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  if (env.since('1.29')) spec.manualSelector ??= false;
  failurePolicyDefaults(spec);
  podTemplateDefaults(spec.template, env);
}

/** Without a manual selector, a job selects its pods by its own uid. Given labels are kept, and validation refuses them. */
function generateSelector(job: Job, env: KindEnv): void {
  const { metadata, spec } = job;
  const { labels, selected } = ownLabels(job, env);
  const { template } = spec;
  const templateLabels = template.metadata.labels;
  template.metadata.labels = { ...labels, ...templateLabels };
  if (templateLabels !== undefined && metadata.labels === templateLabels) metadata.labels = { ...template.metadata.labels };
  spec.selector ??= {};
  spec.selector.matchLabels = { [selected]: metadata.uid ?? '', ...spec.selector.matchLabels };
}

/** Rules about an index have no meaning while indexes have no limit of their own. */
function dropFailIndex({ podFailurePolicy }: JobSpec, env: KindEnv): void {
  if (podFailurePolicy?.rules !== undefined && env.since('1.28') && !env.feature('JobBackoffLimitPerIndex'))
    podFailurePolicy.rules = podFailurePolicy.rules.filter(({ action }) => action !== 'FailIndex');
}

/** Names of pods are made from that of their job. */
export function nameWarnings({ metadata: { name = '' } }: ApiObject, old: ApiObject | undefined, env: KindEnv): string[] {
  const problems = old !== undefined || !env.since('1.27') ? [] : dns1123Label(name);
  const text = 'this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return problems.length === 0 ? [] : [`metadata.name: ${text}: [${problems.join(' ')}]`];
}

const MANY_COMPLETIONS = 100_000;
const MANY_AT_ONCE = 10_000;
export function jobWarnings({ completionMode, completions = 0, parallelism = 0 }: JobSpec, at: Path, env: KindEnv): string[] {
  if (!env.since('1.28') || completionMode !== 'Indexed' || completions <= MANY_COMPLETIONS || parallelism <= MANY_AT_ONCE) return [];
  return [
    `${at}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
  ];
}

const tracking: GateRule<Job> = {
  gate: 'JobTrackingWithFinalizers',
  uses: ({ metadata }, identity) => metadata.annotations?.[trackingAnnotation(identity)] !== undefined,
  clear: ({ metadata }, identity) => delete metadata.annotations?.[trackingAnnotation(identity)],
};

const strategy: Strategy<Job> = {
  prepareForCreate(job, env) {
    if (!job.spec.manualSelector) generateSelector(job, env);
    dropFailIndex(job.spec, env);
    // The labels of the template are the default labels of the job.
    if (job.spec.template.metadata.labels !== undefined) job.metadata.labels ??= { ...job.spec.template.metadata.labels };
    job.status = {};
    prepareTemplate(job.spec.template);
    // Jobs that are created while the feature is on are always tracked by finalizers; later releases need no mark for it.
    if (!env.since('1.28') && env.feature('JobTrackingWithFinalizers'))
      job.metadata.annotations = { ...job.metadata.annotations, [trackingAnnotation(env.identity)]: '' };
  },
  prepareForUpdate(job, old) {
    job.status = old.status;
    prepareTemplate(job.spec.template);
  },
  validate: (job, errors, env) => validateJob(job, errors, env),
  validateUpdate: validateJobUpdate,
  warnings: (job, old, env) => [
    ...nameWarnings(job, old, env),
    ...jobWarnings(job.spec, Path.of('spec'), env),
    ...templateWarnings(job, old, job.spec.template, templateAt, env),
  ],
  resetFields: [['status']],
};

function statusCell({ metadata, status: { conditions = [] } }: Job): string {
  const has = (type: string): boolean => conditions.some((condition) => condition.type === type && condition.status === 'True');
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (has('Suspended')) return 'Suspended';
  if (has('FailureTarget')) return 'FailureTarget';
  return has('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

function completions({ spec, status: now }: Job): string {
  const succeeded = now.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const { parallelism = 0 } = spec;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

/** How long the job ran, or has been running. */
function duration({ status: now }: Job, env: KindEnv): string {
  if (now.startTime === undefined) return '';
  const end = now.completionTime === undefined ? env.now() : timeMillis(now.completionTime);
  return humanDuration(end - timeMillis(now.startTime));
}

export const JobKind = kind<Job>({
  group: 'batch',
  kind: 'Job',
  plural: 'jobs',
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: Job, defaults, unknownField: (field) => `field label ${JSON.stringify(field)} not supported for Job` } },
  hub: 'v1',
  generation: true,
  orphansByDefault: true,
  deletionWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  strategy,
  gated: [...templateGates, tracking],
  subresources: { status: status(keepsSpec(validateJobStatusUpdate)) },
  fields: { 'status.successful': (job) => String(job.status.succeeded ?? 0) },
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', since: '1.30', description: 'Whether the job runs, is suspended, complete or has failed.' },
    { name: 'Completions', type: 'string', description: 'How many pods have succeeded, of those that have to.' },
    { name: 'Duration', type: 'string', description: 'How long the job ran, or has been running.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
  cells: (job, env) => [
    nameCell(job),
    statusCell(job),
    completions(job),
    duration(job, env),
    ageCell(job, env),
    ...containerCells(job.spec.template),
    selectorCell(job.spec.selector),
  ],
});

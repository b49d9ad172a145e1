/** Jobs. */

import { humanDuration } from '@plat-dev/meta/age';
import { Path } from '@plat-dev/meta/field';
import { timeMillis } from '@plat-dev/meta/time';
import { ageCell, nameCell, selectorCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { podTemplateDefaults } from '../core/pods/pod-defaults.ts';
import { templateGates } from '../core/pods/pod-gates.ts';
import { containerCells } from '../core/pods/template-cells.ts';
import { type GateRule, type KindEnv, kind, type Strategy } from '../kind.ts';
import { status } from '../subresources.ts';
import { keepsSpec, prepareTemplate, templateWarnings } from '../validation/workload.ts';
import { nameLabel, trackingAnnotation, uidLabel, validateJob, validateJobStatusUpdate, validateJobUpdate } from './job-rules.ts';
import { Job } from './schema/v1.ts';

const templateAt = Path.of('spec', 'template');

function defaults(job: Job, env: KindEnv): void {
  const { metadata, spec } = job;
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= 6;
  // One map for both: labels that are generated for the template later are also those of a job without labels.
  if (spec.template.metadata.labels !== undefined) metadata.labels ??= spec.template.metadata.labels;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  podTemplateDefaults(spec.template, env);
}

/** Without a manual selector, a job selects its pods by its own uid. Given labels are kept, and validation refuses them. */
function generateSelector({ metadata, spec }: Job): void {
  const { uid = '', name = '' } = metadata;
  const { template } = spec;
  const templateLabels = template.metadata.labels;
  template.metadata.labels = { [nameLabel]: name, [uidLabel]: uid, ...templateLabels };
  if (templateLabels !== undefined && metadata.labels === templateLabels) metadata.labels = { ...template.metadata.labels };
  spec.selector ??= {};
  spec.selector.matchLabels = { [uidLabel]: uid, ...spec.selector.matchLabels };
}

const tracking: GateRule<Job> = {
  gate: 'JobTrackingWithFinalizers',
  uses: ({ metadata }, identity) => metadata.annotations?.[trackingAnnotation(identity)] !== undefined,
  clear: ({ metadata }, identity) => delete metadata.annotations?.[trackingAnnotation(identity)],
};

const strategy: Strategy<Job> = {
  prepareForCreate(job, env) {
    if (!job.spec.manualSelector) generateSelector(job);
    // The labels of the template are the default labels of the job.
    if (job.spec.template.metadata.labels !== undefined) job.metadata.labels ??= { ...job.spec.template.metadata.labels };
    job.status = {};
    prepareTemplate(job.spec.template);
    // Jobs that are created while the feature is on are always tracked by finalizers.
    if (env.feature('JobTrackingWithFinalizers'))
      job.metadata.annotations = { ...job.metadata.annotations, [trackingAnnotation(env.identity)]: '' };
  },
  prepareForUpdate(job, old) {
    job.status = old.status;
    prepareTemplate(job.spec.template);
  },
  validate: validateJob,
  validateUpdate: validateJobUpdate,
  warnings: (job, old, env) => templateWarnings(job, old, job.spec.template, templateAt, env),
  resetFields: [['status']],
};

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
    { name: 'Completions', type: 'string', description: 'How many pods have succeeded, of those that have to.' },
    { name: 'Duration', type: 'string', description: 'How long the job ran, or has been running.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
  cells: (job, env) => [
    nameCell(job),
    completions(job),
    duration(job, env),
    ageCell(job, env),
    ...containerCells(job.spec.template),
    selectorCell(job.spec.selector),
  ],
});

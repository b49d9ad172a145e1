/** Validation of jobs and of job templates of cron jobs. */

import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { dns1123Label, immutableProblem } from '@plat-dev/meta/names';
import type { PodSpec, PodTemplateSpec } from '../core/schema/pods/pod.ts';
import type { KindEnv } from '../kind.ts';
import { immutable } from '../validation/field-checks.ts';
import { invalidText, mapText, selectorText } from '../validation/go-text.ts';
import { validateTemplate } from '../validation/pods/template.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateCounts } from '../validation/replicas.ts';
import { compileSelector } from '../validation/selectors.ts';
import { validatePolicies } from './job-policies.ts';
import type { Job, JobSpec } from './schema/v1.ts';

/** Labels by which a job selects its own pods; since release 1.27 they have a domain as well. */
const uidLabel = 'controller-uid';
const nameLabel = 'job-name';
interface OwnLabels {
  /** Those of the template, in the order in which they are checked. */
  readonly labels: Readonly<Record<string, string>>;
  /** The one that the selector has. */
  readonly selected: string;
}
export function ownLabels({ metadata: { uid = '', name = '' } }: Job, env: KindEnv): OwnLabels {
  const older = { [uidLabel]: uid, [nameLabel]: name };
  if (!env.since('1.27')) return { labels: older, selected: uidLabel };
  const selected = domainName(env.identity, uidLabel, 'batch');
  return { labels: { ...older, [selected]: uid, [domainName(env.identity, nameLabel, 'batch')]: name }, selected };
}
/** Marks jobs whose pods are counted by their finalizers. */
export const trackingAnnotation = (identity: Identity): QualifiedName => domainName(identity, 'job-tracking', 'batch');

const specAt = Path.of('spec');
const completionModes = ['NonIndexed', 'Indexed'];
const maxIndexedParallelism = 100_000;

/** `old` is the stored job: one of an older release has no labels with a domain. */
export function* validateJob(job: Job, errors: FieldErrors, env: KindEnv, old?: Job): Work<void> {
  validateGeneratedSelector(job, errors, env, old);
  yield* validateSelectingSpec(job.spec, errors, env);
  const { completionMode, completions = 0 } = job.spec;
  if (completionMode !== 'Indexed' || completions <= 0) return;
  // Pods of an indexed job have host names with their index.
  const { name = '' } = job.metadata;
  const host = `${name}-${completions - 1}`;
  if (dns1123Label(host).length > 0)
    errors.invalid(Path.of('metadata', 'name'), name, `will not able to create pod with invalid DNS label: ${host}`);
}

function validateGeneratedSelector(job: Job, errors: FieldErrors, env: KindEnv, old: Job | undefined): void {
  const { selector, template, manualSelector } = job.spec;
  if (manualSelector || selector === undefined) return;
  const { uid = '' } = job.metadata;
  if (uid === '') errors.required(Path.of('metadata', 'uid'));
  const at = Path.of('spec', 'template', 'metadata', 'labels');
  const all = ownLabels(job, env).labels;
  const oldLabels = old?.spec.template.metadata.labels;
  const isOlder = old !== undefined && Object.keys(all).some((key) => own(oldLabels, key) === undefined);
  const expected = isOlder ? Object.fromEntries(Object.entries(all).slice(0, 2)) : all;
  for (const [key, value] of Object.entries(expected)) {
    const actual = own(template.metadata.labels, key);
    if (actual === undefined) errors.required(at.key(key), `must be '${value}'`);
    else if (actual !== value) invalidText(errors, at.key(key), mapText(template.metadata.labels), `must be '${value}'`);
  }
  if (compileSelector(selector)?.matches(expected) === false)
    invalidText(errors, specAt.child('selector'), selectorText(selector), '`selector` not auto-generated');
}

function* validateSelectingSpec(spec: JobSpec, errors: FieldErrors, env: KindEnv): Work<void> {
  const { selector } = spec;
  yield* validateJobSpec(spec, specAt, errors, env);
  if (selector === undefined) errors.required(specAt.child('selector'));
  else validateLabelSelector(selector, specAt.child('selector'), errors);
  const { labels } = spec.template.metadata;
  if (compileSelector(selector)?.matches(labels) === false)
    invalidText(
      errors,
      specAt.child('template').child('metadata').child('labels'),
      mapText(labels),
      '`selector` does not match template `labels`',
    );
}

/** The spec without its selector. */
export function* validateJobSpec(spec: JobSpec, at: Path, errors: FieldErrors, env: KindEnv): Work<void> {
  validateCounts(spec, ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'], at, errors);
  validateCompletionMode(spec, at, errors);
  validatePolicies(spec, at, errors, env);
  const templateAt = at.child('template');
  yield* validateTemplate(spec.template, templateAt, errors, env);
  const policy = spec.template.spec.restartPolicy;
  const policyAt = templateAt.child('spec').child('restartPolicy');
  if (policy === undefined || policy === 'Always') errors.required(policyAt, 'valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') errors.notSupported(policyAt, policy, ['OnFailure', 'Never']);
  else if (spec.podFailurePolicy !== undefined && policy !== 'Never')
    errors.invalid(policyAt, policy, 'only "Never" is supported when podFailurePolicy is specified');
}

function validateCompletionMode({ completionMode: mode, completions, parallelism = 0 }: JobSpec, at: Path, errors: FieldErrors): void {
  if (mode === undefined) return;
  if (!completionModes.includes(mode)) errors.notSupported(at.child('completionMode'), mode, completionModes);
  if (mode !== 'Indexed') return;
  if (completions === undefined) errors.required(at.child('completions'), 'when completion mode is Indexed');
  if (parallelism > maxIndexedParallelism)
    errors.invalid(
      at.child('parallelism'),
      parallelism,
      `must be less than or equal to ${maxIndexedParallelism} when completion mode is Indexed`,
    );
}

// ---- update ------------------------------------------------------------------------------------------------------

export function* validateJobUpdate(job: Job, old: Job, errors: FieldErrors, env: KindEnv): Work<void> {
  metadataAgain(job, { namespaced: true }, errors, env);
  yield* validateJob(job, errors, env, old);
  const tracking = trackingAnnotation(env.identity);
  if (!env.since('1.28') && job.metadata.annotations?.[tracking] !== undefined && old.metadata.annotations?.[tracking] === undefined)
    errors.forbidden(Path.of('metadata', 'annotations').key(tracking), 'cannot add this annotation');
  metadataUpdateAgain(job, old, errors, env);
  const { spec } = job;
  yield* validateSelectingSpec(spec, errors, env);
  validateCompletionsUpdate(spec, old.spec, errors, env);
  immutable(spec.selector, old.spec.selector, specAt.child('selector'), errors, () => selectorText(spec.selector));
  validateTemplateUpdate(job, old, errors, env);
  immutable(spec.completionMode, old.spec.completionMode, specAt.child('completionMode'), errors);
  for (const field of ['podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const)
    immutable(spec[field], old.spec[field], specAt.child(field), errors);
}

/** An indexed job may grow and shrink, where it runs all of its pods at once. */
function validateCompletionsUpdate(
  { completionMode, completions, parallelism }: JobSpec,
  old: JobSpec,
  errors: FieldErrors,
  env: KindEnv,
): void {
  const at = specAt.child('completions');
  if (completionMode !== 'Indexed' || !env.since('1.27') || !env.feature('ElasticIndexedJob'))
    immutable(completions, old.completions, at, errors);
  else if (completions !== undefined && completions !== old.completions && completions !== parallelism)
    errors.invalid(at, completions, 'can only be modified in tandem with spec.parallelism');
}

/**
 * The node placement of the pods may be changed while a job is suspended and was never started; later releases let it and the resources
 * of containers change while a suspended job has no pods.
 */
function validateTemplateUpdate({ spec }: Job, old: Job, errors: FieldErrors, env: KindEnv): void {
  const suspended = old.spec.suspend === true;
  const neverStarted = suspended && old.status.startTime === undefined;
  const isSuspended = old.status.conditions?.some(({ type, status }) => type === 'Suspended' && status === 'True') ?? false;
  const hasNoPods = suspended && (neverStarted || isSuspended) && (old.status.active ?? 0) === 0;
  const placement = env.feature('MutableSchedulingDirectivesForSuspendedJobs') ? hasNoPods : neverStarted;
  const oldTemplate =
    placement && env.feature('JobMutableNodeSchedulingDirectives')
      ? withScheduling(old.spec.template, spec.template, env)
      : old.spec.template;
  const at = specAt.child('template');
  if (hasNoPods && env.feature('MutablePodResourcesForSuspendedJobs')) {
    if (!equal(spec.template.spec, withResources(oldTemplate.spec, spec.template.spec)))
      errors.invalid(at.child('spec'), spec.template.spec, immutableProblem);
  } else if (!equal(spec.template, oldTemplate)) errors.invalid(at, spec.template, immutableProblem);
}

/** The old pods with the resources of the new ones, container by container. */
function withResources(old: PodSpec, { containers, initContainers }: PodSpec): PodSpec {
  const merge = (list: PodSpec['containers'], now: PodSpec['containers'] = []): PodSpec['containers'] =>
    list?.length !== now.length
      ? list
      : list.map((container, i) => {
          const same = now[i];
          if (same?.name !== container.name) return container;
          const { resources: _, ...rest } = container;
          return { ...rest, ...(same.resources !== undefined && { resources: same.resources }) } as typeof container;
        });
  return {
    ...old,
    containers: merge(old.containers, containers),
    ...(old.initContainers !== undefined && { initContainers: merge(old.initContainers, initContainers) }),
  } as PodSpec;
}

/** The old template with the node placement of the new one. */
function withScheduling(old: PodTemplateSpec, { metadata, spec }: PodTemplateSpec, env: KindEnv): PodTemplateSpec {
  const { nodeSelector, tolerations, affinity } = spec;
  const { nodeAffinity: _node, ...otherAffinity } = old.spec.affinity ?? {};
  const merged = affinity?.nodeAffinity === undefined ? otherAffinity : { ...otherAffinity, nodeAffinity: affinity.nodeAffinity };
  const { nodeSelector: _selector, tolerations: _tolerations, affinity: _affinity, ...others } = old.spec;
  const { schedulingGates: _gates, ...ungated } = others;
  const rest = env.since('1.27') ? { ...ungated, ...(spec.schedulingGates && { schedulingGates: spec.schedulingGates }) } : others;
  const { labels: _labels, annotations: _annotations, ...meta } = old.metadata;
  return {
    metadata: {
      ...meta,
      ...(metadata.labels !== undefined && { labels: metadata.labels }),
      ...(metadata.annotations !== undefined && { annotations: metadata.annotations }),
    },
    spec: {
      ...rest,
      ...(nodeSelector !== undefined && { nodeSelector }),
      ...(tolerations !== undefined && { tolerations }),
      // An affinity with node affinity alone may be removed with it.
      ...((affinity !== undefined || Object.keys(merged).length > 0) && { affinity: merged }),
    },
  };
}

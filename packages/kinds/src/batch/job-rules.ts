/** Validation of jobs and of job templates of cron jobs. */

import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { dns1123Label } from '@plat-dev/meta/names';
import type { PodTemplateSpec } from '../core/schema/pods/pod.ts';
import type { KindEnv } from '../kind.ts';
import { immutable } from '../validation/field-checks.ts';
import { invalidText, mapText, selectorText } from '../validation/go-text.ts';
import { validateTemplate } from '../validation/pods/template.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateCounts } from '../validation/replicas.ts';
import { compileSelector } from '../validation/selectors.ts';
import type { Job, JobSpec } from './schema/v1.ts';

/** Labels by which a job selects its own pods. */
export const uidLabel = 'controller-uid';
export const nameLabel = 'job-name';
/** Marks jobs whose pods are counted by their finalizers. */
export const trackingAnnotation = (identity: Identity): QualifiedName => domainName(identity, 'job-tracking', 'batch');

const specAt = Path.of('spec');
const statusAt = Path.of('status');
const completionModes = ['NonIndexed', 'Indexed'];
const maxIndexedParallelism = 100_000;

export function* validateJob(job: Job, errors: FieldErrors, env: KindEnv): Work<void> {
  validateGeneratedSelector(job, errors);
  yield* validateSelectingSpec(job.spec, errors, env);
  const { completionMode, completions = 0 } = job.spec;
  if (completionMode !== 'Indexed' || completions <= 0) return;
  // Pods of an indexed job have host names with their index.
  const { name = '' } = job.metadata;
  const host = `${name}-${completions - 1}`;
  if (dns1123Label(host).length > 0)
    errors.invalid(Path.of('metadata', 'name'), name, `will not able to create pod with invalid DNS label: ${host}`);
}

function validateGeneratedSelector(job: Job, errors: FieldErrors): void {
  const { selector, template, manualSelector } = job.spec;
  if (manualSelector || selector === undefined) return;
  const { uid = '', name = '' } = job.metadata;
  if (uid === '') errors.required(Path.of('metadata', 'uid'));
  const at = Path.of('spec', 'template', 'metadata', 'labels');
  const expected = { [uidLabel]: uid, [nameLabel]: name };
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
  const templateAt = at.child('template');
  yield* validateTemplate(spec.template, templateAt, errors, env);
  const policy = spec.template.spec.restartPolicy;
  const policyAt = templateAt.child('spec').child('restartPolicy');
  if (policy === undefined || policy === 'Always') errors.required(policyAt, 'valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') errors.notSupported(policyAt, policy, ['OnFailure', 'Never']);
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
  yield* validateJob(job, errors, env);
  const tracking = trackingAnnotation(env.identity);
  if (job.metadata.annotations?.[tracking] !== undefined && old.metadata.annotations?.[tracking] === undefined)
    errors.forbidden(Path.of('metadata', 'annotations').key(tracking), 'cannot add this annotation');
  metadataUpdateAgain(job, old, errors, env);
  const { spec } = job;
  yield* validateSelectingSpec(spec, errors, env);
  immutable(spec.completions, old.spec.completions, specAt.child('completions'), errors);
  immutable(spec.selector, old.spec.selector, specAt.child('selector'), errors, () => selectorText(spec.selector));
  validateTemplateUpdate(job, old, errors, env);
  immutable(spec.completionMode, old.spec.completionMode, specAt.child('completionMode'), errors);
}

/** The node placement of the pods may be changed while a job is suspended and was never started. */
function validateTemplateUpdate({ spec }: Job, old: Job, errors: FieldErrors, env: KindEnv): void {
  const waits = old.spec.suspend === true && old.status.startTime === undefined && env.feature('JobMutableNodeSchedulingDirectives');
  const oldTemplate = waits ? withScheduling(old.spec.template, spec.template) : old.spec.template;
  if (!equal(spec.template, oldTemplate)) errors.invalid(specAt.child('template'), spec.template, 'field is immutable');
}

/** The old template with the node placement of the new one. */
function withScheduling(old: PodTemplateSpec, { metadata, spec }: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, tolerations, affinity } = spec;
  const { nodeAffinity: _node, ...otherAffinity } = old.spec.affinity ?? {};
  const merged = affinity?.nodeAffinity === undefined ? otherAffinity : { ...otherAffinity, nodeAffinity: affinity.nodeAffinity };
  const { nodeSelector: _selector, tolerations: _tolerations, affinity: _affinity, ...rest } = old.spec;
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

// ---- status ------------------------------------------------------------------------------------------------------

export function validateJobStatusUpdate(job: Job, old: Job, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(job, old, errors, env);
  const { status } = job;
  validateCounts(status, ['active', 'succeeded', 'failed', 'ready'], statusAt, errors);
  const { uncountedTerminatedPods: uncounted } = status;
  if (uncounted === undefined) return;
  const visitedUids = new Set<string>();
  for (const field of ['succeeded', 'failed'] as const)
    uncounted[field]?.forEach((uid, i) => {
      const at = statusAt.child('uncountedTerminatedPods').child(field).index(i);
      if (uid === '') errors.invalid(at, uid, 'must not be empty');
      else if (visitedUids.has(uid)) errors.duplicate(at, uid);
      visitedUids.add(uid);
    });
}

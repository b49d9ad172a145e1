/** Validation of the pod templates of workloads. */
import type { Work } from '@plat-dev/lib/slices';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { type LabelSelector, validateLabels } from '@plat-dev/meta/labels';
import type { PodSpec, PodTemplateSpec } from '../../core/schema/pods/pod.ts';
import type { KindEnv } from '../../kind.ts';
import { validateAnnotations } from '../metadata.ts';
import { validateSelected } from '../selectors.ts';
import { validatePodAnnotations, validateSeccompForms } from './pod-annotations.ts';
import { validatePodSpec } from './pod-spec.ts';

export function* validateTemplate(template: PodTemplateSpec, at: Path, errors: FieldErrors, env: KindEnv): Work<void> {
  const { spec } = template;
  const specAt = at.child('spec');
  validateTemplateMetadata(template, at, errors, env);
  yield* validatePodSpec(spec, undefined, specAt, errors, env);
  validateSeccompForms(template.metadata, spec, specAt, errors, env);
  if (spec.ephemeralContainers !== undefined)
    errors.forbidden(specAt.child('ephemeralContainers'), 'ephemeral containers not allowed in pod template');
}

export function validateTemplateMetadata(template: PodTemplateSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { labels, annotations } = template.metadata;
  validateLabels(labels, at.child('labels'), errors);
  validateAnnotations(annotations, at.child('annotations'), errors);
  validatePodAnnotations(annotations, template.spec, at.child('annotations'), errors, env);
}

/** The template of a workload whose pods always restart. `kind` is its name in the error. */
export function* validateServingTemplate(
  template: PodTemplateSpec,
  selector: LabelSelector,
  replicas: number,
  kind: string,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
): Work<void> {
  validateSelected(selector, template.metadata.labels, at, errors);
  yield* validateTemplate(template, at, errors, env);
  if (replicas > 1) validateSharedDisks(template.spec, at, errors);
  validateServing(template.spec, kind, at, errors);
}

export function validateServing(spec: PodSpec, kind: string, at: Path, errors: FieldErrors): void {
  const specAt = at.child('spec');
  if (spec.restartPolicy !== 'Always') errors.notSupported(specAt.child('restartPolicy'), spec.restartPolicy ?? '', ['Always']);
  if (spec.activeDeadlineSeconds !== undefined)
    errors.forbidden(specAt.child('activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`);
}

/** A disk that several pods mount must be read-only. */
export function validateSharedDisks(spec: PodSpec, at: Path, errors: FieldErrors): void {
  spec.volumes?.forEach(({ gcePersistentDisk }, i) => {
    if (gcePersistentDisk !== undefined && !gcePersistentDisk.readOnly)
      errors.invalid(
        at.child('spec').child('volumes').index(i).child('gcePersistentDisk').child('readOnly'),
        false,
        'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only',
      );
  });
}

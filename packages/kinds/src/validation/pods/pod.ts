/** Pods as a whole: on create, on update, and through `ephemeralcontainers`. */

import { equal } from '@plat-dev/lib/equal';
import type { Integer } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { rangeProblem } from '@plat-dev/meta/names';
import { qosClass, withComputeOf } from '../../core/pods/pod-resources.ts';
import type { Container } from '../../core/schema/pods/containers.ts';
import type { Pod, PodSpec } from '../../core/schema/pods/pod.ts';
import type { Affinity, Toleration } from '../../core/schema/pods/scheduling.ts';
import type { KindEnv } from '../../kind.ts';
import { metadataAgain, metadataUpdateAgain } from '../repeated-metadata.ts';
import { validateAppArmorForms } from './app-armor.ts';
import { validateImageText } from './containers.ts';
import { validateNarrowing } from './narrowing.ts';
import { validatePodAnnotations, validatePodAnnotationUpdate, validateSeccompForms } from './pod-annotations.ts';
import { podNames } from './pod-names.ts';
import { validatePodSpec } from './pod-spec.ts';
import { validateTolerations } from './scheduling.ts';

const annotationsAt = Path.of('metadata', 'annotations');
const specAt = Path.of('spec');
const podRules = { namespaced: true } as const;

export function* validatePodCreate(pod: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
  yield* validatePod(pod, errors, env);
  if (pod.spec.ephemeralContainers !== undefined) errors.forbidden(specAt.child('ephemeralContainers'), 'cannot be set on create');
  if (pod.spec.nodeName !== undefined && pod.spec.schedulingGates !== undefined)
    errors.forbidden(specAt.child('nodeName'), 'cannot be set until all schedulingGates have been cleared');
  validateSeccompForms(pod.metadata, pod.spec, specAt, errors, env);
  validateAppArmorForms(pod.metadata, pod.spec, specAt, errors, env);
}

/** Annotations and spec, with the rules that do not apply to templates. */
function* validatePod(pod: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
  const { spec } = pod;
  validatePodAnnotations(pod.metadata.annotations, spec, annotationsAt, errors, env);
  const isStatic = own(pod.metadata.annotations, podNames(env.identity).mirror) !== undefined;
  yield* validatePodSpec(spec, { name: pod.metadata.name ?? '', isStatic }, specAt, errors, env);
  if (spec.serviceAccountName === undefined) validateNoTokens(spec, errors);
  for (const field of ['containers', 'initContainers'] as const) {
    const list = spec[field];
    if (list === undefined) continue;
    for (let i = 0; i < list.length; i++) validateImageText(list[i] as Container, specAt.child(field).index(i), errors);
  }
}

/** A token needs a service account. */
function validateNoTokens(spec: PodSpec, errors: FieldErrors): void {
  spec.volumes?.forEach(({ projected }, i) => {
    projected?.sources?.forEach(({ serviceAccountToken }, j) => {
      if (serviceAccountToken === undefined) return;
      const at = specAt.child('volumes').index(i).child('projected').child('sources').index(j).child('serviceAccountToken');
      errors.forbidden(at, 'must not be specified when serviceAccountName is not set');
    });
  });
}

// ---- update ------------------------------------------------------------------------------------------------------

const mutable =
  'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
/** Before 1.32 resources of containers changed with the pod itself. */
const mutableWithResources = mutable.replace(' or `spec', ', `spec.containers[*].resources` (for CPU/memory only) or `spec');

/** All rules of pods for an update, and of the metadata that it changes. */
export function* validatePodAgain(pod: Pod, old: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
  metadataUpdateAgain(pod, old, errors, env);
  metadataAgain(pod, podRules, errors, env);
  yield* validatePod(pod, errors, env);
  validatePodAnnotationUpdate(pod.metadata.annotations, old.metadata.annotations, pod.spec, annotationsAt, errors, env);
}

export function* validatePodUpdate(pod: Pod, old: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
  yield* validatePodAgain(pod, old, errors, env);
  yield;
  if (!validateImages(pod.spec.containers, old.spec.containers, specAt.child('containers'), errors)) return;
  if (!validateImages(pod.spec.initContainers, old.spec.initContainers, specAt.child('initContainers'), errors)) return;
  if (!validateDeadline(pod.spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds, errors)) return;
  validateAddedTolerations(pod.spec.tolerations ?? [], old.spec.tolerations ?? [], errors, env);
  validateRemovedGates(pod.spec.schedulingGates ?? [], old.spec.schedulingGates ?? [], errors);
  if (equal(pod.spec, old.spec)) return;
  const resourcesMayChange = env.feature('InPlacePodVerticalScaling') && !env.since('1.32');
  if (resourcesMayChange) validateQosClass(pod, old, errors, env);
  const isGated = old.spec.schedulingGates !== undefined && env.since('1.27');
  if (isGated) validateNarrowing(pod.spec, old.spec, specAt, errors);
  const changed = changedFields(pod.spec, old.spec, { resources: resourcesMayChange, placement: isGated });
  if (changed.length > 0)
    errors.forbidden(specAt, `${resourcesMayChange ? mutableWithResources : mutable}\nchanged: ${changed.join(', ')}`);
}

/** Gates can only be removed. */
function validateRemovedGates(gates: SchedulingGates, old: SchedulingGates, errors: FieldErrors): void {
  const oldNames = new Set(old.map(({ name }) => name));
  gates.forEach(({ name }, i) => {
    if (!oldNames.has(name))
      errors.forbidden(
        specAt.child('schedulingGates').index(i).child('name'),
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      );
  });
}
type SchedulingGates = NonNullable<PodSpec['schedulingGates']>;

/** The quality of service of a pod is that of its creation. */
export function validateQosClass(pod: Pod, old: Pod, errors: FieldErrors, env: KindEnv): void {
  const now = qosClass(pod.spec);
  if (now === (old.status.qosClass ?? qosClass(old.spec))) return;
  const detail = env.since('1.32') ? 'Pod QOS Class may not change as a result of resizing' : 'Pod QoS is immutable';
  errors.invalid(specAt, old.status.qosClass ?? '', detail);
}

/** Returns whether the lists can be compared at all. */
function validateImages(list: readonly Container[] = [], old: readonly Container[] = [], at: Path, errors: FieldErrors): boolean {
  if (list.length !== old.length) {
    errors.forbidden(at, 'pod updates may not add or remove containers');
    return false;
  }
  list.forEach((container, i) => {
    if (container.image === undefined) errors.required(at.index(i).child('image'));
    validateImageText(container, at.index(i), errors);
  });
  return true;
}

/** A deadline may be set once and then only be reduced. Returns false if no further errors are reported. */
function validateDeadline(deadline: Integer | undefined, old: Integer | undefined, errors: FieldErrors): boolean {
  const at = specAt.child('activeDeadlineSeconds');
  if (deadline === undefined) {
    if (old !== undefined) errors.invalid(at, 'null', 'must not update from a positive integer to nil value');
    return true;
  }
  const max = 2 ** 31 - 1;
  if (deadline < 0 || deadline > max) errors.invalid(at, deadline, rangeProblem(0, max));
  else if (old !== undefined && old < deadline) errors.invalid(at, deadline, 'must be less than or equal to previous value');
  else return true;
  return false;
}

function validateAddedTolerations(tolerations: readonly Toleration[], old: readonly Toleration[], errors: FieldErrors, env: KindEnv): void {
  const at = specAt.child('tolerations');
  const words = ({ key, operator, value, effect }: Toleration): string => JSON.stringify([key, operator, value, effect]);
  const newTexts = new Set(tolerations.map(words));
  if (old.some((oldToleration) => !newTexts.has(words(oldToleration))))
    errors.forbidden(at, 'existing toleration can not be modified except its tolerationSeconds');
  else validateTolerations(tolerations, at, errors, env);
}

/** Fields of the spec that differ, without those that may change: `placement` is checked on its own. */
function changedFields(spec: PodSpec, old: PodSpec, may: { readonly resources: boolean; readonly placement: boolean }): string[] {
  const kept = (now: readonly Container[] | undefined, oldContainers: readonly Container[] = []) =>
    now?.map((container, i) => {
      const { image, resources } = oldContainers[i] as Container;
      return { ...container, image, ...(may.resources && { resources: withComputeOf(container.resources, resources) }) };
    });
  const munged: PodSpec & Record<string, unknown> = { ...spec };
  if (spec.containers !== undefined) munged.containers = kept(spec.containers, old.containers) as Container[];
  if (spec.initContainers !== undefined) munged.initContainers = kept(spec.initContainers, old.initContainers) as Container[];
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1)
    munged.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds as number;
  const mutableFields = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates', ...(may.placement ? ['nodeSelector', 'affinity'] : [])];
  const fields = new Set([...Object.keys(munged), ...Object.keys(old)]);
  for (const field of mutableFields) fields.delete(field);
  const changed = [...fields].filter((field) => !equal(own(munged, field), own(old as Record<string, unknown>, field)));
  if (may.placement && !equal(besidesNodes(spec.affinity), besidesNodes(old.affinity))) changed.push('affinity');
  return changed.map((field) => `spec.${field}`);
}
/** Affinities to other pods. */
const besidesNodes = ({ podAffinity, podAntiAffinity }: Affinity = {}): Affinity => ({
  ...(podAffinity && { podAffinity }),
  ...(podAntiAffinity && { podAntiAffinity }),
});

/** Ephemeral containers may be added, but neither changed nor removed. */
export function* validateEphemeralUpdate(pod: Pod, old: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
  yield* validatePodAgain(pod, old, errors, env);
  if (env.since('1.27') && own(old.metadata.annotations, podNames(env.identity).mirror) !== undefined) {
    errors.forbidden(Path.of(''), 'static pods do not support ephemeral containers');
    return;
  }
  const at = specAt.child('ephemeralContainers');
  const now = new Map(pod.spec.ephemeralContainers?.map((container) => [container.name, container]));
  for (const oldContainer of old.spec.ephemeralContainers ?? []) {
    const after = now.get(oldContainer.name);
    const name = JSON.stringify(oldContainer.name);
    if (after === undefined) errors.forbidden(at, `existing ephemeral containers ${name} may not be removed\n`);
    else if (!equal(after, oldContainer)) errors.forbidden(at, `existing ephemeral containers ${name} may not be changed\n`);
  }
}

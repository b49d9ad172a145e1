/** Pods as a whole: on create, on update, through `ephemeralcontainers` and `status`. */

import { equal } from '@plat-dev/lib/equal';
import type { Integer } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { ipFamily, validIP } from '@plat-dev/meta/ip';
import { dns1123Subdomain, rangeProblem } from '@plat-dev/meta/names';
import type { ContainerStatus } from '../../core/schema/pods/container-status.ts';
import type { Container } from '../../core/schema/pods/containers.ts';
import type { Pod, PodSpec, PodStatus } from '../../core/schema/pods/pod.ts';
import type { Toleration } from '../../core/schema/pods/scheduling.ts';
import type { KindEnv } from '../../kind.ts';
import { repeatedTexts } from '../each.ts';
import { report } from '../field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../repeated-metadata.ts';
import { validateImageText } from './containers.ts';
import { validatePodAnnotations, validatePodAnnotationUpdate, validateSeccompForms } from './pod-annotations.ts';
import { validatePodSpec } from './pod-spec.ts';
import { validateTolerations } from './scheduling.ts';

const annotationsAt = Path.of('metadata', 'annotations');
const specAt = Path.of('spec');
const statusAt = Path.of('status');
const podRules = { namespaced: true } as const;

export function* validatePodCreate(pod: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
  yield* validatePod(pod, errors, env);
  if (pod.spec.ephemeralContainers !== undefined) errors.forbidden(specAt.child('ephemeralContainers'), 'cannot be set on create');
  validateSeccompForms(pod.metadata, pod.spec, specAt, errors, env);
}

/** Annotations and spec, with the rules that do not apply to templates. */
function* validatePod(pod: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
  const { spec } = pod;
  validatePodAnnotations(pod.metadata.annotations, spec, annotationsAt, errors, env);
  yield* validatePodSpec(spec, pod.metadata.name, specAt, errors, env);
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

function* validatePodAgain(pod: Pod, old: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
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
  validateAddedTolerations(pod.spec.tolerations ?? [], old.spec.tolerations ?? [], errors);
  if (equal(pod.spec, old.spec)) return;
  const changed = changedFields(pod.spec, old.spec);
  if (changed.length > 0) errors.forbidden(specAt, `${mutable}\nchanged: ${changed.join(', ')}`);
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

function validateAddedTolerations(tolerations: readonly Toleration[], old: readonly Toleration[], errors: FieldErrors): void {
  const at = specAt.child('tolerations');
  const words = ({ key, operator, value, effect }: Toleration): string => JSON.stringify([key, operator, value, effect]);
  const newTexts = new Set(tolerations.map(words));
  if (old.some((oldToleration) => !newTexts.has(words(oldToleration))))
    errors.forbidden(at, 'existing toleration can not be modified except its tolerationSeconds');
  else validateTolerations(tolerations, at, errors);
}

/** Fields of the spec that differ, without those that may change. */
function changedFields(spec: PodSpec, old: PodSpec): string[] {
  const withImages = (now: readonly Container[] | undefined, oldContainers: readonly Container[] | undefined) =>
    now?.map((container, i) => ({ ...container, image: oldContainers?.[i]?.image }));
  const munged: PodSpec & Record<string, unknown> = { ...spec };
  if (spec.containers !== undefined) munged.containers = withImages(spec.containers, old.containers) as Container[];
  if (spec.initContainers !== undefined) munged.initContainers = withImages(spec.initContainers, old.initContainers) as Container[];
  delete munged.activeDeadlineSeconds;
  delete munged.tolerations;
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, ...oldFields } = old as PodSpec & Record<string, unknown>;
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1)
    munged.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds as number;
  const fields = new Set([...Object.keys(munged), ...Object.keys(oldFields)]);
  return [...fields].filter((field) => !equal(own(munged, field), own(oldFields, field))).map((field) => `spec.${field}`);
}

/** Ephemeral containers may be added, but neither changed nor removed. */
export function* validateEphemeralUpdate(pod: Pod, old: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
  yield* validatePodAgain(pod, old, errors, env);
  const at = specAt.child('ephemeralContainers');
  const now = new Map(pod.spec.ephemeralContainers?.map((container) => [container.name, container]));
  for (const oldContainer of old.spec.ephemeralContainers ?? []) {
    const after = now.get(oldContainer.name);
    const name = JSON.stringify(oldContainer.name);
    if (after === undefined) errors.forbidden(at, `existing ephemeral containers ${name} may not be removed\n`);
    else if (!equal(after, oldContainer)) errors.forbidden(at, `existing ephemeral containers ${name} may not be changed\n`);
  }
}

// ---- status ------------------------------------------------------------------------------------------------------

export function validatePodStatusUpdate(pod: Pod, old: Pod, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(pod, old, errors, env);
  validatePodAnnotationUpdate(pod.metadata.annotations, old.metadata.annotations, pod.spec, annotationsAt, errors, env);
  const { nominatedNodeName: node } = pod.status;
  if (node !== undefined && node !== old.status.nominatedNodeName)
    report(errors, statusAt.child('nominatedNodeName'), node, dns1123Subdomain(node));
  const policy = old.spec.restartPolicy ?? '';
  validateTransitions(pod.status.containerStatuses, old.status.containerStatuses, policy, 'containerStatuses', errors);
  validateTransitions(pod.status.initContainerStatuses, old.status.initContainerStatuses, policy, 'initContainerStatuses', errors);
  const ephemeral = 'ephemeralContainerStatuses';
  validateTransitions(pod.status[ephemeral], old.status[ephemeral], 'Never', ephemeral, errors);
  validatePodIPs(pod.status, errors);
}

/** A terminated container that is not restarted must stay terminated. */
function validateTransitions(
  statuses: readonly ContainerStatus[] = [],
  old: readonly ContainerStatus[] = [],
  restartPolicy: string,
  field: string,
  errors: FieldErrors,
): void {
  if (restartPolicy === 'Always') return;
  old.forEach(({ name, state }, i) => {
    if (state.terminated === undefined || (state.terminated.exitCode !== 0 && restartPolicy === 'OnFailure')) return;
    for (const now of statuses)
      if (now.name === name && now.state.terminated === undefined)
        errors.forbidden(statusAt.child(field).index(i).child('state'), 'may not be transitioned to non-terminated state');
  });
}

function validatePodIPs({ podIPs }: PodStatus, errors: FieldErrors): void {
  if (podIPs === undefined) return;
  const at = statusAt.child('podIPs');
  const addresses = podIPs.map(({ ip = '' }) => ip);
  addresses.forEach((ip, i) => {
    report(errors, at.index(i), ip, validIP(ip));
  });
  if (addresses.length < 2) return;
  const families = new Set(addresses.map(ipFamily));
  if (addresses.length > 2 || !families.has('IPv4') || !families.has('IPv6'))
    errors.invalid(at, podIPs, 'may specify no more than one IP for each IP family');
  const again = repeatedTexts(addresses);
  addresses.forEach((ip, i) => {
    if (again[i]) errors.duplicate(at.index(i), ip);
  });
}

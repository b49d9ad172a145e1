/** Validation of annotations of pods and templates that have a meaning. */
import { own } from '@plat-dev/lib/own';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { Toleration } from '../../core/schema/pods/scheduling.ts';
import type { SeccompProfile } from '../../core/schema/pods/security-context.ts';
import type { KindEnv } from '../../kind.ts';
import type { ObjectMeta } from '../../meta.ts';
import { descendingPath } from '../paths.ts';
import { eachContainer } from './each-container.ts';
import { podNames } from './pod-names.ts';
import { validateTolerations } from './scheduling.ts';

type Annotations = Readonly<Record<string, string>>;

/** `at` is the place of the annotations. */
export function validatePodAnnotations(
  annotations: Annotations | undefined,
  spec: PodSpec,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
): void {
  if (annotations === undefined) return;
  const names = podNames(env.identity);
  const mirror = own(annotations, names.mirror);
  if (mirror !== undefined && spec.nodeName === undefined)
    errors.invalid(at.key(names.mirror), mirror, 'must set spec.nodeName if mirror pod annotation is set');
  const tolerations = own(annotations, names.tolerations);
  if (tolerations !== undefined && tolerations !== '') validateTolerationText(tolerations, names.tolerations, at, errors, env);
  const cost = own(annotations, names.deletionCost);
  if (cost !== undefined && !isDeletionCost(cost) && env.feature('PodDeletionCost'))
    errors.invalid(at.key(names.deletionCost), cost, 'must be a 32bit integer');
  const seccomp = own(annotations, names.seccompPod);
  if (seccomp !== undefined) validateSeccompText(seccomp, at.child(names.seccompPod), errors);
  for (const key in annotations)
    if (key.startsWith(names.seccompContainer)) validateSeccompText(annotations[key] as string, at.child(key), errors);
  for (const key in annotations) {
    if (!key.startsWith(names.appArmorContainer)) continue;
    const container = key.slice(names.appArmorContainer.length);
    const profile = annotations[key] as string;
    if (!hasContainer(spec, container)) errors.invalid(at.key(key), container, 'container not found');
    if (!isAppArmorProfile(profile)) errors.invalid(at.key(key), profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`);
  }
}

function validateTolerationText(text: string, key: string, at: Path, errors: FieldErrors, env: KindEnv): void {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null))
      validateTolerations(value as Toleration[], at.child(key), errors, env);
    else errors.invalid(at, key, 'json: cannot unmarshal the value into a list of tolerations');
  } catch {
    errors.invalid(at, key, jsonProblem(text));
  }
}
function jsonProblem(text: string): string {
  const first = text.trimStart()[0];
  if (first === undefined) return 'unexpected end of JSON input';
  return /[[{"\d\-tfn]/.test(first) ? 'invalid JSON text' : `invalid character '${first}' looking for beginning of value`;
}

/** A number of 32 bits, without plus sign and leading zeros. */
export function isDeletionCost(text: string): boolean {
  if (!/^(0|-[0-9]+|[1-9][0-9]*)$/.test(text)) return false;
  const value = Number(text);
  return value >= -(2 ** 31) && value < 2 ** 31;
}

function validateSeccompText(text: string, at: Path, errors: FieldErrors): void {
  if (text === 'runtime/default' || text === 'docker/default' || text === 'unconfined') return;
  if (text.startsWith('localhost/')) descendingPath(text.slice('localhost/'.length), at, errors);
  else errors.invalid(at, text, 'must be a valid seccomp profile');
}

const isAppArmorProfile = (text: string): boolean =>
  text === '' || text === 'runtime/default' || text === 'unconfined' || text.startsWith('localhost/');

function hasContainer(spec: PodSpec, name: string): boolean {
  const isNamed = (container: { name: string }): boolean => container.name === name;
  return (
    (spec.initContainers?.some(isNamed) ?? false) ||
    (spec.containers?.some(isNamed) ?? false) ||
    (spec.ephemeralContainers?.some(isNamed) ?? false)
  );
}

/** Annotations that identify a pod to its node are immutable. */
export function validatePodAnnotationUpdate(
  annotations: Annotations = {},
  old: Annotations = {},
  spec: PodSpec,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
): void {
  const { mirror, appArmorContainer } = podNames(env.identity);
  for (const key in old) {
    if (own(annotations, key) === old[key]) continue;
    if (key.startsWith(appArmorContainer)) errors.forbidden(at.key(key), 'may not remove or update AppArmor annotations');
    if (key === mirror) errors.forbidden(at.key(key), 'may not remove or update mirror pod annotation');
  }
  for (const key in annotations) {
    if (Object.hasOwn(old, key)) continue;
    if (key.startsWith(appArmorContainer)) errors.forbidden(at.key(key), 'may not add AppArmor annotations');
    if (key === mirror) errors.forbidden(at.key(key), 'may not add mirror pod annotation');
  }
  validatePodAnnotations(annotations, spec, at, errors, env);
}

// ---- seccomp profiles, once as annotations and once as fields ------------------------------------------------------

/** If both forms are given they must agree. `at` is the path of the spec. */
export function validateSeccompForms(meta: ObjectMeta, spec: PodSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { annotations } = meta;
  if (annotations === undefined) return;
  const names = podNames(env.identity);
  const compare = (profile: SeccompProfile | undefined, key: string, profileAt: Path) => {
    const text = own(annotations, key);
    if (profile !== undefined && text !== undefined) validateSameSeccomp(text, profile, profileAt, errors);
  };
  compare(spec.securityContext?.seccompProfile, names.seccompPod, at.child('securityContext').child('seccompProfile'));
  eachContainer(spec, at, (container, here) =>
    compare(
      container.securityContext?.seccompProfile,
      names.seccompContainer + container.name,
      here.child('securityContext').child('seccompProfile'),
    ),
  );
}

function validateSameSeccomp(text: string, { type, localhostProfile }: SeccompProfile, at: Path, errors: FieldErrors): void {
  const same =
    type === 'Unconfined'
      ? text === 'unconfined'
      : type === 'RuntimeDefault'
        ? text === 'runtime/default' || text === 'docker/default'
        : type !== 'Localhost' || text.startsWith('localhost');
  if (!same) errors.forbidden(at.child('type'), 'seccomp type in annotation and field must match');
  else if (type === 'Localhost' && (localhostProfile === undefined || !text.endsWith(localhostProfile)))
    errors.forbidden(at.child('localhostProfile'), 'seccomp profile in annotation and field must match');
}

/** Validation of the metadata of all kinds. */
import { isApiVersion, versionOfApiVersion } from '@plat-dev/meta/api-version';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabels } from '@plat-dev/meta/labels';
import {
  annotationKey,
  dns1123Label,
  immutableProblem,
  maxAnnotationBytes,
  nameIsSubdomain,
  negativeProblem,
  pathSegmentName,
  qualifiedName,
} from '@plat-dev/meta/names';
import { timeMillis } from '@plat-dev/meta/time';
import type { ApiObject, KindEnv, NameRule } from '../kind.ts';
import { invalidText, listText } from './go-text.ts';

type Meta = ApiObject['metadata'];
export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameRule?: NameRule | undefined;
  readonly anyFinalizer?: boolean | undefined;
}
const metadata = Path.of('metadata');

/** All rules of the metadata of a new object. `at` is the path of the metadata. */
export function validateObjectMeta(meta: Meta, rules: MetadataRules, errors: FieldErrors, env: KindEnv, at: Path = metadata): void {
  validateMetadata(meta, rules, errors, at, env);
  if (!rules.anyFinalizer) validatePlainFinalizers(meta, errors, env, at);
}

/** The rules of new metadata that also hold for custom objects, and for objects inside of them. */
export function validateMetadata(meta: Meta, rules: MetadataRules, errors: FieldErrors, at: Path = metadata, env?: KindEnv): void {
  validateNames(meta, rules, errors, at, env);
  validateCommon(meta, errors, at);
  validateFinalizers(meta.finalizers, at.child('finalizers'), errors);
  validateManagedFields(meta, at.child('managedFields'), errors);
}

function validateNames(meta: Meta, rules: MetadataRules, errors: FieldErrors, at: Path, env: KindEnv | undefined): void {
  const nameRule = rules.nameRule ?? nameIsSubdomain;
  const { name = '', generateName = '', namespace = '' } = meta;
  if (generateName !== '')
    for (const text of nameRule(generateName, true, env)) errors.invalid(at.child('generateName'), generateName, text);
  if (name === '') errors.required(at.child('name'), 'name or generateName is required');
  else for (const text of nameRule(name, false, env)) errors.invalid(at.child('name'), name, text);
  if (rules.namespaced) {
    if (namespace === '') errors.required(at.child('namespace'));
    else for (const text of dns1123Label(namespace)) errors.invalid(at.child('namespace'), namespace, text);
  } else if (namespace !== '') errors.forbidden(at.child('namespace'), 'not allowed on this type');
  if ((meta.generation ?? 0) < 0) errors.invalid(at.child('generation'), meta.generation, negativeProblem);
}

/** Rules that hold for new and changed objects alike. */
function validateCommon(meta: Meta, errors: FieldErrors, at: Path): void {
  validateLabels(meta.labels, at.child('labels'), errors);
  validateAnnotations(meta.annotations, at.child('annotations'), errors);
  validateOwners(meta, errors, at.child('ownerReferences'));
}

export function validateAnnotations(annotations: Readonly<Record<string, string>> | undefined, at: Path, errors: FieldErrors): void {
  if (annotations === undefined) return;
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    for (const text of annotationKey(key)) errors.invalid(at, key, text);
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > maxAnnotationBytes) errors.tooLong(at, maxAnnotationBytes);
}

function validateOwners(meta: Meta, errors: FieldErrors, at: Path): void {
  let controller: string | undefined;
  for (const owner of meta.ownerReferences ?? []) {
    if (!isApiVersion(owner.apiVersion) || versionOfApiVersion(owner.apiVersion) === '')
      errors.invalid(at.child('apiVersion'), owner.apiVersion, 'version must not be empty');
    if (owner.kind === '') errors.invalid(at.child('kind'), owner.kind, 'kind must not be empty');
    if (owner.name === '') errors.invalid(at.child('name'), owner.name, 'name must not be empty');
    if (owner.uid === '') errors.invalid(at.child('uid'), owner.uid, 'uid must not be empty');
    if (owner.kind === 'Event' && owner.apiVersion === 'v1')
      invalidText(errors, at, ownerText(owner), '/v1, Kind=Event is disallowed from being an owner');
    if (!owner.controller) continue;
    if (controller === undefined) controller = owner.name;
    else
      errors.invalid(
        at,
        meta.ownerReferences,
        `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${owner.name}`,
      );
  }
}

function ownerText(owner: NonNullable<Meta['ownerReferences']>[number]): string {
  const q = JSON.stringify;
  const flag = (value: boolean | undefined): string => (value === undefined ? '(*bool)(nil)' : `(*bool)(${value})`);
  return `v1.OwnerReference{APIVersion:${q(owner.apiVersion)}, Kind:${q(owner.kind)}, Name:${q(owner.name)}, UID:${q(owner.uid)}, Controller:${flag(owner.controller)}, BlockOwnerDeletion:${flag(owner.blockOwnerDeletion)}}`;
}

function validateFinalizers(finalizers: readonly string[] | undefined, at: Path, errors: FieldErrors): void {
  if (finalizers === undefined) return;
  for (const finalizer of finalizers) for (const text of qualifiedName(finalizer)) errors.invalid(at, finalizer, text);
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion'))
    invalidText(errors, at, listText(finalizers), 'finalizer orphan and foregroundDeletion cannot be both set');
}

/** Finalizers of the service's own need no domain, all others do. */
const plainFinalizers = new Set(['orphan', 'foregroundDeletion']);
export const isUnqualifiedFinalizer = (finalizer: string, { identity }: KindEnv): boolean =>
  !finalizer.includes('/') && !plainFinalizers.has(finalizer) && finalizer !== identity.word;
export function validatePlainFinalizers(meta: Meta, errors: FieldErrors, env: KindEnv, at: Path = metadata): void {
  meta.finalizers?.forEach((finalizer, i) => {
    if (isUnqualifiedFinalizer(finalizer, env))
      errors.invalid(at.child('finalizers').index(i), finalizer, 'name is neither a standard finalizer name nor is it fully qualified');
  });
}

function validateManagedFields(meta: Meta, at: Path, errors: FieldErrors): void {
  (meta.managedFields ?? []).forEach((entry, i) => {
    const here = at.index(i);
    if (entry.operation !== 'Apply' && entry.operation !== 'Update')
      errors.invalid(here.child('operation'), entry.operation ?? '', 'must be `Apply` or `Update`');
    if ((entry.fieldsType ?? '') !== '' && entry.fieldsType !== 'FieldsV1')
      errors.invalid(here.child('fieldsType'), entry.fieldsType, 'must be `FieldsV1`');
    validateFieldManager(entry.manager ?? '', here.child('manager'), errors);
    if ((entry.subresource ?? '').length > 256) errors.tooLong(here.child('subresource'), 256);
  });
}

/** The usual names, which need no further check. */
const plainManager = /^[\x20-\x7e]{0,128}$/;

/** The name of a field manager: at most 128 bytes, printable. */
function validateFieldManager(manager: string, at: Path, errors: FieldErrors): void {
  if (plainManager.test(manager)) return;
  if (Buffer.byteLength(manager) > 128) errors.tooLong(at, 128);
  [...manager].some((c, i) => {
    if (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(c)) return false;
    errors.invalid(at, manager, `invalid character ${JSON.stringify(c)} (at position ${i})`);
    return true;
  });
}

/** Immutable metadata, as the rules of a kind check it. */
export function validateObjectMetaUpdate(meta: Meta, old: Meta, errors: FieldErrors, at: Path = metadata): void {
  validateChange(meta, old, errors, at);
  validateCommon(meta, errors, at);
  validateManagedFields(meta, at.child('managedFields'), errors);
}

/**
 * The checks of the registry on every update, before the rules of the kind. A stock server validates labels and the
 * like twice here and clients see each error twice; metadata without errors is not validated again.
 */
export function validateChangedObject(meta: Meta, old: Meta, namespaced: boolean, errors: FieldErrors, at: Path = metadata): void {
  validateNames(meta, { namespaced, nameRule: pathSegmentName }, errors, at, undefined);
  validateCommon(meta, errors, at);
  validateFinalizers(meta.finalizers, at.child('finalizers'), errors);
  validateManagedFields(meta, at.child('managedFields'), errors);
  const again = !errors.empty;
  validateChange(meta, old, errors, at);
  if (!again) return;
  validateCommon(meta, errors, at);
  validateManagedFields(meta, at.child('managedFields'), errors);
}

function validateChange(meta: Meta, old: Meta, errors: FieldErrors, at: Path): void {
  validateFinalizersWhileDeleting(meta, old, errors, at.child('finalizers'));
  if ((meta.generation ?? 0) < (old.generation ?? 0))
    errors.invalid(at.child('generation'), meta.generation ?? 0, 'must not be decremented');
  if ((meta.name ?? '') !== (old.name ?? '')) errors.invalid(at.child('name'), meta.name ?? '', immutableProblem);
  if ((meta.namespace ?? '') !== (old.namespace ?? '')) errors.invalid(at.child('namespace'), meta.namespace ?? '', immutableProblem);
  if ((meta.uid ?? '') !== (old.uid ?? '')) errors.invalid(at.child('uid'), meta.uid ?? '', immutableProblem);
  for (const field of ['creationTimestamp', 'deletionTimestamp'] as const)
    if (meta[field] !== old[field]) invalidText(errors, at.child(field), goTime(meta[field]), immutableProblem);
  if (meta.deletionGracePeriodSeconds !== old.deletionGracePeriodSeconds)
    errors.invalid(at.child('deletionGracePeriodSeconds'), meta.deletionGracePeriodSeconds ?? null, immutableProblem);
}

function validateFinalizersWhileDeleting(meta: Meta, old: Meta, errors: FieldErrors, at: Path): void {
  if (old.deletionTimestamp === undefined) return;
  const oldFinalizers = new Set(old.finalizers ?? []);
  const addedFinalizers = (meta.finalizers ?? []).filter((f) => !oldFinalizers.has(f));
  if (addedFinalizers.length > 0)
    errors.forbidden(
      at,
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${addedFinalizers.map((f) => JSON.stringify(f)).join(', ')}}`,
    );
}

/** A time as a stock server prints it in errors. */
function goTime(text: string | undefined): string {
  if (text === undefined) return 'null';
  return `${new Date(timeMillis(text)).toISOString().replace('T', ' ').slice(0, 19)} +0000 UTC`;
}

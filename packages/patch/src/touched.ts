/**
 * The fields that a patch names, and so those that it cannot change. Only the named fields are encoded and decoded
 * again; the rest of the object is copied.
 *
 *   {"metadata":{"labels":{"a":"1"}},"data":{"b":null}}   touches metadata.labels and data
 */
import { own, setOwn } from '@plat-dev/lib/own';
import { cloneJson } from '@plat-dev/schema/json/plain';
import type { JsonValue } from '@plat-dev/schema/types';
import { isObject, type Values } from './shape.ts';

type Entries = { [key: string]: unknown };

/** Fields of an object that a patch may change; those of its metadata separately, if that is undefined all of them. */
export interface Touched {
  readonly fields: ReadonlySet<string>;
  readonly metadata: ReadonlySet<string> | undefined;
}

/**
 * The fields that a patch in the form of the object touches. Undefined when it may be everything: the patch is not an
 * object, it has directives, or it names kind or apiVersion.
 */
export function touchedBy(patch: JsonValue): Touched | undefined {
  if (!isObject(patch)) return undefined;
  const fields = namesOf(patch);
  if (fields === undefined) return undefined;
  for (const field of fields) if (readsOtherwise(field)) return undefined;
  return { fields, metadata: isObject(patch.metadata) ? namesOf(patch.metadata) : undefined };
}

/** Whether a field defines the type of the object, and so how all of it is decoded. */
export function readsOtherwise(field: string): boolean {
  return field === 'kind' || field === 'apiVersion';
}

const DOLLAR = 0x24;
/** Undefined if one of the keys is a directive. */
function namesOf(object: Values): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const key in object) {
    if (key.charCodeAt(0) === DOLLAR) return undefined;
    names.add(key);
  }
  return names;
}

/** The part of an object that a patch needs. */
export function touchedPart(object: Values, { fields, metadata }: Touched): Values {
  const part = pick(object, fields);
  if (metadata !== undefined && isObject(part.metadata)) part.metadata = pick(part.metadata, metadata);
  return part;
}
function pick(object: Values, names: ReadonlySet<string>): Entries {
  const part: Entries = {};
  for (const name of names) {
    const value = own(object, name);
    if (value !== undefined) setOwn(part, name, value);
  }
  return part;
}

/** Adds copies of the untouched fields to those of the patch. managedFields, which are never changed in place, are shared. */
export function addUntouched(patchedObject: Entries, object: Values, { fields, metadata }: Touched): void {
  for (const name in object) if (name !== 'metadata' && !fields.has(name)) setOwn(patchedObject, name, cloneJson(object[name]));
  if (!isObject(object.metadata) || (fields.has('metadata') && metadata === undefined)) return;
  const patchedMetadata: Entries = isObject(patchedObject.metadata) ? (patchedObject.metadata as Entries) : {};
  patchedObject.metadata = patchedMetadata;
  for (const name in object.metadata) {
    const value = object.metadata[name];
    if (metadata?.has(name) !== true) setOwn(patchedMetadata, name, name === 'managedFields' ? value : cloneJson(value));
  }
}

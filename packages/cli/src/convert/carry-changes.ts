/** Applies the differences between two versions of an object to the manifest as it was written. */

import { equal } from '@plat-dev/lib/equal';
import { own, setOwn } from '@plat-dev/lib/own';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The manifest as written, changed where `after` differs from `decoded`. Both are decoded from it: with fields that were not written,
 * and without unknown ones. Neither must show in the result. `empty` is the decoded form of an object without fields.
 *
 *   written { a: '1000m', typo: 1 }, before { a: '1', status: {} }, after { b: '1', status: {} }  →  { b: '1', typo: 1 }
 */
export function carry(
  manifest: JsonValue | undefined,
  decoded: JsonValue | undefined,
  after: JsonValue,
  empty?: JsonValue | undefined,
): JsonValue {
  if (manifest !== undefined && equal(decoded, after)) return manifest;
  if (isObject(manifest) && isObject(decoded) && isObject(after))
    return carryFields(manifest, decoded, after, isObject(empty) ? empty : {});
  if (Array.isArray(manifest) && Array.isArray(decoded) && Array.isArray(after) && manifest.length === decoded.length)
    if (after.length === manifest.length) return after.map((item, i) => carry(manifest[i], decoded[i], item));
  return withoutNulls(after);
}

function carryFields(manifest: JsonObject, decoded: JsonObject, after: JsonObject, empty: JsonObject): JsonObject {
  const fields: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(manifest)) {
    const now = own(after, key);
    if (now !== undefined)
      fields.push([key, own(decoded, key) === undefined ? now : carry(value, own(decoded, key), now, own(empty, key))]);
    else if (own(decoded, key) === undefined) fields.push([key, value]);
  }
  const order = Object.keys(after);
  for (const key of order) {
    const now = own(after, key) as JsonValue;
    if (Object.hasOwn(manifest, key) || equal(own(decoded, key), now) || equal(own(empty, key), now) || isNothing(now)) continue;
    // A new field comes before the one that follows it in the schema.
    const next = order.slice(order.indexOf(key) + 1).find((one) => fields.some(([name]) => name === one));
    const at = next === undefined ? fields.length : fields.findIndex(([name]) => name === next);
    fields.splice(at, 0, [key, withoutNulls(now)]);
  }
  return Object.fromEntries(fields);
}

/** Empty fields that the encoder writes. */
const isNothing = (value: JsonValue): boolean => value === null || value === '' || (isObject(value) && Object.keys(value).length === 0);

function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (one === null ? [] : [[key, withoutNulls(one)]])));
}

/** A field that is written out because the new version has another default. */
export interface Filled {
  readonly path: string;
  readonly value: JsonValue;
  /** The default of the new version. */
  readonly instead: JsonValue | undefined;
}

/**
 * `bare` without defaults, with those fields of `target` (defaults of the old version) written out that the defaults of the new one
 * (`defaulted`) do not have.
 */
export function writeOut(bare: JsonObject, defaulted: JsonObject, target: JsonObject, filled: Filled[], path = ''): void {
  for (const [key, value] of Object.entries(target)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (value === null || equal(own(defaulted, key), value)) continue;
    const other = own(defaulted, key);
    if (isObject(value) && (isObject(other) || isObject(own(bare, key)))) {
      if (!isObject(own(bare, key))) setOwn(bare, key, {});
      writeOut(own(bare, key) as JsonObject, isObject(other) ? other : {}, value, filled, at);
    } else if (Array.isArray(value) && isSameLength(own(bare, key), value) && isSameLength(other, value)) {
      value.forEach((item, i) => {
        const bareItems = own(bare, key) as JsonValue[];
        const [bareItem, theirs] = [bareItems[i], (other as JsonValue[])[i]];
        if (isObject(bareItem) && isObject(theirs) && isObject(item)) writeOut(bareItem, theirs, item, filled, `${at}[${i}]`);
        else if (!equal(theirs, item)) bareItems[i] = item;
      });
    } else {
      setOwn(bare, key, value);
      filled.push({ path: at, value, instead: other });
    }
  }
}
const isSameLength = (a: JsonValue | undefined, b: readonly JsonValue[]): boolean => Array.isArray(a) && a.length === b.length;

/** Paths of fields that one object has and the other has not, or has with another value. */
export function differences(before: JsonValue, after: JsonValue, path = ''): { removed: string[]; added: string[]; changed: string[] } {
  const changes = { removed: [] as string[], added: [] as string[], changed: [] as string[] };
  const visit = (a: JsonValue | undefined, b: JsonValue | undefined, at: string): void => {
    if (equal(a, b)) return;
    if (a === undefined) changes.added.push(at);
    else if (b === undefined) changes.removed.push(at);
    else if (isObject(a) && isObject(b))
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) visit(own(a, key), own(b, key), at === '' ? key : `${at}.${key}`);
    else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
      for (const [i, item] of a.entries()) visit(item, b[i], `${at}[${i}]`);
    else changes.changed.push(at);
  };
  visit(before, after, path);
  return changes;
}

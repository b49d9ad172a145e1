/**
 * Strategic merge as kustomize does it: as that of a server, but the items of a patch come first in the merged list, and the
 * keys of a list are all of those that identify an item on the server (the port and the protocol of a container's port).
 */

import { jsonText } from '@plat-dev/lib/json-text';
import { own, setOwn } from '@plat-dev/lib/own';
import { type FieldRule, ruleOf } from '@plat-dev/patch/strategic';
import { type JsonObject, type JsonValue, type MessageType, resolve, type Type } from '@plat-dev/schema/types';
import { isMap, KustomizeError } from './resource.ts';

const DIRECTIVE = '$patch';

/** Undefined when the patch deletes the object. The result shares nothing with the patch. */
export function mergePatch(type: MessageType | undefined, object: JsonObject, patch: JsonObject): JsonObject | undefined {
  return mergeMaps(type, object, patch);
}

function directiveOf(patch: JsonObject): 'merge' | 'replace' | 'delete' {
  const directive = own(patch, DIRECTIVE) ?? 'merge';
  if (directive === 'merge' || directive === 'replace' || directive === 'delete') return directive;
  throw new KustomizeError(`unknown patch strategy ${jsonText(directive)}: use merge, replace or delete`);
}

function mergeMaps(type: Type | undefined, base: JsonObject | undefined, patch: JsonObject): JsonObject | undefined {
  const directive = directiveOf(patch);
  if (directive === 'delete') return undefined;
  const merged: JsonObject = directive === 'replace' || base === undefined ? {} : { ...base };
  const from = directive === 'replace' ? {} : (base ?? {});
  for (const [key, value] of Object.entries(patch)) {
    if (key === DIRECTIVE) continue;
    const result = mergeField(type, key, own(from, key) as JsonValue | undefined, value);
    if (result === undefined) delete merged[key];
    else setOwn(merged, key, result);
  }
  return merged;
}

/** The keys that identify an item of a list; empty for a list of plain values. */
function keysOf({ type, mergeKey }: FieldRule): readonly string[] {
  const list = type === undefined ? undefined : resolve(type);
  if (list?.node === 'list' && list.list === 'map' && list.keys.length > 0) return list.keys;
  return mergeKey === '' ? [] : [mergeKey];
}

/** Undefined when the field is removed. */
function mergeField(type: Type | undefined, key: string, base: JsonValue | undefined, patch: JsonValue): JsonValue | undefined {
  if (patch === null) return undefined;
  const rule = ruleOf(type, key);
  if (isMap(patch)) {
    if (base !== undefined && base !== null && !isMap(base)) throw wrongForm(key, 'an object');
    return mergeMaps(rule.type, base ?? undefined, patch);
  }
  if (!Array.isArray(patch)) return patch;
  if (base !== undefined && base !== null && !Array.isArray(base)) throw wrongForm(key, 'a list');
  if (!rule.strategy.split(',').includes('merge')) return withoutDirectives(patch);
  return mergeLists(rule, base ?? [], patch);
}
const wrongForm = (key: string, form: string): KustomizeError =>
  new KustomizeError(`${key}: the patch has ${form} where the object has none`);

/** A list or a map that has no counterpart. */
function withoutDirectives(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDirectives);
  return isMap(value) ? (mergeMaps(undefined, undefined, value) ?? {}) : value;
}

function mergeLists(rule: FieldRule, base: readonly JsonValue[], patch: readonly JsonValue[]): JsonValue[] {
  const keys = keysOf(rule);
  const list = rule.type === undefined ? undefined : resolve(rule.type);
  const itemType = list?.node === 'list' ? list.item : undefined;
  if (keys.length === 0) return [...new Set([...patch, ...base])];
  const replaces = patch.some((item) => isMap(item) && own(item, DIRECTIVE) === 'replace' && Object.keys(item).length === 1);
  const remaining: JsonValue[] = replaces ? [] : [...base];
  const merged: JsonValue[] = [];
  for (const item of patch) {
    if (!isMap(item)) throw new KustomizeError('a patch has a plain value in a list of objects');
    if (own(item, DIRECTIVE) === 'replace' && Object.keys(item).length === 1) continue;
    const at = remaining.findIndex((one) => isMap(one) && isSameItem(one, item, keys));
    const old = at < 0 ? undefined : (remaining.splice(at, 1)[0] as JsonObject);
    const result = mergeMaps(itemType, old, item);
    if (result !== undefined) merged.push(result);
  }
  return [...merged, ...remaining];
}
/** Keys that one of both lacks do not count, as long as one is the same. */
function isSameItem(a: JsonObject, b: JsonObject, keys: readonly string[]): boolean {
  let isSame = false;
  for (const key of keys) {
    const [x, y] = [own(a, key), own(b, key)];
    if (x === undefined || y === undefined) continue;
    if (String(x) !== String(y)) return false;
    isSame = true;
  }
  return isSame;
}

/**
 * Strategic merge patch: a merge patch by the schema. Lists with the strategy `merge` are merged item by item
 * by the merge key, and directives control the rest:
 *
 *   $patch: replace | delete             this object (or, in a list, the list or one item) is replaced or deleted
 *   $retainKeys: [type]                  other fields of this object are removed
 *   $setElementOrder/env: [{name: B}, …] the merged list is in this order
 *   $deleteFromPrimitiveList/args: [-x]  these values are removed from the list
 *
 * Inputs are not changed; the result shares unchanged parts with document and patch.
 */
import { own, setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { badRequest, unprocessable } from '@plat-dev/meta/errors';
import { clonedJson } from '@plat-dev/schema/json/plain';
import { type JsonValue, type MessageType, resolve, type Type } from '@plat-dev/schema/types';
import { earlyRules, emptyPatch, goKind, type Patch, type PatchRules, patchOf } from './json-patch.ts';
import { type PatchBody, patchValue } from './patch-body.ts';
import { fieldNamed, isObject } from './shape.ts';
import { arrange, goText, type JsonMap, noMergeKey } from './strategic-lists.ts';
import { touchedBy } from './touched.ts';

const PATCH = '$patch';
const RETAIN = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList';
const ORDER = '$setElementOrder';

/** Parses the body of a patch request for objects of the type. Throws ApiError. */
export function readStrategicPatch(type: MessageType, body: PatchBody, rules: PatchRules = earlyRules): Patch {
  const patch = patchValue(body, badRequest);
  if (patch === null) return emptyPatch;
  if (!isObject(patch)) throw badRequest(`json: cannot unmarshal ${goKind(patch)}: a strategic merge patch is an object`);
  const patchMap = patch as JsonMap;
  return patchOf((document) => mergedObjects(type, isObject(document) ? (document as JsonMap) : {}, patchMap, rules), {
    touched: touchedBy(patchMap),
    strategic: true,
  });
}

/** The schema of a field that a patch names. */
export interface FieldRule {
  readonly type: Type | undefined;
  readonly strategy: string;
  readonly mergeKey: string;
}
const noRule: FieldRule = { type: undefined, strategy: '', mergeKey: '' };

export function ruleOf(type: Type | undefined, name: string): FieldRule {
  if (type === undefined) return noRule;
  const resolvedType = resolve(type);
  if (resolvedType.node === 'map') return { type: resolvedType.value, strategy: '', mergeKey: '' };
  if (resolvedType.node === 'union') return ruleOf(resolvedType.object.type, name);
  if (resolvedType.node !== 'message') return noRule;
  const field = fieldNamed(resolvedType, name);
  return field === undefined ? noRule : { type: field.type, strategy: field.patch ?? '', mergeKey: field.mergeKey ?? '' };
}

// ---- objects -----------------------------------------------------------------------------------------------------

function* mergedObjects(type: Type | undefined, original: JsonMap, patch: JsonMap, rules: PatchRules): Work<JsonMap> {
  const directive = own(patch, PATCH);
  if (directive === 'delete') return {};
  if (directive === 'replace') return yield* plain(patch, rules);
  if (directive !== undefined) throw badDirective(directive as JsonValue, patch);
  const retained = own(patch, RETAIN);
  const result = retained === undefined ? { ...original } : retain(original, patch, retained as JsonValue);
  const keys = Object.keys(patch);
  const ordered = keys.some(isOrder) ? yield* orderedLists(type, result, patch, rules) : noNames;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if ((i + 1) % KEYS_A_STEP === 0) yield;
    if (key === RETAIN || isDirective(key, ORDER) || ordered.has(key)) continue;
    if (isDirective(key, DELETE_FROM)) deleteFromList(result, fieldOfDirective(key, DELETE_FROM), own(patch, key) as JsonValue);
    else {
      const value = own(patch, key) as JsonValue;
      if (value === null) delete result[key];
      else if (typeof value !== 'object') setOwn(result, key, value);
      else yield* mergeField(type, result, key, value, rules);
    }
  }
  return result;
}
/** Keys of an object that are merged between two yields. */
const KEYS_A_STEP = 1024;
const isOrder = (key: string): boolean => isDirective(key, ORDER);
const noNames: ReadonlySet<string> = new Set();

/** `value` is an object or a list. */
function* mergeField(type: Type | undefined, result: JsonMap, key: string, value: JsonValue, rules: PatchRules): Work<void> {
  const currentValue = own(result, key) as JsonValue | undefined;
  const rule = ruleOf(type, key);
  if (isObject(currentValue) && isObject(value)) {
    const replaced = rule.strategy === 'replace';
    setOwn(
      result,
      key,
      replaced ? yield* plain(value as JsonMap, rules) : yield* mergedObjects(rule.type, currentValue as JsonMap, value as JsonMap, rules),
    );
  } else if (Array.isArray(currentValue) && Array.isArray(value)) setOwn(result, key, yield* mergedLists(rule, currentValue, value, rules));
  else if (rules.dropsDirectives && hasDirective(value)) delete result[key];
  else setOwn(result, key, yield* plain(value, rules));
}

function isDirective(key: string, directive: string): boolean {
  return key.startsWith(directive);
}
/** The field of a directive such as `$setElementOrder/env`. */
function fieldOfDirective(key: string, directive: string): string {
  const slash = key.indexOf('/');
  if (slash < 0 || slash === key.length - 1)
    throw badRequest(`invalid patch format of ${directive === ORDER ? 'setElementOrder' : 'primitive'} list`);
  return key.slice(slash + 1);
}
function badDirective(directive: JsonValue, patch: JsonMap): Error {
  return badRequest(`unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);
}

function retain(original: JsonMap, patch: JsonMap, keys: JsonValue): JsonMap {
  if (!Array.isArray(keys)) throw badRequest('invalid patch format of retainKeys');
  const retainedKeys = new Set(keys);
  for (const key of Object.keys(patch)) {
    if (key === RETAIN || patch[key] === null || isDirective(key, DELETE_FROM) || isDirective(key, ORDER)) continue;
    if (!retainedKeys.has(key)) throw badRequest('invalid patch format of retainKeys');
  }
  const result: JsonMap = {};
  for (const key of Object.keys(original)) if (retainedKeys.has(key)) setOwn(result, key, original[key]);
  return result;
}

function deleteFromList(result: JsonMap, key: string, values: JsonValue): void {
  const currentList = own(result, key);
  // There is nothing to delete: the stock server ignores that, too.
  if (!Array.isArray(currentList) || !Array.isArray(values)) return;
  const deletedValues = new Set(values);
  const remainingValues = currentList.filter((value) => !deletedValues.has(value));
  setOwn(result, key, remainingValues);
}

/** A value without a counterpart: the result of its directives and nulls. */
const plain = <T extends JsonValue>(value: T, { dropsDirectives }: PatchRules): Work<T> =>
  clonedJson(value, (container) => withoutDirectives(container, dropsDirectives)) as Work<T>;

function withoutDirectives(value: object, dropsAll: boolean): object {
  if (Array.isArray(value)) return value.filter((item) => !isObject(item) || !(dropsAll ? hasDirective(item) : isKnown(own(item, PATCH))));
  if (own(value as JsonMap, PATCH) === 'delete') return {};
  const result: JsonMap = {};
  for (const key of Object.keys(value)) {
    const item = (value as JsonMap)[key] as JsonValue;
    if (item === null || key === RETAIN || isDirective(key, ORDER) || isDirective(key, DELETE_FROM)) continue;
    if ((key === PATCH && isKnown(item)) || (dropsAll && hasDirective(item))) continue;
    setOwn(result, key, item);
  }
  return result;
}
const hasDirective = (value: unknown): boolean => isObject(value) && own(value, PATCH) !== undefined;
function isKnown(directive: unknown): boolean {
  return directive === 'replace' || directive === 'delete' || directive === 'merge';
}

// ---- lists -------------------------------------------------------------------------------------------------------

/** Merges and orders the lists for which the patch gives an order. Returns their names: nothing more is to be done for them. */
function* orderedLists(type: Type | undefined, result: JsonMap, patch: JsonMap, rules: PatchRules): Work<Set<string>> {
  const done = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (!isDirective(key, ORDER)) continue;
    const name = fieldOfDirective(key, ORDER);
    const order = patch[key] as JsonValue;
    const currentList = own(result, name) as JsonValue | undefined;
    const change = own(patch, name) as JsonValue | undefined;
    for (const list of [order, currentList, change])
      if (list !== undefined && !Array.isArray(list))
        throw badRequest(`expected a list, but received ${isObject(list) ? 'an object' : `a ${typeof list}`}`);
    const rule = ruleOf(type, name);
    checkOrder((change ?? []) as JsonValue[], order as JsonValue[], rule.mergeKey);
    done.add(name);
    if (currentList === undefined && change === undefined) continue;
    const original = (currentList ?? []) as JsonValue[];
    const items =
      change === undefined
        ? original
        : currentList === undefined
          ? yield* plain(change as JsonValue[], rules)
          : (yield* mergedItems(rule, original, change as JsonValue[], rules)).items;
    if (items.length > ITEMS_A_STEP) yield;
    // Items move up when others are deleted, and added ones take the places that are free then, but no places of their own.
    const places = items.slice(0, original.length);
    setOwn(result, name, arrange(items, order as JsonValue[], places, rule.mergeKey));
  }
  return done;
}

/** Every item of the patch must be in the order list, in the same order. An empty order list asks for nothing. */
function checkOrder(patch: readonly JsonValue[], order: readonly JsonValue[], mergeKey: string): void {
  if (order.length === 0) return;
  const identity = (item: JsonValue): unknown => (mergeKey === '' ? item : isObject(item) ? own(item, mergeKey) : undefined);
  const items = patch.filter((item) => !isObject(item) || own(item, PATCH) === undefined);
  let at = 0;
  for (const place of order) if (at < items.length && identity(items[at] as JsonValue) === identity(place)) at++;
  if (at < items.length)
    throw badRequest(
      `The order in patch list:\n${goText(patch as JsonValue[])}\n doesn't match ${ORDER} list:\n${goText(order as JsonValue[])}\n`,
    );
}

function* mergedLists(rule: FieldRule, original: JsonValue[], patch: JsonValue[], rules: PatchRules): Work<JsonValue[]> {
  const { items, named, kept } = yield* mergedItems(rule, original, patch, rules);
  if (items.length > ITEMS_A_STEP) yield;
  return named === undefined ? items : arrange(items, named, kept, rule.mergeKey);
}

interface MergedItems {
  /** Those that the list had and keeps, then the added ones. */
  readonly items: JsonValue[];
  /** Those of the patch, in whose order they stand unless the patch gives another; undefined if it replaces the list. */
  readonly named?: readonly JsonValue[];
  /** Those that the list had and keeps. */
  readonly kept: readonly JsonValue[];
}

/** The items of a merged list, not yet in order. */
function* mergedItems(rule: FieldRule, original: JsonValue[], patch: JsonValue[], rules: PatchRules): Work<MergedItems> {
  const isMerged = rule.strategy === 'merge' || rule.strategy === 'merge,retainKeys';
  if (!isMerged) return { items: yield* plain(patch, rules), kept: [] };
  if (original.length === 0 && patch.length === 0) return { items: original, kept: original };
  if (!holdObjects(original, patch)) return { items: [...new Set([...original, ...patch])], named: patch, kept: original };
  const { mergeKey } = rule;
  if (mergeKey === '') throw badRequest('cannot merge lists without merge key');
  const { kept, changes, replaces } = carryOutDirectives(original, patch, mergeKey);
  if (replaces) return { items: yield* plain(changes, rules), kept: [] };
  const items = [...kept];
  const placeOf = new Map<unknown, number>();
  for (let i = items.length - 1; i >= 0; i--) placeOf.set(own(items[i] as JsonMap, mergeKey), i);
  const type = rule.type === undefined ? undefined : resolve(rule.type);
  const item = type?.node === 'list' ? type.item : undefined;
  let count = 0;
  for (const change of changes) {
    if (++count % ITEMS_A_STEP === 0) yield;
    const key = own(change, mergeKey);
    if (key === undefined) throw noMergeKey(change, mergeKey);
    const at = placeOf.get(key);
    if (at !== undefined) items[at] = yield* mergedObjects(item, items[at] as JsonMap, change, rules);
    else placeOf.set(key, items.push(yield* plain(change, rules)) - 1);
  }
  return { items, named: changes, kept };
}

/** Items of a list that are merged between two yields. */
const ITEMS_A_STEP = 256;

/** Lists hold either objects or plain values, never both and never lists. */
function holdObjects(...lists: readonly JsonValue[][]): boolean {
  let kind: string | undefined;
  for (const list of lists)
    for (const item of list) {
      if (Array.isArray(item)) throw unprocessable('lists of lists are not supported');
      const type = isObject(item) ? 'map' : typeof item;
      if (kind !== undefined && kind !== type) throw badRequest('list element types are not identical');
      kind = type;
    }
  return kind === 'map';
}

/** Removes the items of a patch that delete an item or replace the whole list. */
function carryOutDirectives(original: readonly JsonValue[], patch: readonly JsonValue[], mergeKey: string) {
  const changes: JsonMap[] = [];
  const deletedKeys = new Set<unknown>();
  let replaces = false;
  for (const item of patch as readonly JsonMap[]) {
    const directive = own(item, PATCH);
    if (directive === undefined) changes.push(item);
    else if (directive === 'replace') replaces = true;
    else if (directive === 'delete') {
      const key = own(item, mergeKey);
      if (key === undefined) throw noMergeKey(item, mergeKey);
      deletedKeys.add(key);
    } else if (directive === 'merge') throw badRequest('merging lists cannot yet be specified in the patch');
    else throw badDirective(directive as JsonValue, item);
  }
  const keptItems = deletedKeys.size === 0 ? original : original.filter((before) => !deletedKeys.has(own(before as JsonMap, mergeKey)));
  return { kept: keptItems, changes, replaces };
}

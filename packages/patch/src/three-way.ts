/**
 * Patches from the difference of objects, for clients that merge on their side. `twoWayPatch` makes one object of another;
 * `threeWayPatch` also knows what was applied last, so that it removes only what was applied before:
 *
 *   last applied  { a: 1, b: 2 }
 *   applied now   { a: 1, c: 3 }        →  { b: null, c: 3 }: d belongs to another client and stays
 *   current       { a: 1, b: 2, d: 4 }
 *
 * With a type the result is a strategic merge patch, without one a JSON merge patch. Inputs are not changed.
 */
import { isDeepStrictEqual } from 'node:util';
import { own, setOwn } from '@plat-dev/lib/own';
import { clientSideApply } from '@plat-dev/meta/identity';
import { type JsonValue, type MessageType, resolve, type Type } from '@plat-dev/schema/types';
import { isObject } from './shape.ts';
import { type FieldRule, ruleOf } from './strategic.ts';
import type { JsonMap } from './strategic-lists.ts';

const PATCH = '$patch';
const RETAIN = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList';
const ORDER = '$setElementOrder';

/** Which differences become part of a patch. */
interface Parts {
  readonly deletions: boolean;
  /** Changes and additions. */
  readonly changes: boolean;
}

/** The current object and the applied one change the same fields in different ways. */
export class PatchConflict extends Error {}

export interface ThreeWay {
  /** Undefined for a kind without a schema: lists are replaced as a whole. */
  readonly type: MessageType | undefined;
  /** Undefined if nothing was applied before. */
  readonly lastApplied: JsonMap | undefined;
  readonly applied: JsonMap;
  readonly current: JsonMap;
  /** Whether fields that another client changed are overwritten; otherwise they are a PatchConflict. */
  readonly overwrite: boolean;
}

/** An empty object when there is nothing to change. */
export function threeWayPatch({ type, lastApplied = {}, applied, current, overwrite }: ThreeWay): JsonMap {
  const changes = diffMaps(type, current, applied, { deletions: false, changes: true }, false);
  const deletions = diffMaps(type, lastApplied, applied, { deletions: true, changes: false }, false);
  const patch = combined(type, deletions, changes);
  if (!overwrite) {
    const others = diffMaps(type, lastApplied, current, { deletions: true, changes: true }, false);
    const field = conflictOf(type, patch, others, '');
    if (field !== undefined) throw new PatchConflict(`another client changed ${field} since it was applied; --overwrite sets it`);
  }
  return patch;
}

export const twoWayPatch = (type: MessageType | undefined, before: JsonMap, after: JsonMap): JsonMap =>
  diffMaps(type, before, after, { deletions: true, changes: true }, false);

// ---- differences -------------------------------------------------------------------------------------------------

function diffMaps(type: Type | undefined, before: JsonMap, after: JsonMap, parts: Parts, retainKeys: boolean): JsonMap {
  const patch: JsonMap = {};
  for (const key of Object.keys(after)) {
    const value = after[key] as JsonValue;
    const old = own(before, key) as JsonValue | undefined;
    if (old === undefined) {
      if (parts.changes) setOwn(patch, key, value);
    } else if (isObject(old) && isObject(value)) diffInnerMap(type, key, old as JsonMap, value as JsonMap, patch, parts);
    else if (Array.isArray(old) && Array.isArray(value)) diffInnerList(type, key, old, value, patch, parts);
    else if (parts.changes && old !== value && !isDeepStrictEqual(old, value)) setOwn(patch, key, value);
  }
  if (parts.deletions) for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) setOwn(patch, key, null);
  if (retainKeys) {
    const presentKeys = Object.keys(after).filter((key) => after[key] !== null);
    const isLonger = Object.keys(before).some((key) => before[key] !== null && !Object.hasOwn(after, key));
    if (presentKeys.length > 0 && (Object.keys(patch).length > 0 || isLonger)) patch[RETAIN] = presentKeys.sort();
  }
  return patch;
}

const strategies = ({ strategy }: FieldRule): readonly string[] => strategy.split(',');

function diffInnerMap(type: Type | undefined, key: string, before: JsonMap, after: JsonMap, patch: JsonMap, parts: Parts): void {
  const rule = ruleOf(type, key);
  if (strategies(rule).includes('replace')) {
    if (parts.changes && !isDeepStrictEqual(before, after)) setOwn(patch, key, after);
    return;
  }
  const inner = diffMaps(rule.type, before, after, parts, strategies(rule).includes('retainKeys'));
  if (Object.keys(inner).length > 0) setOwn(patch, key, inner);
}

function diffInnerList(
  type: Type | undefined,
  key: string,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  patch: JsonMap,
  parts: Parts,
): void {
  const rule = ruleOf(type, key);
  if (!strategies(rule).includes('merge')) {
    if (parts.changes && !isDeepStrictEqual(before, after)) setOwn(patch, key, after as JsonValue[]);
    return;
  }
  if (before.length === 0) {
    if (parts.changes && after.length > 0) setOwn(patch, key, after as JsonValue[]);
    return;
  }
  if ([...before, ...after].some(isObject)) diffItems(rule, key, before as JsonMap[], after as JsonMap[], patch, parts);
  else diffValues(key, before, after, patch, parts);
}

/** Lists of objects that a key identifies. */
function diffItems(
  rule: FieldRule,
  key: string,
  before: readonly JsonMap[],
  after: readonly JsonMap[],
  patch: JsonMap,
  parts: Parts,
): void {
  const { mergeKey } = rule;
  const list = rule.type === undefined ? undefined : resolve(rule.type);
  const itemType = list?.node === 'list' ? list.item : undefined;
  const keyOf = (item: JsonMap): JsonValue | undefined => own(item, mergeKey) as JsonValue | undefined;
  const old = new Map(before.map((item) => [keyOf(item), item]));
  const keptKeys = new Set(after.map(keyOf));
  const items: JsonMap[] = [];
  for (const item of after) {
    const counterpart = old.get(keyOf(item));
    if (counterpart === undefined) {
      if (parts.changes) items.push(item);
      continue;
    }
    const inner = diffMaps(itemType, counterpart, item, parts, strategies(rule).includes('retainKeys'));
    if (Object.keys(inner).length > 0) items.push({ ...inner, [mergeKey]: keyOf(item) ?? null });
  }
  if (parts.deletions)
    for (const item of before) if (!keptKeys.has(keyOf(item))) items.push({ [PATCH]: 'delete', [mergeKey]: keyOf(item) ?? null });
  if (items.length > 0) setOwn(patch, key, items);
  const isSameOrder = before.length === after.length && before.every((item, i) => keyOf(item) === keyOf(after[i] as JsonMap));
  if (items.length > 0 || (parts.changes && !isSameOrder))
    setOwn(
      patch,
      `${ORDER}/${key}`,
      after.map((item) => ({ [mergeKey]: keyOf(item) ?? null })),
    );
}

/** Lists of plain values that are merged as sets. */
function diffValues(key: string, before: readonly JsonValue[], after: readonly JsonValue[], patch: JsonMap, parts: Parts): void {
  const addedValues = parts.changes ? after.filter((value) => !before.includes(value)) : [];
  const removedValues = parts.deletions ? [...new Set(before.filter((value) => !after.includes(value)))] : [];
  if (addedValues.length > 0) setOwn(patch, key, addedValues);
  if (removedValues.length > 0) setOwn(patch, `${DELETE_FROM}/${key}`, removedValues);
  if (removedValues.length > 0 || (parts.changes && !isDeepStrictEqual(before, after)))
    setOwn(patch, `${ORDER}/${key}`, after as JsonValue[]);
}

// ---- patches together --------------------------------------------------------------------------------------------

const isDirective = (key: string): boolean => key.startsWith('$');

/** One patch that does both. Where they meet, the changes count. */
function combined(type: Type | undefined, deletions: JsonMap, changes: JsonMap): JsonMap {
  const patch = { ...deletions };
  for (const key of Object.keys(changes)) {
    const value = changes[key] as JsonValue;
    const deletion = own(deletions, key) as JsonValue | undefined;
    const rule = ruleOf(type, key);
    if (isObject(value) && isObject(deletion)) setOwn(patch, key, combined(rule.type, deletion as JsonMap, value as JsonMap));
    else if (Array.isArray(value) && Array.isArray(deletion) && !isDirective(key) && rule.mergeKey !== '')
      setOwn(patch, key, combinedItems(rule, deletion as JsonMap[], value as JsonMap[], own(changes, `${ORDER}/${key}`)));
    else setOwn(patch, key, value);
  }
  return patch;
}

/** Items of both patches by their key, in the order that the list will have; what is deleted comes last. */
function combinedItems(rule: FieldRule, deletions: readonly JsonMap[], changes: readonly JsonMap[], order: unknown): JsonMap[] {
  const list = rule.type === undefined ? undefined : resolve(rule.type);
  const itemType = list?.node === 'list' ? list.item : undefined;
  const keyOf = (item: JsonMap): unknown => own(item, rule.mergeKey);
  const byKey = new Map(deletions.map((item) => [keyOf(item), item]));
  for (const item of changes) {
    const deletion = byKey.get(keyOf(item));
    byKey.set(keyOf(item), deletion === undefined || own(deletion, PATCH) !== undefined ? item : combined(itemType, deletion, item));
  }
  const places = new Map(Array.isArray(order) ? order.map((item, i) => [keyOf(item as JsonMap), i]) : []);
  const placeOf = (item: JsonMap): number => (own(item, PATCH) === undefined ? (places.get(keyOf(item)) ?? places.size) : places.size + 1);
  return [...byKey.values()].sort((a, b) => placeOf(a) - placeOf(b));
}

// ---- conflicts ---------------------------------------------------------------------------------------------------

/** The first field that both patches change in different ways; undefined if there is none. */
function conflictOf(type: Type | undefined, ownChanges: JsonMap, others: JsonMap, path: string): string | undefined {
  for (const key of Object.keys(ownChanges)) {
    // Every apply changes its own annotation.
    if (isDirective(key) || key === clientSideApply.annotation || !Object.hasOwn(others, key)) continue;
    const at = path === '' ? key : `${path}.${key}`;
    const [a, b] = [ownChanges[key] as JsonValue, own(others, key) as JsonValue];
    const rule = ruleOf(type, key);
    const conflict =
      isObject(a) && isObject(b)
        ? conflictOf(rule.type, a as JsonMap, b as JsonMap, at)
        : Array.isArray(a) && Array.isArray(b) && rule.mergeKey !== ''
          ? conflictOfItems(rule, a as JsonMap[], b as JsonMap[], at)
          : isDeepStrictEqual(a, b)
            ? undefined
            : at;
    if (conflict !== undefined) return conflict;
  }
  return undefined;
}
function conflictOfItems(rule: FieldRule, ownItems: readonly JsonMap[], others: readonly JsonMap[], at: string): string | undefined {
  const list = rule.type === undefined ? undefined : resolve(rule.type);
  const itemType = list?.node === 'list' ? list.item : undefined;
  for (const item of ownItems) {
    const key = own(item, rule.mergeKey);
    const otherItem = others.find((candidate) => own(candidate, rule.mergeKey) === key);
    if (otherItem === undefined) continue;
    const itemPath = `${at}[${rule.mergeKey}=${String(key)}]`;
    if (own(item, PATCH) !== own(otherItem, PATCH)) return itemPath;
    const conflict = conflictOf(itemType, item, otherItem, itemPath);
    if (conflict !== undefined) return conflict;
  }
  return undefined;
}

/**
 * Decodes a large value in steps. Its large lists and maps are decoded first, entry by entry, those within others before these;
 * then the value as a whole, which takes them as they are:
 *
 *   { properties: { p0: …, p1: …, … 20,000 of them } }        yields after some of the properties
 *
 * A list or map that holds many objects counts as large, too, so that a tree of short lists is decoded branch by branch.
 * What the decoder refuses is left to the last step, which knows its path.
 */
import type { Work } from '@plat-dev/lib/slices';
import { sortedList } from '@plat-dev/lib/sorted-list';
import { type ListType, type MapType, type MessageType, resolve, type Type } from '../types.ts';
import { decodeValue, entriesReader, isPlain, isSorted, itemsReader, withDecoded } from './decode.ts';
import { Mismatch } from './mismatch.ts';
import { clonedJson, itself } from './plain.ts';

/** Lists and maps with at least so many entries, or objects within them, are decoded before what holds them. */
export const MANY = 256;
/** Objects that are decoded at a time: about a tenth of a millisecond. */
const STEP = 64;
/** Texts and numbers of one list or map that are decoded at a time. */
export const SCALARS = 2048;
/** Objects and lists that are looked at before a pause. A power of two. */
const VISITED_A_STEP = 512;
type Values = Record<string, unknown>;

/** The same as `decode`. Throws DecodeError. */
export function* decodedValue(type: Type, value: unknown): Work<unknown> {
  const largeParts: Large[] = [];
  if (isContainer(value)) yield* findLarge(type, value, { largeParts, visited: 0 });
  const results = new Map<object, unknown>();
  for (const part of largeParts) {
    yield;
    if ('copy' in part) results.set(part.value, yield* part.copy);
    else yield* 'keys' in part ? decodeMap(part, results) : decodeList(part, results);
  }
  if (largeParts.length > 0) yield;
  return withDecoded(results, () => decodeValue(type, value));
}

interface LargeList {
  readonly type: ListType;
  readonly value: readonly unknown[];
  /** Entries that are decoded at a time. */
  readonly step: number;
}
interface LargeMap {
  readonly type: MapType;
  readonly value: Values;
  readonly keys: readonly string[];
  readonly step: number;
}
/** A value without a type. */
interface Plain {
  readonly value: object;
  readonly copy: Work<unknown>;
}
type Large = LargeList | LargeMap | Plain;

interface Search {
  readonly largeParts: Large[];
  /** Objects and lists so far. */
  visited: number;
}

/**
 * The large lists and maps of a value, those within others first. A list or map is large by its own entries, or by what these
 * hold. Returns how many objects are decoded together with what holds the value.
 */
function* findLarge(type: Type, value: object, search: Search): Work<number> {
  if ((++search.visited & (VISITED_A_STEP - 1)) === 0) yield;
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'message':
      return Array.isArray(value) ? 1 : yield* findLargeInMessage(resolved, value as Values, search);
    case 'union':
      return yield* findLarge(Array.isArray(value) ? resolved.other.type : resolved.object.type, value, search);
    case 'list': {
      if (!Array.isArray(value)) return 1;
      const item = resolve(resolved.item);
      if (item.node === 'scalar' && !isPlain(item.name)) {
        if (value.length > SCALARS) search.largeParts.push({ type: resolved, value, step: SCALARS });
        return 1;
      }
      let weight = 0;
      for (const item of value) if (isContainer(item)) weight += yield* findLarge(resolved.item, item, search);
      if (value.length < MANY && weight < MANY) return weight + 1;
      search.largeParts.push({ type: resolved, value, step: stepOf(value.length, weight) });
      return 1;
    }
    case 'map': {
      if (Array.isArray(value)) return 1;
      const item = resolve(resolved.value);
      const isScalar = item.node === 'scalar' && !isPlain(item.name);
      const keys = Object.keys(value);
      if (isScalar && keys.length <= SCALARS) return 1;
      yield* sortKeys(keys);
      if (isScalar) {
        search.largeParts.push({ type: resolved, value: value as Values, keys, step: SCALARS });
        return 1;
      }
      let weight = 0;
      for (const key of keys) {
        const item = (value as Values)[key];
        if (isContainer(item)) weight += yield* findLarge(resolved.value, item, search);
      }
      if (keys.length < MANY && weight < MANY) return weight + 1;
      search.largeParts.push({ type: resolved, value: value as Values, keys, step: stepOf(keys.length, weight) });
      return 1;
    }
    case 'scalar':
      // Sets of fields are shared rather than copied.
      if (resolved.name === 'fieldsV1') search.largeParts.push({ value, copy: clonedJson(value, itself) });
      else if (isPlain(resolved.name)) search.largeParts.push({ value, copy: clonedJson(value) });
      return 1;
  }
}
/** Sorts the keys of a map, with pauses if there are many. */
function* sortKeys(keys: string[]): Work<void> {
  if (isSorted(keys)) return;
  if (keys.length <= SCALARS) keys.sort();
  else yield* sortedList(keys, (a, b) => (a < b ? -1 : 1));
}

function* findLargeInMessage(type: MessageType, value: Values, search: Search): Work<number> {
  const fields = fieldsOf(type);
  let weight = 1;
  for (const name of Object.keys(value)) {
    const inner = value[name];
    if (!isContainer(inner)) continue;
    const field = fields.get(name);
    if (field !== undefined) weight += yield* findLarge(field, inner, search);
    else if (type.unknown === 'keep' && !type.ordered.some((field) => field.name === name))
      search.largeParts.push({ value: inner, copy: clonedJson(inner) });
  }
  return weight;
}
const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
/** Entries of a list or map with so many objects in it that make up one step. */
const stepOf = (entries: number, weight: number): number => Math.max(1, Math.min(STEP, Math.floor((STEP * entries) / Math.max(weight, 1))));

/** Fields by name that can hold lists or maps at all. */
const fieldsByName = new WeakMap<MessageType, ReadonlyMap<string, Type>>();
function fieldsOf(type: MessageType): ReadonlyMap<string, Type> {
  let fields = fieldsByName.get(type);
  if (fields === undefined) {
    fields = new Map(type.ordered.filter(isDeep).map((field) => [field.name, field.type]));
    fieldsByName.set(type, fields);
  }
  return fields;
}

function isDeep(field: { readonly type: Type }): boolean {
  const type = resolve(field.type);
  return type.node !== 'scalar' || isPlain(type.name);
}

function* decodeList({ type, value, step }: LargeList, results: Map<object, unknown>): Work<void> {
  const readItems = itemsReader(type);
  const out: unknown[] = [];
  while (out.length < value.length) {
    if (!isDecoded(results, () => readItems(value, out, Math.min(value.length, out.length + step)))) return;
    yield;
  }
  results.set(value, out);
}

function* decodeMap({ type, value, keys, step }: LargeMap, results: Map<object, unknown>): Work<void> {
  const readEntries = entriesReader(type);
  const out: Values = {};
  for (let at = 0; at < keys.length; at += step) {
    if (!isDecoded(results, () => readEntries(value, out, keys, at, Math.min(keys.length, at + step)))) return;
    yield;
  }
  results.set(value, out);
}

/** False where an entry does not fit its type. */
function isDecoded(results: Map<object, unknown>, some: () => void): boolean {
  try {
    withDecoded(results, some);
    return true;
  } catch (error) {
    if (error instanceof Mismatch) return false;
    throw error;
  }
}

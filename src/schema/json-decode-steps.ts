/**
 * Decodes a large value in steps. Its large lists and maps are decoded first, entry by entry, those within others before these;
 * then the value as a whole, which takes them as they are:
 *
 *   { properties: { p0: …, p1: …, … 20,000 of them } }        yields after some of the properties
 *
 * What the decoder refuses is left to the last step, which knows its path.
 */
import type { Work } from '../lib/slices.ts';
import { decoderOf, decodeValue, sortedKeys, withDecoded } from './json-decode.ts';
import { Mismatch } from './mismatch.ts';
import { setKey } from './plain.ts';
import { type ListType, type MapType, type MessageType, resolve, type Type } from './types.ts';
import { placeholderMakerOf } from './zero.ts';

/** Lists and maps with at least so many entries are decoded before what holds them. */
export const MANY = 256;
/** Entries that are decoded at a time: about a tenth of a millisecond. */
const STEP = 64;
type Values = Record<string, unknown>;

/** The same as `decode`. Throws DecodeError. */
export function* decodeSteps(type: Type, value: unknown): Work<unknown> {
  const large: Large[] = [];
  find(type, value, large);
  const results = new Map<object, unknown>();
  for (const one of large) {
    yield;
    yield* 'keys' in one ? decodeMap(one, results) : decodeList(one, results);
  }
  if (large.length > 0) yield;
  return withDecoded(results, () => decodeValue(type, value));
}

interface LargeList {
  readonly type: ListType;
  readonly value: readonly unknown[];
}
interface LargeMap {
  readonly type: MapType;
  readonly value: Values;
  readonly keys: readonly string[];
}
type Large = LargeList | LargeMap;

/** The large lists and maps of a value, those within others first. */
function find(type: Type, value: unknown, large: Large[]): void {
  if (typeof value !== 'object' || value === null) return;
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'message':
      if (!Array.isArray(value)) findInMessage(resolved, value as Values, large);
      return;
    case 'union':
      find(Array.isArray(value) ? resolved.other.type : resolved.object.type, value, large);
      return;
    case 'list':
      if (!Array.isArray(value) || resolve(resolved.item).node === 'scalar') return;
      for (const item of value) find(resolved.item, item, large);
      if (value.length >= MANY) large.push({ type: resolved, value });
      return;
    case 'map': {
      if (Array.isArray(value) || resolve(resolved.value).node === 'scalar') return;
      const keys = sortedKeys(value as Values);
      for (const key of keys) find(resolved.value, (value as Values)[key], large);
      if (keys.length >= MANY) large.push({ type: resolved, value: value as Values, keys });
    }
  }
}
function findInMessage(type: MessageType, value: Values, large: Large[]): void {
  const fields = fieldsOf(type);
  for (const name of Object.keys(value)) {
    const field = fields.get(name);
    if (field !== undefined) find(field, value[name], large);
  }
}
/** Fields by name that can hold lists or maps at all. */
const fieldsByName = new WeakMap<MessageType, ReadonlyMap<string, Type>>();
function fieldsOf(type: MessageType): ReadonlyMap<string, Type> {
  let fields = fieldsByName.get(type);
  if (fields === undefined) {
    const deep = type.ordered.filter((field) => resolve(field.type).node !== 'scalar');
    fields = new Map(deep.map((field) => [field.name, field.type]));
    fieldsByName.set(type, fields);
  }
  return fields;
}

function* decodeList({ type, value }: LargeList, results: Map<object, unknown>): Work<void> {
  const read = decoderOf(type.item);
  const placeholder = placeholderMakerOf(type.item);
  const out: unknown[] = [];
  const some = (): void => {
    const end = Math.min(value.length, out.length + STEP);
    for (let i = out.length; i < end; i++) out.push(value[i] === null || value[i] === undefined ? placeholder() : read(value[i]));
  };
  while (out.length < value.length) {
    if (!isDecoded(results, some)) return;
    yield;
  }
  results.set(value, out);
}

function* decodeMap({ type, value, keys }: LargeMap, results: Map<object, unknown>): Work<void> {
  const read = decoderOf(type.value);
  const placeholder = placeholderMakerOf(type.value);
  const out: Values = {};
  let at = 0;
  const some = (): void => {
    for (const end = Math.min(keys.length, at + STEP); at < end; at++) {
      const key = keys[at] as string;
      const item = value[key];
      setKey(out, key, item === null || item === undefined ? placeholder() : read(item));
    }
  };
  while (at < keys.length) {
    if (!isDecoded(results, some)) return;
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

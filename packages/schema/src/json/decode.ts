/**
 * From parsed JSON to the normal form of types.ts. A decoder is compiled once for a type, the first time it is needed.
 *
 * A decoder returns `undefined` for a value that the normal form leaves out. The result is a new object: it shares nothing
 * with the input except texts, numbers and sets of fields (`fieldsV1`), which are never changed in place.
 */

import { setOwn } from '@plat-dev/lib/own';
import { type Placed, PresentFields } from '../fields/present-fields.ts';
import { noZero, placeholderMakerOf, zeroMakerOf, zeroValue } from '../fields/zero-values.ts';
import {
  type ListType,
  type MapType,
  type MessageType,
  type NamedField,
  type ResolvedType,
  resolve,
  type ScalarName,
  type Type,
  type UnionType,
} from '../types.ts';
import { Mismatch, unreadable } from './mismatch.ts';
import { cloneJson, isInherited, ownOnly } from './plain.ts';
import { scalarDecoder } from './scalars.ts';

/** Takes a value that is neither null nor undefined. */
type Decoder = (value: unknown) => unknown;
type Values = Record<string, unknown>;

/** Decodes a parsed JSON value by the type; null and undefined become its zero value. Throws DecodeError. */
export function decodeValue(type: Type, value: unknown): unknown {
  present.top = 0;
  try {
    return value === null || value === undefined ? zeroValue(type) : decoderOf(type)(value);
  } catch (error) {
    if (error instanceof Mismatch) throw error.toError();
    throw error;
  }
}

/**
 * Large lists and maps, and values without a type, that were decoded before the value that holds them (`decode-large.ts`), by their input. Each is used
 * once: what is decoded shares nothing. Undefined but for the time of such a call.
 */
let earlierResults: Map<object, unknown> | undefined;

/** Runs `decode` while results of an earlier step are used. */
export function withDecoded<T>(results: Map<object, unknown>, decode: () => T): T {
  earlierResults = results;
  present.top = 0;
  try {
    return decode();
  } finally {
    earlierResults = undefined;
  }
}
function takeDecoded(results: Map<object, unknown>, value: object): unknown {
  const result = results.get(value);
  if (result !== undefined) results.delete(value);
  return result;
}

const decoders = new WeakMap<Type, Decoder>();

/** The decoder that keeps empty values, as items of lists, values of maps and pointers do. */
function decoderOf(type: Type): Decoder {
  const resolved = resolve(type);
  let decoder = decoders.get(resolved);
  if (decoder === undefined) {
    decoder = compile(resolved);
    decoders.set(resolved, decoder);
  }
  return decoder;
}

function compile(resolved: ResolvedType): Decoder {
  switch (resolved.node) {
    case 'scalar':
      return isPlain(resolved.name) ? plainDecoder(scalarDecoder(resolved.name)) : scalarDecoder(resolved.name);
    case 'list':
      return listDecoder(resolved);
    case 'map':
      return mapDecoder(resolved, 'keep');
    case 'message':
      return messageDecoder(resolved);
    case 'union':
      return unionDecoder(resolved);
  }
}

/** Whether values of a scalar type may be whole objects, which are not described by types. */
export const isPlain = (name: ScalarName): boolean => name === 'json' || name === 'raw' || name === 'fieldsV1';

function plainDecoder(read: Decoder): Decoder {
  return (value) => {
    if (earlierResults !== undefined && typeof value === 'object') {
      const earlierResult = takeDecoded(earlierResults, value as object);
      if (earlierResult !== undefined) return earlierResult;
    }
    return read(value);
  };
}
const copyOf = plainDecoder((value) => cloneJson(value));

// ---- lists, maps, unions ---------------------------------------------------------------------------------------

function listDecoder(type: ListType): Decoder {
  const readItems = itemsReader(type);
  return (value) => {
    if (!Array.isArray(value)) throw unreadable(value, type);
    if (earlierResults !== undefined) {
      const earlierResult = takeDecoded(earlierResults, value);
      if (earlierResult !== undefined) return earlierResult;
    }
    const out: unknown[] = [];
    readItems(value, out, value.length);
    return out;
  };
}
/** Decodes the items of a list that are not decoded yet, up to one. */
export function itemsReader(type: ListType): (list: readonly unknown[], out: unknown[], end: number) => void {
  const read = decoderOf(type.item);
  const placeholder = placeholderMakerOf(type.item);
  return (list, out, end) => {
    let i = out.length;
    try {
      for (; i < end; i++) {
        const item = list[i];
        out.push(item === null || item === undefined ? placeholder() : read(item));
      }
    } catch (error) {
      if (error instanceof Mismatch) error.path.push(i);
      throw error;
    }
  };
}

/** An empty map is dropped by what it is made of: to look into a large one for a key takes as long as to list them all. */
function mapDecoder(type: MapType, empty: 'keep' | 'drop'): Decoder {
  const item = resolve(type.value);
  if (item.node === 'scalar' && item.name === 'string') return textMapDecoder(type, empty);
  const readEntries = entriesReader(type);
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) throw unreadable(value, type);
    if (earlierResults !== undefined) {
      const earlierResult = takeDecoded(earlierResults, value as object);
      if (earlierResult !== undefined) return earlierResult;
    }
    const keys = sortedKeys(value as Values);
    if (keys.length === 0 && empty === 'drop') return undefined;
    const out: Values = {};
    readEntries(value as Values, out, keys, 0, keys.length);
    return out;
  };
}
/** Decodes some entries of a map. */
export function entriesReader(type: MapType): (map: Values, out: Values, keys: readonly string[], from: number, end: number) => void {
  const read = decoderOf(type.value);
  const placeholder = placeholderMakerOf(type.value);
  return (map, out, keys, from, end) => {
    let i = from;
    try {
      for (; i < end; i++) {
        const key = keys[i] as string;
        const item = map[key];
        setOwn(out, key, item === null || item === undefined ? placeholder() : read(item));
      }
    } catch (error) {
      if (error instanceof Mismatch) error.path.push(keys[i] as string);
      throw error;
    }
  };
}

/** Labels, annotations and the like: mostly sorted already, so that a plain copy is enough. */
function textMapDecoder(type: MapType, empty: 'keep' | 'drop'): Decoder {
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) throw unreadable(value, type);
    if (earlierResults !== undefined) {
      const earlierResult = takeDecoded(earlierResults, value as object);
      if (earlierResult !== undefined) return earlierResult;
    }
    let plain = true;
    let last = '';
    let any = false;
    for (const key in value) {
      any = true;
      const text = (value as Values)[key];
      if (typeof text !== 'string') {
        plain = false;
        if (text !== null) throw unreadable(text, type.value).within(key);
      }
      if (key < last) plain = false;
      last = key;
    }
    if (!any && empty === 'drop') return undefined;
    if (plain) return { ...value };
    const out: Values = {};
    for (const key of sortedKeys(value as Values)) setOwn(out, key, (value as Values)[key] ?? '');
    return out;
  };
}

/** Maps are kept in order of their keys, so that equal maps have equal bytes. */
function sortedKeys(map: Values): string[] {
  const keys = Object.keys(map);
  return isSorted(keys) ? keys : keys.sort();
}
export function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i] as string) < (keys[i - 1] as string)) return false;
  return true;
}

function unionDecoder(type: UnionType): Decoder {
  const readObject = decoderOf(type.object.type);
  const readOther = decoderOf(type.other.type);
  return (value) => (typeof value === 'object' && !Array.isArray(value) ? readObject(value) : readOther(value));
}

// ---- messages --------------------------------------------------------------------------------------------------

interface FieldPlan extends Placed {
  readonly read: Decoder;
  /** Makes the value of an `always` field that was not given. */
  readonly zero: () => unknown;
}

function planField(field: NamedField, at: number): FieldPlan {
  const read = decoderOf(field.type);
  const zero = field.always && field.nullable !== true ? zeroMakerOf(field.type) : noZero;
  return { name: field.name, at, read: field.nullable === true ? read : droppingEmpty(field.type, read, field.always), zero };
}

/** A field that is not a pointer leaves out its empty value, unless JSON always shows it. */
function droppingEmpty(type: Type, read: Decoder, always: boolean): Decoder {
  const resolved = resolve(type);
  if (resolved.node === 'message') return read;
  if (resolved.node === 'list') {
    return (value) => {
      const list = read(value) as unknown[];
      // An explicit empty list is owned by its writer, although JSON always writes it as null.
      return list.length === 0 && !always ? undefined : list;
    };
  }
  if (resolved.node === 'map') return mapDecoder(resolved, 'drop');
  if (resolved.node === 'scalar') {
    if (resolved.name === 'bytes') return (value) => read(value) || undefined;
    if (!always && resolved.name !== 'quantity' && resolved.name !== 'json') {
      const zero = zeroMakerOf(type)();
      return (value) => {
        const scalar = read(value);
        return scalar === zero ? undefined : scalar;
      };
    }
  }
  return read;
}

const present = new PresentFields<FieldPlan>();

function messageDecoder(type: MessageType): Decoder {
  // Fields are planned on first use, so that a schema may contain itself.
  let fields: Map<string, FieldPlan> | undefined;
  let always: FieldPlan[] = [];
  const keep = type.unknown === 'keep';
  const careful = type.ordered.some((field) => isInherited(field.name));
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) throw unreadable(value, type);
    const object = careful ? ownOnly(value) : (value as Values);
    if (fields === undefined) {
      const plans = type.ordered.map(planField);
      fields = new Map(plans.map((plan) => [plan.name, plan]));
      always = plans.filter((plan) => plan.zero !== noZero);
    }
    const out: Values = {};
    const base = present.top;
    present.gather(fields, object);
    const end = present.top;
    let next = 0;
    for (let i = base; i < end; i++) {
      const plan = present.plans[i] as FieldPlan;
      for (; next < always.length && (always[next] as FieldPlan).at < plan.at; next++) putZero(out, always[next] as FieldPlan);
      const result = readField(type, plan, present.take(i));
      // A value that decodes to undefined is replaced by the zero value, if the field has one.
      if (result !== undefined) {
        if (always[next] === plan) next++;
        if (careful) setOwn(out, plan.name, result);
        else out[plan.name] = result;
      }
    }
    for (; next < always.length; next++) putZero(out, always[next] as FieldPlan);
    present.top = base;
    if (keep) {
      for (const key of Object.keys(value as Values)) {
        if (!fields.has(key)) setOwn(out, key, copyOf((value as Values)[key]));
      }
    }
    return out;
  };
}

function putZero(out: Values, plan: FieldPlan): void {
  setOwn(out, plan.name, plan.zero());
}

function readField(type: MessageType, plan: FieldPlan, value: unknown): unknown {
  try {
    return plan.read(value);
  } catch (error) {
    if (error instanceof Mismatch) error.inField(type.name, plan.name);
    throw error;
  }
}

/** Equality and order. */
import { Quantity } from '@plat-dev/lib/quantity';
import { type Frame, PER_UNIT } from './budget.ts';
import { compareVersions } from './compare-versions.ts';
import type { CelType, ListType } from './types.ts';
import {
  CelMap,
  CIDRValue,
  ConstructedObject,
  Double,
  Duration,
  FormatValue,
  IPValue,
  isMap,
  keysOf,
  lookUp,
  mapSize,
  Optional,
  SemverValue,
  Timestamp,
  TypeValue,
  UInt,
  UrlValue,
} from './values.ts';

/** The number that a value is, for comparisons between types; undefined for other values. */
function numberOf(value: unknown): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Double || value instanceof UInt) return value.value;
  return undefined;
}

/** Whether two values are equal. Those of different types are not, except numbers. */
export function equal(frame: Frame, a: unknown, b: unknown): boolean {
  if (typeof a === 'string') {
    if (typeof b !== 'string') return false;
    if (a.length > PER_UNIT && a.length === b.length) frame.spend(a.length / PER_UNIT);
    return a === b;
  }
  if (Object.is(a, b)) return !Number.isNaN(a);
  if (typeof a === 'boolean' || a === null || typeof b === 'boolean' || b === null || typeof b === 'string') return false;
  const number = numberOf(a);
  if (number !== undefined) {
    const other = numberOf(b);
    // Numbers and big integers are equal where they are the same amount.
    // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint are never identical
    return other !== undefined && number == other;
  }
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(frame, a, b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(frame, a, b);
  if (isMap(a)) return isMap(b) && equalMaps(frame, a, b);
  return equalObjects(frame, a, b);
}

function equalObjects(frame: Frame, a: unknown, b: unknown): boolean {
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Quantity) return b instanceof Quantity && a.equals(b);
  if (a instanceof UrlValue) return b instanceof UrlValue && equal(frame, a.text, b.text);
  if (a instanceof IPValue) return b instanceof IPValue && equalBytes(frame, a.bytes, b.bytes);
  if (a instanceof CIDRValue) return b instanceof CIDRValue && a.bits === b.bits && equalBytes(frame, a.bytes, b.bytes);
  if (a instanceof SemverValue) return b instanceof SemverValue && compareVersions(a, b) === 0;
  if (a instanceof FormatValue) return b instanceof FormatValue && a.name === b.name;
  if (a instanceof ConstructedObject) return b instanceof ConstructedObject && equalConstructed(frame, a, b);
  if (a instanceof Optional) return b instanceof Optional && a.present === b.present && (!a.present || equal(frame, a.value, b.value));
  return false;
}

function equalConstructed(frame: Frame, a: ConstructedObject, b: ConstructedObject): boolean {
  if (a.typeName !== b.typeName || a.fields.size !== b.fields.size) return false;
  for (const [field, value] of a.fields) {
    frame.spend(ITEM_UNITS);
    const other = b.fields.get(field);
    if (other === undefined || !equal(frame, value, other)) return false;
  }
  return true;
}

/** Units of comparing an item with another, without what they hold. */
const ITEM_UNITS = 2;

function equalLists(frame: Frame, a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    frame.spend(ITEM_UNITS);
    if (!equal(frame, a[i], b[i])) return false;
  }
  return true;
}
function equalBytes(frame: Frame, a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  frame.spendLength(a.length);
  return Buffer.compare(a, b) === 0;
}
type Mapping = CelMap | Readonly<Record<string, unknown>>;
function equalMaps(frame: Frame, a: Mapping, b: Mapping): boolean {
  const size = mapSize(a);
  frame.spend(2 * ITEM_UNITS + ITEM_UNITS * size);
  if (size !== mapSize(b)) return false;
  for (const key of keysOf(a)) {
    frame.spend(ITEM_UNITS);
    const other = lookUp(b, key);
    if (other === undefined || !equal(frame, lookUp(a, key), other)) return false;
  }
  return true;
}

// ---- order -------------------------------------------------------------------------------------------------------

/** Less than zero, zero, or more; NaN where there is no order. */
export function compare(frame: Frame, a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(frame, a, b);
  const left = orderOf(a);
  const right = orderOf(b);
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : left <= right ? 0 : Number.NaN;
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    frame.spendLength(Math.min(a.length, b.length));
    return Buffer.compare(a, b);
  }
  return Number.NaN;
}
function orderOf(value: unknown): number | bigint | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Timestamp || value instanceof Duration) return value.nanos;
  return numberOf(value);
}

/** By code points: the order of UTF-16 is another one for characters beyond the first 65,536. */
function compareTexts(frame: Frame, a: string, b: string): number {
  // The texts are read, and where they differ read again for the place.
  frame.spendLength(4 * Math.min(a.length, b.length));
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    // Surrogates stand for characters beyond all others.
    const leftHigh = left >= 0xd800 && left <= 0xdfff;
    const rightHigh = right >= 0xd800 && right <= 0xdfff;
    return leftHigh === rightHigh ? left - right : leftHigh ? 1 : -1;
  }
  return a.length - b.length;
}

// ---- lists of the API that are sets or known by keys -----------------------------------------------------------------

/** By type: the types of a schema may be many, and every comparison asks. */
const withListTypes = new WeakMap<CelType, boolean>();

/** Whether anything within a type is compared in a way of its own. */
export function hasListTypes(type: CelType): boolean {
  let hasLists = withListTypes.get(type);
  if (hasLists === undefined) {
    hasLists = findListTypes(type, new Set());
    withListTypes.set(type, hasLists);
  }
  return hasLists;
}
function findListTypes(type: CelType, visited: Set<CelType>): boolean {
  if (visited.has(type)) return false;
  visited.add(type);
  switch (type.kind) {
    case 'list':
      return type.listType === 'set' || type.listType === 'map' || findListTypes(type.of, visited);
    case 'map':
    case 'optional':
      return findListTypes(type.of, visited);
    case 'object':
      for (const field of type.fields.values()) if (findListTypes(field.type, visited)) return true;
      return false;
    default:
      return false;
  }
}

/** Equality of values of a type that has lists which are sets or known by keys. */
export function equalOfType(frame: Frame, type: CelType, a: unknown, b: unknown): boolean {
  frame.spend(1);
  if (type.kind === 'list' && Array.isArray(a) && Array.isArray(b)) return equalTypedLists(frame, type, a, b);
  if (type.kind === 'map' && isMap(a) && isMap(b)) {
    frame.spend(mapSize(a));
    if (mapSize(a) !== mapSize(b)) return false;
    for (const key of keysOf(a)) {
      const other = lookUp(b, key);
      if (other === undefined || !equalOfType(frame, type.of, lookUp(a, key), other)) return false;
    }
    return true;
  }
  if (type.kind !== 'object' || !isMap(a) || !isMap(b)) return equal(frame, a, b);
  for (const { property, type: of } of type.fields.values()) {
    const left = lookUp(a, property);
    const right = lookUp(b, property);
    if (left === undefined || right === undefined) {
      if (left !== right) return false;
    } else if (!equalOfType(frame, of, left, right)) return false;
  }
  return true;
}

function equalTypedLists(frame: Frame, type: ListType, a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  if (type.listType !== 'set' && type.listType !== 'map') return a.every((item, i) => equalOfType(frame, type.of, item, b[i]));
  const others = byKey(frame, type, b);
  return a.every((item) => {
    const key = keyOf(frame, type, item);
    const other = others.get(key);
    return other !== undefined && equalOfType(frame, type.of, item, other);
  });
}

/** Members by the text of what they are known by. */
function byKey(frame: Frame, type: ListType, list: readonly unknown[]): Map<string, unknown> {
  return new Map(list.map((item) => [keyOf(frame, type, item), item]));
}
function keyOf(frame: Frame, type: ListType, item: unknown): string {
  const { keys = [] } = type;
  frame.spend(KEY_UNITS);
  if (type.listType !== 'map' || !isMap(item)) return memberText(frame, item);
  return keys.length === 1
    ? memberText(frame, lookUp(item, keys[0]))
    : keys.map((key) => JSON.stringify(memberText(frame, lookUp(item, key)))).join();
}
/** Units of finding a member by its key, and of each character of the text of a member that is no scalar. */
const KEY_UNITS = 20;
const TEXT_UNITS = 2;
/** Equal members have one text. Most are scalars. */
function memberText(frame: Frame, item: unknown): string {
  if (typeof item === 'string') {
    frame.spendLength(item.length);
    return `"${item}`;
  }
  if (typeof item === 'number' || typeof item === 'boolean') return String(item);
  const text = textOf(item);
  frame.spend(KEY_UNITS + TEXT_UNITS * text.length);
  return text;
}
function textOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) => {
      if (typeof part === 'bigint') return `${part}n`;
      if (part instanceof Timestamp || part instanceof Duration || part instanceof UInt)
        return 'nanos' in part ? `${part.nanos}n` : `${part.value}u`;
      // The order of properties does not matter.
      if (isMap(part) && !(part instanceof CelMap)) return Object.fromEntries(Object.entries(part).sort(([x], [y]) => (x < y ? -1 : 1)));
      return part;
    }) ?? 'undefined'
  );
}

/** `a + b`: those of `a` stay where they are, replaced by those of `b` that are known by the same; the rest of `b` follows. */
export function joinTypedLists(frame: Frame, type: ListType, a: readonly unknown[], b: readonly unknown[]): readonly unknown[] {
  const all = byKey(frame, type, a);
  for (const item of b) {
    const key = keyOf(frame, type, item);
    if (type.listType === 'map' || !all.has(key)) all.set(key, item);
  }
  return [...all.values()];
}

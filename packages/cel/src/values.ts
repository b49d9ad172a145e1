/** Values that JavaScript has no type for. */

import { MAX_INT64, MIN_INT64, toInteger } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { Quantity } from '@plat-dev/lib/quantity';
import { fail } from './errors.ts';
import {
  AUTHORIZER,
  BOOL,
  BYTES,
  type CelType,
  CIDR_TYPE,
  DECISION,
  DOUBLE,
  DURATION,
  DYN,
  FORMAT,
  GROUP_CHECK,
  INT,
  IP_TYPE,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  PATH_CHECK,
  QUANTITY,
  RESOURCE_CHECK,
  SEMVER,
  STRING,
  TIMESTAMP,
  TYPE,
  typeName,
  UINT,
  URL_TYPE,
} from './types.ts';

/** Nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** Nanoseconds. */
export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class UInt {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A whole double in a place where it could be taken for an int. */
export class Double {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A type as a value: `type(1)`, `int`. */
export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export class Optional {
  /** Undefined where there is no value. */
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
  get present(): boolean {
    return this.value !== undefined;
  }
}
export const NONE = new Optional(undefined);

/** 4 or 16 bytes. */
export class IPValue {
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export class CIDRValue {
  /** The address as it was written, not masked. */
  readonly bytes: Uint8Array;
  readonly bits: number;
  constructor(bytes: Uint8Array, bits: number) {
    this.bytes = bytes;
    this.bits = bits;
  }
}

export class UrlValue {
  readonly text: string;
  readonly url: ParsedUrl;
  constructor(text: string, url: ParsedUrl) {
    this.text = text;
    this.url = url;
  }
}
export interface ParsedUrl {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

/** A semantic version. */
export class SemverValue {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly (bigint | string)[];
  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly (bigint | string)[]) {
    this.numbers = numbers;
    this.prerelease = prerelease;
  }
}

export class FormatValue {
  readonly name: string;
  readonly patternLength: number;
  readonly validate: (text: string) => readonly string[];
  constructor(name: string, patternLength: number, validate: (text: string) => readonly string[]) {
    this.name = name;
    this.patternLength = patternLength;
    this.validate = validate;
  }
}

/** What an expression asks for. */
export interface AccessCheck {
  /** Of a path that is no resource. */
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  readonly verb?: string;
  /** Whose access is checked, where it is not that of the user. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}
export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason?: string;
  readonly error?: string;
}
/** Gives a decision, or a promise of one; asked again for the same, it gives the same. */
export type AskAccess = (access: AccessCheck) => AccessDecision | Promise<AccessDecision>;

export class AuthorizerValue {
  readonly ask: AskAccess;
  readonly account: AccessCheck['serviceAccount'];
  constructor(ask: AskAccess, account?: AccessCheck['serviceAccount']) {
    this.ask = ask;
    this.account = account;
  }
}
/** A check that is being put together. */
export class CheckValue {
  readonly authorizer: AuthorizerValue;
  readonly of: 'path' | 'group' | 'resource';
  readonly access: AccessCheck;
  constructor(authorizer: AuthorizerValue, of: 'path' | 'group' | 'resource', access: AccessCheck) {
    this.authorizer = authorizer;
    this.of = of;
    this.access = access;
  }
}
export class DecisionValue {
  readonly decision: AccessDecision;
  constructor(decision: AccessDecision) {
    this.decision = decision;
  }
}

/** An object that an expression made by the name of its type. */
export class ConstructedObject {
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, unknown>;
  constructor(typeName: string, fields: ReadonlyMap<string, unknown>) {
    this.typeName = typeName;
    this.fields = fields;
  }
}

/** A map that an expression made. Keys of different number types that are equal are the same key. */
export class CelMap {
  private readonly entries = new Map<unknown, [unknown, unknown]>();

  get size(): number {
    return this.entries.size;
  }
  set(key: unknown, value: unknown): void {
    this.entries.set(hashOf(key), [key, value]);
  }
  has(key: unknown): boolean {
    return this.entries.has(hashOf(key));
  }
  /** Undefined where there is none. */
  get(key: unknown): unknown {
    return this.entries.get(hashOf(key))?.[1];
  }
  *keys(): Generator<unknown> {
    for (const [key] of this.entries.values()) yield key;
  }
  pairs(): IterableIterator<[unknown, unknown]> {
    return this.entries.values();
  }
}
/** Numbers as they are, texts as they are; big integers and boxed numbers as the number where one is the same. */
function hashOf(key: unknown): unknown {
  if (key instanceof UInt) return toInteger(key.value);
  if (key instanceof Double) return key.value;
  return key;
}

const MAX_UINT = 2n ** 64n - 1n;

export function checkedInt(value: bigint): number | bigint {
  if (value > MAX_INT64 || value < MIN_INT64) fail('integer overflow');
  return toInteger(value);
}
export function checkedUInt(value: bigint): UInt {
  if (value < 0n || value > MAX_UINT) fail('unsigned integer overflow');
  return new UInt(value);
}

/** A double in a place of type dyn. */
export const boxDouble = (value: number): number | Double => (Number.isSafeInteger(value) ? new Double(value) : value);
/** A double from a place of type dyn. */
export function unboxDouble(value: unknown): number {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return value.value;
  if (typeof value === 'bigint') return Number(value);
  return fail('no such overload');
}

/** Maps that expressions made, and objects of the API. */
export function isMap(value: unknown): value is CelMap | Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof CelMap) return true;
  if (Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** What a key leads to; undefined where there is nothing. */
export function lookUp(map: CelMap | Readonly<Record<string, unknown>>, key: unknown): unknown {
  if (map instanceof CelMap) return map.get(key);
  return typeof key === 'string' ? own(map, key) : undefined;
}
export const keysOf = (map: CelMap | Readonly<Record<string, unknown>>): Iterable<unknown> =>
  map instanceof CelMap ? map.keys() : Object.keys(map);
export const mapSize = (map: CelMap | Readonly<Record<string, unknown>>): number =>
  map instanceof CelMap ? map.size : Object.keys(map).length;

/** The type of a value at run time; what lists and maps hold is not looked at. */
function typeOfValue(value: unknown): CelType {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'boolean':
      return BOOL;
    case 'bigint':
      return INT;
    case 'number':
      return Number.isSafeInteger(value) ? INT : DOUBLE;
  }
  if (value === null) return NULL;
  if (Array.isArray(value)) return ANY_LIST;
  if (value instanceof Uint8Array) return BYTES;
  for (const [valueClass, type] of classes) if (value instanceof valueClass) return type;
  if (value instanceof CheckValue) return value.of === 'path' ? PATH_CHECK : value.of === 'group' ? GROUP_CHECK : RESOURCE_CHECK;
  if (value instanceof ConstructedObject) return { kind: 'object', name: value.typeName, fields: new Map() };
  return ANY_MAP;
}
const ANY_LIST = listOf(DYN);
const ANY_MAP = mapOf(DYN, DYN);
const classes = [
  [CelMap, ANY_MAP],
  [UInt, UINT],
  [Double, DOUBLE],
  [Timestamp, TIMESTAMP],
  [Duration, DURATION],
  [TypeValue, TYPE],
  [Optional, optionalOf(DYN)],
  [Quantity, QUANTITY],
  [UrlValue, URL_TYPE],
  [IPValue, IP_TYPE],
  [CIDRValue, CIDR_TYPE],
  [SemverValue, SEMVER],
  [FormatValue, FORMAT],
  [AuthorizerValue, AUTHORIZER],
  [DecisionValue, DECISION],
] as const;

/** Whether a value may be given to a parameter of a type: of lists the first item decides, of maps nothing that they hold. */
export function isOfType(value: unknown, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
      return true;
    case 'object':
      return isMap(value) || value instanceof ConstructedObject;
    case 'map':
      return isMap(value);
    case 'list':
      return Array.isArray(value) && (value.length === 0 || isOfType(value[0], type.of));
    default:
      return typeOfValue(value).kind === type.kind;
  }
}
export const typeValueOf = (value: unknown): TypeValue => new TypeValue(typeName(typeOfValue(value)));

/**
 * The facts about a type that ownership needs, computed once per type: the path element of every field, which lists and maps
 * are merged, and how the items of a list are distinguished.
 */

import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import { requestTooLarge } from '@plat-dev/meta/errors';
import {
  type ListType,
  type MapType,
  type MessageType,
  type NamedField,
  type ResolvedType,
  resolve,
  type Type,
} from '@plat-dev/schema/types';

export type Values = { readonly [key: string]: unknown };

/** An atomic value: a scalar, or an atomic list, map or message. */
interface LeafShape {
  readonly node: 'leaf';
  readonly type: ResolvedType;
  /** Holds values without a schema, whose keys keep their order: equal ones may be written differently. */
  readonly ordered: boolean;
}
export interface ListShape {
  readonly node: 'list';
  readonly type: ListType;
  readonly item: Shape;
  /** Whether two items have the same identity. */
  same(a: unknown, b: unknown): boolean;
  /** The path element of an item. Throws Untyped when it has none. `many`: it is one of too many to cache. */
  element(item: unknown, many?: boolean): string;
}
interface MapShape {
  readonly node: 'map';
  readonly type: MapType;
  readonly value: Shape;
}
export interface FieldShape {
  readonly name: string;
  readonly element: string;
  /** Index among the fields of the message in alphabetical order. */
  readonly rank: number;
  /** JSON always writes the field: if the normal form lacks it, it counts as `zero`. */
  readonly always: boolean;
  readonly zero: unknown;
  readonly shape: Shape;
}
export interface MessageShape {
  readonly node: 'message';
  readonly type: MessageType;
  readonly fields: ReadonlyMap<string, FieldShape>;
  readonly always: readonly FieldShape[];
  /** Fields that the schema does not name are kept, and treated by their values. */
  readonly open: boolean;
}
/** A value without a schema: objects are merged key by key, lists are atomic. */
export interface AnyShape {
  readonly node: 'any';
}
export type Shape = LeafShape | ListShape | MapShape | MessageShape | AnyShape;

export const anyShape: AnyShape = { node: 'any' };

/** Maximum items of a list that are distinguished by their keys or values. Each is a path of its own in the sets of its owners. */
const MAX_ITEMS = 20_000;

/** Refuses a list that is too long to track its items. */
export function checkLength(list: readonly unknown[]): void {
  if (list.length > MAX_ITEMS)
    throw requestTooLarge(
      `Request entity too large: a list whose items are owned one by one has ${list.length} items, and the limit is ${MAX_ITEMS}`,
    );
}

/** The items of a list cannot be distinguished, or a value does not match the schema: ownership is unknown. */
export class Untyped extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Untyped';
  }
}

const shapes = new WeakMap<ResolvedType, Shape>();

export function shapeOf(type: Type): Shape {
  const resolvedType = resolve(type);
  const cachedShape = shapes.get(resolvedType);
  if (cachedShape !== undefined) return cachedShape;
  switch (resolvedType.node) {
    case 'list':
      return listShape(resolvedType);
    case 'map':
      return mapShape(resolvedType);
    case 'message':
      return messageShape(resolvedType);
    case 'scalar':
      return resolvedType.open === true ? anyShape : leafShape(resolvedType);
    default:
      return leafShape(resolvedType);
  }
}
function leafShape(type: ResolvedType): LeafShape {
  const ordered = type.node === 'scalar' ? isUntyped(type) : keepsOrder(type, new Set());
  return remember(type, { node: 'leaf', type, ordered });
}
/** A scalar of any JSON. */
const isUntyped = ({ name }: Extract<ResolvedType, { node: 'scalar' }>): boolean =>
  name === 'raw' || name === 'json' || name === 'fieldsV1';
function keepsOrder(type: Type, above: Set<ResolvedType>): boolean {
  const resolvedType = resolve(type);
  if (above.has(resolvedType)) return false;
  above.add(resolvedType);
  switch (resolvedType.node) {
    case 'scalar':
      return isUntyped(resolvedType);
    case 'list':
      return keepsOrder(resolvedType.item, above);
    case 'map':
      return keepsOrder(resolvedType.value, above);
    case 'message':
      return resolvedType.unknown === 'keep' || resolvedType.ordered.some((field) => keepsOrder(field.type, above));
    case 'union':
      return keepsOrder(resolvedType.object.type, above) || keepsOrder(resolvedType.other.type, above);
  }
}
function remember<S extends Shape>(type: ResolvedType, shape: S): S {
  shapes.set(type, shape);
  return shape;
}

function mapShape(type: MapType): Shape {
  if (type.atomic) return leafShape(type);
  const shape = remember(type, { node: 'map', type, value: anyShape as Shape });
  shape.value = shapeOf(type.value);
  return shape;
}

function messageShape(type: MessageType): Shape {
  if (type.structure !== undefined) return remember(type, shapeOf(type.structure));
  if (type.atomic) return leafShape(type);
  const fields = new Map<string, FieldShape>();
  const always: FieldShape[] = [];
  const shape = remember(type, { node: 'message' as const, type, fields, always, open: type.unknown === 'keep' });
  const names = type.ordered.map((field) => field.name).sort();
  // Schemas of custom kinds may name thousands of fields.
  const ranks = new Map(names.map((name, rank) => [name, rank]));
  for (const field of type.ordered) {
    const fieldShape: FieldShape = {
      name: field.name,
      element: `f:${field.name}`,
      rank: ranks.get(field.name) as number,
      always: field.always,
      zero: field.always ? zeroOf(resolve(field.type), field.nullable === true) : undefined,
      shape: shapeOf(field.type),
    };
    fields.set(field.name, fieldShape);
    if (field.always) always.push(fieldShape);
  }
  return shape;
}

const noFields: Values = Object.freeze({});

/** The JSON of a field that is always written and has no value. */
function zeroOf(type: ResolvedType, nullable: boolean): unknown {
  if (nullable) return null;
  if (type.node === 'message') return noFields;
  if (type.node !== 'scalar') return null;
  switch (type.name) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'duration':
      return '0s';
    default:
      return null;
  }
}

// ---- lists -----------------------------------------------------------------------------------------------------

function listShape(type: ListType): Shape {
  if (type.list === 'atomic') return leafShape(type);
  const identity = type.list === 'set' ? setItems : keyedItems(type);
  const shape = remember(type, { node: 'list', type, item: anyShape as Shape, ...identity });
  shape.item = shapeOf(type.item);
  return shape;
}

interface ItemIdentity {
  same(a: unknown, b: unknown): boolean;
  element(item: unknown, many?: boolean): string;
}

const setItems: ItemIdentity = {
  same: (a, b) => a === b,
  element(item) {
    if (typeof item === 'object')
      throw new Untyped(
        item === null
          ? "associative list without keys has an element that's an explicit null"
          : Array.isArray(item)
            ? 'not supported: associative list with lists as elements'
            : "associative list without keys has an element that's a map type",
      );
    return `v:${keyText(item)}`;
  },
};

/** The JSON text of a value, faster for a text without escapes. */
function keyText(value: unknown): string {
  return typeof value === 'string' && unescaped.test(value) ? `"${value}"` : jsonText(value);
}
const unescaped = /^[ !#-[\]-~]*$/;

const withoutKeys = (keys: readonly string[]): Untyped =>
  new Untyped(
    `associative list with keys has an element that omits all key fields ${JSON.stringify(keys)} (and doesn't have default values for any key fields)`,
  );

function keyedItems(type: ListType): ItemIdentity {
  const item = resolve(type.item);
  const keys = [...type.keys].sort();
  const defaults = new Map<string, unknown>();
  if (item.node === 'message')
    for (const field of item.ordered)
      if (keys.includes(field.name)) {
        const value = field.default ?? (field.always ? zeroOf(resolve(field.type), field.nullable === true) : undefined);
        if (value !== undefined && value !== null) defaults.set(field.name, value);
      }
  const keyOf = (entry: Values, key: string): unknown => {
    const value = own(entry, key);
    return value === undefined ? defaults.get(key) : value;
  };
  // `k:{"containerPort":8080` precedes `,"protocol":"TCP"}`.
  const parts = keys.map((key, i) => {
    const name = `${JSON.stringify(key)}:`;
    const end = i === keys.length - 1 ? '}' : '';
    return new Texts((value, before) => `${before === '' ? 'k:{' : `${before},`}${name}${keyText(value)}${end}`);
  });
  return {
    same(a, b) {
      if (!isObject(a) || !isObject(b)) return false;
      for (const key of keys) if (keyOf(a, key) !== keyOf(b, key)) return false;
      return true;
    },
    element(entry, many = false) {
      if (!isObject(entry))
        throw new Untyped(
          `associative list with keys ${entry === null || entry === undefined ? 'may not have a null element' : 'may not have non-map elements'}`,
        );
      let element = '';
      let value: unknown;
      for (let i = 0; i < keys.length; i++) {
        value = keyValue(entry, keys[i] as string);
        if (value === undefined) continue;
        element = many ? (parts[i] as Texts).make(value, element) : (parts[i] as Texts).of(value, element);
      }
      if (element === '' && keys.length > 0) throw withoutKeys(keys);
      // The text of the last key ends the element.
      return value === undefined ? `${element}}` : element;
    },
  };
  function keyValue(entry: Values, key: string): unknown {
    const value = keyOf(entry, key);
    if (value === undefined && type.optionalKeys !== true)
      throw new Untyped(
        `associative list with keys has an element that omits key field ${JSON.stringify(key)} (and doesn't have default value)`,
      );
    return value;
  }
}

/**
 * Interned texts of frequent values: names of containers, numbers of ports, keys of labels. Comparing
 * identical texts is faster than comparing equal ones. Cleared when full, so that it stays small.
 */
class Texts {
  private readonly textsByPrefix = new Map<string, Map<unknown, string>>();
  readonly make: (value: unknown, before: string) => string;
  private count = 0;

  constructor(make: (value: unknown, before: string) => string) {
    this.make = make;
  }

  of(value: unknown, before = ''): string {
    const cachedText = this.textsByPrefix.get(before)?.get(value);
    if (cachedText !== undefined) return cachedText;
    const text = this.make(value, before);
    if (typeof value !== 'object' && text.length <= LONGEST_TEXT) this.keep(value, before, text);
    return text;
  }
  private keep(value: unknown, before: string, text: string): void {
    if (this.count++ >= MOST_TEXTS) {
      this.textsByPrefix.clear();
      this.count = 1;
    }
    const texts = this.textsByPrefix.get(before);
    if (texts === undefined) this.textsByPrefix.set(before, new Map([[value, text]]));
    else texts.set(value, text);
  }
}
const MOST_TEXTS = 1024;
const LONGEST_TEXT = 100;

const keyElements = new Texts((key) => `f:${key}`);

/** The path element of a field or of the key of a map. */
export function keyElement(key: string): string {
  return keyElements.of(key);
}

/** The shape of the value at an element of a path. */
export function shapeOfElement(shape: Shape, element: string): Shape {
  switch (shape.node) {
    case 'message':
      return shape.fields.get(element.slice(2))?.shape ?? anyShape;
    case 'map':
      return shape.value;
    case 'list':
      return shape.item;
    default:
      return anyShape;
  }
}

// ---- plain values ----------------------------------------------------------------------------------------------

export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const fieldsByName = new WeakMap<MessageType, ReadonlyMap<string, NamedField>>();

/** A field by its JSON name. */
export function fieldNamed(type: MessageType, name: string): NamedField | undefined {
  let fields = fieldsByName.get(type);
  if (fields === undefined) {
    fields = new Map(type.ordered.map((field) => [field.name, field]));
    fieldsByName.set(type, fields);
  }
  return fields.get(name);
}

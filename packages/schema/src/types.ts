/**
 * The types of the API, as data. One value holds a field's name, protobuf tag, type, presence, and list and
 * merge behaviour; JSON, protobuf, OpenAPI, patches, apply and field validation all read it, and the TypeScript
 * type is inferred from it.
 *
 *   const Port = message('core.v1.ServicePort', {
 *     name: opt(1, string),
 *     protocol: opt(2, string, { default: 'TCP' }),
 *     port: always(3, int32),
 *     targetPort: opt(4, intOrString),
 *     nodePort: opt(5, int32),
 *   });
 *   type Port = Infer<typeof Port>;   // { name?: string; protocol?: string; port: number; … }
 *
 * The normal form of an object in memory:
 *   - plain objects with the JSON field names, keys in schema order after decoding;
 *   - an `always` scalar is present with its zero value, an `always` message is present (possibly empty);
 *   - absent lists, maps, times, bytes, raw values and pointers are simply absent (never null), and so is every empty
 *     value that JSON omits;
 *   - what JSON writes as `null` (an `always` list, map, time, bytes, raw value or pointer without value) is put there
 *     by the encoder alone.
 */
import type { Integer } from '@plat-dev/lib/integers';
import type { ApiRelease } from '@plat-dev/lib/version';

export type ScalarName =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  /** Base64 text in JSON and in memory, bytes in protobuf. */
  | 'bytes'
  /** Text such as `100m` or `1Gi`; a message holding a string in protobuf. Canonicalised when decoded. */
  | 'quantity'
  /** RFC 3339 text with second precision; a message of seconds and nanos in protobuf. */
  | 'time'
  /** RFC 3339 text with microseconds. */
  | 'microTime'
  /** Go duration: text such as `1m0s` in JSON, nanoseconds in protobuf. */
  | 'duration'
  /** Number or string in JSON; a message of kind and both values in protobuf. */
  | 'intOrString'
  /** Any JSON object (an embedded resource); a message holding JSON bytes in protobuf. */
  | 'raw'
  /** Any JSON value at all (apiextensions `JSON`). */
  | 'json'
  /** A managedFields set: a JSON object in JSON, a message holding its JSON bytes in protobuf. */
  | 'fieldsV1';

export interface ScalarType<T = unknown, N extends ScalarName = ScalarName> {
  readonly node: 'scalar';
  readonly name: N;
  /** The type of the value is unknown: objects in it are owned key by key. Only in structures of custom objects. */
  readonly open?: true;
  /** Never present at run time: carries the TypeScript type. */
  readonly $type?: T;
}

export type ListKind = 'atomic' | 'set' | 'map';

export interface ListType<I extends Type = Type> {
  readonly node: 'list';
  readonly item: I;
  /** How apply merges the list. */
  readonly list: ListKind;
  /** Key fields of a `map` list. */
  readonly keys: readonly string[];
  /** Items may lack keys, but not all of them. */
  readonly optionalKeys?: boolean;
  /** The binary form holds the items as field 1 of a message of their own (`ExtraValue`, `Verbs`). */
  readonly boxed: boolean;
}

export interface MapType<V extends Type = Type> {
  readonly node: 'map';
  readonly value: V;
  /** An atomic map has one owner. */
  readonly atomic: boolean;
}

export interface MessageType<F extends Fields = Fields> {
  readonly node: 'message';
  /** `core.v1.PodSpec`: the name by which other facts (OpenAPI, protobuf) know it. */
  readonly name: string;
  /** Fields as they were declared, inline ones as the wrappers that the binary form has. */
  readonly fields: F;
  /** Fields as JSON shows them, in schema order, with their JSON names: those of inline messages stand in the wrapper's place. */
  readonly ordered: readonly NamedField[];
  /** An atomic message has one owner. */
  readonly atomic: boolean;
  /** `keep` keeps fields that the schema does not name (custom kinds). */
  readonly unknown: 'drop' | 'keep';
  /**
   * The structure of values that are kept as they were sent (objects of custom kinds), for ownership and field validation.
   * Values need not conform to it.
   */
  readonly structure?: MessageType;
  /**
   * The message is an object of the API with a kind and an apiVersion of its own. They stand in `fields` as leading
   * optional texts of JSON only (tag 0): the binary form carries them in the envelope around the root object, and
   * drops them from objects inside objects (list items, a Status in a review).
   */
  readonly object: boolean;
}

/**
 * A value that JSON shows either as an object or as something plainer: `items` of a schema is a schema or a list of
 * schemas. The binary form is a message with a field for each; at most one is in JSON and in memory.
 */
export interface UnionType<A extends Type = Type, B extends Type = Type> {
  readonly node: 'union';
  readonly name: string;
  /** Taken when JSON shows an object. */
  readonly object: { readonly tag: number; readonly type: A };
  /** Taken otherwise: a list or a bool. A bool is also written (as true) in the binary form of an object. */
  readonly other: { readonly tag: number; readonly type: B };
}

/** A type that is named before it is made (recursive schemas). */
export interface LazyType<T extends Type = Type> {
  readonly node: 'lazy';
  readonly get: () => T;
}

export type Type = ScalarType | ListType | MapType | MessageType | LazyType | UnionType;
/** A type that is not lazy. */
export type ResolvedType = Exclude<Type, LazyType>;

/** Strategic merge behaviour of a field. */
export type PatchStrategy = 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys';

/** The feature gate of a field: where it is off, the field is cleared from what is written (kinds/gated-fields.ts). */
export interface FieldGate {
  readonly name: string;
  /** The value that means that the feature is not used: the field is set to it instead of being cleared. */
  readonly off?: string | number;
  /** Names of fields whose message is left alone: validation has its own rule there. */
  readonly notIn?: readonly string[];
  /** The field is kept where the stored object has this very field; another one of the gate does not count. */
  readonly alone?: true;
  /** Updates keep the field: validation decides whether it may change. */
  readonly createOnly?: true;
  /** A message that has no other field goes with this one, and so do those around it that are left empty. */
  readonly withMessage?: true;
}

export interface FieldOptions {
  /** Value that decoding plus defaulting fills in when the field is absent. Static defaults only. */
  readonly default?: unknown;
  readonly enum?: readonly string[];
  /** OpenAPI format where it differs from the scalar's own. */
  readonly format?: string;
  /** Strategic merge. */
  readonly patch?: PatchStrategy;
  readonly mergeKey?: string;
  /** Clients must give it (OpenAPI `required`). */
  readonly required?: boolean;
  /** Absent differs from zero: a pointer in the stock server. Its zero value is written when set; JSON writes null for an `always` one that is not. */
  readonly nullable?: boolean;
  /**
   * The binary form nests these fields in a message of its own that JSON does not show (an inline struct):
   * `{ rule: inline(2, Rule) }` – the fields of Rule are inline with the others in JSON and in memory.
   */
  readonly inline?: boolean;
  /** Only in one of the two forms. A `json` field has no tag: give 0. */
  readonly only?: 'json' | 'binary';
  /** JSON name where it is not the key in `fields` (`$ref`, `x-…`). */
  readonly json?: string;
  /** The feature gate that guards the field. */
  readonly gate?: string | FieldGate;
  /** The first release that has the field, and the last one; absent: the first and the last of all (`releases.ts`). */
  readonly since?: ApiRelease;
  readonly until?: ApiRelease;
  /** What became different in a release, and stayed so: `from: { '1.30': { default: '' } }`. */
  readonly from?: FieldChanges;
}

/** Options that a field has from a release on. A `default` or `enum` that is undefined is taken away. */
interface FieldChange extends Partial<Pick<Field, 'type' | 'always' | 'gate'>> {
  readonly default?: unknown;
  readonly enum?: readonly string[] | undefined;
  readonly required?: boolean;
  readonly patch?: PatchStrategy | undefined;
  readonly mergeKey?: string | undefined;
}
type FieldChanges = Readonly<Partial<Record<ApiRelease, FieldChange>>>;

export interface Field<T extends Type = Type, P extends boolean = boolean> extends FieldOptions {
  readonly tag: number;
  readonly type: T;
  /** Written to JSON even when empty. */
  readonly always: P;
}
export interface NamedField extends Field {
  /** The JSON name. */
  readonly name: string;
}
// biome-ignore lint/complexity/noBannedTypes: an empty record of fields is meant.
export type Fields = Record<string, Field> | {};

// ---- inference -------------------------------------------------------------------------------------------------

type Simplify<T> = { [K in keyof T]: T[K] } & {};
/** Scalars that are absent in memory when they are empty, even if JSON always writes them (as null). */
type AbsentWhenEmpty = ListType | MapType | ScalarType<unknown, 'time' | 'microTime' | 'bytes' | 'raw' | 'json' | 'fieldsV1'>;
type InlineKeys<F> = { [K in keyof F]: F[K] extends { inline: true } ? K : never }[keyof F];
type AlwaysKeys<F> = {
  [K in keyof F]: F[K] extends { nullable: true }
    ? never
    : F[K] extends Field<infer T, true>
      ? T extends AbsentWhenEmpty
        ? never
        : K
      : never;
}[keyof F];
type FieldValue<F> = F extends Field<infer T, boolean> ? Infer<T> : never;
type JsonName<K, F> = F extends { json: infer J extends string } ? J : K;
type Intersect<U> = (U extends unknown ? (member: U) => void : never) extends (all: infer I) => void ? I : never;
type InferFields<F> = Simplify<
  { -readonly [K in Exclude<AlwaysKeys<F>, InlineKeys<F>> as JsonName<K, F[K]>]: FieldValue<F[K]> } & {
    -readonly [K in Exclude<keyof F, AlwaysKeys<F> | InlineKeys<F>> as JsonName<K, F[K]>]?: FieldValue<F[K]>;
  } & Intersect<FieldValue<F[InlineKeys<F>]>>
>;
export type Infer<T> =
  T extends LazyType<infer L>
    ? Infer<L>
    : T extends ScalarType<infer S>
      ? S
      : T extends ListType<infer I>
        ? Infer<I>[]
        : T extends MapType<infer V>
          ? Record<string, Infer<V>>
          : T extends MessageType<infer F>
            ? InferFields<F>
            : T extends UnionType<infer A, infer B>
              ? Infer<A> | Infer<B>
              : never;

// ---- constructors ----------------------------------------------------------------------------------------------

/** RFC 3339 text. */
export type TimeText = string;
/** Integers beyond 2^53 are bigints (`lib/integers.ts`). */
export type JsonValue = string | Integer | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

const scalar = <T, const N extends ScalarName>(name: N): ScalarType<T, N> => Object.freeze({ node: 'scalar', name });
export const string = scalar<string, 'string'>('string');
export const bool = scalar<boolean, 'bool'>('bool');
export const int32 = scalar<number, 'int32'>('int32');
export const int64 = scalar<Integer, 'int64'>('int64');
/** An int64 that the server counts from zero: it stays a number. */
export const counter = int64 as ScalarType<number, 'int64'>;
export const double = scalar<number, 'double'>('double');
export const bytes = scalar<string, 'bytes'>('bytes');
export const quantity = scalar<string, 'quantity'>('quantity');
export const time = scalar<TimeText, 'time'>('time');
export const microTime = scalar<TimeText, 'microTime'>('microTime');
export const duration = scalar<string, 'duration'>('duration');
export const intOrString = scalar<number | string, 'intOrString'>('intOrString');
export const raw = scalar<JsonObject, 'raw'>('raw');
export const json = scalar<JsonValue, 'json'>('json');
export const anyValue: ScalarType<JsonValue, 'json'> = Object.freeze({ node: 'scalar', name: 'json', open: true });
export const fieldsV1 = scalar<JsonObject, 'fieldsV1'>('fieldsV1');

export function list<I extends Type>(item: I, kind: ListKind = 'atomic', keys: readonly string[] = []): ListType<I> {
  return Object.freeze({ node: 'list', item, list: kind, keys, boxed: false });
}
/** A list that the binary form wraps in a message, so that it can be the value of a map. */
export function boxed<I extends Type>(type: ListType<I>): ListType<I> {
  return Object.freeze({ ...type, boxed: true });
}
export function union<A extends Type, B extends Type>(
  name: string,
  object: { readonly tag: number; readonly type: A },
  other: { readonly tag: number; readonly type: B },
): UnionType<A, B> {
  return Object.freeze({ node: 'union', name, object, other });
}
export function map<V extends Type>(value: V, options: { atomic?: boolean } = {}): MapType<V> {
  return Object.freeze({ node: 'map', value, atomic: options.atomic ?? false });
}
export function lazy<T extends Type>(get: () => T): LazyType<T> {
  return Object.freeze({ node: 'lazy', get });
}
/** The type itself; a lazy one is resolved. */
export function resolve(type: Type): ResolvedType {
  let t = type;
  while (t.node === 'lazy') t = t.get();
  return t;
}

/** A field that JSON leaves out when it is empty. */
export function opt<T extends Type, const O extends FieldOptions>(tag: number, type: T, options?: O): Field<T, false> & O {
  return { tag, type, always: false, ...options } as Field<T, false> & O;
}
/** A field that JSON always writes. */
export function always<T extends Type, const O extends FieldOptions>(tag: number, type: T, options?: O): Field<T, true> & O {
  return { tag, type, always: true, ...options } as Field<T, true> & O;
}
/** A field that JSON always writes and clients must give. */
export function req<T extends Type, const O extends FieldOptions>(
  tag: number,
  type: T,
  options?: O,
): Field<T, true> & O & { required: true } {
  return { tag, type, always: true, required: true, ...options } as Field<T, true> & O & { required: true };
}
/** An optional pointer: absent differs from zero. */
export function ptr<T extends Type, const O extends FieldOptions>(
  tag: number,
  type: T,
  options?: O,
): Field<T, false> & O & { nullable: true } {
  return { tag, type, always: false, nullable: true, ...options } as Field<T, false> & O & { nullable: true };
}

/** Fields of a message that are inline in the surrounding message in JSON, and in a message of their own in protobuf. */
export function inline<F extends Fields>(tag: number, type: MessageType<F>): Field<MessageType<F>, true> & { inline: true } {
  return { tag, type, always: true, inline: true };
}

/** Options of a message besides its fields. */
export interface MessageOptions {
  readonly atomic?: boolean;
  readonly unknown?: 'drop' | 'keep';
  readonly structure?: MessageType | undefined;
}

function build<F extends Fields>(name: string, fields: F, options: MessageOptions, object: boolean): MessageType<F> {
  const ordered: NamedField[] = [];
  for (const [key, field] of Object.entries(fields as Record<string, Field>)) {
    if (field.inline === true) ordered.push(...(field.type as MessageType).ordered);
    else if (field.only !== 'binary') ordered.push({ ...field, name: field.json ?? key });
  }
  return Object.freeze({
    node: 'message',
    name,
    fields,
    ordered,
    atomic: options.atomic ?? false,
    unknown: options.unknown ?? 'drop',
    ...(options.structure !== undefined && { structure: options.structure }),
    object,
  });
}

export function message<F extends Fields>(name: string, fields: F, options: MessageOptions = {}): MessageType<F> {
  return build(name, fields, options, false);
}
/** The same message with other fields, which has the type of the whole one. */
export function withFields<M extends MessageType>(type: M, fields: Readonly<Record<string, Field>>): M {
  return build(type.name, fields, type, type.object) as MessageType as M;
}

const typeMeta = {
  kind: opt(0, string, { only: 'json' }),
  apiVersion: opt(0, string, { only: 'json' }),
};

/** A message that is an object of the API: `kind` and `apiVersion` come first. */
export function object<F extends Fields>(name: string, fields: F, options: MessageOptions = {}): MessageType<typeof typeMeta & F> {
  return build(name, { ...typeMeta, ...fields }, options, true);
}

/**
 * Static types of expressions, and the values that stand for them while a program runs.
 *
 *   type                     value
 *   null, bool, string       null, boolean, string
 *   int                      number where it is safe, bigint beyond
 *   double                   number; a whole one in a place of type dyn is boxed, so that it is no int (values.ts: Double)
 *   uint                     UInt
 *   bytes                    Uint8Array; in an object of the API its base64 text
 *   timestamp, duration      Timestamp, Duration; in an object of the API their text
 *   list                     array
 *   map, object              plain object of the API, or CelMap for maps that an expression made
 *   quantity, url, ip, cidr  Quantity, UrlValue, IPValue, CIDRValue
 *   semver, format           SemverValue, FormatValue
 *   authorizer and checks    AuthorizerValue, CheckValue, DecisionValue
 *   type, optional           TypeValue, Optional
 *
 * Values of the API are read as they are, without a copy: the static type says how.
 */
type ScalarKind =
  | 'dyn'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'timestamp'
  | 'quantity'
  | 'url'
  | 'ip'
  | 'cidr'
  | 'semver'
  | 'format'
  | 'authorizer'
  | 'pathCheck'
  | 'groupCheck'
  | 'resourceCheck'
  | 'decision';

export interface ScalarType {
  readonly kind: ScalarKind;
  /** Most characters of a string, or bytes. */
  readonly maxSize?: number;
  /** Whether it may be compared with null. */
  readonly nullable?: boolean;
  /** Of a dyn: nothing has said yet what it is, as with the items of an empty list. */
  readonly isUndecided?: boolean;
}

export interface ListType {
  readonly kind: 'list';
  readonly of: CelType;
  readonly maxSize?: number;
  readonly nullable?: boolean;
  /**
   * How lists are compared and joined. A `set` is equal to one with the same members in any order, and `+` adds the members that
   * are not there yet; a `map` is a list of objects known by the values of `keys` (property names), and `+` replaces those
   * with the same keys.
   */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly keys?: readonly string[];
}

export interface MapType {
  readonly kind: 'map';
  readonly key: CelType;
  readonly of: CelType;
  readonly maxSize?: number;
  readonly nullable?: boolean;
}

export interface Field {
  /** The name of the property, which may have characters that a name in an expression cannot have. */
  readonly property: string;
  readonly type: CelType;
}

export interface ObjectType {
  readonly kind: 'object';
  /** The name for messages, and by which two object types are the same. */
  readonly name: string;
  /** By the name that expressions use. */
  readonly fields: ReadonlyMap<string, Field>;
  /** The type of any other field, where there may be others. */
  readonly open?: CelType;
  /** Whether expressions make its values (ConstructedObject). */
  readonly constructed?: boolean;
  readonly nullable?: boolean;
}

/** The type of types. */
export interface TypeType {
  readonly kind: 'type';
  readonly nullable?: boolean;
}

export interface OptionalType {
  readonly kind: 'optional';
  readonly of: CelType;
  readonly nullable?: boolean;
}

/** A type that the arguments of a call decide; only signatures of functions have it. */
export interface ParameterType {
  readonly kind: 'parameter';
  readonly name: string;
  readonly nullable?: boolean;
}

export type CelType = ScalarType | ListType | MapType | ObjectType | TypeType | OptionalType | ParameterType;

/** Names and types of the variables that an expression may use. */
export type Variables = Readonly<Record<string, CelType>>;

const scalar = (kind: ScalarKind): ScalarType => ({ kind });
export const DYN = scalar('dyn');
/** Of what an empty list or map would hold: the other type decides where it is joined with one. */
export const UNDECIDED: ScalarType = { kind: 'dyn', isUndecided: true };
export const NULL = scalar('null');
export const BOOL = scalar('bool');
export const INT = scalar('int');
export const UINT = scalar('uint');
export const DOUBLE = scalar('double');
export const STRING = scalar('string');
export const BYTES = scalar('bytes');
export const DURATION = scalar('duration');
export const TIMESTAMP = scalar('timestamp');
export const QUANTITY = scalar('quantity');
export const URL_TYPE = scalar('url');
export const IP_TYPE = scalar('ip');
export const CIDR_TYPE = scalar('cidr');
export const SEMVER = scalar('semver');
export const FORMAT = scalar('format');
export const AUTHORIZER = scalar('authorizer');
export const PATH_CHECK = scalar('pathCheck');
export const GROUP_CHECK = scalar('groupCheck');
export const RESOURCE_CHECK = scalar('resourceCheck');
export const DECISION = scalar('decision');
export const TYPE: TypeType = { kind: 'type' };

export const listOf = (of: CelType, maxSize?: number): ListType => ({ kind: 'list', of, ...(maxSize === undefined ? {} : { maxSize }) });
export const mapOf = (key: CelType, of: CelType, maxSize?: number): MapType => ({
  kind: 'map',
  key,
  of,
  ...(maxSize === undefined ? {} : { maxSize }),
});
export const optionalOf = (of: CelType): OptionalType => ({ kind: 'optional', of });
export const stringOf = (maxSize: number): ScalarType => ({ kind: 'string', maxSize });
export const parameter = (name: string): ParameterType => ({ kind: 'parameter', name });

/** An object type whose properties have names that expressions can use as they are. */
export function objectOf(name: string, types: Readonly<Record<string, CelType>>): ObjectType {
  return { kind: 'object', name, fields: new Map(Object.entries(types).map(([property, type]) => [property, { property, type }])) };
}

const typeNames: Partial<Record<CelType['kind'], string>> = {
  null: 'null_type',
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
  optional: 'optional_type',
  ip: 'net.IP',
  cidr: 'net.CIDR',
  quantity: 'kubernetes.Quantity',
  url: 'kubernetes.URL',
  semver: 'kubernetes.Semver',
  format: 'kubernetes.NamedFormat',
  authorizer: 'kubernetes.authorization.Authorizer',
  pathCheck: 'kubernetes.authorization.PathCheck',
  groupCheck: 'kubernetes.authorization.GroupCheck',
  resourceCheck: 'kubernetes.authorization.ResourceCheck',
  decision: 'kubernetes.authorization.Decision',
};

/** The name by which an expression knows a type, without what it is made of: `list`. */
export const typeName = (type: CelType): string => (type.kind === 'object' ? type.name : (typeNames[type.kind] ?? type.kind));

/** The type as messages show it: `list(int)`. */
export function showType(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${showType(type.of)})`;
    case 'map':
      return `map(${showType(type.key)}, ${showType(type.of)})`;
    case 'optional':
      return `optional_type(${showType(type.of)})`;
    case 'parameter':
      return type.name;
    case 'null':
      return 'null';
    case 'duration':
    case 'timestamp':
      return typeName(type);
    default:
      return typeName(type);
  }
}

const mayBeNull = (type: CelType): boolean =>
  type.nullable === true || type.kind === 'object' || type.kind === 'timestamp' || type.kind === 'duration' || type.kind === 'optional';

/** Whether a value of type `from` may be used where one of type `to` is required: the same type, or one of both is known at run time only. */
export function assignable(to: CelType, from: CelType): boolean {
  if (to.kind === 'dyn' || from.kind === 'dyn' || to === from) return true;
  if (from.kind === 'null' && mayBeNull(to)) return true;
  if (to.kind !== from.kind) return false;
  switch (to.kind) {
    case 'list':
      return assignable(to.of, (from as ListType).of);
    case 'map':
      return assignable(to.key, (from as MapType).key) && assignable(to.of, (from as MapType).of);
    case 'optional':
      return assignable(to.of, (from as OptionalType).of);
    case 'object':
      return to.name === (from as ObjectType).name;
    default:
      return true;
  }
}

/** Whether two types are the same, whatever the sizes of their values. */
export function isEquivalent(a: CelType, b: CelType): boolean {
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'list':
    case 'optional':
      return isEquivalent(a.of, (b as ListType | OptionalType).of);
    case 'map':
      return isEquivalent(a.key, (b as MapType).key) && isEquivalent(a.of, (b as MapType).of);
    case 'object':
      return a.name === (b as ObjectType).name;
    default:
      return true;
  }
}

const larger = (a: number | undefined, b: number | undefined): { maxSize?: number } =>
  a === undefined || b === undefined ? {} : { maxSize: Math.max(a, b) };

const isUndecided = (type: CelType): boolean => type.kind === 'dyn' && type.isUndecided === true;

/** The type of what may be of either type. */
export function join(a: CelType, b: CelType): CelType {
  if (a === b || isUndecided(b)) return a;
  if (isUndecided(a)) return b;
  if (a.kind === 'null' && mayBeNull(b)) return b;
  if (b.kind === 'null' && mayBeNull(a)) return a;
  if (a.kind !== b.kind) return DYN;
  switch (a.kind) {
    case 'list': {
      const other = b as ListType;
      return { kind: 'list', of: join(a.of, other.of), ...larger(a.maxSize, other.maxSize) };
    }
    case 'map': {
      const other = b as MapType;
      return { kind: 'map', key: join(a.key, other.key), of: join(a.of, other.of), ...larger(a.maxSize, other.maxSize) };
    }
    case 'optional':
      return optionalOf(join(a.of, (b as OptionalType).of));
    case 'object':
      return a.name === (b as ObjectType).name ? a : DYN;
    case 'string':
    case 'bytes':
      return { kind: a.kind, ...larger(a.maxSize, (b as ScalarType).maxSize) };
    default:
      return a;
  }
}

/** What the parameters of a signature stand for in one call. */
export type Bindings = Map<string, CelType>;

/** Whether an argument fits a parameter of a signature; notes what the type parameters stand for. */
export function fits(expected: CelType, actual: CelType, bindings: Bindings): boolean {
  if (expected.kind === 'parameter') {
    const boundType = bindings.get(expected.name);
    if (boundType === undefined) {
      bindings.set(expected.name, actual);
      return true;
    }
    if (!assignable(boundType, actual) && !assignable(actual, boundType)) return false;
    bindings.set(expected.name, join(boundType, actual));
    return true;
  }
  if (expected.kind === 'dyn') return true;
  if (actual.kind === 'dyn') {
    bindParameters(expected, bindings);
    return true;
  }
  if (actual.kind === 'null' && expected.kind !== 'null') return false;
  if (expected.kind !== actual.kind) return false;
  switch (expected.kind) {
    case 'list':
      return fits(expected.of, (actual as ListType).of, bindings);
    case 'map':
      return fits(expected.key, (actual as MapType).key, bindings) && fits(expected.of, (actual as MapType).of, bindings);
    case 'optional':
      return fits(expected.of, (actual as OptionalType).of, bindings);
    case 'object':
      return expected.name === (actual as ObjectType).name;
    default:
      return true;
  }
}

/** Type parameters of an argument that is known at run time only are known then as well. */
function bindParameters(expected: CelType, bindings: Bindings): void {
  switch (expected.kind) {
    case 'parameter':
      bindings.set(expected.name, DYN);
      return;
    case 'list':
    case 'optional':
      bindParameters(expected.of, bindings);
      return;
    case 'map':
      bindParameters(expected.key, bindings);
      bindParameters(expected.of, bindings);
  }
}

/** A result type with the types in it that a call has decided. */
export function substitute(type: CelType, bindings: Bindings): CelType {
  switch (type.kind) {
    case 'parameter':
      return bindings.get(type.name) ?? DYN;
    case 'list':
      return listOf(substitute(type.of, bindings));
    case 'map':
      return mapOf(substitute(type.key, bindings), substitute(type.of, bindings));
    case 'optional':
      return optionalOf(substitute(type.of, bindings));
    default:
      return type;
  }
}

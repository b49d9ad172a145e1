/**
 * Whether an object is exactly in the normal form: its JSON text, parsed and decoded, would be an equal object, so that this
 * can be skipped. The result may be false for an object that is: for an unusual order of keys, a null, an undefined.
 */
import { readBack } from '@plat-dev/lib/integers';
import { noZero, zeroMakerOf } from '../fields/zero-values.ts';
import { type MapType, type MessageType, type NamedField, type ResolvedType, resolve, type ScalarName, type Type } from '../types.ts';
import { cachedText } from './cached-text.ts';
import { Mismatch } from './mismatch.ts';
import { isInherited } from './plain.ts';
import { scalarDecoder } from './scalars.ts';
import { isEmpty } from './to-json.ts';

type Check = (value: unknown) => boolean;
type Values = Record<string, unknown>;

export function isNormal(type: Type, object: unknown): boolean {
  try {
    return checkOf(type)(object);
  } catch (error) {
    if (error instanceof Mismatch) return false;
    throw error;
  }
}

const checks = new WeakMap<Type, Check>();

function checkOf(type: Type): Check {
  const resolved = resolve(type);
  let check = checks.get(resolved);
  if (check === undefined) {
    check = compile(resolved);
    checks.set(resolved, check);
  }
  return check;
}

function compile(resolved: ResolvedType): Check {
  switch (resolved.node) {
    case 'scalar':
      return scalarCheck(resolved.name);
    case 'list': {
      const check = checkOf(resolved.item);
      return (value) => Array.isArray(value) && value.every(check);
    }
    case 'map':
      return mapCheck(resolved);
    case 'message':
      return messageCheck(resolved);
    case 'union': {
      const checkObject = checkOf(resolved.object.type);
      const checkOther = checkOf(resolved.other.type);
      return (value) => (isPlainObject(value) ? checkObject(value) : checkOther(value));
    }
  }
}

function scalarCheck(name: ScalarName): Check {
  if (name === 'string') return (value) => typeof value === 'string';
  // A set of fields whose text is cached was made here, and never changes.
  if (name === 'fieldsV1') return (value) => isPlainObject(value) && (cachedText(value) !== undefined || isJson(value, 0));
  if (name === 'raw' || name === 'json') return (value) => value !== null && isJson(value, 0);
  const read = scalarDecoder(name);
  return (value) => value !== undefined && value !== null && read(value) === value;
}

function mapCheck(type: MapType): Check {
  const check = checkOf(type.value);
  return (value) => {
    if (!isPlainObject(value)) return false;
    let last = '';
    for (const key in value) {
      if (key < last || !check(value[key])) return false;
      last = key;
    }
    return true;
  };
}

/** Deeper values are left to the decoder, which checks the depth. */
const MAX_DEPTH = 100;

function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value) && readBack(value) === value;
  if (typeof value === 'bigint') return true;
  if (typeof value !== 'object' || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1));
  for (const key in value) if (!isJson((value as Values)[key], depth + 1)) return false;
  return true;
}

function isPlainObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// ---- messages --------------------------------------------------------------------------------------------------

function messageCheck(type: MessageType): Check {
  // Messages with fields such as `constructor` are left to the decoder.
  if (type.ordered.some((field) => isInherited(field.name))) return () => false;
  const keep = type.unknown === 'keep';
  // Fields are planned on first use, so that a schema may contain itself.
  let fields: Map<string, Check> | undefined;
  let present: readonly string[] = [];
  return (value) => {
    if (!isPlainObject(value)) return false;
    if (fields === undefined) {
      fields = new Map(type.ordered.map((field) => [field.name, fieldCheck(field)]));
      present = type.ordered.filter(isAlwaysThere).map((field) => field.name);
    }
    for (const key in value) {
      const check = fields.get(key);
      if (check === undefined ? !(keep && isJson(value[key], 0)) : !check(value[key])) return false;
    }
    for (const name of present) if (value[name] === undefined) return false;
    return true;
  };
}

/** Decoding sets such a field to its zero value if the text has none. */
function isAlwaysThere(field: NamedField): boolean {
  return field.always && field.nullable !== true && zeroMakerOf(field.type) !== noZero;
}

/** The check of a field's value; if it is not a pointer, the value must not be one that JSON leaves out or writes as null. */
function fieldCheck(field: NamedField): Check {
  const check = checkOf(field.type);
  const resolved = resolve(field.type);
  if (field.nullable === true || resolved.node === 'message' || resolved.node === 'union') return check;
  if (resolved.node === 'list' || resolved.node === 'map') return (value) => check(value) && !isEmpty(value);
  if (resolved.name === 'bytes') return (value) => value !== '' && check(value);
  if (field.always || resolved.name === 'json') return check;
  const zero = zeroMakerOf(field.type)();
  return (value) => value !== zero && check(value);
}

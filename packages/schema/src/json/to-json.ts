/** The output form as a plain JSON value: the same as JSON.parse(encode(…)), for patches and webhooks. */
import { setOwn } from '@plat-dev/lib/own';
import { zeroMakerOf } from '../fields/zero-values.ts';
import { type JsonValue, type MessageType, type NamedField, type ResolvedType, resolve, type Type } from '../types.ts';
import { cloneJson, isInherited, ownOnly } from './plain.ts';

type Copier = (value: unknown) => JsonValue;
type Values = Record<string, unknown>;

/** A copy in output form that shares nothing with the object. */
export function toJson(type: Type, object: unknown): JsonValue {
  return object === null || object === undefined ? null : copierOf(type)(object);
}

const copiers = new WeakMap<Type, Copier>();

function copierOf(type: Type): Copier {
  const resolved = resolve(type);
  let copier = copiers.get(resolved);
  if (copier === undefined) {
    copier = compile(resolved);
    copiers.set(resolved, copier);
  }
  return copier;
}

function compile(resolved: ResolvedType): Copier {
  switch (resolved.node) {
    case 'scalar':
      return resolved.name === 'raw' || resolved.name === 'json' || resolved.name === 'fieldsV1'
        ? cloneJson
        : (value) => value as JsonValue;
    case 'list': {
      const copy = copierOf(resolved.item);
      return (value) => (value as unknown[]).map((item) => (item === null ? null : copy(item)));
    }
    case 'map': {
      const copy = copierOf(resolved.value);
      return (value) => {
        const out: Record<string, JsonValue> = {};
        for (const key of Object.keys(value as Values)) {
          const item = (value as Values)[key];
          setOwn(out, key, item === null ? null : copy(item));
        }
        return out;
      };
    }
    case 'message':
      return messageCopier(resolved);
    case 'union': {
      const copyObject = copierOf(resolved.object.type);
      const copyOther = copierOf(resolved.other.type);
      return (value) => (typeof value === 'object' && !Array.isArray(value) ? copyObject(value) : copyOther(value));
    }
  }
}

interface FieldPlan {
  readonly name: string;
  readonly copy: Copier;
  /** Makes the value of an empty field; undefined leaves the field out. */
  readonly nothing: (() => JsonValue) | undefined;
  /** The scalar that counts as empty. */
  readonly zero: unknown;
  readonly collection: boolean;
}

function planField(field: NamedField): FieldPlan {
  const resolved = resolve(field.type);
  const pointer = field.nullable === true;
  const zero = zeroMakerOf(field.type);
  const copy = copierOf(field.type);
  return {
    name: field.name,
    copy,
    nothing: field.always ? () => (pointer ? null : toJson(field.type, zero())) : undefined,
    zero: field.always || pointer || resolved.node !== 'scalar' ? undefined : resolved.name === 'bytes' ? '' : zero(),
    collection: !pointer && (resolved.node === 'list' || resolved.node === 'map'),
  };
}

function messageCopier(type: MessageType): Copier {
  let plans: FieldPlan[] | undefined;
  const fieldNames = new Set(type.ordered.map((field) => field.name));
  const careful = type.ordered.some((field) => isInherited(field.name));
  return (message) => {
    const object = careful ? ownOnly(message) : (message as Values);
    plans ??= type.ordered.map(planField);
    const out: Record<string, JsonValue> = {};
    for (const plan of plans) {
      const value = object[plan.name];
      if (value === undefined || value === null || value === plan.zero || (plan.collection && isEmpty(value))) {
        if (plan.nothing !== undefined) setOwn(out, plan.name, plan.nothing());
      } else {
        setOwn(out, plan.name, plan.copy(value));
      }
    }
    if (type.unknown === 'keep') {
      for (const key of Object.keys(object)) {
        const value = object[key];
        if (!fieldNames.has(key) && value !== undefined) setOwn(out, key, cloneJson(value));
      }
    }
    return out;
  };
}

/** Whether a list or a map is empty. */
export function isEmpty(collection: unknown): boolean {
  if (Array.isArray(collection)) return collection.length === 0;
  for (const _ in collection as Values) return false;
  return true;
}

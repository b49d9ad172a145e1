/**
 * What JSON.parse of an object's text gives, made from the object itself, which is in the normal form: the nulls that text has for
 * empty `always` fields are added, and all parts that need none are shared with the object. Only keys may come in another order.
 *
 *   normal   { status: { conditions: [{ type: 'Ready', status: 'True' }] }, spec: … }
 *   text     { status: { conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, … }] }, spec: the same value }
 */
import { own, setOwn } from '@plat-dev/lib/own';
import { noZero, zeroMakerOf } from '../fields/zero-values.ts';
import { type MessageType, type NamedField, type ResolvedType, resolve, type Type } from '../types.ts';
import { toJson } from './to-json.ts';

type Form = (value: unknown) => unknown;
type Values = Record<string, unknown>;

/** The object must be in the normal form (`isNormal`). Neither it nor the result may be changed afterwards. */
export function jsonForm<T>(type: Type, object: T): T {
  return (formOf(type)?.(object) ?? object) as T;
}

/** Absent where values of a type never need a null. */
const forms = new WeakMap<ResolvedType, Form | undefined>();

function formOf(type: Type): Form | undefined {
  const resolved = resolve(type);
  if (!forms.has(resolved)) {
    // A type that contains itself meets this one on the way, and decides when values arrive.
    forms.set(resolved, (value) => (forms.get(resolved) ?? same)(value));
    forms.set(resolved, compile(resolved));
  }
  return forms.get(resolved);
}
const same: Form = (value) => value;

function compile(resolved: ResolvedType): Form | undefined {
  switch (resolved.node) {
    case 'scalar':
      return undefined;
    case 'list': {
      const item = formOf(resolved.item);
      return item === undefined ? undefined : (value) => listForm(value as readonly unknown[], item);
    }
    case 'map': {
      const item = formOf(resolved.value);
      return item === undefined ? undefined : (value) => mapForm(value as Values, item);
    }
    case 'message':
      return messageForm(resolved);
    case 'union': {
      const object = formOf(resolved.object.type);
      const other = formOf(resolved.other.type);
      if (object === undefined && other === undefined) return undefined;
      return (value) => ((typeof value === 'object' && !Array.isArray(value) ? object : other) ?? same)(value);
    }
  }
}

function listForm(list: readonly unknown[], item: Form): readonly unknown[] {
  let changedCopy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const value = item(list[i]);
    if (value === list[i]) continue;
    changedCopy ??= [...list];
    changedCopy[i] = value;
  }
  return changedCopy ?? list;
}

function mapForm(map: Values, item: Form): Values {
  let changedCopy: Values | undefined;
  for (const key in map) {
    const value = item(map[key]);
    if (value === map[key]) continue;
    changedCopy ??= { ...map };
    setOwn(changedCopy, key, value);
  }
  return changedCopy ?? map;
}

function messageForm(type: MessageType): Form | undefined {
  const empty = type.ordered.filter(isWrittenEmpty).map((field) => ({ name: field.name, value: emptyValue(field) }));
  const inner = type.ordered.flatMap((field) => {
    const form = formOf(field.type);
    return form === undefined ? [] : [{ name: field.name, form }];
  });
  if (empty.length === 0 && inner.length === 0) return undefined;
  return (message) => {
    const object = message as Values;
    let changedCopy: Values | undefined;
    for (const { name, form } of inner) {
      if (!Object.hasOwn(object, name)) continue;
      const fieldValue = own(object, name);
      const value = form(fieldValue);
      if (value === fieldValue) continue;
      changedCopy ??= { ...object };
      setOwn(changedCopy, name, value);
    }
    for (const { name, value } of empty) {
      if (Object.hasOwn(object, name)) continue;
      changedCopy ??= { ...object };
      setOwn(changedCopy, name, value());
    }
    return changedCopy ?? object;
  };
}

/** Text has the field even if it is empty, and the normal form has not. */
const isWrittenEmpty = (field: NamedField): boolean => field.always && (field.nullable === true || zeroMakerOf(field.type) === noZero);
const emptyValue =
  (field: NamedField): (() => unknown) =>
  () =>
    toJson(field.type, field.nullable === true ? null : zeroMakerOf(field.type)());

/** Plain JSON values, without a schema. */

import { inSlices, type Slices, type Work } from '@plat-dev/lib/slices';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { DecodeError, maxDepth } from '../errors.ts';
import type { JsonValue } from '../types.ts';

/** Whether a field's name is also that of a property which every object inherits (`constructor`): reading it needs care. */
export function isInherited(name: string): boolean {
  return name in Object.prototype;
}
/** The object's own properties and nothing inherited. */
export function ownOnly(object: unknown): Record<string, unknown> {
  return { __proto__: null, ...(object as object) };
}

/** Lone surrogates, which only an escape can produce, become replacement characters. */
export function toWellFormed(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed();
}

/** A copy that shares nothing with the original. Throws DecodeError when it is nested too deeply. */
export function cloneJson(value: unknown, depth = 0): JsonValue {
  if (typeof value !== 'object' || value === null) return value as JsonValue;
  if (depth > maxDepth) throw new DecodeError('exceeded max depth');
  if (Array.isArray(value)) {
    const list: JsonValue[] = [];
    for (let i = 0; i < value.length; i++) list.push(cloneJson(value[i], depth + 1));
    return list;
  }
  const copy = { ...value } as Record<string, JsonValue>;
  for (const key in copy) {
    const item = copy[key];
    // A key that exists is only overwritten, which is safe for `__proto__` too: the copy holds it as its own.
    if (typeof item === 'object' && item !== null) copy[key] = cloneJson(item, depth + 1);
  }
  return copy;
}

/**
 * The same in steps, without the stack. `copy` makes an object or list without what is in it: of another form, say, or the one
 * given, which is then changed in place.
 */
export function* cloneSteps(value: unknown, copy: (container: object) => object = shallowCopy): Work<JsonValue> {
  if (typeof value !== 'object' || value === null) return value as JsonValue;
  const whole = copy(value);
  const open = [{ container: whole, depth: 0 }];
  let entries = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { container, depth } = next;
    if (depth > maxDepth) throw new DecodeError('exceeded max depth');
    const keys = Array.isArray(container) ? container.keys() : Object.keys(container);
    for (const key of keys as Iterable<string>) {
      if ((++entries & (ENTRIES_A_STEP - 1)) === 0) yield;
      const item = (container as Record<string, unknown>)[key];
      if (typeof item !== 'object' || item === null) continue;
      const made = copy(item);
      // A key that exists is only overwritten.
      if (made !== item) (container as Record<string, unknown>)[key] = made;
      open.push({ container: made, depth: depth + 1 });
    }
  }
  return whole as JsonValue;
}
/** The same in slices, which a large value has. Throws RequestEnded. */
export function copyInSlices<T>(value: T, slices: Slices | undefined): MaybePromise<T> {
  return (slices === undefined ? cloneJson(value) : inSlices(cloneSteps(value), slices)) as MaybePromise<T>;
}
/** A power of two. */
const ENTRIES_A_STEP = 1024;
const shallowCopy = (container: object): object => (Array.isArray(container) ? container.slice() : { ...container });

/** The value itself. Throws DecodeError when it is nested too deeply. */
export function checkDepth(value: unknown): JsonValue {
  if (typeof value === 'object' && value !== null) checkBelow(value, 0);
  return value as JsonValue;
}
function checkBelow(value: object, depth: number): void {
  if (depth > maxDepth) throw new DecodeError('exceeded max depth');
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === 'object' && item !== null) checkBelow(item, depth + 1);
  }
}

/** The value as JSON text would have it: fields without a value are left out, and such items are null. Itself if there are none. */
export function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let list: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const item = value[i] === undefined ? null : withoutUndefined(value[i]);
      if (item === value[i]) continue;
      list ??= [...value];
      list[i] = item;
    }
    return list ?? value;
  }
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    const given = (value as Record<string, unknown>)[key];
    const item = withoutUndefined(given);
    if (item === given && item !== undefined) continue;
    copy ??= { ...value } as Record<string, unknown>;
    if (item === undefined) delete copy[key];
    else copy[key] = item;
  }
  return copy ?? value;
}

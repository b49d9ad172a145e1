/** Plain JSON values, without a schema. */

import type { Work } from '@plat-dev/lib/slices';
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
export function cloneJson(value: unknown): JsonValue {
  return (isContainer(value) ? new ValueCopy(undefined, AT_ONCE).copyOf(value, 0) : value) as JsonValue;
}
/**
 * The same for a value that may be large. `copy` makes an object or list without what is in it: of another form, say, or the one
 * given, which is then changed in place.
 */
export function* clonedJson(value: unknown, copy?: (container: object) => object): Work<JsonValue> {
  if (!isContainer(value)) return value as JsonValue;
  const copying = new ValueCopy(copy, ENTRIES_A_STEP);
  const whole = copying.copyOf(value, 0);
  while (copying.isPending) {
    yield;
    copying.goOn(ENTRIES_A_STEP);
  }
  return whole as JsonValue;
}
/** The value itself. Throws DecodeError when it is nested too deeply. */
export function checkDepth(value: unknown): JsonValue {
  if (isContainer(value)) new ValueCopy(itself, AT_ONCE).copyOf(value, 0);
  return value as JsonValue;
}

/** More entries than any value has. */
const AT_ONCE = 1_000_000_000;
const ENTRIES_A_STEP = 1024;
const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
export const itself = (container: object): object => container;

/** An entry of a copy that is still that of the original. */
interface PendingEntry {
  readonly container: Record<string | number, unknown>;
  readonly key: string | number;
  readonly depth: number;
}

/** Copies a value, about so many entries at a time: what is beyond them is copied when it goes on. */
class ValueCopy {
  /** Undefined for a plain copy. */
  private readonly shallow: ((container: object) => object) | undefined;
  private entriesLeft: number;
  private readonly pending: PendingEntry[] = [];

  constructor(shallow: ((container: object) => object) | undefined, entries: number) {
    this.shallow = shallow;
    this.entriesLeft = entries;
  }
  get isPending(): boolean {
    return this.pending.length > 0;
  }
  goOn(entries: number): void {
    this.entriesLeft = entries;
    while (this.entriesLeft > 0) {
      const entry = this.pending.pop();
      if (entry === undefined) return;
      const { container, key, depth } = entry;
      const item = container[key] as object;
      const copy = this.copyOf(item, depth);
      if (copy !== item) container[key] = copy;
    }
  }
  copyOf(container: object, depth: number): object {
    if (depth > maxDepth) throw new DecodeError('exceeded max depth');
    const { shallow } = this;
    const copy = shallow !== undefined ? shallow(container) : Array.isArray(container) ? container.slice() : { ...container };
    this.copyEntries(copy, depth + 1);
    return copy;
  }
  private copyEntries(container: object, depth: number): void {
    let entries = 1;
    if (Array.isArray(container)) {
      entries += container.length;
      for (let i = 0; i < container.length; i++) {
        const item: unknown = container[i];
        if (!isContainer(item)) continue;
        const copy = this.entriesLeft > 0 ? this.copyOf(item, depth) : this.postponed(container, i, item, depth);
        if (copy !== item) container[i] = copy;
      }
    } else {
      for (const key in container) {
        entries++;
        const item = (container as Record<string, unknown>)[key];
        if (!isContainer(item)) continue;
        const copy = this.entriesLeft > 0 ? this.copyOf(item, depth) : this.postponed(container, key, item, depth);
        // A key that exists is only overwritten, which is safe for `__proto__` too: the copy holds it as its own.
        if (copy !== item) (container as Record<string, unknown>)[key] = copy;
      }
    }
    this.entriesLeft -= entries;
  }
  private postponed(container: object, key: string | number, item: object, depth: number): object {
    this.pending.push({ container: container as Record<string | number, unknown>, key, depth });
    return item;
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
    const original = (value as Record<string, unknown>)[key];
    const item = withoutUndefined(original);
    if (item === original && item !== undefined) continue;
    copy ??= { ...value } as Record<string, unknown>;
    if (item === undefined) delete copy[key];
    else copy[key] = item;
  }
  return copy ?? value;
}

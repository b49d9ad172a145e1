/**
 * Large objects are compared part by part, so that the work can be interrupted. Two states of an object are cut into pairs of small
 * objects, each with some entries and all that is above them:
 *
 *   { data: { a: 1, b: 2, … } }            { data: { a: 1, b: 2 } }            { data: { c: 3, d: 4 } }       …
 *   { data: { a: 1, b: 3, … } }            { data: { a: 1, b: 3 } }            { data: { c: 3, d: 4 } }       …
 *
 * The result is the union of the results for the pairs, as each path is in the same state in all pairs that have it.
 */
import { own, setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { fieldsOf } from './applied.ts';
import { asList, asObject, type Comparison, compare, itemsByElement, type Skipped } from './compare.ts';
import type { FieldSet } from './fieldset.ts';
import { unionOf } from './fieldset-build.ts';
import { fieldOf } from './gather.ts';
import { anyShape, checkLength, isObject, type ListShape, type Shape, type Values } from './shape.ts';

/** Entries of lists and objects in one part. */
export const ENTRIES_A_PART = 256;

/** The result of `compare`. `most`: entries in one part. Throws Untyped. */
export function* compareLarge(shape: Shape, before: unknown, after: unknown, skipped?: Skipped, most = ENTRIES_A_PART): Work<Comparison> {
  const changed: FieldSet[] = [];
  const removed: FieldSet[] = [];
  const take: Take = (earlier, later) => {
    const part = compare(shape, earlier, later, skipped);
    changed.push(part.changed);
    removed.push(part.removed);
  };
  yield* new Cut(most).parts(shape, before ?? {}, after, take, skipped);
  return { changed: yield* unionOf(changed), removed: yield* unionOf(removed) };
}

/** The result of `fieldsOf`. `most`: entries in one part. Throws Untyped. */
export function* fieldsOfLarge(shape: Shape, value: unknown, skipped?: Skipped, most = ENTRIES_A_PART): Work<FieldSet> {
  const sets: FieldSet[] = [];
  const take: Take = (_, part) => sets.push(fieldsOf(shape, part, skipped));
  yield* new Cut(most).parts(shape, undefined, value, take, skipped);
  return yield* unionOf(sets);
}

/** Takes a part of each of two states of a value. */
type Take = (before: unknown, after: unknown) => void;

class Cut {
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  /** Gives the parts of a pair, and yields after each. */
  *parts(shape: Shape, before: unknown, after: unknown, take: Take, skipped?: Skipped): Work<void> {
    if (shape.node === 'leaf' || before === after) take(before, after);
    else if (shape.node === 'list') yield* this.items(shape, before, after, take);
    else yield* this.entries(shape, before, after, take, skipped?.fields);
  }
  /** Whether a pair is not cut: it is small, unchanged or owned as a whole. */
  private isWhole(shape: Shape, before: unknown, after: unknown): boolean {
    if (before === after || shape.node === 'leaf' || this.weight(before, after) <= this.most) return true;
    return shape.node === 'list' ? !Array.isArray(before) && !Array.isArray(after) : !isObject(before) && !isObject(after);
  }
  private weight(before: unknown, after: unknown): number {
    return before === after ? 0 : this.most - entriesLeft(after, entriesLeft(before, this.most));
  }

  private *entries(shape: Shape, before: unknown, after: unknown, take: Take, skipped?: Skipped['fields']): Work<void> {
    const parts = new Parts(before, after, take);
    const earlier = asObject(before);
    const later = asObject(after);
    for (const key in later) yield* this.entry(shapeOfKey(shape, key), key, own(earlier, key), own(later, key), parts, skipped?.get(key));
    for (const key in earlier)
      if (own(later, key) === undefined)
        yield* this.entry(shapeOfKey(shape, key), key, own(earlier, key), undefined, parts, skipped?.get(key));
    parts.give();
  }
  private *items(shape: ListShape, before: unknown, after: unknown, take: Take): Work<void> {
    const parts = new Parts(before, after, take, shape.type.keys);
    const a = asList(before);
    const b = asList(after);
    if (b.length > a.length) checkLength(b);
    // No part has all items: that none has the key of another is checked here.
    const later = yield* itemsByElement(shape, b);
    // As in a comparison of short lists, only items that have moved are looked up.
    let at = 0;
    for (; at < a.length && at < b.length && shape.same(a[at], b[at]); at++) yield* this.entry(shape.item, '', a[at], b[at], parts);
    if (at < a.length || at < b.length) {
      const earlier = yield* itemsByElement(shape, a);
      let index = 0;
      for (const [element, next] of later) if (index++ >= at) yield* this.entry(shape.item, '', earlier.get(element), next, parts);
      for (const [element, last] of earlier) if (!later.has(element)) yield* this.entry(shape.item, '', last, undefined, parts);
    }
    parts.give();
  }
  /** `skip`: the entry, or what is below it, is not compared, and so not cut. */
  private *entry(shape: Shape, key: string, last: unknown, next: unknown, parts: Parts, skip?: Skipped | true): Work<void> {
    if (skip !== true && !this.isWhole(shape, last, next)) {
      const take: Take = (a, b) => parts.giveAlone(key, parts.withKeys(a, last), parts.withKeys(b, next));
      // To list the keys of a wide map takes a step by itself.
      yield;
      return yield* this.parts(shape, last, next, take, skip);
    }
    parts.add(key, last, next, skip === true ? 1 : 1 + this.weight(last, next));
    if (parts.size < this.most) return;
    parts.give();
    yield;
  }
}

/** The parts of two lists or objects, one after the other. */
class Parts {
  /** Entries of the current part. */
  size = 0;
  private readonly before: unknown;
  private readonly after: unknown;
  private readonly take: Take;
  /** Keys of the items of a list, which every part of an item has. */
  private readonly keys: readonly string[];
  private earlier: unknown;
  private later: unknown;

  constructor(before: unknown, after: unknown, take: Take, keys: readonly string[] = []) {
    this.before = before;
    this.after = after;
    this.take = take;
    this.keys = keys;
    this.earlier = emptyLike(before);
    this.later = emptyLike(after);
  }
  add(key: string, last: unknown, next: unknown, weight: number): void {
    put(this.earlier, key, last);
    put(this.later, key, next);
    this.size += weight;
  }
  give(): void {
    if (this.size === 0) return;
    this.take(this.earlier, this.later);
    this.size = 0;
    this.earlier = emptyLike(this.before);
    this.later = emptyLike(this.after);
  }
  /** Gives a part of one entry. */
  giveAlone(key: string, last: unknown, next: unknown): void {
    const earlier = emptyLike(this.before);
    const later = emptyLike(this.after);
    put(earlier, key, last);
    put(later, key, next);
    this.take(earlier, later);
  }
  /** A part of an item, with the keys that identify it. */
  withKeys(part: unknown, item: unknown): unknown {
    if (isObject(part)) for (const name of this.keys) put(part, name, own(asObject(item), name));
    return part;
  }
}
/** A value that cannot be cut is in every part. Objects without a prototype are quick to fill with keys that no other has. */
const emptyLike = (value: unknown): unknown => (Array.isArray(value) ? [] : isObject(value) ? { __proto__: null } : value);
function put(container: unknown, key: string, value: unknown): void {
  if (value === undefined) return;
  if (Array.isArray(container)) container.push(value);
  else setOwn(container as { [key: string]: unknown }, key, value);
}

function shapeOfKey(shape: Shape, key: string): Shape {
  if (shape.node === 'map') return shape.value;
  return shape.node === 'message' ? (fieldOf(shape, key)?.shape ?? anyShape) : anyShape;
}

/** The rest of so many entries; below zero if a value has more, which are not counted to the end. */
function entriesLeft(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null || most < 0) return most;
  let entriesRemaining = most;
  if (Array.isArray(value)) {
    entriesRemaining -= value.length;
    for (let i = 0; i < value.length && entriesRemaining >= 0; i++) entriesRemaining = entriesLeft(value[i], entriesRemaining);
    return entriesRemaining;
  }
  for (const key in value) {
    entriesRemaining = entriesLeft((value as Values)[key], entriesRemaining - 1);
    if (entriesRemaining < 0) return entriesRemaining;
  }
  return entriesRemaining;
}

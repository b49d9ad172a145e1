/**
 * One walk over two states of an object: which paths have a new value, and which are gone. Objects are in the normal form.
 */
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { emptySet, type FieldSet, isEmpty, leaf } from './fieldset.ts';
import { fieldOf, Gathered, Items } from './gather.ts';
import { beginning, MOST_ENTRIES } from './interned.ts';
import { elementText } from './path-element.ts';
import { Repeated, withoutRepeats } from './repeated-items.ts';
import {
  anyShape,
  checkLength,
  isObject,
  keyElement,
  type ListShape,
  type MessageShape,
  type Shape,
  Untyped,
  type Values,
} from './shape.ts';

export interface Comparison {
  /** Paths that are new or have another value. */
  readonly changed: FieldSet;
  /** Paths that were removed. */
  readonly removed: FieldSet;
}

/** Paths that a comparison ignores: `true` is a path with all below it. `self` names a path that is never new. */
export interface Skipped {
  readonly self: boolean;
  readonly fields: ReadonlyMap<string, Skipped | true>;
}

/** Compares two objects; an absent `before` is an empty object. Throws Untyped. */
export function compare(shape: Shape, before: unknown, after: unknown, skipped?: Skipped): Comparison {
  if (before === after) return noChanges;
  // An aborted walk may have left something behind.
  changedFields.top = 0;
  removedFields.top = 0;
  const walk = new Walk();
  const changed = walk.both(shape, before ?? noValues, after ?? noValues, skipped) ?? emptySet;
  return { changed, removed: walk.removed ?? emptySet };
}
/** The same; where `repeats` are allowed, the items of a list that have one key are owned as one. */
export function compareAny(shape: Shape, before: unknown, after: unknown, skipped: Skipped | undefined, repeats: boolean): Comparison {
  try {
    return compare(shape, before, after, skipped);
  } catch (error) {
    if (!repeats || !(error instanceof Untyped)) throw error;
    return compare(shape, withoutRepeats(shape, before), withoutRepeats(shape, after), skipped);
  }
}
const noValues: Values = Object.freeze({});
const noChanges: Comparison = { changed: emptySet, removed: emptySet };

const changedFields = new Gathered();
const removedFields = new Gathered();

class Walk {
  /** The removed paths that the last call of a method found. */
  removed: FieldSet | undefined;

  /** Both sides exist. Returns what changed at or below this path. */
  both(shape: Shape, before: unknown, after: unknown, skipped?: Skipped): FieldSet | undefined {
    this.removed = undefined;
    if (before === after) return undefined;
    switch (shape.node) {
      case 'leaf':
        return equal(before, after) ? undefined : leaf;
      case 'message':
        if (!isObject(before) && !isObject(after)) return equal(before, after) ? undefined : leaf;
        return this.messages(shape, asObject(before), asObject(after), before, after, skipped);
      case 'list':
        return this.lists(shape, before, after);
      case 'map':
        return this.maps(shape.value, before, after);
      case 'any':
        if (isObject(before) && isObject(after)) return this.maps(anyShape, before, after);
        if (isObject(after)) return everything(anyShape, after);
        if (isObject(before)) this.removed = withoutSelf(everything(anyShape, before));
        return equal(before, after) ? undefined : leaf;
    }
  }

  private messages(shape: MessageShape, a: Values, b: Values, before: unknown, after: unknown, skipped?: Skipped): FieldSet | undefined {
    const changed = changedFields.top;
    const removed = removedFields.top;
    let isSeen = false;
    const isNew = a === noValues;
    for (const key in b) {
      const next = b[key];
      if (next === undefined) continue;
      isSeen = true;
      const field = fieldOf(shape, key);
      const skip = skipped?.fields.get(key);
      if (field === undefined || skip === true) continue;
      let last = isNew ? undefined : own(a, key);
      if (last === undefined) last = skip?.self === true ? noValues : field.zero;
      let changedSet: FieldSet | undefined;
      if (last === undefined) changedSet = everything(field.shape, next);
      else {
        changedSet = this.both(field.shape, last, next, skip);
        if (this.removed !== undefined) removedFields.add(removed, field, this.removed);
      }
      if (changedSet !== undefined) changedFields.add(changed, field, changedSet);
    }
    for (const key in a) {
      const last = a[key];
      if (last === undefined) continue;
      isSeen = true;
      if (own(b, key) !== undefined) continue;
      const field = fieldOf(shape, key);
      const skip = skipped?.fields.get(key);
      if (field === undefined || skip === true) continue;
      const next = skip?.self === true ? noValues : field.zero;
      let removedSet: FieldSet | undefined;
      if (next === undefined) removedSet = everything(field.shape, last, false);
      else {
        const changedSet = this.both(field.shape, last, next, skip);
        removedSet = this.removed;
        if (changedSet !== undefined) changedFields.add(changed, field, changedSet);
      }
      if (removedSet !== undefined) removedFields.add(removed, field, removedSet);
    }
    this.removed = removedFields.build(removed, false);
    if (!isSeen) return (before === null) === (after === null) || shape.always.length > 0 ? undefined : leaf;
    return changedFields.build(changed, false);
  }

  /** Two items of one key, of which either may stand for several. */
  private items(shape: Shape, before: unknown, after: unknown): FieldSet | undefined {
    const wasRepeated = before instanceof Repeated;
    if (wasRepeated && after instanceof Repeated) {
      this.removed = undefined;
      return equal(before.items, after.items) ? undefined : leaf;
    }
    if (!wasRepeated && !(after instanceof Repeated)) return this.both(shape, before, after);
    this.removed = everything(shape, before, false);
    return everything(shape, after);
  }

  private maps(value: Shape, before: unknown, after: unknown): FieldSet | undefined {
    const a = asObject(before);
    const b = asObject(after);
    let changed: Items | undefined;
    let removed: Items | undefined;
    let isSeen = false;
    for (const key in b) {
      const next = b[key];
      if (next === undefined) continue;
      isSeen = true;
      const last = own(a, key);
      let changedSet: FieldSet | undefined;
      if (last === undefined) changedSet = everything(value, next);
      else {
        changedSet = this.both(value, last, next);
        if (this.removed !== undefined) {
          removed ??= new Items();
          removed.addKey(key, this.removed);
        }
      }
      if (changedSet !== undefined) {
        changed ??= new Items();
        changed.addKey(key, changedSet);
      }
    }
    for (const key in a) {
      const last = a[key];
      if (last === undefined) continue;
      isSeen = true;
      if (own(b, key) !== undefined) continue;
      removed ??= new Items();
      removed.addKey(key, everything(value, last, false));
    }
    this.removed = removed?.build(false);
    if (!isSeen) return equal(before, after) ? undefined : leaf;
    return changed?.build(false);
  }

  private lists(shape: ListShape, before: unknown, after: unknown): FieldSet | undefined {
    const a = asList(before);
    const b = asList(after);
    if (a.length === 0 && b.length === 0) return equal(before, after) ? undefined : leaf;
    if (b.length > a.length) checkLength(b);
    const changed = new Items();
    if (a.length === 0) {
      const many = b.length > MOST_ENTRIES;
      for (const item of b) changed.add(shape.element(item, many), everything(shape.item, item));
      return changed.build(false);
    }
    const removed = new Items();
    // Most writes do not move items: their elements are then made only if something changed.
    let at = 0;
    for (; at < a.length && at < b.length && shape.same(a[at], b[at]); at++) {
      const changedSet = this.items(shape.item, a[at], b[at]);
      if (changedSet !== undefined) changed.add(shape.element(b[at]), changedSet);
      if (this.removed !== undefined) removed.add(shape.element(b[at]), this.removed);
    }
    if (at < a.length || at < b.length) this.movedItems(shape, a, b, at, changed, removed);
    else checkDistinct(shape, b);
    this.removed = removed.build(false);
    return changed.build(false);
  }

  /** Items from index `at` on, which are at different positions on both sides. */
  private movedItems(shape: ListShape, a: readonly unknown[], b: readonly unknown[], at: number, changed: Items, removed: Items): void {
    const earlier = atOnce(itemsByElement(shape, a));
    const later = atOnce(itemsByElement(shape, b));
    let index = 0;
    for (const [element, next] of later) {
      if (index++ < at) continue;
      const last = earlier.get(element);
      if (last === undefined) {
        changed.add(element, everything(shape.item, next));
        continue;
      }
      const changedSet = this.items(shape.item, last, next);
      if (changedSet !== undefined) changed.add(element, changedSet);
      if (this.removed !== undefined) removed.add(element, this.removed);
    }
    for (const [element, last] of earlier) if (!later.has(element)) removed.add(element, everything(shape.item, last, false));
  }
}

function withoutSelf(set: FieldSet): FieldSet | undefined {
  const { '.': _, ...members } = set;
  return isEmpty(members) ? undefined : members;
}

export function asObject(value: unknown): Values {
  return isObject(value) ? value : noValues;
}
const noItems: readonly unknown[] = Object.freeze([]);
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : noItems;
}
/** Throws Untyped if two items have the same key. */
function checkDistinct(shape: ListShape, list: readonly unknown[]): void {
  if (list.length > MOST_PAIRED) atOnce(itemsByElement(shape, list));
  else
    for (let i = 1; i < list.length; i++)
      for (let j = 0; j < i; j++) if (shape.same(list[i], list[j])) throw repeated(shape.element(list[i]));
}
/** Up to this length comparing all pairs takes less time than their elements. */
const MOST_PAIRED = 12;
const repeated = (element: string): Untyped => new Untyped(`duplicate entries for key ${elementText(element)}`);

/** The items of a list by their path elements, in the order of the list. Throws Untyped if two have the same. */
export function* itemsByElement(shape: ListShape, list: readonly unknown[]): Work<Map<string, unknown>> {
  const items = new Map<string, unknown>();
  const many = list.length > MOST_ENTRIES;
  for (const item of list) {
    const element = shape.element(item, many);
    if (items.has(element)) throw repeated(element);
    items.set(element, item);
    if (items.size % ITEMS_A_STEP === 0) yield;
  }
  return items;
}
const ITEMS_A_STEP = 64;

/** The path of a value, and every path below it. `bounded`: the length of its lists is limited; that of removed ones is not. */
function everything(shape: Shape, value: unknown, bounded = true): FieldSet {
  if (value instanceof Repeated) return leaf;
  switch (shape.node) {
    case 'leaf':
      return leaf;
    case 'message':
      return isObject(value) ? everyField(shape, value, bounded) : leaf;
    case 'map':
      return isObject(value) ? everyKey(shape.value, value, bounded) : leaf;
    case 'any':
      return isObject(value) ? everyKey(anyShape, value, bounded) : leaf;
    case 'list': {
      if (!Array.isArray(value) || value.length === 0) return leaf;
      if (bounded) checkLength(value);
      const items = new Items();
      const many = value.length > MOST_ENTRIES;
      for (const item of value) items.add(shape.element(item, many), everything(shape.item, item, bounded));
      return items.build(true) as FieldSet;
    }
  }
}
function everyField(shape: MessageShape, value: Values, bounded: boolean): FieldSet {
  const base = changedFields.top;
  for (const key in value) {
    const next = value[key];
    if (next === undefined) continue;
    const field = fieldOf(shape, key);
    if (field !== undefined) changedFields.add(base, field, everything(field.shape, next, bounded));
  }
  for (const field of shape.always)
    if (own(value, field.name) === undefined) changedFields.add(base, field, everything(field.shape, field.zero));
  return changedFields.build(base, true) ?? leaf;
}
function everyKey(shape: Shape, value: Values, bounded: boolean): FieldSet {
  const keySet = shape.node === 'leaf' ? knownKeys(value) : undefined;
  if (keySet !== undefined) return keySet;
  let entries: Items | undefined;
  for (const key in value) {
    const next = value[key];
    if (next === undefined) continue;
    entries ??= new Items();
    entries.addKey(key, everything(shape, next, bounded));
  }
  return entries?.build(true) ?? leaf;
}
/** The set of the keys of a map, if it was made before and they are few and in order, as they are in the normal form. */
function knownKeys(value: Values): FieldSet | undefined {
  let step = beginning(true);
  let last = '';
  let count = 0;
  for (const key in value) {
    if (value[key] === undefined) continue;
    if (++count > MOST_ENTRIES || (count > 1 && key <= last)) return undefined;
    step = step.to(keyElement(key), leaf);
    last = key;
  }
  return count === 0 ? undefined : step.set;
}

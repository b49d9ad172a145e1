/**
 * The walk of `compare.ts` as work that can be interrupted, for large objects: it yields after some small parts, and
 * leaves those to the other walk. Both have the same result.
 */
import { equal } from '../lib/equal.ts';
import { own } from '../lib/own.ts';
import type { Work } from '../lib/slices.ts';
import { asList, asObject, type Comparison, everything, nothing, noValues, type Skipped, Walk, withoutSelf } from './compare.ts';
import { elementText, emptySet, type FieldSet, leaf } from './fieldset.ts';
import { fieldOf, Gathered, Items } from './gather.ts';
import { MOST_ENTRIES } from './interned.ts';
import { anyShape, checkLength, isObject, type ListShape, type MessageShape, type Shape, Untyped, type Values } from './shape.ts';
import { ENTRIES_A_STEP, SmallParts } from './small-parts.ts';

/** The result of `compare`. `atOnce`: entries of a part that is walked in one step. Throws Untyped. */
export function* compareSteps(shape: Shape, before: unknown, after: unknown, skipped?: Skipped, atOnce = ENTRIES_A_STEP): Work<Comparison> {
  if (before === after) return nothing;
  const walk = new Steps(atOnce);
  const changed = (yield* walk.bothSteps(shape, before ?? noValues, after ?? noValues, skipped)) ?? emptySet;
  return { changed, removed: walk.removed ?? emptySet };
}

class Steps extends Walk {
  private readonly small: SmallParts;

  constructor(atOnce: number) {
    super();
    this.small = new SmallParts(atOnce);
  }

  *bothSteps(shape: Shape, before: unknown, after: unknown, skipped?: Skipped): Work<FieldSet | undefined> {
    this.removed = undefined;
    if (before === after) return undefined;
    if (this.small.isSmall(before) && this.small.isSmall(after)) {
      if (this.small.isPlace()) yield;
      return this.both(shape, before, after, skipped);
    }
    // A value that does not have its declared type is compared as a whole.
    if (!(shape.node === 'list' ? Array.isArray(before) || Array.isArray(after) : isObject(before) || isObject(after)))
      return this.both(shape, before, after, skipped);
    switch (shape.node) {
      case 'leaf':
        return this.both(shape, before, after, skipped);
      case 'message':
        return yield* this.messageSteps(shape, asObject(before), asObject(after), before, after, skipped);
      case 'list':
        return yield* this.listSteps(shape, before, after);
      case 'map':
        return yield* this.mapSteps(shape.value, before, after);
      case 'any':
        if (isObject(before) && isObject(after)) return yield* this.mapSteps(anyShape, before, after);
        if (isObject(after)) return yield* this.everythingSteps(anyShape, after);
        if (isObject(before)) this.removed = withoutSelf(yield* this.everythingSteps(anyShape, before));
        return leaf;
    }
  }

  private *messageSteps(
    shape: MessageShape,
    a: Values,
    b: Values,
    before: unknown,
    after: unknown,
    skipped?: Skipped,
  ): Work<FieldSet | undefined> {
    // Shared buffers are released whenever this walk yields.
    const changed = new Gathered();
    const removed = new Gathered();
    let seen = false;
    for (const key in b) {
      const next = b[key];
      if (next === undefined) continue;
      seen = true;
      const field = fieldOf(shape, key);
      const skip = skipped?.fields.get(key);
      if (field === undefined || skip === true) continue;
      let last = own(a, key);
      if (last === undefined) last = skip?.self === true ? noValues : field.zero;
      let found: FieldSet | undefined;
      if (last === undefined) found = yield* this.everythingSteps(field.shape, next);
      else {
        found = yield* this.bothSteps(field.shape, last, next, skip);
        if (this.removed !== undefined) removed.add(0, field, this.removed);
      }
      if (found !== undefined) changed.add(0, field, found);
    }
    for (const key in a) {
      const last = a[key];
      if (last === undefined) continue;
      seen = true;
      if (own(b, key) !== undefined) continue;
      const field = fieldOf(shape, key);
      const skip = skipped?.fields.get(key);
      if (field === undefined || skip === true) continue;
      const next = skip?.self === true ? noValues : field.zero;
      let gone: FieldSet | undefined;
      if (next === undefined) gone = yield* this.everythingSteps(field.shape, last, false);
      else {
        const found = yield* this.bothSteps(field.shape, last, next, skip);
        gone = this.removed;
        if (found !== undefined) changed.add(0, field, found);
      }
      if (gone !== undefined) removed.add(0, field, gone);
    }
    this.removed = removed.build(0, false);
    if (!seen) return (before === null) === (after === null) || shape.always.length > 0 ? undefined : leaf;
    return changed.build(0, false);
  }

  private *mapSteps(value: Shape, before: unknown, after: unknown): Work<FieldSet | undefined> {
    const a = asObject(before);
    const b = asObject(after);
    const changed = new Items();
    const removed = new Items();
    let seen = false;
    for (const key in b) {
      const next = b[key];
      if (next === undefined) continue;
      seen = true;
      if (this.small.isPlace()) yield;
      const last = own(a, key);
      let found: FieldSet | undefined;
      if (last === undefined) found = yield* this.everythingSteps(value, next);
      else {
        found = yield* this.bothSteps(value, last, next);
        if (this.removed !== undefined) removed.addKey(key, this.removed);
      }
      if (found !== undefined) changed.addKey(key, found);
    }
    for (const key in a) {
      const last = a[key];
      if (last === undefined) continue;
      seen = true;
      if (this.small.isPlace()) yield;
      if (own(b, key) !== undefined) continue;
      removed.addKey(key, yield* this.everythingSteps(value, last, false));
    }
    this.removed = yield* removed.buildSteps(false);
    if (!seen) return equal(before, after) ? undefined : leaf;
    return yield* changed.buildSteps(false);
  }

  private *listSteps(shape: ListShape, before: unknown, after: unknown): Work<FieldSet | undefined> {
    const a = asList(before);
    const b = asList(after);
    if (a.length === 0 && b.length === 0) return this.both(shape, before, after);
    if (b.length > a.length) checkLength(b);
    const changed = new Items();
    const removed = new Items();
    const many = Math.max(a.length, b.length) > MOST_ENTRIES;
    // Most writes do not move items: their elements are then made only if something changed.
    let at = 0;
    for (; at < a.length && at < b.length && shape.same(a[at], b[at]); at++) {
      const found = yield* this.bothSteps(shape.item, a[at], b[at]);
      if (found !== undefined) changed.add(shape.element(b[at], many), found);
      if (this.removed !== undefined) removed.add(shape.element(b[at], many), this.removed);
    }
    if (at < a.length || at < b.length) yield* this.movedSteps(shape, a, b, at, changed, removed);
    this.removed = yield* removed.buildSteps(false);
    return yield* changed.buildSteps(false);
  }

  /** Items from index `at` on, which are at different positions on both sides. */
  private *movedSteps(
    shape: ListShape,
    a: readonly unknown[],
    b: readonly unknown[],
    at: number,
    changed: Items,
    removed: Items,
  ): Work<void> {
    const earlier = yield* this.itemSteps(shape, a);
    const later = yield* this.itemSteps(shape, b);
    let index = 0;
    for (const [element, next] of later) {
      if (index++ < at) continue;
      const last = earlier.get(element);
      if (last === undefined) {
        changed.add(element, yield* this.everythingSteps(shape.item, next));
        continue;
      }
      const found = yield* this.bothSteps(shape.item, last, next);
      if (found !== undefined) changed.add(element, found);
      if (this.removed !== undefined) removed.add(element, this.removed);
    }
    for (const [element, last] of earlier)
      if (!later.has(element)) removed.add(element, yield* this.everythingSteps(shape.item, last, false));
  }
  /** The result of `itemsByElement`. */
  private *itemSteps(shape: ListShape, list: readonly unknown[]): Work<Map<string, unknown>> {
    const items = new Map<string, unknown>();
    const many = list.length > MOST_ENTRIES;
    for (const item of list) {
      const element = shape.element(item, many);
      if (items.has(element)) throw new Untyped(`duplicate entries for key ${elementText(element)}`);
      items.set(element, item);
      if (this.small.isPlace()) yield;
    }
    return items;
  }

  /** The result of `everything`. */
  *everythingSteps(shape: Shape, value: unknown, bounded = true): Work<FieldSet> {
    if (this.small.isSmall(value)) {
      if (this.small.isPlace()) yield;
      return everything(shape, value, bounded);
    }
    switch (shape.node) {
      case 'leaf':
        return leaf;
      case 'message':
        return isObject(value) ? yield* this.fieldSteps(shape, value, bounded) : leaf;
      case 'map':
        return isObject(value) ? yield* this.keySteps(shape.value, value, bounded) : leaf;
      case 'any':
        return isObject(value) ? yield* this.keySteps(anyShape, value, bounded) : leaf;
      case 'list': {
        if (!Array.isArray(value)) return leaf;
        if (bounded) checkLength(value);
        const items = new Items();
        const many = value.length > MOST_ENTRIES;
        for (const item of value) items.add(shape.element(item, many), yield* this.everythingSteps(shape.item, item, bounded));
        return (yield* items.buildSteps(true)) ?? leaf;
      }
    }
  }
  private *fieldSteps(shape: MessageShape, value: Values, bounded: boolean): Work<FieldSet> {
    const fields = new Gathered();
    for (const key in value) {
      const next = value[key];
      if (next === undefined) continue;
      const field = fieldOf(shape, key);
      if (field !== undefined) fields.add(0, field, yield* this.everythingSteps(field.shape, next, bounded));
    }
    for (const field of shape.always) if (own(value, field.name) === undefined) fields.add(0, field, everything(field.shape, field.zero));
    return fields.build(0, true) ?? leaf;
  }
  private *keySteps(shape: Shape, value: Values, bounded: boolean): Work<FieldSet> {
    const entries = new Items();
    for (const key in value) {
      const next = value[key];
      if (next !== undefined) entries.addKey(key, yield* this.everythingSteps(shape, next, bounded));
    }
    return (yield* entries.buildSteps(true)) ?? leaf;
  }
}

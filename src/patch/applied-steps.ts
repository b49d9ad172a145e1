/** The walk of `applied.ts` over an applied object, as work that can be interrupted, for large objects. */
import type { Work } from '../lib/slices.ts';
import { below, isBare } from './applied.ts';
import type { Skipped } from './compare.ts';
import { emptySet, type FieldSet, isEmpty, leaf } from './fieldset.ts';
import { fieldOf, Gathered, Items } from './gather.ts';
import { MOST_ENTRIES } from './interned.ts';
import { anyShape, isObject, type ListShape, type MessageShape, type Shape, type Values } from './shape.ts';
import { ENTRIES_A_STEP, SmallParts } from './small-parts.ts';

/** The result of `fieldsOf`. `atOnce`: entries of a part that is walked in one step. Throws Untyped. */
export function* fieldsOfSteps(shape: Shape, value: unknown, skipped?: Skipped, atOnce = ENTRIES_A_STEP): Work<FieldSet> {
  return (yield* new Steps(atOnce).below(shape, value, false, skipped)) ?? emptySet;
}

class Steps extends SmallParts {
  *below(shape: Shape, value: unknown, member: boolean, skipped?: Skipped): Work<FieldSet | undefined> {
    if (this.isSmall(value)) {
      if (this.isPlace()) yield;
      return below(shape, value, member, skipped);
    }
    switch (shape.node) {
      case 'leaf':
        return leaf;
      case 'list':
        return Array.isArray(value) ? yield* this.items(shape, value, member) : undefined;
      case 'map':
        return isObject(value) ? yield* this.keys(shape.value, value, member) : undefined;
      case 'any':
        return isObject(value) ? yield* this.keys(anyShape, value, member) : leaf;
      case 'message':
        return isObject(value) ? yield* this.fields(shape, value, member, skipped) : undefined;
    }
  }

  private *fields(shape: MessageShape, value: Values, member: boolean, skipped: Skipped | undefined): Work<FieldSet | undefined> {
    // Shared buffers are released whenever this walk yields.
    const gathered = new Gathered();
    for (const key in value) {
      const item = value[key];
      const skip = skipped?.fields.get(key);
      const field = fieldOf(shape, key);
      if (item === undefined || skip === true || field === undefined) continue;
      const named = shape.fields.has(key);
      const found = yield* this.below(field.shape, item, !named, skip);
      if (skip?.self === true) {
        if (found !== undefined && !isEmpty(found)) gathered.add(0, field, found);
      } else if (found === leaf || isBare(item)) gathered.add(0, field, leaf);
      else if (found !== undefined || !named) gathered.add(0, field, found ?? leaf);
    }
    return gathered.build(0, member);
  }
  private *keys(shape: Shape, value: Values, member: boolean): Work<FieldSet | undefined> {
    const items = new Items();
    for (const key in value) {
      const item = value[key];
      if (item !== undefined) items.addKey(key, (isBare(item) ? undefined : yield* this.below(shape, item, true)) ?? leaf);
    }
    return yield* items.buildSteps(member);
  }
  private *items(shape: ListShape, list: readonly unknown[], member: boolean): Work<FieldSet | undefined> {
    const items = new Items();
    for (const item of list)
      items.add(shape.element(item, list.length > MOST_ENTRIES), (yield* this.below(shape.item, item, true)) ?? leaf);
    return yield* items.buildSteps(member);
  }
}

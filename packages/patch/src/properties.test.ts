/** Properties of merge and ownership over random schemas. A failure prints the seed that repeats it. */

import { equal } from '@plat-dev/lib/equal';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { decode } from '@plat-dev/schema/json';
import { expect, test } from 'vitest';
import { fieldsOf } from './applied.ts';
import { compare } from './compare.ts';
import { difference, type FieldSet, isEmpty, paths, sameSet, union } from './fieldset.ts';
import { sentSet } from './fieldset-build.ts';
import { History } from './history.testing.ts';
import { overlay } from './overlay.ts';
import { compareLarge, fieldsOfLarge } from './parts.ts';
import { prune, pruneAcross } from './prune.ts';
import { samples } from './schemas.testing.ts';
import { isObject, type Shape, shapeOf, shapeOfElement, type Values } from './shape.ts';

/** Whether everything that `part` says is so in `whole`. */
function contains(shape: Shape, whole: unknown, part: unknown): boolean {
  if (shape.node === 'leaf') return equal(whole, part);
  if (shape.node === 'list') {
    const items = new Map((whole as unknown[]).map((item) => [shape.element(item), item]));
    return (part as unknown[]).every((item) => contains(shape.item, items.get(shape.element(item)), item));
  }
  if (!isObject(whole) || !isObject(part)) return equal(whole, part);
  return Object.keys(part).every((key) => contains(shapeOfElement(shape, `f:${key}`), own(whole, key), part[key]));
}

test('laying an object over another twice is the same as once, and keeps all that it says', () => {
  fc.assert(
    fc.property(samples(2), ({ type, objects: [live, applied] }) => {
      const shape = shapeOf(type);
      const once = overlay(shape, decode(type, live), applied);
      expect(overlay(shape, once, applied)).toEqual(once);
      expect(contains(shape, once, applied)).toBe(true);
    }),
  );
});

test('two states differ in nothing or in something', () => {
  fc.assert(
    fc.property(samples(2), ({ type, objects: [a, b] }) => {
      const shape = shapeOf(type);
      const [before, after] = [decode(type, a) as Values, decode(type, b) as Values];
      expect(compare(shape, before, structuredClone(before))).toEqual({ changed: {}, removed: {} });
      const { changed, removed } = compare(shape, before, after);
      const back = compare(shape, after, before);
      // What one way is removed is new the other way; what has another value has it both ways.
      expect(isEmpty(difference(removed, back.changed))).toBe(true);
      expect(isEmpty(difference(back.removed, changed))).toBe(true);
      expect(sameSet(difference(changed, back.removed), difference(back.changed, removed))).toBe(true);
      for (const set of [changed, removed]) expect(JSON.stringify(set)).toBe(JSON.stringify(atOnce(sentSet(set))));
    }),
  );
});

test('what two states differ in, and what an object names, is found in steps as it is at once', () => {
  fc.assert(
    fc.property(samples(2), fc.integer({ min: 0, max: 8 }), ({ type, objects: [a, b] }, few) => {
      const shape = shapeOf(type);
      const [before, after] = [decode(type, a) as Values, decode(type, b) as Values];
      for (const [from, to] of [
        [before, after],
        [undefined, after],
        [before, {}],
      ]) {
        const found = atOnce(compareLarge(shape, from, to, undefined, few));
        expect(JSON.stringify(found)).toBe(JSON.stringify(compare(shape, from, to)));
      }
      for (const object of [a, b])
        expect(JSON.stringify(atOnce(fieldsOfLarge(shape, object, undefined, few)))).toBe(JSON.stringify(fieldsOf(shape, object)));
    }),
  );
});

test('a creator owns every path there is', () => {
  fc.assert(
    fc.property(samples(1), ({ type, objects: [made] }) => {
      const history = new History(type).write('maker', made as Values);
      const applied = new History(type).apply('maker', made as Values);
      const all = (history.owners.maker ?? {}) as FieldSet;
      const named = (applied.owners.maker ?? {}) as FieldSet;
      // An applier owns the same but for the fields that only hold others.
      expect(isEmpty(difference(named, all))).toBe(true);
      expect(applied.content).toEqual(history.content);
    }),
  );
});

test('what was applied is there afterwards, is owned, and applying it again changes nothing', () => {
  fc.assert(
    fc.property(samples(4), ({ type, objects }) => {
      const [first, second, third, fourth] = objects as [Values, Values, Values, Values];
      const shape = shapeOf(type);
      const history = new History(type).write('maker', first).apply('alpha', second, { force: true });
      history.apply('beta', third, { force: true }).apply('alpha', fourth, { force: true });
      expect(contains(shape, history.content, fourth)).toBe(true);
      const set = fieldsOf(shape, decodeApplied(fourth));
      expect(history.owners.alpha ?? {}).toEqual(set);
      const { live } = history;
      history.apply('alpha', fourth);
      expect(history.live).toEqual(live);
      // Everybody's fields are there, but for what once held others and is empty now.
      const there = compare(shape, undefined, history.live).changed;
      for (const [manager, fields] of Object.entries(history.owners))
        expect([manager, paths(values(shape, difference(fields as FieldSet, there)))]).toEqual([manager, []]);
    }),
  );
});
const decodeApplied = (object: Values): Values => JSON.parse(jsonText(object)) as Values;
/** Those members that lead to values which are owned whole. */
function values(shape: Shape, fields: FieldSet): FieldSet {
  return Object.keys(fields).reduce<FieldSet>((all, element) => {
    const below = shapeOfElement(shape, element);
    const child = fields[element] as FieldSet;
    const kept = below.node === 'leaf' ? child : values(below, child);
    return element === '.' || (below.node !== 'leaf' && isEmpty(kept)) ? all : union(all, { [element]: kept });
  }, {});
}

test('an applier that drops everything leaves what it found', () => {
  fc.assert(
    fc.property(samples(2), ({ type, objects: [first, second] }) => {
      const shape = shapeOf(type);
      const history = new History(type).apply('alpha', first as Values);
      const { content, owners } = history;
      try {
        history.apply('beta', second as Values);
      } catch {
        // A conflict says nothing about dropping.
        return;
      }
      history.apply('beta', {});
      expect(contains(shape, history.content, first)).toBe(true);
      expect(history.owners).toEqual(owners);
      expect(sortLists(history.content)).toEqual(sortLists(content));
    }),
  );
});
/** Applying to a list may rearrange it. */
function sortLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortLists).sort((a, b) => (jsonText(a) < jsonText(b) ? -1 : 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).map((key) => [key, sortLists(value[key])]));
}

test('appliers that name different things commute', () => {
  fc.assert(
    fc.property(samples(2), ({ type, objects: [first, second] }) => {
      const [a, b] = [first as Values, second as Values];
      const run = (order: [string, Values][]): History | undefined => {
        try {
          return order.reduce((history, [manager, body]) => history.apply(manager, body), new History(type));
        } catch {
          return undefined;
        }
      };
      const one = run([
        ['alpha', a],
        ['beta', b],
      ]);
      const other = run([
        ['beta', b],
        ['alpha', a],
      ]);
      expect(one === undefined).toBe(other === undefined);
      if (one === undefined || other === undefined) return;
      expect(sortLists(one.content)).toEqual(sortLists(other.content));
      expect(one.owners).toEqual(other.owners);
    }),
  );
});

test('pruning in one version agrees with pruning over several', () => {
  fc.assert(
    fc.property(samples(4), ({ type, objects }) => {
      const [live, last, mine, theirs] = objects as [Values, Values, Values, Values];
      const shape = shapeOf(type);
      const merged = [last, mine, theirs].reduce((all, one) => overlay(shape, all, one) as Values, decode(type, live) as Values);
      const owned = union(fieldsOf(shape, mine), fieldsOf(shape, theirs));
      const lastFields = fieldsOf(shape, last);
      const whole = { apiVersion: 'v1', shape, object: merged };
      const across = pruneAcross(whole, { apiVersion: 'v1', fields: lastFields }, new Map([['v1', owned]]), (object) => object);
      expect(decode(type, prune(shape, merged, lastFields, owned))).toEqual(decode(type, across.object));
    }),
  );
});

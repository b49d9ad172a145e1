/** What is copied because a merge did not change it is what decoding would give. */

import { bodies } from '@plat-dev/kinds/bodies.testing';
import type { KindVersion } from '@plat-dev/kinds/kind';
import { create, type Loose } from '@plat-dev/kinds/validation/kinds.testing';
import { decodes, mutated } from '@plat-dev/kinds/validation/mutations.testing';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { decode, encode } from '@plat-dev/schema/json';
import { json, list, map, message, opt, string } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { fieldsOf } from './applied.ts';
import { decodeMerged } from './merged.ts';
import { overlay } from './overlay.ts';
import { prune } from './prune.ts';
import { samples } from './schemas.testing.ts';
import { shapeOf, Untyped, type Values } from './shape.ts';

/** Undefined where the items of a list cannot be told apart. */
function typed<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof Untyped) return undefined;
    throw error;
  }
}
/** What came of it, or why nothing did. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

test('objects of random schemas', () => {
  fc.assert(
    fc.property(samples(3), ({ type, objects: [stored, applied, last] }) => {
      const shape = shapeOf(type);
      const live = decode(type, JSON.parse(encode(type, decode(type, stored)))) as Values;
      const merged = overlay(shape, live, applied) as Values;
      expect(decodeMerged(type, live, merged)).toStrictEqual(decode(type, merged));
      const pruned = prune(shape, merged, fieldsOf(shape, last), fieldsOf(shape, applied));
      expect(decodeMerged(type, live, pruned)).toStrictEqual(decode(type, pruned));
    }),
  );
});

test.each(bodies)('a %s over which another is laid', (_name, kind, body) => {
  const { schema } = kind.versions[kind.hub] as KindVersion;
  const shape = shapeOf(schema);
  const read = (object: Loose): Loose => decode(schema, JSON.parse(encode(schema, object)));
  const good = read(create(kind, body).object);
  fc.assert(
    fc.property(mutated(good), mutated(body), (changed, applied) => {
      const decoded = decodes(() => decode(schema, changed));
      const live = decoded === undefined ? good : read(decoded);
      const merged = typed(() => overlay(shape, live, applied)) as Values | undefined;
      if (merged === undefined) return;
      const before = structuredClone(live);
      expect(outcome(() => decodeMerged(schema, live, merged))).toEqual(outcome(() => decode(schema, merged)));
      expect(live).toEqual(before);
    }),
    { numRuns: rounds(200) },
  );
});

test('an object over which nothing new is laid is itself', () => {
  const Item = message('t.Item', { name: opt(1, string), args: opt(2, list(string)) });
  const Thing = message('t.Thing', {
    items: opt(1, list(Item, 'map', ['name'])),
    labels: opt(2, map(string)),
    selector: opt(3, map(string, { atomic: true })),
  });
  const live = { items: [{ name: 'a', args: ['x'] }, { name: 'b' }], labels: { a: '1', b: '2' }, selector: { x: '1', y: '2' } };
  const shape = shapeOf(Thing);
  expect(overlay(shape, live, structuredClone(live))).toBe(live);
  expect(overlay(shape, live, { selector: { y: '2', x: '1' }, labels: { b: '2' }, items: [{ name: 'b' }] })).toBe(live);
  expect(overlay(shape, live, { items: [{ name: 'b' }, { name: 'a' }] })).not.toBe(live);
  expect(overlay(shape, live, { selector: { x: '1' } })).toEqual({ ...live, selector: { x: '1' } });
});

test('a value without a schema is taken as it was sent, with its keys in their order', () => {
  const Thing = message('t.Thing', { any: opt(1, json) });
  const live = { any: { a: 1, b: 2 } };
  expect(JSON.stringify(overlay(shapeOf(Thing), live, { any: { b: 2, a: 1 } }))).toBe('{"any":{"b":2,"a":1}}');
});

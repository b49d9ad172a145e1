import { atOnce } from '@plat-dev/lib/slices';
import { describe, expect, test } from 'vitest';
import { always, bytes, fieldsV1, int64, json, lazy, list, type MessageType, map, message, object, opt, string, union } from '../types.ts';
import { MANY, SCALARS } from './decode-large.ts';
import { decode, decodedValue } from './index.ts';

const Tree: MessageType = message('t.v1.Tree', {
  name: opt(1, string),
  size: always(2, int64),
  children: opt(3, list(lazy(() => Tree))),
  byName: opt(4, map(lazy(() => Tree))),
  labels: opt(5, map(string)),
  sizes: opt(7, list(int64)),
  data: opt(8, map(bytes)),
  either: opt(6, union('t.v1.Either', { tag: 1, type: lazy(() => Tree) }, { tag: 2, type: list(lazy(() => Tree)) })),
});

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const named = (count: number, make: (i: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(many(count, (i) => [`n${(i * 7919) % count}`, make(i)]));
const leaf = (i: number) => ({ name: `leaf ${i}`, labels: i % 2 === 0 ? {} : { b: '1', a: '2' }, unknown: i });

const tree = (depth: number): object => (depth === 0 ? { name: 'leaf' } : { children: [tree(depth - 1), null, tree(depth - 1)] });
const chain = (depth: number): object => (depth === 0 ? { name: 'end' } : { byName: { b: { name: 'b' }, a: chain(depth - 1) } });

const samples: Record<string, unknown> = {
  nothing: {},
  'a list at the bound': { children: many(MANY, leaf) },
  'a list below it': { children: many(MANY - 1, leaf) },
  'a map in another order': { byName: named(1000, leaf) },
  'large ones within large ones': {
    children: many(MANY, (i) => (i === 3 ? { byName: named(MANY, (j) => ({ children: j === 5 ? many(MANY, leaf) : [] })) } : leaf(i))),
  },
  'a tree of short lists': tree(10),
  'a chain of maps': chain(600),
  'a union': { either: many(MANY, leaf), children: [{ either: { byName: named(MANY, leaf) } }] },
  'nulls and empty values': { children: many(MANY, (i) => (i % 2 === 0 ? null : {})), byName: { ...named(MANY, () => null) }, labels: {} },
  'many labels in another order': {
    labels: named(3 * SCALARS, (i) => (i % 3 === 0 ? null : `v${i}`)),
    data: named(2 * SCALARS, () => 'eA=='),
  },
  'many numbers': { children: [{ sizes: many(3 * SCALARS, (i) => (i % 5 === 0 ? null : i)) }] },
  'a key that is no name': { byName: JSON.parse(`{"__proto__":{"name":"p"},${many(MANY, (i) => `"k${i}":{}`).join()}}`) },
};

test.each(Object.entries(samples))('%s: the same as at once', (_, value) => {
  const before = JSON.stringify(value);
  const expected = decode(Tree, value);
  const made = atOnce(decodedValue(Tree, value));
  expect(made).toEqual(expected);
  expect(JSON.stringify(made)).toBe(JSON.stringify(expected));
  expect(JSON.stringify(value)).toBe(before);
});

test('it can be interrupted after some entries, of what is within others, too', () => {
  const pauses = (value: unknown): number => [...decodedValue(Tree, value)].length;
  expect(pauses({ children: many(MANY - 1, () => ({ name: 'leaf' })) })).toBe(0);
  expect(pauses({ children: many(6400, leaf) })).toBeGreaterThanOrEqual(100);
  expect(pauses({ children: [{ byName: named(6400, leaf) }] })).toBeGreaterThanOrEqual(100);
  expect(pauses({ children: many(MANY, (i) => (i === 9 ? { byName: named(6400, leaf) } : {})) })).toBeGreaterThanOrEqual(104);
});

test('texts and numbers of one list or map are decoded in steps', () => {
  const pauses = (value: unknown): number => [...decodedValue(Tree, value)].length;
  expect(pauses({ sizes: many(SCALARS, (i) => i) })).toBe(0);
  expect(pauses({ sizes: many(10 * SCALARS, (i) => i) })).toBeGreaterThanOrEqual(10);
  expect(pauses({ labels: named(10 * SCALARS, () => 'v') })).toBeGreaterThanOrEqual(10);
  expect(pauses({ children: [{ data: named(10 * SCALARS, () => 'eA==') }] })).toBeGreaterThanOrEqual(10);
});

test('values without a type are copied in steps, and sets of fields are shared', () => {
  const Free: MessageType = message(
    't.v1.Free',
    { any: opt(1, json), fields: opt(2, fieldsV1), values: opt(3, map(json)) },
    { unknown: 'keep' },
  );
  const large = () => named(5_000, (i) => ({ a: [i] }));
  for (const field of ['any', 'fields', 'unknown']) {
    const value = { [field]: large() };
    expect([...decodedValue(Free, value)].length, field).toBeGreaterThanOrEqual(10);
    const made = atOnce(decodedValue(Free, value)) as Record<string, unknown>;
    expect(made).toEqual(decode(Free, value));
    expect(made[field] === value[field]).toBe(field === 'fields');
  }
  const value = { values: large(), any: [null, 'text'] };
  expect(atOnce(decodedValue(Free, value))).toEqual(decode(Free, value));
});

test('a tree of short lists is decoded branch by branch', () => {
  // 2^14 leaves: about 256 objects at a time.
  const steps = [...decodedValue(Tree, tree(14))].length;
  expect(steps).toBeGreaterThan(2 ** 15 / MANY / 2);
  expect([...decodedValue(Tree, tree(5))]).toEqual([]);
});

test('other values may be decoded between two steps', () => {
  const value = { children: many(1000, leaf), byName: named(1000, leaf) };
  const work = decodedValue(Tree, value);
  let step = work.next();
  for (; !step.done; step = work.next()) expect(decode(Tree, { children: [leaf(1)] })).toEqual(decode(Tree, { children: [leaf(1)] }));
  expect(step.value).toEqual(decode(Tree, value));
});

test('a value that stands in two places is decoded to two', () => {
  const shared = many(MANY, leaf);
  const made = atOnce(decodedValue(Tree, { children: [{ children: shared }, { children: shared }] })) as {
    children: { children: unknown[] }[];
  };
  const [first, second] = made.children;
  expect(first?.children).toEqual(second?.children);
  expect(first?.children).not.toBe(second?.children);
  expect(first?.children[0]).not.toBe(second?.children[0]);
});

describe('what does not fit is refused in the same words', () => {
  test.each<[string, unknown]>([
    ['in a list', { children: many(MANY, (i) => (i === 200 ? { size: 'text' } : leaf(i))) }],
    ['in a map', { byName: named(MANY, (i) => (i === 200 ? { labels: { a: 1 } } : leaf(i))) }],
    ['within another', { children: many(MANY, (i) => ({ byName: i === 7 ? named(MANY, (j) => (j === 8 ? 'no object' : {})) : {} })) }],
    ['in a map of texts', { labels: named(2 * SCALARS, (i) => (i === 200 ? 1 : 'v')) }],
    ['in a list of numbers', { sizes: many(2 * SCALARS, (i) => (i === 200 ? 'a' : i)) }],
    ['beside a large one', { children: many(MANY, leaf), size: 'text' }],
    ['a list for a map', { byName: many(MANY, leaf) }],
    ['a map for a list', { children: named(MANY, leaf) }],
  ])('%s', (_, value) => {
    const message = (work: () => unknown): string => {
      try {
        work();
      } catch (error) {
        return String(error);
      }
      throw new Error('it was not refused');
    };
    expect(message(() => atOnce(decodedValue(Tree, value)))).toBe(message(() => decode(Tree, value)));
  });
});

test('an object of a kind', () => {
  const Kind = object('t.v1.Kind', { spec: opt(2, Tree) });
  const value = { metadata: { name: 'a', annotations: { a: 'b' } }, spec: { byName: named(MANY, leaf) } };
  expect(atOnce(decodedValue(Kind, value))).toEqual(decode(Kind, value));
});

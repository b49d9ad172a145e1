import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import {
  always,
  bool,
  double,
  fieldsV1,
  inline,
  int64,
  intOrString,
  json,
  lazy,
  list,
  type MessageType,
  map,
  message,
  object,
  opt,
  ptr,
  quantity,
  raw,
  req,
  string,
  time,
  union,
} from '../types.ts';
import { cacheText, encode, encodeBytes, encodedBytes, TextTooLong } from './index.ts';

const Source = message('t.v1.Source', { path: opt(1, string), size: always(2, int64) });
const Odd = message('t.v1.Odd', { constructor: opt(1, string), toString: ptr(2, int64) });
const Entry = message('t.v1.Entry', { manager: opt(1, string), fieldsV1: opt(2, fieldsV1), time: always(3, time) });
const Node: MessageType = message('t.v1.Node', {
  name: req(1, string),
  ready: ptr(2, bool),
  ratio: ptr(3, double),
  target: opt(4, intOrString),
  limits: opt(5, map(quantity)),
  times: opt(6, map(time)),
  rules: always(7, list(string)),
  value: ptr(8, json),
  embedded: opt(9, raw),
  items: ptr(10, union('t.v1.NodeOrList', { tag: 1, type: lazy(() => Node) }, { tag: 2, type: list(lazy(() => Node)) })),
  byName: opt(11, map(lazy(() => Node))),
  odd: ptr(12, Odd),
  source: inline(13, Source),
});
const Thing = object('t.v1.Thing', { spec: always(1, Node), managers: opt(2, list(Entry)) }, { unknown: 'keep' });

const text = fc.oneof(fc.string(), fc.constantFrom('', 'é', '"', '\\', '\n', '😀', '__proto__', '10', '9'));
const few = { maxLength: 3 };
const plain = fc.jsonValue({ maxDepth: 3 });
const { node } = fc.letrec<{ node: object }>((tie) => ({
  node: fc.record(
    {
      name: text,
      ready: fc.boolean(),
      ratio: fc.double({ noNaN: true }),
      target: fc.oneof(fc.integer(), text),
      limits: fc.dictionary(text, fc.constant('1')),
      times: fc.dictionary(text, fc.constantFrom(null, '2020-01-01T00:00:00Z')),
      rules: fc.array(text, few),
      value: plain,
      embedded: fc.dictionary(text, plain),
      items: fc.oneof({ depthSize: 'small' }, fc.constant({}), tie('node'), fc.array(tie('node'), few)),
      byName: fc.oneof({ depthSize: 'small' }, fc.constant({}), fc.dictionary(text, tie('node'), { maxKeys: 3 })),
      odd: fc.record({ constructor: text, toString: fc.integer() }, { requiredKeys: [] }),
      path: text,
      size: fc.integer(),
    },
    { requiredKeys: [] },
  ),
}));
const things = fc.record(
  {
    kind: text,
    spec: node,
    managers: fc.array(fc.record({ manager: text, fieldsV1: fc.dictionary(text, plain) }, { requiredKeys: [] }), few),
    other: plain,
    constructor: plain,
  },
  { requiredKeys: [] },
);

test('any object has the same text whether it is made in steps or at once', () => {
  fc.assert(
    fc.property(things, (thing) => {
      expect(atOnce(encodedBytes(Thing, thing)).toString()).toBe(encode(Thing, thing));
    }),
  );
});

const large = (letter: string) => ({
  kind: 'Thing',
  spec: { items: Array.from({ length: 3000 }, (_, i) => ({ name: letter.repeat(i % 60), rules: [letter, 'é'], value: { b: [i] } })) },
  managers: [{ manager: letter, fieldsV1: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`f:${letter}${i}`, { '.': {} }])) }],
  other: Array.from({ length: 3000 }, (_, i) => ({ [letter]: i })),
});

test('others may write between the steps of a large object', () => {
  const first = large('a');
  const second = large('b');
  const works = [encodedBytes(Thing, first, 8), encodedBytes(Thing, second, 8)];
  const made: string[] = [];
  for (let turn = 0; made.filter(Boolean).length < 2; turn++) {
    const step = (works[turn % 2] as (typeof works)[0]).next();
    if (step.done && step.value !== undefined) made[turn % 2] = step.value.subarray(8).toString();
    expect(encode(Thing, { kind: 'x' })).toBe('{"kind":"x","spec":{"name":"","rules":null,"size":0}}');
  }
  expect(made).toEqual([encode(Thing, first), encode(Thing, second)]);
});

test('no step writes much more than its part', () => {
  const work = encodedBytes(Thing, large('a'));
  let steps = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) steps++;
  expect(steps).toBeGreaterThanOrEqual(Math.floor(step.value.length / (17 * 1024)));
});

test('the text of a set that is kept is made once', () => {
  const { managers } = large('a');
  const set = (managers[0] as { fieldsV1: object }).fieldsV1;
  const expected = encode(Thing, { managers });
  cacheText(set);
  expect(atOnce(encodedBytes(Thing, { managers })).toString()).toBe(expected);
  // What is kept is not read again.
  for (const key of Object.keys(set)) delete (set as Record<string, unknown>)[key];
  expect(atOnce(encodedBytes(Thing, { managers })).toString()).toBe(expected);
  expect(encodeBytes(Thing, { managers }).toString()).toBe(expected);
});

test('many small sets that are kept are made in steps, too', () => {
  const managers = Array.from({ length: 999 }, (_, i) => ({
    fieldsV1: Object.fromEntries(Array.from({ length: 30 }, (_, j) => [`f:k${i}-${j}`, {}])),
  }));
  const expected = encode(Thing, { managers });
  for (const { fieldsV1 } of managers) cacheText(fieldsV1);
  const work = encodedBytes(Thing, { managers });
  let steps = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) steps++;
  expect(step.value.toString()).toBe(expected);
  expect(steps).toBeGreaterThanOrEqual(Math.floor(expected.length / (20 * 1024)));
});

test('a text that is longer than can be used is not made to its end', () => {
  let read = 0;
  const item = {
    get name() {
      read++;
      return 'x'.repeat(100);
    },
  };
  const items = Array.from({ length: 100_000 }, () => item);
  expect(() => atOnce(encodedBytes(Thing, { spec: { items } }, 0, 2 ** 20))).toThrow(TextTooLong);
  expect(read).toBeLessThan(25_000);
  expect(encode(Thing, {})).toBe('{"spec":{"name":"","rules":null,"size":0}}');
});

import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { difference, type FieldSet, has, intersection, isEmpty, paths, sameSet, setOf, size, union } from './fieldset.ts';
import { sentSet, unionOf } from './fieldset-build.ts';
import { compareElements, sorted, sortedElements } from './path-element.ts';

const parseSet = (fields: unknown): FieldSet | undefined => atOnce(sentSet(fields));
const set = (fields: unknown): FieldSet => parseSet(fields) as FieldSet;

test('a node is a member when it is empty or holds a dot', () => {
  const fields = set({ 'f:data': { '.': {}, 'f:a': {} }, 'f:spec': { 'f:replicas': {} } });
  expect(paths(fields)).toEqual(['.data', '.data.a', '.spec.replicas']);
  expect(has(fields, ['f:data'])).toBe(true);
  expect(has(fields, ['f:spec'])).toBe(false);
  expect(size(fields)).toBe(3);
});

test('paths are printed as the stock server prints them, members of a level first', () => {
  const fields = set({
    'f:spec': { 'f:a': { 'f:deep': {} }, 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } }, 'f:z': {} },
    'f:finalizers': { 'v:"x/y"': {} },
    'f:old': { 'i:3': {} },
  });
  expect(paths(fields)).toEqual([
    '.finalizers[="x/y"]',
    '.old[3]',
    '.spec.z',
    '.spec.a.deep',
    '.spec.ports[port=80,protocol="TCP"]',
    '.spec.ports[port=80,protocol="TCP"].port',
  ]);
});

test('many elements are put in the order that comparing them gives, texts by their letters and not by how they are written', () => {
  const texts = ['a', 'a b', 'a!', 'a"', 'a\\', 'a\n', 'aA', 'a:b', 'a:b c', 'b', '', 'é'];
  const named = texts.map((name) => `k:{"name":${JSON.stringify(name)}}`);
  const inOrder = [...texts].sort().map((name) => `k:{"name":${JSON.stringify(name)}}`);
  expect([...named].sort(compareElements)).toEqual(inOrder);
  const others = [
    ...texts.map((text) => `v:${JSON.stringify(text)}`),
    'v:7',
    'v:10',
    'i:3',
    'f:z',
    'f:a',
    'k:{"port":80}',
    'k:{"name":"a","x":1}',
  ];
  const plain = Array.from({ length: 100 }, (_, i) => `k:{"name":"c${(i * 37) % 100}"}`);
  const fields = Array.from({ length: 100 }, (_, i) => `f:k${(i * 37) % 100}`);
  for (const elements of [plain, fields, [...named, ...plain], [...others, ...named, ...plain, ...fields]]) {
    expect(sorted([...elements])).toEqual([...elements].sort(compareElements));
    expect(atOnce(sortedElements([...elements]))).toEqual([...elements].sort(compareElements));
  }
});

test('elements are ordered: fields, keys by their values, set values, indices', () => {
  const shuffled = ['i:2', 'v:"b"', 'k:{"port":443}', 'f:z', 'k:{"port":80}', 'i:10', 'v:"a"', 'f:a', 'k:{"name":"b"}', 'k:{"name":"a:"}'];
  expect(shuffled.sort(compareElements)).toEqual([
    'f:a',
    'f:z',
    'k:{"name":"a:"}',
    'k:{"name":"b"}',
    'k:{"port":80}',
    'k:{"port":443}',
    'v:"a"',
    'v:"b"',
    'i:2',
    'i:10',
  ]);
});

test('a set from outside is put in order, and keys into their canonical form', () => {
  expect(JSON.stringify(set({ 'f:b': {}, 'f:a': { 'k:{"protocol":"TCP", "port":1}': {}, '.': {} } }))).toBe(
    '{"f:a":{".":{},"k:{\\"port\\":1,\\"protocol\\":\\"TCP\\"}":{}},"f:b":{}}',
  );
});

test('elements of an unknown kind are dropped, what cannot be read is refused', () => {
  expect(set({ 'z:data': {}, 'f:a': {} })).toEqual({ 'f:a': {} });
  expect(parseSet({ data: {} })).toBeUndefined();
  expect(parseSet({ 'k:nonsense': {} })).toBeUndefined();
  expect(parseSet({ 'i:1.5': {} })).toBeUndefined();
  expect(parseSet('text')).toBeUndefined();
  let deep: unknown = {};
  for (let i = 0; i < 10_000; i++) deep = { 'f:a': deep };
  expect(parseSet(deep)).toBeUndefined();
});

test('a hostile field name is a name like any other', () => {
  const fields = set(JSON.parse('{"f:__proto__":{"f:polluted":{}},"f:constructor":{}}'));
  expect(paths(fields)).toEqual(['.constructor', '.__proto__.polluted']);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

// ---- against plain sets of texts ---------------------------------------------------------------------------------

const element = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"n":1}', 'k:{"n":20}', 'k:{"n":3}', 'v:"x"');
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const fieldSet = fc.array(path, { maxLength: 12 }).map((all) => all.reduce<FieldSet>((sum, one) => union(sum, setOf(one)), {}));
const texts = (fields: FieldSet): string[] => paths(fields).sort();

test('union, intersection and difference agree with sets of texts', () => {
  fc.assert(
    fc.property(fieldSet, fieldSet, (a, b) => {
      const left = new Set(paths(a));
      const right = new Set(paths(b));
      expect(texts(union(a, b))).toEqual([...new Set([...left, ...right])].sort());
      expect(texts(intersection(a, b))).toEqual([...left].filter((text) => right.has(text)).sort());
      expect(texts(difference(a, b))).toEqual([...left].filter((text) => !right.has(text)).sort());
      expect(size(a)).toBe(left.size);
      expect(sameSet(a, b)).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
  );
});

test('the union of many sets is that of one after another', () => {
  fc.assert(
    fc.property(fc.array(fieldSet, { maxLength: 6 }), (sets) => {
      const one = sets.reduce<FieldSet>(union, {});
      expect(JSON.stringify(atOnce(unionOf(sets)))).toBe(JSON.stringify(one));
    }),
  );
});

test('every set made by an operation is in the form that a reader would give it', () => {
  fc.assert(
    fc.property(fieldSet, fieldSet, (a, b) => {
      for (const made of [union(a, b), intersection(a, b), difference(a, b)]) {
        expect(JSON.stringify(made)).toBe(JSON.stringify(parseSet(made)));
      }
    }),
  );
});

test('nothing to do gives back the same set', () => {
  fc.assert(
    fc.property(fieldSet, fieldSet, (a, b) => {
      expect(union(a, intersection(a, b))).toBe(a);
      expect(difference(a, difference(b, a))).toBe(a);
      expect(isEmpty(difference(a, a))).toBe(true);
    }),
  );
});

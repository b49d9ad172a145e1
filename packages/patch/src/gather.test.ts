import { expect, test } from 'vitest';
import { type FieldSet, leaf } from './fieldset.ts';
import { Items } from './gather.ts';
import { Untyped } from './shape.ts';

const setOf = (elements: readonly string[], node: FieldSet = leaf, member = false): FieldSet | undefined => {
  const items = new Items();
  for (const element of elements) items.add(element, node);
  return items.build(member);
};

test('the same entries make the same set, in whatever order they came', () => {
  const set = setOf(['f:a', 'f:b', 'f:c']);
  expect(JSON.stringify(set)).toBe('{"f:a":{},"f:b":{},"f:c":{}}');
  expect(setOf(['f:c', 'f:a', 'f:b'])).toBe(set);
  expect(setOf(['f:a', 'f:b'])).not.toBe(set);
  expect(setOf(['f:a', 'f:b', 'f:c'], set)).not.toBe(set);
  expect(JSON.stringify(setOf(['f:a', 'f:b', 'f:c'], leaf, true))).toBe('{".":{},"f:a":{},"f:b":{},"f:c":{}}');
});

test('an entry that comes twice is refused, in order or not', () => {
  expect(() => setOf(['f:a', 'f:a'])).toThrow(Untyped);
  expect(() => setOf(['f:b', 'f:a', 'f:b'])).toThrow('duplicate entries for key .b');
  expect(() => setOf(['f:b', 'f:c', 'f:a', 'f:c'])).toThrow('duplicate entries for key .c');
});

test('sets are right however many were made before', () => {
  for (let i = 0; i < 40_000; i++) {
    const set = setOf([`f:name-${i}`, 'f:same']);
    if (i % 5000 === 0) expect(JSON.stringify(set)).toBe(`{"f:name-${i}":{},"f:same":{}}`);
  }
  expect(setOf(['f:name-0', 'f:same'])).toEqual({ 'f:name-0': {}, 'f:same': {} });
});

test('large sets are made anew, in order', () => {
  const elements = Array.from({ length: 200 }, (_, i) => `f:${String(999 - i)}`);
  expect(Object.keys(setOf(elements) as FieldSet)).toEqual([...elements].sort());
});

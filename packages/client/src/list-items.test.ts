import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { parseExact } from '@plat-dev/schema/json/parse';
import { expect, test } from 'vitest';
import { type ListText, listItems } from './list-items.ts';

const read = (text: string): unknown => atOnce(listItems(Buffer.from(text)));

test('a list is read as its parser would, without what nobody uses', () => {
  const items = [{ a: '"}],\\' }, { b: [[], { c: '\\"' }] }, 'text', 7, null];
  const list = { kind: 'PodList', metadata: { resourceVersion: '5' }, items };
  const expected = { metadata: { resourceVersion: '5' }, items };
  expect(read(JSON.stringify(list))).toEqual(expected);
  expect(read(JSON.stringify(list, undefined, 2))).toEqual(expected);
  expect(read('{"items":null,"metadata":{}}')).toEqual({ items: null, metadata: {} });
  expect(read(' { "items" : [ ] , "more" : [1, {"x":2}] } ')).toEqual({ items: [] });
});
test.each([
  '',
  'x',
  '[]',
  '{',
  '{"items":',
  '{"items":[',
  '{"items":[{',
  '{"items":[{"a":"',
  '{"items":[1 2]}',
  '{"a" 1}',
  '{"items":[}]}',
])('what is no list is read or refused as its parser would: %j', (text) => {
  let expected: unknown;
  try {
    expected = JSON.parse(text);
  } catch {
    expect(() => read(text)).toThrow(SyntaxError);
    return;
  }
  expect(read(text)).toEqual(expected);
});
test('any items', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), fc.constantFrom(undefined, 1), (items, metadata, space) => {
      const text = JSON.stringify({ before: items, metadata, items, after: metadata }, undefined, space);
      const { metadata: readMetadata, items: readItems } = parseExact(text) as ListText;
      expect(read(text)).toEqual({ metadata: readMetadata, items: readItems });
    }),
  );
});
test('the work can be interrupted, within items and between them', () => {
  const text = Buffer.from(JSON.stringify({ items: [Array.from({ length: 100_000 }, (_, i) => i), 1, 2] }));
  let steps = 0;
  for (const work = listItems(text); !work.next().done; ) steps++;
  expect(steps).toBeGreaterThan(5);
});

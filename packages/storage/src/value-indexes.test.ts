import { SortedMap } from '@plat-dev/lib/sorted-map';
import { expect, test } from 'vitest';
import type { Item } from './item.ts';
import { ValueIndexes } from './value-indexes.ts';

const item = (key: string, labels?: Record<string, string>, fields?: string[]): Item => ({ key, labels, fields }) as unknown as Item;
const itemsOf = (...all: Item[]): SortedMap<Item> => {
  const items = new SortedMap<Item>();
  for (const one of all) items.set(one.key, one);
  return items;
};
const keys = (found: ReadonlySet<string> | undefined) => [...(found ?? [])];

test('items are found by the value of a label or of a field', () => {
  const items = itemsOf(item('a', { app: 'x' }, ['n1']), item('b', { app: 'y' }, ['n1']), item('c'));
  const indexes = new ValueIndexes();
  expect(keys(indexes.withValue(items, 'label', 'app', -1, 'x'))).toEqual(['a']);
  expect(keys(indexes.withValue(items, 'field', 'spec.nodeName', 0, 'n1'))).toEqual(['a', 'b']);
  expect(indexes.withValue(items, 'label', 'app', -1, 'z')).toBeUndefined();
  expect(indexes.size).toBe(2);
});

test('changes keep an index current: an item comes, changes its value, leaves', () => {
  const first = item('a', { app: 'x' });
  const items = itemsOf(first);
  const indexes = new ValueIndexes();
  const withApp = (value: string) => keys(indexes.withValue(items, 'label', 'app', -1, value));
  expect(withApp('x')).toEqual(['a']);
  const second = item('b', { app: 'x' });
  indexes.change('b', undefined, second);
  expect(withApp('x')).toEqual(['a', 'b']);
  indexes.change('a', first, item('a', { app: 'y' }));
  expect([withApp('x'), withApp('y')]).toEqual([['b'], ['a']]);
  indexes.change('b', second, undefined);
  expect(withApp('x')).toEqual([]);
});

test('the least recently used index is made again when it is needed', () => {
  const items = itemsOf(item('a', { l0: 'v', l16: 'v' }));
  const indexes = new ValueIndexes();
  for (let i = 0; i <= 16; i++) indexes.withValue(items, 'label', `l${i}`, -1, 'v');
  expect(indexes.size).toBe(16);
  expect(keys(indexes.withValue(items, 'label', 'l0', -1, 'v'))).toEqual(['a']);
});

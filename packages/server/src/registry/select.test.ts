/** Selectors over many objects: in slices, and still the state of one revision. */

import { inSlices, RequestEnded, SLICE_MILLIS, Slices } from '@plat-dev/lib/slices';
import { SortedMap } from '@plat-dev/lib/sorted-map';
import { kubernetes } from '@plat-dev/meta/identity';
import { parseLabelSelector } from '@plat-dev/meta/labels';
import type { Item } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import type { Resource } from './catalog.ts';
import type { RegistryDeps } from './context.ts';
import { type ListResult, list } from './list.ts';
import { manyToSelect, SELECT_AT_ONCE, select, selectedItems } from './select.ts';

const ITEMS = 3 * SELECT_AT_ONCE;
const newItem = (i: number, app: string): Item =>
  ({ key: `n/c${String(i).padStart(5, '0')}`, revision: i + 1, labels: { app }, bytes: Buffer.alloc(0) }) as unknown as Item;

function setUp(count = ITEMS): { resource: Resource; items: SortedMap<Item>; cache: { revision: number }; deps: RegistryDeps } {
  const items = new SortedMap<Item>();
  for (let i = 0; i < count; i++) {
    const item = newItem(i, i % 3 === 0 ? 'a' : 'b');
    items.set(item.key, item);
  }
  const withValue = (_: string, __: string, ___: number, value: string): ReadonlySet<string> =>
    new Set(items.all().flatMap(({ key, labels }) => (labels?.app === value ? [key] : [])));
  const resource = {
    kind: { namespaced: true, ttl: undefined },
    fieldNames: [],
    identity: kubernetes,
    collection: { items, lastChange: count, withValue },
  } as unknown as Resource;
  const cache = { revision: count, engine: { exclusive: true, compacted: 0 } };
  return { resource, items, cache, deps: { cache, env: { feature: () => true } } as unknown as RegistryDeps };
}
const options = { limit: 0, continue: '', resourceVersion: '', match: '' };
const notB = (resource: Resource) => select(resource, '', parseLabelSelector('app!=b'));
/** A clock on which every look takes as long as a slice may: each look ends one. */
const hurried = (): { monotonic(): number } => {
  let now = 0;
  return { monotonic: () => (now += SLICE_MILLIS) };
};

test('few objects, all objects, and those that an index narrows are selected at once', () => {
  const { resource } = setUp();
  expect(manyToSelect(setUp(SELECT_AT_ONCE).resource, notB(resource))).toBeUndefined();
  expect(manyToSelect(resource, select(resource, ''))).toBeUndefined();
  expect(manyToSelect(resource, select(resource, '', parseLabelSelector('app=a')))).toBeUndefined();
  expect(manyToSelect(resource, select(resource, 'other', parseLabelSelector('app!=b')))).toBeUndefined();
  expect(manyToSelect(resource, notB(resource))).toHaveLength(ITEMS);
  // An index that narrows to too many does not help.
  expect(manyToSelect(resource, select(resource, '', parseLabelSelector('app=b')))).toHaveLength(ITEMS);
});

test('the loop turns many times while a selector looks at many objects', async () => {
  const { resource } = setUp();
  const selection = notB(resource);
  let turns = 0;
  let going = true;
  const count = (): void => {
    turns++;
    if (going) setImmediate(count);
  };
  setImmediate(count);
  const found = await inSlices(selectedItems(manyToSelect(resource, selection) ?? [], selection), new Slices(undefined, hurried()));
  going = false;
  expect(found).toHaveLength(ITEMS / 3);
  expect(turns).toBeGreaterThanOrEqual(ITEMS / 100 - 2);
});

test('a selection is given up with its request', async () => {
  const { resource } = setUp();
  const selection = notB(resource);
  let asked = 0;
  const slices = new Slices(() => ++asked > 2, hurried());
  await expect(inSlices(selectedItems(manyToSelect(resource, selection) ?? [], selection), slices)).rejects.toBeInstanceOf(RequestEnded);
  expect(asked).toBe(3);
});

test('what changes while objects are selected is not in the list, which is that of its revision', async () => {
  const { resource, items, cache, deps } = setUp();
  const answer = list(deps, resource, notB(resource), options) as Promise<ListResult>;
  expect(answer).toBeInstanceOf(Promise);
  // In the same turn of the loop: an object comes, one changes, one goes.
  const added = newItem(ITEMS, 'a');
  items.set(added.key, added);
  const changed = { ...newItem(3, 'a'), revision: ITEMS + 2 };
  items.set(changed.key, changed);
  items.delete(newItem(0, 'a').key);
  cache.revision = ITEMS + 3;
  const { items: found, revision } = await answer;
  expect(revision).toBe(ITEMS);
  expect(found).toHaveLength(ITEMS / 3);
  expect(found.every((item) => item.revision <= revision)).toBe(true);
  expect(found[0]?.key).toBe(newItem(0, 'a').key);
});

test('pages of a selection end where nothing follows', async () => {
  const { resource, deps } = setUp();
  const selection = notB(resource);
  const first = await list(deps, resource, selection, { ...options, limit: 1500 });
  expect(first.items).toHaveLength(1500);
  expect(first.continue).not.toBe('');
  const second = await list(deps, resource, selection, { ...options, limit: 1500, continue: first.continue });
  expect(second.items).toHaveLength(ITEMS / 3 - 1500);
  expect(second.items[0]?.key).toBe(newItem(4500, 'a').key);
  expect(second.continue).toBe('');
});

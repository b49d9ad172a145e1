/** Lists: pages and slices. */

import { isTurnUsed, RequestEnded, SLICE_MILLIS } from '@plat-dev/lib/slices';
import { SortedMap } from '@plat-dev/lib/sorted-map';
import type { Item } from '@plat-dev/storage/item';
import { expect, test, vi } from 'vitest';
import type { Resource } from './catalog.ts';
import type { RegistryDeps } from './context.ts';
import { HISTORY_SLICE, list, type Waits } from './list.ts';
import type { Selection } from './select.ts';

const ENTRIES = 3000;
const SIZE = 2048;
const keyOf = (i: number): string => `n/c${String(i).padStart(5, '0')}`;

/** A store whose collection has changed since revision 5, at which it held `ENTRIES` values. */
function newStore(): { deps: RegistryDeps; resource: Resource; ranges: number[]; parsed: () => number } {
  const ranges: number[] = [];
  let parsed = 0;
  const range = async ({ limit, from }: { limit: number; from?: string }) => {
    ranges.push(limit);
    const start = from === undefined ? 0 : Number(/\d+/.exec(from.slice(from.indexOf('/c')))?.[0]) + (from.endsWith('\u0000') ? 1 : 0);
    const entries = Array.from({ length: Math.min(limit, ENTRIES - start) }, (_, i) => ({
      key: `/configmaps/${keyOf(start + i)}`,
      value: Buffer.alloc(SIZE),
      revision: 1,
      created: 1,
    }));
    return { entries, more: start + entries.length < ENTRIES, count: ENTRIES - start };
  };
  const itemOf = (key: string): Item => {
    parsed++;
    return { key } as Item;
  };
  const env = { feature: () => true };
  const deps = { env, cache: { revision: 9, engine: { exclusive: true, compacted: 0, range } } } as unknown as RegistryDeps;
  const resource = { identity: 'plat', kind: {}, collection: { prefix: '/configmaps/', lastChange: 9, itemOf } } as unknown as Resource;
  return { deps, resource, ranges, parsed: () => parsed };
}
const everything = { everything: true, prefix: 'n/', single: false, matches: () => true } as unknown as Selection;
const at = (limit: number, token = '') => ({ limit, continue: token, resourceVersion: token === '' ? '5' : '', match: 'Exact' });

test('a page of the past reads the entries that it shows, and no others', async () => {
  const { deps, resource, ranges, parsed } = newStore();
  let result = await list(deps, resource, everything, at(700));
  expect(ranges).toEqual([700]);
  expect(parsed()).toBe(700);
  expect(result.remaining).toBe(ENTRIES - 700);
  const keys = result.items.map(({ key }) => key);
  while (result.continue !== '') {
    result = await list(deps, resource, everything, at(700, result.continue));
    keys.push(...result.items.map(({ key }) => key));
  }
  expect(keys).toEqual(Array.from({ length: ENTRIES }, (_, i) => keyOf(i)));
});

test('a page of the current state costs the same however many objects there are', async () => {
  class OnlyPages extends SortedMap<Item> {
    override all(): never {
      throw new Error('all objects were collected for a page');
    }
    override withPrefix = this.all;
  }
  const items = new OnlyPages();
  for (const namespace of ['m', 'n', 'o'])
    for (let i = 0; i < 1200; i++) items.set(`${namespace}/c${i}`, { key: `${namespace}/c${i}` } as Item);
  const { deps } = newStore();
  const resource = { identity: 'plat', kind: {}, collection: { prefix: '/configmaps/', lastChange: 9, items } } as unknown as Resource;
  const page = (token: string) => list(deps, resource, everything, { limit: 500, continue: token, resourceVersion: '', match: '' });
  const pages = [await page('')];
  for (let token = pages[0]?.continue ?? ''; token !== ''; token = pages.at(-1)?.continue ?? '') pages.push(await page(token));
  expect(pages.map(({ items: shown, remaining }) => [shown.length, remaining])).toEqual([
    [500, 700],
    [500, 200],
    [200, undefined],
  ]);
  const keys = pages.flatMap(({ items: shown }) => shown.map(({ key }) => key));
  expect(keys).toEqual(Array.from({ length: 1200 }, (_, i) => `n/c${i}`).sort());
});

test('values of the past are parsed in slices, which end with the request', async () => {
  const { deps, resource, parsed } = newStore();
  let looks = 0;
  const waits: Waits = {
    get ended() {
      return ++looks > 2;
    },
  };
  await expect(list(deps, resource, everything, at(0), waits)).rejects.toBeInstanceOf(RequestEnded);
  expect(looks).toBe(3);
  const most = HISTORY_SLICE / SIZE + 1;
  expect(parsed()).toBe(3 * most);
  expect(most).toBeLessThan(ENTRIES / 10);
});

test('in a turn that others have used, pages of the past are read in later ones, one in each', async () => {
  const { deps, resource, ranges } = newStore();
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await turn();
  let now = 0;
  const held = vi.spyOn(performance, 'now').mockImplementation(() => now);
  expect(isTurnUsed()).toBe(false);
  now += SLICE_MILLIS;
  const pages = [1, 2].map((limit) => list(deps, resource, everything, at(limit)));
  await Promise.resolve();
  expect(ranges).toEqual([]);
  await turn();
  expect(ranges).toEqual([1]);
  await Promise.all(pages);
  expect(ranges).toEqual([1, 2]);
  held.mockRestore();
});

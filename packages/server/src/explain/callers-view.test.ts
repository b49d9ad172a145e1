/** What one question may look at. */
import { Slices } from '@plat-dev/lib/slices';
import { SortedMap } from '@plat-dev/lib/sorted-map';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { alwaysAllow } from '../auth/authz/simple.ts';
import type { Resource } from '../registry/catalog.ts';
import { CallersView, MOST_OBJECTS, type ViewSources } from './callers-view.ts';

function resourceOf(count: number): Resource {
  const items = new SortedMap<{ bytes: Buffer }>();
  for (let i = 0; i < count; i++) {
    const name = `o${String(i).padStart(6, '0')}`;
    items.set(`a/${name}`, { bytes: Buffer.from(`{"metadata":{"name":"${name}","namespace":"a"}}`) });
  }
  const kind = { plural: 'widgets', kind: 'Widget', namespaced: true };
  return { group: '', version: 'v1', kind, collection: { items, pending: undefined } } as unknown as Resource;
}
const viewOf = (slices = new Slices()): CallersView =>
  new CallersView(
    { identity: kubernetes, authorizers: [alwaysAllow], now: () => 0 } as unknown as ViewSources,
    { name: 'alice', groups: [] },
    slices,
  );

test('a question looks at a bounded number of objects, and says where it stopped', async () => {
  const atBound = viewOf();
  expect(await atBound.list(resourceOf(MOST_OBJECTS), 'a')).toMatchObject({ isWhole: true, objects: { length: MOST_OBJECTS } });
  expect([...atBound.incomplete]).toEqual([]);
  const beyond = viewOf();
  expect(await beyond.list(resourceOf(MOST_OBJECTS + 1), 'a')).toMatchObject({ isWhole: false, objects: { length: MOST_OBJECTS } });
  expect([...beyond.incomplete]).toEqual([`only ${MOST_OBJECTS} objects are looked at for one question`]);
  // What was not looked at is not absent.
  expect(await beyond.get(resourceOf(0), 'a', 'o')).toEqual({ isKnown: false });
});

test('many objects are looked at in slices, and no longer than somebody waits', async () => {
  let pauses = 0;
  const slices = {
    due: true,
    pause: async () => {
      pauses++;
      if (pauses > 10) throw new Error('the request ended');
    },
  } as unknown as Slices;
  await expect(viewOf(slices).list(resourceOf(100), 'a')).rejects.toThrow('the request ended');
  expect(pauses).toBe(11);
});

test('what one question lists twice is looked at once', async () => {
  const view = viewOf();
  const resource = resourceOf(MOST_OBJECTS);
  expect(await view.list(resource, 'a')).toBe(await view.list(resource, 'a'));
  expect([...view.incomplete]).toEqual([]);
});

import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import type { Item } from './item.ts';
import { type Interest, ListenerIndex } from './listener-index.ts';
import type { CollectionEvent } from './recent-events.ts';

const item = (key: string, ...fields: string[]): Item => ({
  key,
  revision: 1,
  created: 1,
  bytes: Buffer.alloc(0),
  line: undefined,
  versionAt: 0,
  labels: undefined,
  fields: fields.length === 0 ? undefined : fields,
  parsed: undefined,
});
const change = (now: Item, previous?: Item): CollectionEvent => ({ type: 'put', item: now, previous, revision: 1, frames: undefined });

function hear(index: ListenerIndex, interest?: Interest): { heard: CollectionEvent[]; leave: () => void } {
  const heard: CollectionEvent[] = [];
  return { heard, leave: index.add((event) => void heard.push(event), interest) };
}

test('who wants one object or one value hears of no other', () => {
  const index = new ListenerIndex();
  const all = hear(index);
  const one = hear(index, { key: 'a/x' });
  const node = hear(index, { field: 1, value: 'n1' });
  const homeless = hear(index, { field: 1, value: '' });
  const x = change(item('a/x'));
  const placed = change(item('a/y', '', 'n1'), item('a/y', '', ''));
  const moved = change(item('a/y', '', 'n2'), placed.item);
  const grown = change(item('a/y', 'big', 'n2'), moved.item);
  for (const event of [x, placed, moved, grown]) index.notify(event);
  expect(all.heard).toEqual([x, placed, moved, grown]);
  expect(one.heard).toEqual([x]);
  expect(node.heard).toEqual([placed, moved]);
  expect(homeless.heard).toEqual([x, placed]);
});

test('who has left hears nothing, and leaving twice is leaving once', () => {
  const index = new ListenerIndex();
  const interests: (Interest | undefined)[] = [undefined, { key: 'a' }, { field: 0, value: 'v' }];
  const listeners = [...interests, ...interests].map((interest) => hear(index, interest));
  expect(index.size).toBe(6);
  for (const { leave } of listeners.slice(0, 3)) leave();
  for (const { leave } of listeners.slice(0, 3)) leave();
  expect(index.size).toBe(3);
  index.notify(change(item('a', 'v')));
  expect(listeners.map(({ heard }) => heard.length)).toEqual([0, 0, 0, 1, 1, 1]);
});

test('nobody misses what they are interested in, or hears it twice', () => {
  const word = fc.constantFrom('', 'a', 'b');
  const state = fc.record({ key: word, fields: fc.option(fc.tuple(word, word)) }).map(({ key, fields }) => item(key, ...(fields ?? [])));
  const interest: fc.Arbitrary<Interest> = fc.oneof(fc.record({ key: word }), fc.record({ field: fc.constantFrom(0, 1), value: word }));
  const events = fc.array(fc.tuple(state, fc.option(state, { nil: undefined })));
  fc.assert(
    fc.property(fc.array(interest), events, (interests, states) => {
      const index = new ListenerIndex();
      const listeners = interests.map((one) => ({ one, ...hear(index, one) }));
      const told = states.map(([now, before]) => change(now, before === undefined ? undefined : { ...before, key: now.key }));
      for (const event of told) index.notify(event);
      const concerns = (one: Interest, { item, previous }: CollectionEvent): boolean =>
        [item, previous].some(
          (it) => it !== undefined && ('key' in one ? it.key === one.key : (it.fields?.[one.field] ?? '') === one.value),
        );
      for (const { one, heard } of listeners) expect(heard).toEqual(told.filter((event) => concerns(one, event)));
    }),
  );
});

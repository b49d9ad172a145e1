import { expect, test } from 'vitest';
import type { Item } from './item.ts';
import { type CollectionEvent, FRAMED_EVENTS, RecentEvents } from './recent-events.ts';

const eventAt = (revision: number, bytes = 10): CollectionEvent => ({
  type: 'put',
  item: { key: `k${revision}`, revision, bytes: Buffer.alloc(bytes) } as unknown as Item,
  previous: undefined,
  revision,
  frames: new Map(),
});
const revisions = (events: readonly CollectionEvent[] | undefined) => events?.map(({ revision }) => revision);
const filled = (count: number, limit: number, bytes?: number): RecentEvents => {
  const recent = new RecentEvents();
  for (let i = 1; i <= count; i++) recent.remember(eventAt(i, bytes), limit);
  return recent;
};

test('events after a revision are returned in order, and none where it is the newest', () => {
  const recent = filled(5, 100);
  expect(revisions(recent.since(3))).toEqual([4, 5]);
  expect(revisions(recent.since(5))).toEqual([]);
});

test('what was dropped is not known: more events than the limit leave half of it', () => {
  const recent = filled(11, 10);
  expect(recent.since(5)).toBeUndefined();
  expect(revisions(recent.since(6))).toEqual([7, 8, 9, 10, 11]);
});

test('a commit of several keys is dropped as a whole', () => {
  const recent = new RecentEvents();
  for (const revision of [1, 2, 3, 3, 3, 4]) recent.remember(eventAt(revision), 5);
  expect(recent.since(2)).toBeUndefined();
  expect(revisions(recent.since(3))).toEqual([4]);
});

test('large objects drop earlier events before the limit is reached', () => {
  const recent = filled(20, 1000, 2 ** 20);
  expect(recent.since(0)).toBeUndefined();
  expect(revisions(recent.since(19))).toEqual([20]);
});

test('events that were forgotten or cleared are not known, and later ones are', () => {
  const recent = filled(5, 100);
  recent.forget(2);
  expect(recent.since(1)).toBeUndefined();
  expect(revisions(recent.since(2))).toEqual([3, 4, 5]);
  recent.clear(5);
  expect(recent.since(4)).toBeUndefined();
  recent.remember(eventAt(6), 100);
  expect(revisions(recent.since(5))).toEqual([6]);
});

test('only the newest events cache encodings', () => {
  const recent = filled(FRAMED_EVENTS + 3, 1000);
  const framed = recent.since(0)?.filter(({ frames }) => frames !== undefined);
  expect(framed).toHaveLength(FRAMED_EVENTS);
  expect(framed?.[0]?.revision).toBe(4);
});

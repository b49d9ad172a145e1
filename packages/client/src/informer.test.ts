import { FakeApi, fakeKinds } from '@plat-dev/controllers/testing';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { Client } from './dynamic.ts';
import { Informer } from './informer.ts';

const { configMaps } = fakeKinds;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp(choice: { fieldSelector?: string; metadataOnly?: boolean } = {}) {
  const clock = new FakeClock();
  const api = new FakeApi([configMaps], clock);
  const client = new Client(api, { userAgent: 'test', metadataGroup: 'meta' });
  const reports: string[] = [];
  const informer = new Informer<ApiObject>({
    client,
    resource: configMaps,
    clock,
    spread: () => 0.5,
    report: (error, state) => void reports.push(`${state}: ${(error as Error).message}`),
    ...choice,
  });
  const seen: string[] = [];
  informer.onChange(({ type, object }) => void seen.push(`${type} ${object.metadata.name}`));
  const map = (name: string, data = {}) => api.put(configMaps, { metadata: { name, namespace: 'a' }, data });
  return { api, clock, informer, seen, reports, map };
}

test('it lists in pages, then follows', async () => {
  const { api, informer, seen, map } = setUp();
  for (let i = 0; i < 1200; i++) map(`m${i}`);
  informer.start();
  await informer.synced;
  expect(informer.size).toBe(1200);
  const pages = api.calls.filter((call) => call.startsWith('GET')).map((call) => /limit=(\d+)/.exec(call)?.[1]);
  expect(pages).toEqual(['50', '500', '500', '500']);
  await turn();
  seen.length = 0;
  map('new');
  map('m1', { x: '1' });
  await api.remove(configMaps, 'a', 'm2');
  expect(seen).toEqual(['added new', 'modified m1', 'deleted m2']);
  expect([informer.state, informer.size, informer.get('a', 'm2')]).toEqual(['watching', 1200, undefined]);
  informer.stop();
});

test('pages of large objects have fewer of them', async () => {
  const { api, informer, map } = setUp();
  for (let i = 0; i < 60; i++) map(`m${i}`, { text: 'x'.repeat(200_000) });
  informer.start();
  await informer.synced;
  const pages = api.calls.filter((call) => call.startsWith('GET')).map((call) => /limit=(\d+)/.exec(call)?.[1]);
  expect([informer.size, pages]).toEqual([60, ['50', '5', '5']]);
  informer.stop();
});

test('a burst of large changes is handled in several turns, and nothing is lost when the watch ends meanwhile', async () => {
  const { api, clock, informer, seen, map } = setUp();
  informer.start();
  await informer.synced;
  await turn();
  for (let i = 0; i < 5; i++) map(`m${i}`, { text: 'x'.repeat(200_000) });
  expect([seen, informer.isBehind]).toEqual([[], true]);
  await clock.advance(2000);
  api.endWatches();
  while (informer.size < 5) await turn();
  expect(seen).toEqual(['added m0', 'added m1', 'added m2', 'added m3', 'added m4']);
  informer.stop();
});

test('a late handler gets what is there', async () => {
  const { informer, map } = setUp();
  map('one');
  informer.start();
  await informer.synced;
  const late: string[] = [];
  informer.onChange(({ type, object }) => void late.push(`${type} ${object.metadata.name}`));
  expect(late).toEqual(['added one']);
  informer.stop();
});

test('a watch that ends goes on where it ended', async () => {
  const { api, clock, informer, seen, map } = setUp();
  informer.start();
  await informer.synced;
  await turn();
  map('before');
  await clock.advance(2000);
  api.endWatches();
  map('between');
  await turn();
  await turn();
  map('after');
  expect(seen).toEqual(['added before', 'added between', 'added after']);
  expect(api.calls.filter((call) => call.startsWith('GET'))).toHaveLength(1);
  informer.stop();
});

test('a watch that breaks off waits before it goes on, longer each time', async () => {
  const { api, clock, informer, reports } = setUp();
  informer.start();
  await informer.synced;
  await turn();
  const begun: number[] = [];
  api.before = (method) => {
    begun.push(clock.monotonic());
    if (method === 'WATCH') throw new Error('broken');
  };
  api.endWatches(new Error('broken'));
  await turn();
  await clock.advance(4000);
  expect(begun).toEqual([500, 1500, 3500]);
  expect(informer.state).toBe('waiting');
  expect(reports[0]).toBe('watching: broken');
  informer.stop();
});

test.each(['the answer', 'an event'])(
  'a version that is too old, reported by %s, leads to a new list that shows what was deleted meanwhile',
  async (how) => {
    const { api, clock, informer, seen, map } = setUp();
    map('stays');
    map('goes');
    informer.start();
    await informer.synced;
    await turn();
    await clock.advance(2000);
    seen.length = 0;
    if (how === 'the answer') {
      api.endWatches();
    } else {
      const watches = api as unknown as { watches: Set<{ sink: { data(chunk: Buffer): void } }> };
      const [watch] = watches.watches;
      watches.watches.clear();
      watch?.sink.data(Buffer.from('{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}\n'));
    }
    await api.remove(configMaps, 'a', 'goes');
    map('comes');
    api.compact();
    for (let i = 0; i < 5; i++) await turn();
    expect([...seen].sort()).toEqual(['added comes', 'deleted goes']);
    expect(informer.state).toBe('watching');
    informer.stop();
  },
);

test('an object that was replaced while nobody watched is reported as deleted and added', async () => {
  const { api, clock, informer, seen, map } = setUp();
  map('one');
  informer.start();
  await informer.synced;
  await turn();
  await clock.advance(2000);
  seen.length = 0;
  api.endWatches();
  await api.remove(configMaps, 'a', 'one');
  map('one');
  api.compact();
  for (let i = 0; i < 5; i++) await turn();
  expect(seen).toEqual(['deleted one', 'added one']);
  informer.stop();
});

test('bookmarks move the place to go on from', async () => {
  const { api, clock, informer } = setUp({ fieldSelector: 'metadata.name=mine' });
  informer.start();
  await informer.synced;
  await turn();
  const watches = api as unknown as { watches: Set<{ sink: { data(chunk: Buffer): void } }> };
  for (const { sink } of watches.watches) sink.data(Buffer.from('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"77"}}}\n'));
  await clock.advance(2000);
  api.endWatches();
  await turn();
  await turn();
  expect(api.calls.at(-1)).toContain('resourceVersion=77');
  informer.stop();
});

test('lines are put together from pieces', async () => {
  const { api, informer, seen } = setUp();
  informer.start();
  await informer.synced;
  await turn();
  const watches = api as unknown as { watches: Set<{ sink: { data(chunk: Buffer): void } }> };
  const text = Buffer.from('{"type":"ADDED","object":{"metadata":{"name":"ä","namespace":"a","uid":"1","resourceVersion":"9"}}}\n');
  for (const { sink } of watches.watches) for (const byte of text) sink.data(Buffer.from([byte]));
  expect(seen).toEqual(['added ä']);
  informer.stop();
});

test('whoever waits for the first list when the end comes gets an error', async () => {
  const { api, informer } = setUp();
  api.before = () => new Promise<void>(() => {});
  informer.start();
  const waiting = expect(informer.synced).rejects.toThrow('nothing is followed any more');
  informer.stop();
  await waiting;
});

test('a writer does not wait for a write that can no longer arrive: not when it is stopped, and not after that', async () => {
  const { informer, map } = setUp();
  const there = map('one') as ApiObject;
  informer.start();
  await informer.synced;
  const later = { metadata: { ...there.metadata, resourceVersion: '1000' } };
  const ended: string[] = [];
  void informer.whenArrived(later).then(() => ended.push('before'));
  await turn();
  expect(ended).toEqual([]);
  informer.stop();
  void informer.whenArrived(later).then(() => ended.push('seen'));
  void informer.gone(informer.get('a', 'one') as ApiObject).then(() => ended.push('gone'));
  await turn();
  expect(ended).toEqual(['before', 'seen', 'gone']);
});

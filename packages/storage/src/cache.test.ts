/** Collections whose rules of reading change while the server runs. */

import { systemClock } from '@plat-dev/lib/clock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Cache } from './cache.ts';
import type { Collection, CollectionOptions } from './collection.ts';
import type { Engine, RangeRequest } from './engine.ts';
import { asMemoryEngine, openMemoryEngine } from './engines/memory.ts';
import { type ReadValue, storedText, storedValue } from './item.ts';
import { type CollectionEvent, FRAMED_EVENTS } from './recent-events.ts';

const prefix = '~garden/lamps/';
const stored = (name: string): Buffer => storedValue(JSON.stringify({ metadata: { name, uid: 'u', labels: { name } }, by: 'writer' }), 'u');
/** Rules that sign what they have read. */
const by =
  (rules: string): ReadValue =>
  (value) =>
    storedValue(
      storedText(value)
        .toString()
        .replace(/"by":"\w+"/, `"by":"${rules}"`),
      'u',
    );
const optionsOf = (read: ReadValue): CollectionOptions => ({
  prefix,
  facts: (object) => ({ labels: (object as { metadata: { labels: Record<string, string> } }).metadata.labels, fields: undefined }),
  eventLimit: 1000,
  read,
});
const [old, other] = [by('old'), by('other')];

let engine: Engine;
let cache: Cache;
/** Called before every list of the store. */
let beforeRange: () => Promise<void>;

beforeEach(async () => {
  engine = openMemoryEngine();
  beforeRange = async () => {};
  const range = engine.range.bind(engine);
  engine.range = async (request: RangeRequest) => {
    await beforeRange();
    return range(request);
  };
  cache = new Cache(engine, systemClock, (error) => {
    throw error;
  });
  await cache.start();
});
afterEach(async () => {
  cache.close();
  await engine.close();
});

const put = (name: string, read?: ReadValue): Promise<number> =>
  cache.commit([{ type: 'put', key: prefix + name, value: stored(name) }], [read && { labels: { name }, fields: undefined, read }]);
const remove = (name: string): Promise<number> => cache.commit([{ type: 'delete', key: prefix + name }], []);
async function add(read: ReadValue, reread = true, look: (collection: Collection) => void = () => {}): Promise<Collection> {
  const found: Collection[] = [];
  await cache.add(optionsOf(read), reread, (collection) => {
    found.push(collection);
    look(collection);
  });
  return found[0] as Collection;
}
/** `a old` for every item. */
const shown = ({ items }: Collection): string[] =>
  items.all().map(({ key, bytes }) => `${key} ${(JSON.parse(bytes.toString()) as { by: string }).by}`);

describe('other rules', () => {
  test('hold for all values at once; until then those of before do, also for what changes meanwhile', async () => {
    await put('a');
    await put('b');
    const lamps = await add(old);
    expect(shown(lamps)).toEqual(['a old', 'b old']);
    let go = (): void => {};
    const listed = new Promise<void>((resolve) => {
      beforeRange = () => {
        resolve();
        return new Promise((on) => {
          go = on;
        });
      };
    });
    const seen: string[][] = [];
    const changed = add(other, true, (collection) => seen.push(shown(collection)));
    await listed;
    await put('c');
    await remove('b');
    expect(shown(lamps)).toEqual(['a old', 'c old']);
    go();
    await changed;
    expect(seen).toEqual([['a other', 'c other']]);
    expect(shown(lamps)).toEqual(['a other', 'c other']);
  });

  test('hold for what is changed or deleted after the store was listed', async () => {
    for (const name of ['a', 'b', 'c']) await put(name);
    const lamps = await add(old);
    const range = engine.range.bind(engine);
    engine.range = async (request) => {
      const page = await range(request);
      await put('a');
      await remove('b');
      await put('d');
      return page;
    };
    await add(other);
    expect(shown(lamps)).toEqual(['a other', 'c other', 'd other']);
    expect(lamps.items.get('a')?.revision).toBeGreaterThan(lamps.items.get('c')?.revision ?? 0);
  });

  test('are those by which a value is read whose writer knew the rules of before', async () => {
    const lamps = await add(old);
    await put('a', old);
    expect(shown(lamps)).toEqual(['a writer']);
    await add(other);
    await put('b', old);
    await put('c', other);
    expect(shown(lamps)).toEqual(['a other', 'b other', 'c writer']);
  });

  test('end what follows the collection, and leave the past to the store', async () => {
    const lamps = await add(old);
    const before = await put('a');
    await put('b');
    expect(lamps.eventsSince(before)?.length).toBe(1);
    let ended = 0;
    lamps.onClose(() => ended++);
    await add(other);
    expect([ended, lamps.eventsSince(before)]).toEqual([1, undefined]);
    const newest = await put('c');
    expect(lamps.eventsSince(newest - 1)?.map(({ item }) => item.key)).toEqual(['c']);
  });

  test('are not taken when the store cannot be listed', async () => {
    await put('a');
    const lamps = await add(old);
    beforeRange = () => Promise.reject(new Error('away'));
    await expect(add(other)).rejects.toThrow('away');
    await put('b');
    expect(shown(lamps)).toEqual(['a old', 'b old']);
  });

  test('leave labels to be found', async () => {
    await put('a');
    const lamps = await add(old);
    expect([...(lamps.withValue('label', 'name', 0, 'a') ?? [])]).toEqual(['a']);
    await add(other);
    await remove('a');
    await put('b');
    expect([lamps.withValue('label', 'name', 0, 'a'), lamps.withValue('label', 'name', 0, 'b')]).toEqual([undefined, new Set(['b'])]);
  });
});

test('a collection that could not be read is read by the next who adds it', async () => {
  await put('a');
  beforeRange = () => Promise.reject(new Error('away'));
  await expect(add(old)).rejects.toThrow('away');
  beforeRange = async () => {};
  await put('b');
  expect(shown(await add(old))).toEqual(['a old', 'b old']);
});

test('reading many values lets others have their turn', async () => {
  for (let i = 0; i < 400; i++) await put(`l${i}`);
  let turns = 0;
  const count = (): void => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await add((value) => {
    for (const end = performance.now() + 0.2; performance.now() < end; );
    return value;
  });
  clearImmediate(next);
  expect(turns).toBeGreaterThan(8);
});

describe('recent events', () => {
  const large = (name: string): Buffer => storedValue(JSON.stringify({ metadata: { name, uid: 'u' }, text: 'x'.repeat(2 ** 20) }), 'u');

  test('hold a bounded number of bytes, whatever the size of objects', async () => {
    const lamps = await add(by('nobody'));
    const first = await put('a');
    for (let i = 0; i < 40; i++) lamps.apply('a', large('a'), first + 1 + i, first, undefined);
    const newest = first + 40;
    let oldest = newest;
    while (lamps.eventsSince(oldest - 1) !== undefined) oldest--;
    expect(newest - oldest).toBeGreaterThan(6);
    expect(newest - oldest).toBeLessThan(17);
    expect(lamps.eventsSince(oldest)?.map(({ revision }) => revision)).toEqual(
      Array.from({ length: newest - oldest }, (_, i) => oldest + 1 + i),
    );
  });

  test('do not keep the parsed form of what is past', async () => {
    const lamps = await add(by('nobody'));
    const before = cache.revision;
    lamps.listen(({ item }) => {
      item.parsed = {};
    });
    await put('a');
    await put('a');
    await put('b');
    await remove('b');
    expect(lamps.eventsSince(before)?.map(({ item }) => item.parsed)).toEqual([undefined, {}, undefined, undefined]);
  });
});

test('only the newest events keep the encodings that were made for watchers', async () => {
  const lamps = await add(old);
  const events: CollectionEvent[] = [];
  const end = lamps.listen((event) => {
    event.frames = new Map([['json', event.revision]]);
    events.push(event);
  });
  for (let i = 0; i < FRAMED_EVENTS + 50; i++) await put(`lamp${i % 5}`);
  end();
  expect(events.map(({ frames }) => frames !== undefined)).toEqual([...Array(50).fill(false), ...Array(FRAMED_EVENTS).fill(true)]);
});

describe('values that a store in memory keeps as items', () => {
  const valueIn = async (at?: number): Promise<string | undefined> => (await engine.get(`${prefix}a`, at))?.value.toString('latin1');
  const second = storedValue(JSON.stringify({ metadata: { name: 'ä', uid: 'u' }, by: 'old' }), 'u');
  const write = (value: Buffer, read: ReadValue): Promise<number> =>
    cache.commit([{ type: 'put', key: `${prefix}a`, value }], [{ labels: undefined, fields: undefined, read }]);

  test('are read as they were written, now and from history', async () => {
    await add(old);
    const kept: string[] = [];
    const keepAs = engine.keepAs?.bind(engine);
    engine.keepAs = (key, revision, value) => {
      kept.push(`${key} ${revision}`);
      keepAs?.(key, revision, value);
    };
    await write(stored('a'), old);
    await write(second, old);
    expect(kept).toEqual([`${prefix}a 1`, `${prefix}a 2`]);
    expect([await valueIn(1), await valueIn(2)]).toEqual([stored('a').toString('latin1'), second.toString('latin1')]);
    const changes = await engine.changes({ after: 0, prefix });
    expect(changes.map(({ type, value, revision, created }) => [type, value?.toString('latin1'), revision, created])).toEqual([
      ['put', stored('a').toString('latin1'), 1, 1],
      ['put', second.toString('latin1'), 2, 1],
    ]);
    const heard = await new Promise((resolve, reject) => void engine.subscribe(0, resolve, reject));
    expect(heard).toEqual(changes);
  });

  test('are kept as they are where the item has another text, by other rules of reading', async () => {
    await add(other);
    await write(stored('a'), old);
    expect(shown(await add(other, false))).toEqual(['a other']);
    expect(await valueIn()).toBe(stored('a').toString('latin1'));
  });

  test('stay where a store goes back to them twice', async () => {
    await add(old);
    const memory = asMemoryEngine(engine);
    await write(stored('a'), old);
    const state = memory.state();
    await write(second, old);
    expect(await memory.restore(state)).toEqual({ revision: 3 });
    expect(await valueIn()).toBe(stored('a').toString('latin1'));
    expect(await memory.restore(state)).toEqual({ revision: 3 });
  });
});

describe('a cache that begins with what another one held', () => {
  test('has its objects without reading the store, and goes on by itself', async () => {
    const collection = await add(old);
    await put('one', old);
    await put('two', old);
    const memory = asMemoryEngine(engine);
    const fork = openMemoryEngine({ from: memory.state() });
    fork.range = () => Promise.reject(new Error('the store was read'));
    const copy = new Cache(fork, systemClock, (error) => {
      throw error;
    });
    await copy.start(cache.state());
    expect(copy.revision).toBe(2);
    const found: Collection[] = [];
    expect(copy.readsBy(prefix, old)).toBe(true);
    await copy.add(optionsOf(old), false, (one) => found.push(one));
    const [own] = found as [Collection];
    expect(own.items.get('one')).toBe(collection.items.get('one'));
    await copy.commit([{ type: 'delete', key: `${prefix}one` }], []);
    await put('three', old);
    expect(own.items.all().map(({ key }) => key)).toEqual(['two']);
    expect(collection.items.all().map(({ key }) => key)).toEqual(['one', 'three', 'two']);
    expect(own.eventsSince(2)?.map(({ type }) => type)).toEqual(['delete']);
    // What came before is for the store's history to tell.
    expect(own.eventsSince(1)).toBeUndefined();
    copy.close();
    await fork.close();
  });

  test('leaves out what is being read just then', async () => {
    await put('one');
    let inBetween: Map<string, number> | undefined;
    beforeRange = async () => {
      inBetween = new Map(cache.state().collections.map(({ options, items }) => [options.prefix, items.size]));
    };
    await add(old);
    expect(inBetween?.has(prefix)).toBe(false);
    expect(cache.state().collections.map(({ items }) => items.size)).toEqual([1]);
  });
});

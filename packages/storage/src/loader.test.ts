/** Collections that are loaded after the start. */

import { FakeClock } from '@plat-dev/lib/clock';
import { nextTurn } from '@plat-dev/lib/next-turn';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Cache } from './cache.ts';
import { type Collection, type CollectionOptions, MOST_WAITING } from './collection.ts';
import { Compacted, type Engine, type RangeRequest, StoreUnavailable } from './engine.ts';
import { openMemoryEngine } from './engines/memory.ts';
import { storedValue } from './item.ts';
import { LOAD_CHUNK, LOADED_AT_ONCE, LONGEST_RETRY_MS, START_CHUNK } from './loader.ts';
import { MOST_SINGLE } from './not-loaded.ts';

const value = (name: string, by = ''): Buffer => storedValue(JSON.stringify({ metadata: { name, uid: 'u', labels: { by } } }), 'u');
const options = (prefix: string, later = true): CollectionOptions => ({
  prefix,
  facts: (object) => ({ labels: (object as { metadata: { labels: Record<string, string> } }).metadata.labels, fields: undefined }),
  eventLimit: 10_000,
  later,
});
const named = (number: number): string => `n${String(number).padStart(5, '0')}`;

let engine: Engine;
let clock: FakeClock;
let cache: Cache;
/** Called before every list of the store. */
let beforeRange: (request: RangeRequest) => MaybePromise<void>;
/** The prefixes that were listed, and the entries that were read of each. */
let ranges: { prefix: string; entries: number }[];

beforeEach(() => {
  clock = new FakeClock();
  engine = openMemoryEngine({ clock });
  beforeRange = () => {};
  ranges = [];
  const range = engine.range.bind(engine);
  engine.range = async (request: RangeRequest) => {
    await beforeRange(request);
    const result = await range(request);
    ranges.push({ prefix: request.prefix, entries: result.entries.length });
    return result;
  };
  cache = new Cache(engine, clock, (error) => {
    throw error;
  });
});
afterEach(async () => {
  cache.close();
  await engine.close();
});

/** Objects 0 to `count` of a collection, in the store. */
async function fill(prefix: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 5_000)
    await engine.commit(
      Array.from({ length: Math.min(5_000, count - from) }, (_, i) => ({
        type: 'put' as const,
        key: prefix + named(from + i),
        value: value(named(from + i)),
      })),
    );
}
const put = (key: string, by = 'later') => engine.commit([{ type: 'put', key, value: value(key, by) }]);
const remove = (key: string) => engine.commit([{ type: 'delete', key }]);
const keys = ({ items }: Collection): string[] => items.all().map(({ key }) => key);
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => named(i));
/** What the store itself has. */
const stored = async (prefix: string): Promise<string[]> =>
  (await engine.range({ prefix })).entries.map(({ key, revision }) => `${key.slice(prefix.length)} ${revision}`);
/** Turns of the event loop in which nothing but promises is waited for. */
const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns++) await nextTurn();
};
const held = ({ items }: Collection): string[] => items.all().map(({ key, revision }) => `${key} ${revision}`);

describe('a start', () => {
  test.each([
    ['loads a collection at the bound', LOADED_AT_ONCE, true],
    ['leaves a larger one for later', LOADED_AT_ONCE + 1, true],
    ['loads one of any size that may not be loaded later', LOAD_CHUNK + 1, false],
  ])('%s', async (_, count, later) => {
    await fill('core/pods/', count);
    await fill('core/secrets/', 1);
    const pods = cache.declare(options('core/pods/', later));
    const secrets = cache.declare(options('core/secrets/'));
    await cache.start();
    expect(pods.pending === undefined).toBe(!later || count <= LOADED_AT_ONCE);
    expect(keys(secrets)).toEqual([named(0)]);
    await pods.pending?.();
    expect(pods.pending).toBeUndefined();
    expect(keys(pods)).toEqual(names(count));
  });

  test('leaves one for later that begins at the end of a page', async () => {
    await fill('core/nodes/', START_CHUNK - 100);
    await fill('core/pods/', LOADED_AT_ONCE + 1);
    const nodes = cache.declare(options('core/nodes/', false));
    const pods = cache.declare(options('core/pods/'));
    await cache.start();
    expect(nodes.items.size).toBe(START_CHUNK - 100);
    expect(pods.pending).toBeDefined();
    await pods.pending?.();
    expect(pods.items.size).toBe(LOADED_AT_ONCE + 1);
  });

  test('reads at most a page of what it does not load', async () => {
    await fill('core/pods/', 5 * LOAD_CHUNK);
    await fill('unknown/things/', 5 * LOAD_CHUNK);
    await fill('zoo/animals/', 2);
    cache.declare(options('core/pods/'));
    const animals = cache.declare(options('zoo/animals/'));
    await cache.start();
    expect(animals.items.size).toBe(2);
    expect(ranges.reduce((sum, { entries }) => sum + entries, 0)).toBeLessThanOrEqual(2 * START_CHUNK + 2);
  });

  test('adds a large collection of a new kind before it is loaded, and loads the rest in the background', async () => {
    await fill('~a/seeds/', 2 * LOAD_CHUNK);
    await cache.start();
    let seeds: Collection | undefined;
    await cache.add(options('~a/seeds/'), true, (made) => {
      seeds = made;
    });
    expect(seeds?.pending).toBeDefined();
    cache.loadRest();
    await seeds?.pending?.();
    expect(keys(seeds as Collection)).toEqual(names(2 * LOAD_CHUNK));
  });
});

describe('a collection that is not loaded', () => {
  let pods: Collection;
  beforeEach(async () => {
    await fill('core/pods/', 2 * LOAD_CHUNK + 1);
    pods = cache.declare(options('core/pods/'));
    await cache.start();
  });

  test('refuses reads instead of looking empty', () => {
    for (const read of [
      () => pods.items.size,
      () => pods.items.get(named(0)),
      () => pods.items.all(),
      () => pods.items.withPrefix('n'),
      () => pods.items.each('', () => true),
    ])
      expect(read).toThrow(StoreUnavailable);
    expect(pods.state()).toBeUndefined();
  });

  test('has single objects that were read on their own, and refuses all others', async () => {
    await Promise.all([pods.look(named(5)), pods.look(named(5)), pods.look('absent')]);
    expect(pods.pending).toBeDefined();
    expect(pods.items.get(named(5))).toMatchObject({ key: named(5), labels: { by: '' } });
    expect(pods.items.get('absent')).toBeUndefined();
    expect(() => pods.items.get(named(6))).toThrow(StoreUnavailable);
    expect(() => pods.items.all()).toThrow(StoreUnavailable);
    expect(ranges.filter(({ prefix }) => prefix.startsWith('core/pods/'))).toHaveLength(2);
  });

  test('has a key that begins as another does', async () => {
    await put('core/pods/a-b');
    await pods.look('a');
    expect(pods.items.get('a')).toBeUndefined();
    await put('core/pods/a');
    expect(pods.items.get('a')?.labels).toEqual({ by: 'later' });
  });

  test.each(['ä', 'x'.repeat(2_000), 'a\u0000'])('knows that no object has a name that cannot be stored: %s', async (name) => {
    await pods.look(name);
    expect(pods.items.get(name)).toBeUndefined();
  });

  test('has changes of single objects at once, and their events when it is loaded', async () => {
    const events: string[] = [];
    pods.listen(({ type, item, revision }) => events.push(`${type} ${item.key} ${revision}`));
    await Promise.all([pods.look(named(1)), pods.look('new')]);
    const { revision } = await put(`core/pods/${named(1)}`);
    expect(pods.items.get(named(1))).toMatchObject({ revision, labels: { by: 'later' } });
    const { revision: created } = await put('core/pods/new');
    expect(pods.items.get('new')).toMatchObject({ revision: created });
    await remove('core/pods/new');
    expect(pods.items.get('new')).toBeUndefined();
    expect(events).toEqual([]);
    await pods.pending?.();
    expect(held(pods)).toEqual(await stored('core/pods/'));
    expect(pods.items.get(named(1))).toMatchObject({ revision, labels: { by: 'later' } });
    // What came before its first page has no events; whoever relied on an object learns what has become of it.
    expect(events).toEqual([`put ${named(1)} ${revision}`, `delete new ${created + 1}`]);
  });

  test('reports the deletion of a single object once, whether its page was read before or after', async () => {
    const events: string[] = [];
    pods.listen(({ type, item }) => events.push(`${type} ${item.key}`));
    await Promise.all([pods.look(named(1)), pods.look(named(2))]);
    await remove(`core/pods/${named(1)}`);
    let pages = 0;
    beforeRange = async ({ prefix }) => {
      if (prefix === 'core/pods/' && ++pages === 2) await remove(`core/pods/${named(2)}`);
    };
    await pods.pending?.();
    expect(events).toEqual([`delete ${named(1)}`, `delete ${named(2)}`]);
  });

  test('reports that a single object is another one of the same name', async () => {
    const events: string[] = [];
    pods.listen(({ type, item, previous }) => events.push(`${type} ${item.labels?.by} after ${previous?.labels?.by}`));
    await put('core/pods/a', 'first');
    await pods.look('a');
    await remove('core/pods/a');
    await put('core/pods/a', 'second');
    let pages = 0;
    beforeRange = async ({ prefix }) => {
      if (prefix === 'core/pods/' && ++pages === 2) await put('core/pods/a', 'third');
    };
    await pods.pending?.();
    expect(events).toEqual(['delete first after first', 'put third after second']);
  });

  test('counts changes of single objects, as caches need it', async () => {
    await pods.look('a');
    const before = pods.changes;
    await put('core/pods/a');
    expect(pods.changes).toBeGreaterThan(before);
  });

  test('calls those who wait for it without loading it for them', async () => {
    const calls: string[] = [];
    pods.whenLoaded(() => calls.push(`${pods.items.size} objects`));
    expect(calls).toEqual([]);
    await pods.pending?.();
    expect(calls).toEqual([`${2 * LOAD_CHUNK + 1} objects`]);
    pods.whenLoaded(() => calls.push('at once'));
    expect(calls).toHaveLength(2);
  });

  test('has the newest state of a single object, though its read has an older one', async () => {
    const range = engine.range.bind(engine);
    engine.range = async (request: RangeRequest) => {
      const result = await range(request);
      await put('core/pods/a', 'newer');
      return result;
    };
    await pods.look('a');
    expect(pods.items.get('a')?.labels).toEqual({ by: 'newer' });
  });

  test('reads a single object again after an error', async () => {
    beforeRange = () => {
      throw new StoreUnavailable('the test broke it');
    };
    await expect(pods.look(named(1))).rejects.toThrow('the test broke it');
    expect(() => pods.items.get(named(1))).toThrow(StoreUnavailable);
    beforeRange = () => {};
    await pods.look(named(1));
    expect(pods.items.get(named(1))?.key).toBe(named(1));
  });

  test('has single objects that cannot be read, and reads them again when the store has other values', async () => {
    await engine.commit([{ type: 'put', key: 'core/pods/broken', value: Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 0x7b]) }]);
    await pods.look('broken');
    expect(pods.items.get('broken')).toBeUndefined();
    expect(pods.unreadableAt('broken')).toMatchObject({ key: 'broken', reason: 'its bytes are not JSON' });
    expect(cache.unreadable()).toEqual(new Map());
    await cache.reread('core/pods/');
    expect(() => pods.items.get('broken')).toThrow(StoreUnavailable);
    await put('core/pods/broken');
    await pods.look('broken');
    expect(pods.unreadableAt('broken')).toBeUndefined();
    expect(pods.items.get('broken')?.labels).toEqual({ by: 'later' });
  });

  test('is loaded for whoever wants more single objects than are read on their own', async () => {
    for (let i = 0; i < MOST_SINGLE; i++) await pods.look(`x${i}`);
    expect(pods.pending).toBeDefined();
    await pods.look('one-more');
    expect(pods.pending).toBeUndefined();
    // And from then on nothing is read.
    const before = ranges.length;
    await pods.look(named(1));
    expect(ranges).toHaveLength(before);
  });

  test('is loaded once, by whoever comes first and by the background', async () => {
    const load = pods.pending as () => Promise<void>;
    cache.loadRest();
    await Promise.all([load(), load(), cache.allLoaded()]);
    expect(keys(pods)).toEqual(names(2 * LOAD_CHUNK + 1));
    expect(ranges.filter(({ prefix }) => prefix === 'core/pods/')).toHaveLength(3);
  });

  test('has what was written before it was loaded, without events for that', async () => {
    await put(`core/pods/${named(1)}`);
    await remove(`core/pods/${named(2)}`);
    const { revision } = await put('core/pods/z');
    await pods.pending?.();
    expect(held(pods)).toEqual(await stored('core/pods/'));
    expect(pods.eventsSince(revision)).toEqual([]);
    // Earlier ones are in the history of the store.
    expect(pods.eventsSince(revision - 1)).toBeUndefined();
    expect(pods.lastChange).toBe(revision);
  });

  test('has what was written while it was loaded, with its events in order', async () => {
    const events: string[] = [];
    pods.listen(({ type, item }) => events.push(`${type} ${item.key}`));
    let pages = 0;
    beforeRange = async ({ prefix }) => {
      if (prefix !== 'core/pods/' || ++pages !== 2) return;
      await put(`core/pods/${named(1)}`);
      await remove(`core/pods/${named(LOAD_CHUNK + 5)}`);
      await put('core/pods/z');
      await remove('core/pods/z');
    };
    await pods.pending?.();
    expect(held(pods)).toEqual(await stored('core/pods/'));
    expect(events).toEqual([`put ${named(1)}`, `delete ${named(LOAD_CHUNK + 5)}`, 'put z', 'delete z']);
    expect(pods.items.get(named(1))?.labels).toEqual({ by: 'later' });
  });

  test('reads changes from history when there are more than may wait', async () => {
    let pages = 0;
    beforeRange = async ({ prefix }) => {
      if (prefix !== 'core/pods/' || ++pages !== 2) return;
      for (let i = 0; i <= MOST_WAITING; i++) await put(`core/pods/${named(i % 700)}`, String(i));
      await remove(`core/pods/${named(700)}`);
      await put('core/pods/z');
    };
    await pods.pending?.();
    expect(held(pods)).toEqual(await stored('core/pods/'));
    expect(pods.items.get(named(700))).toBeUndefined();
    expect(pods.items.get('z')?.labels).toEqual({ by: 'later' });
    await put('core/pods/z', 'again');
    expect(pods.items.get('z')?.labels).toEqual({ by: 'again' });
  });

  test('is read again when the store has compacted the revision of its pages', async () => {
    let pages = 0;
    beforeRange = async ({ prefix, at }) => {
      if (prefix !== 'core/pods/' || ++pages !== 3) return;
      await remove(`core/pods/${named(0)}`);
      await engine.compact(engine.revision);
      expect(at).toBeLessThan(engine.revision);
    };
    await pods.pending?.();
    expect(held(pods)).toEqual(await stored('core/pods/'));
    expect(pods.items.get(named(0))).toBeUndefined();
  });

  test('is given up when the store compacts faster than it can be read', async () => {
    beforeRange = ({ prefix, at }) => {
      if (prefix === 'core/pods/' && at !== undefined) throw new Compacted(at + 1);
    };
    await expect(pods.pending?.()).rejects.toThrow(Compacted);
    expect(pods.pending).toBeDefined();
  });

  test('is read again when the store has other values for it', async () => {
    let pages = 0;
    let reread: Promise<void> | undefined;
    beforeRange = ({ prefix }) => {
      if (prefix === 'core/pods/' && ++pages === 2) reread = cache.reread('core/pods/');
    };
    await pods.pending?.();
    await reread;
    expect(ranges.filter(({ prefix }) => prefix === 'core/pods/')).toHaveLength(5);
    expect(keys(pods)).toEqual(names(2 * LOAD_CHUNK + 1));
  });

  test('has unreadable objects set aside once it is loaded', async () => {
    await engine.commit([{ type: 'put', key: 'core/pods/broken', value: Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 0x7b]) }]);
    expect(cache.unreadable()).toEqual(new Map());
    await pods.pending?.();
    expect(cache.unreadable()).toEqual(new Map([['core/pods/', 1]]));
    expect(pods.items.size).toBe(2 * LOAD_CHUNK + 1);
  });

  test('is retried less and less often, and each error is reported once', async () => {
    const reports: string[] = [];
    const again = new Cache(
      engine,
      clock,
      () => {},
      undefined,
      (prefix, error) => reports.push(`${prefix} ${error ?? 'loaded'}`),
    );
    const collection = again.declare(options('core/pods/'));
    await again.start();
    let problem: string | undefined = 'first';
    let tries = 0;
    beforeRange = () => {
      tries++;
      if (problem !== undefined) throw new StoreUnavailable(problem);
    };
    again.loadRest();
    await settled();
    const times: number[] = [];
    for (let seconds = 1; seconds <= 100; seconds++) {
      const before = tries;
      await clock.advance(1000);
      await settled();
      if (tries > before) times.push(seconds);
      if (seconds === 10) problem = 'second';
    }
    expect(times).toEqual([1, 3, 7, 15, 31, 61, 91]);
    expect(LONGEST_RETRY_MS).toBe(30_000);
    expect(reports).toEqual(['core/pods/ StoreUnavailable: first', 'core/pods/ StoreUnavailable: second']);
    problem = undefined;
    await collection.pending?.();
    expect(reports).toEqual([expect.anything(), expect.anything(), 'core/pods/ loaded']);
    again.close();
  });

  test('reports an error to whoever waits, and is tried again by the background', async () => {
    let isBroken = true;
    beforeRange = () => {
      if (isBroken) throw new StoreUnavailable('the test broke it');
    };
    cache.loadRest();
    await expect(pods.pending?.()).rejects.toThrow('the test broke it');
    await expect(pods.pending?.()).rejects.toThrow('the test broke it');
    isBroken = false;
    const loaded = new Promise<void>((resolve) => {
      beforeRange = () => resolve();
    });
    await clock.advance(1000);
    await loaded;
    await pods.pending?.();
    expect(pods.items.size).toBe(2 * LOAD_CHUNK + 1);
  });

  test('is not loaded any further when it is removed', async () => {
    beforeRange = ({ prefix, at }) => {
      if (prefix === 'core/pods/' && at === undefined) cache.remove('core/pods/');
    };
    await pods.pending?.();
    expect(ranges.filter(({ prefix }) => prefix === 'core/pods/')).toHaveLength(1);
  });

  test('reports the end of the server to whoever waits', async () => {
    beforeRange = () => new Promise(() => {});
    const waiting = pods.pending?.();
    cache.close();
    await expect(waiting).rejects.toThrow('the server is shutting down');
  });
});

test('what somebody waits for is loaded before the rest', async () => {
  await fill('a/large/', 5 * LOAD_CHUNK);
  await fill('b/small/', LOADED_AT_ONCE + 1);
  const large = cache.declare(options('a/large/'));
  const small = cache.declare(options('b/small/'));
  await cache.start();
  ranges = [];
  let isRequested = false;
  beforeRange = ({ prefix }) => {
    if (prefix !== 'a/large/' || isRequested) return;
    isRequested = true;
    void small.pending?.();
  };
  cache.loadRest();
  await cache.allLoaded();
  expect(large.items.size).toBe(5 * LOAD_CHUNK);
  expect(ranges.map(({ prefix }) => prefix).slice(0, 3)).toEqual(['a/large/', 'b/small/', 'a/large/']);
});

/** What the file keeps, and for how long. */
import { rmSync } from 'node:fs';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { put, remove } from '../../engine.suite.tools.ts';
import { type Engine, StoreUnavailable } from '../../engine.ts';
import { openLmdbEngine } from '../lmdb.ts';

let dataDir: string;
let clock: FakeClock;
beforeEach(() => {
  dataDir = temporaryDirectory('plat-history');
  clock = new FakeClock();
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const open = () => openLmdbEngine({ dataDir, clock, historyRetentionMs: 60_000 });
const keptVersions = async (engine: Engine) => (await engine.stats()).kept_versions;
/** Compaction goes on in the background; the test's own limit of time bounds the wait. */
async function untilKept(engine: Engine, versions: number): Promise<void> {
  while ((await keptVersions(engine)) !== versions) await new Promise(setImmediate);
}

/** What was written is in the tables after a read. */
const settled = (engine: Engine) => engine.get('a');
async function untilCompacted(engine: Engine, revision: number): Promise<void> {
  while (engine.compacted !== revision) await new Promise(setImmediate);
}

test('history is forgotten when it is older than the retention', async () => {
  const engine = await open();
  await engine.commit([put('a', '1'), put('gone', '1')]);
  await engine.commit([put('a', '2'), remove('gone')]);
  await clock.advance(30_000);
  await engine.commit([put('a', '3')]);
  await settled(engine);
  await clock.advance(29_000);
  expect(engine.compacted).toBe(0);
  await clock.advance(2_000);
  await untilCompacted(engine, 2);
  expect((await engine.get('a', 2))?.value.toString()).toBe('2');
  // Left are the two versions of `a` that can still be read.
  await untilKept(engine, 2);
  await clock.advance(60_000);
  await untilKept(engine, 1);
  await untilCompacted(engine, 3);
  await engine.close();
});

test('age counts from the commit, over restarts', async () => {
  let engine = await open();
  await engine.commit([put('a', '1')]);
  await engine.commit([put('a', '2')]);
  await engine.close();
  await clock.advance(61_000);
  engine = await open();
  expect(engine.compacted).toBe(0);
  await clock.advance(2_000);
  await untilCompacted(engine, 2);
  await engine.close();
});

test('compaction removes all that was superseded and every trace of what was deleted', async () => {
  const engine = await open();
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 100 }, (_, index) => engine.commit([put(`k${index}`, `${round}`)])));
  }
  for (let index = 0; index < 40; index++) await engine.commit([remove(`k${index}`)]);
  expect(await keptVersions(engine)).toBe(1_040);
  await engine.compact(engine.revision);
  expect(await keptVersions(engine)).toBe(60);
  expect((await engine.range({ prefix: '' })).count).toBe(60);
  await engine.close();
});

test('a compaction that was interrupted goes on at the next start', async () => {
  let engine = await open();
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 100 }, (_, index) => engine.commit([put(`k${index}`, `${round}`)])));
  }
  const { revision } = engine;
  await settled(engine);
  const interrupted = expect(engine.compact(revision)).rejects.toThrow(StoreUnavailable);
  while ((await keptVersions(engine)) === 2_000) await new Promise(setImmediate);
  await engine.close();
  await interrupted;
  engine = await open();
  expect(engine.compacted).toBe(revision);
  await untilKept(engine, 100);
  expect((await engine.range({ prefix: '' })).entries.every((entry) => entry.value.toString() === '19')).toBe(true);
  await engine.close();
});

test('the newest revision is not given out again when only deletions were written last', async () => {
  let engine = await open();
  await engine.commit([put('a', '1')]);
  const { revision } = await engine.commit([remove('a')]);
  await engine.compact(revision);
  expect(await keptVersions(engine)).toBe(0);
  await engine.close();
  engine = await open();
  expect(engine.revision).toBe(revision);
  expect(await engine.commit([put('a', '2')])).toEqual({ revision: revision + 1 });
  await engine.close();
});

test('what expired while the server was down is deleted soon after its start', async () => {
  let engine = await open();
  await engine.commit([put('short', '1', undefined, 10), put('long', '1', undefined, 1_000)]);
  await engine.close();
  await clock.advance(20_000);
  engine = await open();
  while ((await engine.get('short')) !== undefined) await new Promise(setImmediate);
  expect(await engine.changes({ after: 1, prefix: '' })).toMatchObject([{ type: 'delete', key: 'short', revision: 2 }]);
  await engine.close();
});

test('a long range lets others run, and is read at one revision all the same', async () => {
  const engine = await open();
  const keys = Array.from({ length: 4_000 }, (_, index) => `k${String(index).padStart(5, '0')}`);
  for (let index = 0; index < keys.length; index += 500) {
    await Promise.all(keys.slice(index, index + 500).map((key) => engine.commit([put(key, 'before'.repeat(500))])));
  }
  const { revision } = engine;
  const reading = engine.range({ prefix: 'k' });
  // These commits become visible while the range is read: versions come before, within and behind what it has read.
  const writing = Promise.all(keys.slice(0, 4_000).map((key, index) => engine.commit([index % 2 === 0 ? remove(key) : put(key, 'after')])));
  const result = await reading;
  await writing;
  expect(result.revision).toBe(revision);
  expect(result.entries.map((entry) => entry.key)).toEqual(keys);
  expect(result.entries.every((entry) => entry.value.toString().startsWith('before'))).toBe(true);
  await engine.close();
});

/** What the journal keeps when a server ends badly: the directory is copied under a running engine, as a crash leaves it. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { put, remove } from '../../../engine.suite.tools.ts';
import type { Engine } from '../../../engine.ts';
import { openLmdbEngine } from '../../lmdb.ts';

let parent: string;
beforeEach(() => {
  parent = temporaryDirectory('plat-journal');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const directory = (name: string) => join(parent, name);
const open = (name: string, clock = new FakeClock()) => openLmdbEngine({ dataDir: directory(name), clock });
const journal = (name: string, index = 0) => join(directory(name), `store.journal-${index}`);

/** What a crash would leave; the tables may be some transactions behind the journal. */
function crash(from: string, to: string): void {
  mkdirSync(directory(to), { mode: 0o700 });
  // The tables first: the journal is never behind them.
  for (const name of ['store.mdb', 'store.journal-0', 'store.journal-1'])
    copyFileSync(join(directory(from), name), join(directory(to), name));
}
const textOf = async (engine: Engine) =>
  (await engine.range({ prefix: '' })).entries.map(({ key, value, revision, created }) => `${key}=${value} ${revision} ${created}`);

test('what was answered before a crash is there after it, with its history', async () => {
  const engine = await open('a');
  await engine.commit([put('x', '1'), put('y', '1')]);
  await engine.commit([put('x', '2')]);
  await engine.commit([remove('y')]);
  crash('a', 'b');
  const again = await open('b');
  expect(again.revision).toBe(3);
  expect(await textOf(again)).toEqual(['x=2 2 1']);
  expect((await again.get('y', 2))?.value.toString()).toBe('1');
  expect((await again.changes({ after: 0, prefix: '' })).map(({ type, key, revision }) => `${type} ${key} ${revision}`)).toEqual([
    'put x 1',
    'put y 1',
    'put x 2',
    'delete y 3',
  ]);
  expect(await again.commit([put('z', '1', 0)])).toEqual({ revision: 4 });
  await again.close();
  await engine.close();
});

test('frames of all sizes are whole after a crash, smaller ones after larger ones and those of many commits at once', async () => {
  const engine = await open('a');
  const value = (i: number): string => String.fromCharCode(97 + i).repeat(i % 2 === 0 ? 10 + i : 200_000 + i);
  for (let i = 0; i < 6; i++) await engine.commit([put(`x${i}`, value(i))]);
  await Promise.all(Array.from({ length: 6 }, (_, i) => engine.commit([put(`y${i}`, value(i + 6))])));
  crash('a', 'b');
  const again = await open('b');
  const entries = (await again.range({ prefix: '' })).entries.map(({ key, value: stored }) => [key, stored.toString()]);
  expect(entries).toEqual(Array.from({ length: 12 }, (_, i) => [i < 6 ? `x${i}` : `y${i - 6}`, value(i)]));
  await again.close();
  await engine.close();
});

test('the journal is gone after an orderly end, and all is in the tables', async () => {
  const engine = await open('a');
  await engine.commit([put('x', '1')]);
  await engine.close();
  expect(readdirSync(directory('a')).filter((name) => name.includes('journal'))).toEqual([]);
  const again = await open('a');
  expect(await textOf(again)).toEqual(['x=1 1 1']);
  await again.close();
});

test('the two files take turns, and what is left of older frames does not come back', async () => {
  const engine = await open('a');
  const value = 'v'.repeat(100_000);
  for (let round = 0; round < 150; round++) await engine.commit([put(`k${round % 7}`, `${round} ${value}`)]);
  // Fifteen megabytes went through two files of little more than four each.
  for (const index of [0, 1]) expect(statSync(journal('a', index)).size).toBeLessThan(8 * 2 ** 20);
  const expected = await textOf(engine);
  crash('a', 'b');
  const again = await open('b');
  expect(again.revision).toBe(150);
  expect(await textOf(again)).toEqual(expected);
  await again.close();
  await engine.close();
});

test('times to live hold over a crash', async () => {
  const clock = new FakeClock();
  const engine = await open('a', clock);
  await engine.commit([{ type: 'put', key: 'x', value: Buffer.from('1'), ttlSeconds: 10 }]);
  await engine.commit([{ type: 'put', key: 'y', value: Buffer.from('1'), ttlSeconds: 10 }]);
  await engine.commit([put('y', '2')]);
  crash('a', 'b');
  const again = await open('b', clock);
  await clock.advance(11_000);
  while ((await textOf(again)).length > 1) await new Promise(setImmediate);
  expect(await textOf(again)).toEqual(['y=2 3 2']);
  await again.close();
  await engine.close();
  expect(existsSync(journal('b'))).toBe(false);
});

test('a start on a full disk says so instead of taking the journal in, and a later one takes it', async () => {
  const engine = await open('a');
  await engine.commit([put('x', '1')]);
  crash('a', 'b');
  await engine.close();
  await expect(openLmdbEngine({ dataDir: directory('b'), freeBytes: () => 2 ** 20 })).rejects.toThrow(
    /is full \(1 MiB free, 17 MiB needed to replay the journal\); nothing/,
  );
  const again = await open('b');
  expect(await textOf(again)).toEqual(['x=1 1 1']);
  await again.close();
});

test('what finds no room in the tables at the end stays in the journal for the next start', async () => {
  let free = 2 ** 30;
  const engine = await openLmdbEngine({ dataDir: directory('a'), freeBytes: () => free });
  await engine.commit([put('x', '1')]);
  free = 2 ** 20;
  await engine.close();
  expect(existsSync(journal('a'))).toBe(true);
  // Longer than the pause after which the tables would be tried again, were they not closed.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const again = await open('a');
  expect(await textOf(again)).toEqual(['x=1 1 1']);
  await again.close();
});

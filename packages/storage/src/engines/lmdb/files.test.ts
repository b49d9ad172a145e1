/** What can be wrong with the directory or the file, and what is said about it. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { open } from 'lmdb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { put } from '../../engine.suite.tools.ts';
import { openLmdbEngine } from '../lmdb.ts';
import { repairDirectory } from './repair/repair.ts';
import { verifyDirectory } from './repair/verify.ts';
import { statDirectory } from './stat.ts';

let parent: string;
let dataDir: string;
beforeEach(() => {
  parent = temporaryDirectory('plat-files');
  dataDir = join(parent, 'data');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const file = () => join(dataDir, 'store.mdb');
async function makeStore(): Promise<void> {
  const engine = await openLmdbEngine({ dataDir });
  for (let index = 0; index < 50; index++) await engine.commit([put(`k${index}`, 'x'.repeat(2_000))]);
  await engine.close();
}

test('the directory and its files are private to their owner', async () => {
  const engine = await openLmdbEngine({ dataDir });
  await engine.commit([put('a', '1')]);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  const lock = expect.stringMatching(/^store\.lock-/);
  expect(readdirSync(dataDir).sort()).toEqual(['store.journal-0', 'store.journal-1', lock, 'store.mdb', 'store.mdb-lock']);
  for (const name of ['store.journal-0', 'store.journal-1', 'store.mdb', 'store.mdb-lock'])
    expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
  await engine.close();
  expect(readdirSync(dataDir).sort()).toEqual(['store.closed', 'store.mdb', 'store.mdb-lock']);
  expect(statSync(join(dataDir, 'store.closed')).mode & 0o777).toBe(0o600);
});

test('a directory that others could read is made private', async () => {
  mkdirSync(dataDir, { mode: 0o755 });
  await (await openLmdbEngine({ dataDir })).close();
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

test('a second server is kept out of the directory, with an error that names it and its owner', async () => {
  const engine = await openLmdbEngine({ dataDir });
  await expect(openLmdbEngine({ dataDir })).rejects.toThrow(
    `the data directory ${dataDir} is in use by another server (process ${process.pid})`,
  );
  await engine.commit([put('a', '1')]);
  await engine.close();
  const next = await openLmdbEngine({ dataDir });
  expect((await next.get('a'))?.revision).toBe(1);
  await next.close();
});

test('of many servers that start at once one gets the directory, even where a dead one has left its lock', async () => {
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'store.lock'), '');
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => openLmdbEngine({ dataDir })));
  const engines = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(engines).toHaveLength(1);
  await engines[0]?.close();
});

test('a lock whose holder says nothing is respected', async () => {
  mkdirSync(dataDir);
  const server = createServer((connection) => connection.end());
  await new Promise<void>((resolve) => server.listen(join(dataDir, 'store.lock'), resolve));
  await expect(openLmdbEngine({ dataDir })).rejects.toThrow(/is in use by another server;/);
  await new Promise((resolve) => server.close(resolve));
});

test('a path that is too long for a socket is no hindrance', async () => {
  dataDir = join(parent, 'd'.repeat(100), 'e'.repeat(100));
  const engine = await openLmdbEngine({ dataDir });
  await expect(openLmdbEngine({ dataDir })).rejects.toThrow(/is in use/);
  await engine.close();
});

test('a directory that cannot be made is named', async () => {
  writeFileSync(dataDir, 'a file where the directory should be');
  await expect(openLmdbEngine({ dataDir: join(dataDir, 'inner') })).rejects.toThrow(
    new RegExp(`the data directory ${dataDir}/inner cannot be written .*make it writable`),
  );
});

// Node's own way to make directories never came back from there, and the process did not hear signals.
test.skipIf(!existsSync('/proc/self'))('a file system that takes no directories is named', async () => {
  await expect(openLmdbEngine({ dataDir: '/proc/plat-data/inner' })).rejects.toThrow(
    /the data directory \/proc\/plat-data\/inner cannot be written \(ENOENT.*make it writable/,
  );
});

test('a directory that cannot be written is named', async ({ skip }) => {
  if (process.getuid?.() === 0) return skip('the administrator may write everywhere');
  mkdirSync(dataDir, { mode: 0o500 });
  await expect(openLmdbEngine({ dataDir })).rejects.toThrow(/cannot be written/);
});

test.each([
  ['text', () => writeFileSync(file(), 'this is no store\n'.repeat(2_000))],
  ['a few bytes', () => truncateSync(file(), 100)],
  ['one page', () => truncateSync(file(), 4_096)],
  ['half of it', () => truncateSync(file(), statSync(file()).size / 2)],
])('a file that is damaged is not opened: %s', async (_, damage) => {
  await makeStore();
  damage();
  await expect(openLmdbEngine({ dataDir })).rejects.toThrow(
    new RegExp(`the store file ${file()} is damaged.*Restore (it from a copy|the directory from a backup)`),
  );
  // The refusal holds no lock.
  rmSync(file());
  await (await openLmdbEngine({ dataDir })).close();
});

test('a database of another program is left alone', async () => {
  mkdirSync(dataDir);
  const foreign = open({ path: file(), noSubdir: true, overlappingSync: false });
  await foreign.put('hello', 'world');
  await foreign.close();
  await expect(openLmdbEngine({ dataDir })).rejects.toThrow(/is not a store of this server/);
  const again = open({ path: file(), noSubdir: true, overlappingSync: false });
  expect([...again.getKeys()]).toEqual(['hello']);
  await again.close();
});

test('a store of a newer version is left alone', async () => {
  await makeStore();
  const newer = open({ path: file(), noSubdir: true, overlappingSync: false });
  await newer.openDB('meta', { keyEncoding: 'binary', encoding: 'binary' }).put(Buffer.from('format'), Buffer.from('5'));
  await newer.close();
  await expect(openLmdbEngine({ dataDir })).rejects.toThrow(/has the format 5 of a newer version; this one knows formats up to 4/);
});

test('a full disk refuses writes until there is room, and reads go on', async () => {
  let free = 2 ** 30;
  const engine = await openLmdbEngine({ dataDir, freeBytes: () => free });
  const before = (await engine.commit([put('a', '1')])).revision;
  expect((await engine.get('a'))?.value.toString()).toBe('1');
  free = 2 ** 20;
  const refused = await Promise.allSettled([
    engine.commit([put('a', '2')]),
    engine.commit([put('a', '3', before)]),
    engine.commit([put('b', '1', 0)]),
  ]);
  for (const outcome of refused) {
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: {
        name: 'StoreFull',
        message: `the disk of ${dataDir} is full (1 MiB free, 17 MiB needed); nothing can be written until there is room`,
      },
    });
  }
  expect((await engine.get('a'))?.value.toString()).toBe('1');
  expect(engine.revision).toBe(before);
  // It lives, and says why it takes no writes.
  await engine.ping();
  expect(engine.refusing).toMatch(/is full/);
  free = 2 ** 30;
  expect(engine.refusing).toBeUndefined();
  expect(await engine.commit([put('a', '4', before), put('b', '1', 0)])).toEqual({ revision: before + 1 });
  await engine.close();
});

test('a transaction needs room for several times its size', async () => {
  const engine = await openLmdbEngine({ dataDir, freeBytes: () => 20 * 2 ** 20 });
  await engine.commit([put('small', '1')]);
  await expect(engine.commit([put('large', Buffer.alloc(1_500_000))])).rejects.toThrow(/is full/);
  await engine.close();
});

test.each([
  [['store.journal-0', 'store.journal-1'], 'store.journal-0 and store.journal-1, which belong to it, are there'],
  [['store.journal-1'], 'store.journal-1, which belongs to it, is there'],
])('journals without their store file are refused by a start and by the tools, which name them: %j', async (left, named) => {
  mkdirSync(dataDir, { mode: 0o700 });
  for (const name of left) writeFileSync(join(dataDir, name), Buffer.alloc(4 * 2 ** 20));
  const label = 'test';
  for (const use of [
    () => openLmdbEngine({ dataDir }),
    () => verifyDirectory(dataDir),
    () => statDirectory(dataDir),
    () => repairDirectory(dataDir, { label }),
  ]) {
    await expect(use()).rejects.toThrow(named);
    await expect(use()).rejects.toThrow(/Put store.mdb back .* "plat store restore --force .* to start empty, move them away/);
  }
  expect(readdirSync(dataDir).sort()).toEqual(left);
});

/** verify, repair and stat of directories that were damaged in known places, and at random. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { put, remove } from '../../../engine.suite.tools.ts';
import { openLmdbEngine } from '../../lmdb.ts';
import { JOURNAL_FILES } from '../journal/journal.ts';
import { statDirectory } from '../stat.ts';
import { writeOldStore } from './old-store.testing.ts';
import { repairDirectory } from './repair.ts';
import { UNKNOWN_REVISIONS, verifyDirectory } from './verify.ts';

let parent: string;
let made: string;
const KEYS = 60;
const key = (i: number): string => `core/configmaps/default/object-${String(i).padStart(3, '0')}`;
const value = (i: number): string => `value of ${i} ${'x'.repeat((i % 6) * 700)}`;

beforeAll(async () => {
  parent = temporaryDirectory('plat-repair');
  made = join(parent, 'made');
  const engine = await openLmdbEngine({ dataDir: made });
  for (let i = 0; i < KEYS; i++) await engine.commit([put(key(i), value(i))]);
  await engine.commit([put('core/events/default/e', '1', undefined, 3600)]);
  await engine.commit([put('core/configmaps/default/gone', '1')]);
  await engine.commit([remove('core/configmaps/default/gone')]);
  await engine.get('x');
  await engine.close();
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

let copies = 0;
function damaged(change: (bytes: Buffer) => void): string {
  const directory = join(parent, `copy${copies++}`);
  mkdirSync(directory, { mode: 0o700 });
  const bytes = Buffer.from(readFileSync(join(made, 'store.mdb')));
  change(bytes);
  writeFileSync(join(directory, 'store.mdb'), bytes);
  return directory;
}
const flip = (bytes: Buffer, at: number): void => {
  bytes[at] = (bytes[at] as number) ^ 4;
};

test('a whole directory has no findings, and nothing to repair', async () => {
  expect(await verifyDirectory(made)).toEqual([]);
  expect(await repairDirectory(made, { label: 'x' })).toMatchObject({ movedTo: undefined, lost: [], keptObjects: KEYS + 1 });
  expect(await statDirectory(made)).toMatchObject({
    format: 4,
    objects: KEYS + 1,
    revision: KEYS + 3,
    collections: { 'core/configmaps': { objects: KEYS }, 'core/events': { objects: 1, bytes: 1 } },
  });
});

test('a directory that a server uses is left alone', async () => {
  const dataDir = join(parent, 'used');
  const engine = await openLmdbEngine({ dataDir });
  for (const tool of [verifyDirectory, statDirectory, (d: string) => repairDirectory(d, { label: 'x' })])
    await expect(tool(dataDir)).rejects.toThrow(/in use by another server/);
  await engine.close();
});

test('what a crash left in the journal counts', async () => {
  const dataDir = join(parent, 'crashing');
  const engine = await openLmdbEngine({ dataDir });
  await engine.commit([put('core/pods/default/a', '12345')]);
  const crashed = join(parent, 'crashed');
  cpSync(dataDir, crashed, { recursive: true, filter: (path) => !path.includes('store.lock-') });
  await engine.close();
  expect(await verifyDirectory(crashed)).toEqual([]);
  expect(await statDirectory(crashed)).toMatchObject({ objects: 1, revision: 1, collections: { 'core/pods': { objects: 1, bytes: 5 } } });
});

test('a damaged value: the object is named, the rest is served; after a repair it is gone and the rest is there', async () => {
  const directory = damaged((bytes) => {
    // Pages that are free may hold copies.
    for (let at = bytes.indexOf(value(7)); at >= 0; at = bytes.indexOf(value(7), at + 1)) flip(bytes, at);
  });
  expect(await verifyDirectory(directory)).toMatchObject([{ kind: 'record', key: key(7), revision: 8, startsAnyway: true }]);
  const engine = await openLmdbEngine({ dataDir: directory });
  expect(await engine.get(key(7))).toMatchObject({ revision: 8, unreadable: { reason: 'its checksum is wrong' } });
  const { entries } = await engine.range({ prefix: '' });
  expect(entries.filter(({ unreadable }) => unreadable !== undefined).map((entry) => entry.key)).toEqual([key(7)]);
  expect((await engine.changes({ after: 0, prefix: key(7) })).map(({ unreadable }) => unreadable !== undefined)).toEqual([true]);
  await engine.close();
  const repair = await repairDirectory(directory, { label: 'now' });
  expect(repair).toMatchObject({ movedTo: join(directory, 'damaged-now'), keptObjects: KEYS, lost: [{ key: key(7), revision: 8 }] });
  expect(await verifyDirectory(directory)).toEqual([]);
  const again = await openLmdbEngine({ dataDir: directory });
  expect(again.revision).toBe(KEYS + 3);
  expect((await again.range({ prefix: '' })).count).toBe(KEYS);
  expect(await again.get(key(3))).toMatchObject({ revision: 4, created: 4, value: Buffer.from(value(3)) });
  expect((await again.range({ prefix: 'core/events/', expiries: true })).entries[0]?.expires).toBeGreaterThan(0);
  expect((await again.commit([put(key(7), 'new', 0)])).revision).toBe(KEYS + 4);
  await again.close();
});

/** Where pages of a kind begin that hold a text, in bytes; those that are free included. */
function pagesWith(bytes: Buffer, flags: number, text: string): number[] {
  const found: number[] = [];
  for (let at = 8192; at < bytes.length; at += 4096)
    if (bytes.readUInt16LE(at + 18) === flags && bytes.subarray(at, at + 4096).includes(text)) found.push(at);
  return found;
}

test('a broken page of the index loses nothing, not even the time to live: records and expiries say it as well', async () => {
  const directory = damaged((bytes) => {
    for (let at = 8192; at < bytes.length; at += 4096) {
      const page = bytes.subarray(at, at + 4096);
      if (page.readUInt16LE(18) === 2 && page.includes('core/events/default/e\0') && page.includes('object-059\0')) page.fill(0xff);
    }
  });
  await expect(openLmdbEngine({ dataDir: directory })).rejects.toThrow(/is damaged: page \d+ of the table versions.*plat store repair/);
  const findings = await verifyDirectory(directory);
  expect(findings.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^of 6\d rows of the table versions only \d+ were found$/),
  );
  expect(await repairDirectory(directory, { label: 'now' })).toMatchObject({ keptObjects: KEYS + 1, lost: [] });
  const engine = await openLmdbEngine({ dataDir: directory });
  expect((await engine.range({ prefix: 'core/events/', expiries: true })).entries[0]?.expires).toBeGreaterThan(0);
  expect(await engine.get('core/configmaps/default/gone')).toBeUndefined();
  await engine.close();
});

test('a broken page of records: the objects on it are named, the others kept', async () => {
  const directory = damaged((bytes) => {
    // How many transactions wrote the rows depends on the disk: copies of the page in use may be left on free ones.
    const pages = pagesWith(bytes, 2, value(12));
    expect(pages.length).toBeGreaterThan(0);
    for (const at of pages) bytes.fill(0xff, at, at + 4096);
  });
  const { lost, keptObjects } = await repairDirectory(directory, { label: 'now' });
  expect(lost.map((one) => one.key)).toContain(key(12));
  expect(keptObjects + lost.length).toBe(KEYS + 1);
  expect(keptObjects).toBeGreaterThan(KEYS / 2);
  expect(await verifyDirectory(directory)).toEqual([]);
});

test('a file of which nothing can be read is left alone', async () => {
  const directory = damaged((bytes) => void bytes.fill(0, 0, 8192));
  await expect(repairDirectory(directory, { label: 'now' })).rejects.toThrow(
    /nothing of the store file .* can be read .*nothing was changed\. Restore it/,
  );
  expect(readFileSync(join(directory, 'store.mdb'))).toHaveLength(readFileSync(join(made, 'store.mdb')).length);
});

test('a store of an older format: verify and repair say what to do', async () => {
  const dataDir = join(parent, 'older');
  writeOldStore(dataDir, 'closed');
  expect(await verifyDirectory(dataDir)).toMatchObject([
    {
      kind: 'meta',
      startsAnyway: true,
      message: expect.stringMatching(
        /^the store has format 2, .* A server of this version brings it into format 4 when it starts; verify it after that$/,
      ),
    },
  ]);
  await expect(repairDirectory(dataDir, { label: 'now' })).rejects.toThrow(
    /cannot be repaired as it is, and nothing was changed: the store has format 2/,
  );
  await (await openLmdbEngine({ dataDir })).close();
  expect(await verifyDirectory(dataDir)).toEqual([]);
});

test.each([
  ['one of the journal files', JOURNAL_FILES.slice(1)],
  ['all journal files', []],
])('%s of a server that was killed are gone: revisions that it may have given out are not used again', async (_, left) => {
  const dataDir = join(parent, `killed${left.length}`);
  const engine = await openLmdbEngine({ dataDir });
  await engine.commit([put('x', '1')]);
  await engine.get('x');
  const copy = join(parent, `killed-copy${left.length}`);
  mkdirSync(copy, { mode: 0o700 });
  for (const name of ['store.mdb', ...left]) cpSync(join(dataDir, name), join(copy, name));
  const given = engine.revision;
  await engine.close();
  expect((await verifyDirectory(copy)).map(({ message }) => message)).toEqual([expect.stringMatching(/it left (is|are) missing/)]);
  const { revision } = await repairDirectory(copy, { label: 'test' });
  expect(revision).toBeGreaterThanOrEqual(given + UNKNOWN_REVISIONS - 1);
  const again = await openLmdbEngine({ dataDir: copy });
  expect(again.revision).toBe(revision);
  await again.close();
});

/** verify, repair and stat of directories that were damaged in known places, and at random. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../../lib/random.ts';
import { temporaryDirectory } from '../../../lib/temporary.testing.ts';
import { put, remove } from '../../engine.suite.tools.ts';
import { openLmdbEngine } from '../lmdb.ts';
import { repairDirectory } from './repair.ts';
import { statDirectory } from './stat.ts';
import { verifyDirectory } from './verify.ts';

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
    format: 3,
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
  cpSync(dataDir, crashed, { recursive: true, filter: (path) => !path.endsWith('.lock') });
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

test('bits flipped anywhere in the file: a start refuses, or serves everything but what it names, and a repair loses nothing else', async () => {
  const seed = Number(process.env.SEED ?? 20_26);
  const random = seededRandom(seed);
  const { size } = { size: readFileSync(join(made, 'store.mdb')).length };
  let refused = 0;
  let aside = 0;
  for (let round = 0; round < 120; round++) {
    const at = random.below(size);
    const directory = damaged((bytes) => flip(bytes, at));
    const where = `seed ${seed}, byte ${at}`;
    const findings = await verifyDirectory(directory);
    const opened = await openLmdbEngine({ dataDir: directory }).catch((error: Error) => error);
    if (opened instanceof Error) {
      refused++;
      expect(`${where}: ${opened.message}`).toMatch(/store file .* (is damaged|has the)|is not a store/);
      expect([where, findings.some(({ startsAnyway }) => !startsAnyway)]).toEqual([where, true]);
    } else {
      const { entries } = await opened.range({ prefix: 'core/configmaps/' });
      await opened.close();
      expect([where, entries.length]).toEqual([where, KEYS]);
      for (const [i, entry] of entries.entries()) {
        expect([where, entry.key]).toEqual([where, key(i)]);
        if (entry.unreadable === undefined) expect([where, entry.value.toString()]).toEqual([where, value(i)]);
        else aside++;
      }
    }
    if (findings.length > 0 && findings.every(({ kind }) => kind !== 'file' && kind !== 'page')) {
      const { lost, keptObjects } = await repairDirectory(directory, { label: 'x' });
      expect([where, keptObjects + lost.length]).toEqual([where, KEYS + 1]);
      expect([where, await verifyDirectory(directory)]).toEqual([where, []]);
    }
    rmSync(directory, { recursive: true });
  }
  expect(refused).toBeGreaterThan(0);
  expect(aside).toBeGreaterThan(0);
}, 120_000);

import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../../../../test/support/etcd.ts';
import { put, remove } from '../engine.suite.tools.ts';
import { Compacted, type Engine, type Operation } from '../engine.ts';
import { openEtcd } from '../engines/etcd.ts';
import { openLmdbEngine } from '../engines/lmdb.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import type { HistoryPolicy } from '../history.ts';
import { backupOf, inChunks } from './backup.testing.ts';
import { restoreDirectory } from './directory.ts';
import { fileChunks, writePrivateFile } from './file.ts';
import { BackupError } from './format.ts';
import { checkRestored, clearStore, restoreInto, SKIPPED_REVISIONS } from './restore.ts';

const clock = new FakeClock();
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
function closing<E extends Engine>(engine: E): E {
  cleanups.push(() => engine.close());
  return engine;
}

/** Some history: of it only the newest state is backed up. */
async function fill(engine: Engine): Promise<void> {
  await engine.commit([put('apps/deployments/a', '1'), put('core/pods/x', Buffer.alloc(900_000, 3))]);
  await engine.commit([put('core/pods/y', Buffer.alloc(900_000, 4))]);
  await engine.commit([put('apps/deployments/a', '2')]);
  await engine.commit([put('gone', '1')]);
  await engine.commit([remove('gone')]);
  await engine.commit([put('core/events/e', 'event', undefined, 3_600)]);
  for (let batch = 0; batch < 3; batch++)
    await engine.commit(Array.from({ length: 100 }, (_, index) => put(`k${batch}-${index}`, `${index}`)));
}
const contents = async (engine: Engine) =>
  (await engine.range({ prefix: '' })).entries.map(({ key, value }) => [key, value.toString('latin1')]);

describe('between engines', () => {
  let etcd: EtcdFixture | undefined;
  let prefixes = 0;
  beforeAll(async () => {
    if (etcdMissing === undefined) etcd = await startEtcd();
  });
  afterAll(() => etcd?.stop());
  const engines: Record<string, () => Promise<Engine>> = {
    memory: async () => openMemoryEngine({ clock }),
    lmdb: () => openLmdbEngine({ dataDir: temporaryDirectory('plat-restore'), clock }),
    etcd: () => openEtcd({ endpoints: [(etcd as EtcdFixture).endpoint], prefix: `/restore/${prefixes++}`, historyRetentionMs: 0 }),
  };
  for (const from of Object.keys(engines)) {
    for (const to of Object.keys(engines)) {
      const reason = from === 'etcd' || to === 'etcd' ? etcdMissing : undefined;
      test.skipIf(reason !== undefined)(
        `what was in ${from} is in ${to}, and revisions only grow${reason === undefined ? '' : ` (skipped: ${reason})`}`,
        async () => {
          const source = closing(await (engines[from] as () => Promise<Engine>)());
          await fill(source);
          const bytes = await backupOf(source);
          // Two engines on one etcd share its revision.
          const before = source.revision;
          const target = closing(await (engines[to] as () => Promise<Engine>)());
          const { revision, trailer } = await restoreInto(target, () => inChunks(bytes, 65_536), { clock, skipRevisions: 500 });
          expect(await contents(target)).toEqual(await contents(source));
          expect(trailer.entries).toBe(304);
          const { entries } = await target.range({ prefix: '', expiries: true });
          for (const entry of entries) expect(entry.revision).toBeGreaterThan(before + 500);
          expect(entries.filter(({ expires }) => expires !== undefined).map(({ key }) => key)).toEqual(['core/events/e']);
          // Whoever goes on from a revision of before the restore is told to list again.
          await expect(target.get('k0-0', before)).rejects.toThrow(Compacted);
          await expect(target.changes({ after: before + 499, prefix: '' })).rejects.toThrow(Compacted);
          expect((await target.commit([put('after', '1')])).revision).toBeGreaterThan(revision);
        },
      );
    }
  }
});

const HISTORY: HistoryPolicy = {
  ruleOf: (key) =>
    key.startsWith('never') ? undefined : { retentionMs: 3_600_000, values: !key.startsWith('secret'), mostBytesPerKey: 1_000_000 },
  mostBytes: 10_000_000,
};
const by = (name: string, operation: Operation): Operation => ({ ...operation, note: Buffer.from(name) }) as Operation;
/** `put a=1 by alice`, newest first, for versions up to a revision. */
const historyOf = async (engine: Engine, upTo: number): Promise<string[]> =>
  (await engine.history.versions({ prefix: '', before: upTo + 1, limit: 1_000 })).versions.map(
    ({ type, key, revision, created, time, value, note }) =>
      `${revision} ${created} ${time} ${type} ${key}=${value ?? '-'} by ${note ?? '-'}`,
  );

describe('history', () => {
  const engines: Record<string, () => Promise<Engine>> = {
    memory: async () => openMemoryEngine({ clock, history: HISTORY }),
    lmdb: () => openLmdbEngine({ dataDir: temporaryDirectory('plat-restore'), clock, history: HISTORY }),
  };
  for (const [from, openSource] of Object.entries(engines)) {
    for (const [to, openTarget] of Object.entries(engines)) {
      test(`of a store in ${from} goes into one in ${to} with its own revisions, times and notes`, async () => {
        const source = closing(await openSource());
        await source.commit([by('alice', put('a', '1')), by('alice', put('secret', 'one'))]);
        await source.commit([by('bob', put('a', '2')), by('bob', put('secret', 'two')), by('bob', put('never', '1'))]);
        await source.commit([by('carol', remove('secret')), put('b', '1'), by('carol', put('never', '2'))]);
        await source.compact(source.revision);
        await source.commit([by('dave', put('a', '3'))]);
        const expected = await historyOf(source, source.revision);
        expect(expected).toHaveLength(8);
        const bytes = await backupOf(source);
        const later = await source.commit([put('a', 'after the backup')]);
        const target = closing(await openTarget());
        const { trailer } = await restoreInto(target, () => inChunks(bytes, 1_000), { clock });
        expect(trailer).toMatchObject({ entries: 3, versions: 8 });
        expect((await historyOf(target, later.revision)).sort()).toEqual(expected.filter((line) => !line.includes('never')).sort());
        expect(await contents(target)).toEqual([
          ['a', '3'],
          ['b', '1'],
          ['never', '2'],
        ]);
        // A backup of the restored store has all of it again.
        const again = closing(await openTarget());
        const second = await backupOf(target);
        await restoreInto(again, () => inChunks(second), { clock });
        expect((await historyOf(again, later.revision)).sort()).toEqual((await historyOf(target, later.revision)).sort());
      });
    }
  }

  test('is in a restored directory whatever the rules, and a server applies its own', async () => {
    const source = closing(openMemoryEngine({ clock, history: HISTORY }));
    await source.commit([by('alice', put('a', '1')), by('alice', put('x', '1'))]);
    await source.commit([by('bob', put('a', '2')), by('bob', put('x', '2'))]);
    await source.compact(source.revision);
    const bytes = await backupOf(source);
    const dataDir = join(temporaryDirectory('plat-restore'), 'data');
    await restoreDirectory(() => inChunks(bytes), { dataDir, store: {}, force: false, clock });
    const ruleOf = (key: string) => (key === 'x' ? undefined : { retentionMs: 3_600_000, values: true, mostBytesPerKey: 1_000_000 });
    const opened = closing(await openLmdbEngine({ dataDir, clock, history: { id: 'server', ruleOf, mostBytes: 10_000_000 } }));
    const valuesOf = async (key: string) =>
      (await opened.history.versions({ prefix: key, exact: true, limit: 10 })).versions.map(({ value }) => value?.toString());
    await expect.poll(() => valuesOf('x')).toEqual(['2']);
    expect(await valuesOf('a')).toEqual(['2', '2', '1']);
  });
});

test('a revision that was given out after the backup is not given out again', async () => {
  const source = closing(openMemoryEngine({ clock }));
  await source.commit([put('a', '1')]);
  const bytes = await backupOf(source);
  for (let index = 0; index < 50; index++) await source.commit([put('a', `later ${index}`)]);
  const target = closing(openMemoryEngine({ clock }));
  await restoreInto(target, () => inChunks(bytes), { clock });
  expect((await target.get('a'))?.revision).toBeGreaterThan(source.revision + SKIPPED_REVISIONS / 2);
});

test('what has expired since the backup is not restored, and the rest of a time to live is kept', async () => {
  const time = new FakeClock();
  const source = closing(openMemoryEngine({ clock: time }));
  await source.commit([put('short', '1', undefined, 10), put('long', '1', undefined, 100)]);
  const bytes = await backupOf(source);
  await time.advance(20_000);
  const target = closing(openMemoryEngine({ clock: time }));
  expect(await restoreInto(target, () => inChunks(bytes), { clock: time })).toMatchObject({ expired: 1 });
  expect((await contents(target)).map(([key]) => key)).toEqual(['long']);
  await time.advance(79_000);
  expect(await contents(target)).toHaveLength(1);
  await time.advance(2_000);
  expect(await contents(target)).toHaveLength(0);
});

test('nothing is written for a backup that is damaged at its very end, nor into a store that is not empty', async () => {
  const source = closing(openMemoryEngine({ clock }));
  await fill(source);
  const bytes = await backupOf(source);
  const target = closing(openMemoryEngine({ clock }));
  const cut = bytes.subarray(0, bytes.length - 1);
  await expect(restoreInto(target, () => inChunks(cut), { clock })).rejects.toThrow(BackupError);
  expect([target.revision, await contents(target)]).toEqual([0, []]);
  await target.commit([put('mine', '1')]);
  await expect(restoreInto(target, () => inChunks(bytes), { clock })).rejects.toThrow(/not empty/);
  expect(await contents(target)).toEqual([['mine', '1']]);
});

test('an interrupted restore differs from a store, and can be restarted', async () => {
  const source = closing(openMemoryEngine({ clock }));
  await fill(source);
  const bytes = await backupOf(source);
  const target = closing(openMemoryEngine({ clock }));
  let commits = 0;
  const failing = new Proxy(target, {
    get(engine, name) {
      if (name === 'commit' && ++commits > 3) throw new Error('the power is gone');
      const value = Reflect.get(engine, name, engine) as unknown;
      return typeof value === 'function' ? value.bind(engine) : value;
    },
  });
  await expect(restoreInto(failing, () => inChunks(bytes), { clock })).rejects.toThrow('the power is gone');
  expect((await contents(target)).length).toBeGreaterThan(0);
  await expect(checkRestored(target)).rejects.toThrow(/was not finished/);
  await expect(restoreInto(target, () => inChunks(bytes), { clock })).rejects.toThrow(/was not finished/);
  await clearStore(target);
  await restoreInto(target, () => inChunks(bytes), { clock });
  await checkRestored(target);
  expect(await contents(target)).toEqual(await contents(source));
});

test('a file that changes after it was checked is not taken for the one that was', async () => {
  const [one, other] = [closing(openMemoryEngine({ clock })), closing(openMemoryEngine({ clock }))];
  await one.commit([put('a', '1')]);
  await other.commit([put('a', '2')]);
  const files = [await backupOf(one), await backupOf(other)];
  const target = closing(openMemoryEngine({ clock }));
  await expect(restoreInto(target, () => inChunks(files.shift() as Buffer), { clock })).rejects.toThrow(/changed while it was read/);
  await expect(checkRestored(target)).rejects.toThrow(BackupError);
});

describe('into a directory', () => {
  async function directoryWith(operations: readonly Operation[]): Promise<string> {
    const dataDir = temporaryDirectory('plat-restore');
    const engine = await openLmdbEngine({ dataDir });
    await engine.commit(operations);
    await engine.close();
    return dataDir;
  }
  async function readDirectory(dataDir: string) {
    const engine = await openLmdbEngine({ dataDir });
    try {
      return await contents(engine);
    } finally {
      await engine.close();
    }
  }
  async function aBackup(): Promise<Buffer> {
    const source = closing(openMemoryEngine({ clock }));
    await source.commit([put('a', 'restored')]);
    return backupOf(source);
  }

  test('a store that is there is kept unless it may be moved aside, and then it can still be opened', async () => {
    const bytes = await aBackup();
    const dataDir = await directoryWith([put('a', 'old')]);
    writeFileSync(join(dataDir, 'admin.conf'), 'mine');
    const options = { dataDir, store: {}, clock };
    await expect(restoreDirectory(() => inChunks(bytes), { ...options, force: false })).rejects.toThrow(
      /has a store: choose another directory, or .* --force/,
    );
    expect(await readDirectory(dataDir)).toEqual([['a', 'old']]);
    const { movedTo } = await restoreDirectory(() => inChunks(bytes), { ...options, force: true });
    expect(await readDirectory(dataDir)).toEqual([['a', 'restored']]);
    expect(await readDirectory(movedTo as string)).toEqual([['a', 'old']]);
    expect(existsSync(join(dataDir, 'admin.conf'))).toBe(true);
    expect(statSync(join(dataDir, 'store.mdb')).mode & 0o077).toBe(0);
  });

  test('a restore that fails leaves the directory as it was', async () => {
    const bytes = await aBackup();
    const empty = temporaryDirectory('plat-restore');
    const cut = bytes.subarray(0, bytes.length - 10);
    await expect(restoreDirectory(() => inChunks(cut), { dataDir: empty, store: {}, clock, force: false })).rejects.toThrow(BackupError);
    expect(readdirSync(empty)).toEqual([]);
    const dataDir = await directoryWith([put('a', 'old')]);
    await expect(restoreDirectory(() => inChunks(cut), { dataDir, store: {}, clock, force: true })).rejects.toThrow(BackupError);
    expect(await readDirectory(dataDir)).toEqual([['a', 'old']]);
  });

  test('a directory whose files were changing places is refused until that is done again', async () => {
    const bytes = await aBackup();
    const dataDir = await directoryWith([put('a', 'old')]);
    writeFileSync(join(dataDir, 'store.replacing'), '');
    await expect(openLmdbEngine({ dataDir })).rejects.toThrow(/was being replaced .* run `plat store restore --force` again/);
    await restoreDirectory(() => inChunks(bytes), { dataDir, store: {}, clock, force: true });
    expect(await readDirectory(dataDir)).toEqual([['a', 'restored']]);
  });

  test('a directory that a server uses is refused', async () => {
    const bytes = await aBackup();
    const dataDir = temporaryDirectory('plat-restore');
    closing(await openLmdbEngine({ dataDir }));
    await expect(restoreDirectory(() => inChunks(bytes), { dataDir, store: {}, clock, force: true })).rejects.toThrow(
      /in use by another server/,
    );
  });
});

describe('files', () => {
  test('a backup file is private, and what is there is not overwritten', async () => {
    const path = join(temporaryDirectory('plat-backup'), 'a.backup');
    expect(await writePrivateFile(path, inChunks(Buffer.from('abc'), 2))).toBe(3);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(writePrivateFile(path, inChunks(Buffer.from('other')))).rejects.toThrow(/not overwritten/);
    const read: Buffer[] = [];
    for await (const chunk of fileChunks(path)) read.push(chunk);
    expect(Buffer.concat(read).toString()).toBe('abc');
  });

  test('what fails leaves no file', async () => {
    const directory = temporaryDirectory('plat-backup');
    async function* failing(): AsyncGenerator<Buffer> {
      yield Buffer.from('abc');
      throw new Error('the server is gone');
    }
    await expect(writePrivateFile(join(directory, 'a.backup'), failing())).rejects.toThrow('the server is gone');
    expect(readdirSync(directory)).toEqual([]);
  });
});

/** What etcd does to history and history to etcd; what history is in general, engine.suite.kept.ts says. */
import { execFileSync } from 'node:child_process';
import { type Clock, systemClock } from '@plat-dev/lib/clock';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../../../../../test/support/etcd.ts';
import { bytes, put, record, remove } from '../../engine.suite.tools.ts';
import type { Engine, Operation } from '../../engine.ts';
import type { HistoryPolicy, HistoryRule, KeptVersion, VersionsRequest } from '../../history.ts';
import { openEtcd } from '../etcd.ts';
import { EtcdHistory, MOST_BEHIND } from './history.ts';
import type { RowSummary } from './history-rows.ts';
import { MOST_ROWS_OF_PAGE } from './history-scan.ts';
import type { EtcdOptions } from './options.ts';
import { shiftedClock } from './shifted-clock.testing.ts';

const DAY_MS = 24 * 3_600_000;
const DAY: HistoryRule = { retentionMs: DAY_MS, values: true, mostBytesPerKey: 4_000_000 };
const history: HistoryPolicy = { ruleOf: (key) => (key.startsWith('never/') ? undefined : DAY), mostBytes: 100_000_000 };

const by = (name: string, operation: Operation): Operation => ({ ...operation, note: bytes(name) }) as Operation;
const shown = ({ type, key, value, note }: KeptVersion): string =>
  `${type} ${key}${type === 'put' ? `=${value ?? '?'}` : ''}${note === undefined ? '' : ` by ${note}`}`;

async function versionsOf(engine: Pick<Engine, 'history'>, request: Partial<VersionsRequest>): Promise<KeptVersion[]> {
  const versions: KeptVersion[] = [];
  for (let before: number | undefined; ; ) {
    const page = await engine.history.versions({ prefix: '', limit: 100, ...request, ...(before !== undefined && { before }) });
    versions.push(...page.versions);
    if (page.next === undefined) return versions;
    expect(page.next).toBeLessThan(before ?? Number.POSITIVE_INFINITY);
    before = page.next;
  }
}
const linesOf = async (engine: Engine, prefix: string): Promise<string[]> => (await versionsOf(engine, { prefix })).map(shown);

describe.skipIf(etcdMissing !== undefined)(`history on etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdFixture;
  let count = 0;
  const engines: Engine[] = [];
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());
  afterEach(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.close()));
    count++;
  });
  async function open(options: Partial<EtcdOptions> = {}): Promise<Engine> {
    const engine = await openEtcd({ endpoints: [etcd.endpoint], prefix: `/history/${count}`, historyRetentionMs: 0, history, ...options });
    engines.push(engine);
    return engine;
  }
  const etcdctl = (endpoint: string, ...args: string[]): string =>
    execFileSync('etcdctl', ['--endpoints', endpoint, ...args], { env: { ...process.env, ETCDCTL_API: '3' }, encoding: 'utf8' });
  const rowCount = (endpoint: string, prefix: string): number =>
    etcdctl(endpoint, 'get', '--prefix', '--keys-only', `${prefix}+history/`).split('\n').filter(Boolean).length;

  test('history survives a compaction from outside, a crash of etcd and a restart of the server', async () => {
    const engine = await open();
    const { revision } = await engine.commit([by('alice', put('a', '1', 0))]);
    await engine.commit([by('bob', put('a', '2', revision))]);
    const last = await engine.commit([by('carol', remove('a', revision + 1))]);
    etcdctl(etcd.endpoint, 'compact', String(last.revision));
    etcdctl(etcd.endpoint, 'defrag');
    const expected = ['delete a by carol', 'put a=2 by bob', 'put a=1 by alice'];
    expect(await linesOf(engine, 'a')).toEqual(expected);
    await etcd.kill();
    await etcd.start();
    expect(await linesOf(await open(), 'a')).toEqual(expected);
  });

  test('a subscriber gets one change for each write, and reaches its revision with it', async () => {
    const engine = await open();
    const base = engine.revision;
    const [seen, other] = [record(engine, base), record(await open(), base)];
    const first = await engine.commit([put('a', '1', 0)]);
    const last = await engine.commit([remove('a', first.revision)]);
    expect(last.revision).toBe(base + 2);
    await Promise.all([seen.reached(last.revision), other.reached(last.revision)]);
    for (const { changes } of [seen, other]) expect(changes.map(({ type, key }) => `${type} ${key}`)).toEqual(['put a', 'delete a']);
  });

  test('a delete of an absent key has no history and uses no revision', async () => {
    const engine = await open();
    const { revision } = await engine.commit([put('a', '1')]);
    expect(await engine.commit([by('alice', remove('b')), by('alice', remove('c'))])).toEqual({ revision });
    expect(await engine.commit([by('alice', remove('b')), by('alice', remove('a'))])).toEqual({ revision: revision + 1 });
    expect(await linesOf(engine, '')).toEqual(['delete a by alice', 'put a=1']);
  });

  test('two servers write one history, in the order of revisions, as a watcher saw it', async () => {
    const servers = [await open(), await open()];
    const [watched] = servers as [Engine];
    const seen = record(watched, watched.revision);
    const write = async (engine: Engine, key: string, round: number): Promise<void> => {
      const entry = await engine.get(key);
      const expect = entry?.revision ?? 0;
      const operation = entry !== undefined && round % 5 === 4 ? remove(key, expect) : put(key, `${round}`, expect);
      await engine.commit([by(`${engine === watched}`, operation)]).catch(() => {});
    };
    await Promise.all(
      servers.map(async (engine) => {
        for (let round = 0; round < 60; round++) await Promise.all(['a', 'b', 'c'].map((key) => write(engine, key, round)));
      }),
    );
    await seen.reached(await watched.currentRevision());
    await watched.compact(watched.revision);
    const expected = seen.changes.map(({ type, key, revision, value, created }) => ({ type, key, revision, value, created })).reverse();
    for (const engine of servers) {
      const versions = await versionsOf(engine, { limit: 50 });
      expect(versions.map(({ type, key, revision, value, created }) => ({ type, key, revision, value, created }))).toEqual(expected);
      expect(new Set(versions.map(({ note }) => `${note}`))).toEqual(new Set(['true', 'false']));
    }
    const middle = expected[expected.length >> 1]?.revision as number;
    const stateThen = new Map<string, string>();
    for (const { type, key, revision, value } of seen.changes) {
      if (revision > middle) break;
      if (type === 'put') stateThen.set(key, `${value}`);
      else stateThen.delete(key);
    }
    const { versions } = await watched.history.at({ prefix: '', at: middle, limit: 10 });
    expect(versions.map(({ key, value }) => [key, `${value}`])).toEqual([...stateThen].sort());
  });

  test('a value that etcd takes once but not twice is written, and history has its note', async () => {
    const engine = await open();
    const large = Buffer.alloc(1_500_000, 'x');
    const { revision } = await engine.commit([by('alice', put('a', large, 0))]);
    expect((await versionsOf(engine, { prefix: 'a' })).map(({ value }) => value?.length)).toEqual([large.length]);
    await engine.commit([by('bob', put('a', '2', revision))]);
    await engine.compact(engine.revision);
    expect(await linesOf(engine, 'a')).toEqual(['put a=2 by bob', 'put a=? by alice']);
    const note = Buffer.alloc(2_000, 'n');
    const nearLimit = 1_572_864 - 200;
    await engine.commit([{ type: 'put', key: 'b', value: Buffer.alloc(nearLimit), expect: 0, note }]);
    expect((await engine.get('b'))?.value.length).toBe(nearLimit);
  });

  test('a commit of as many operations as etcd takes is written, with the history of those that fit', async () => {
    const engine = await open();
    const operations = (length: number): Operation[] => Array.from({ length }, (_, index) => put(`k${length}/${index}`, 'x'));
    for (const length of [42, 60, 128]) await engine.commit(operations(length));
    expect((await engine.range({ prefix: 'k128/' })).count).toBe(128);
    const kept = await Promise.all(['k42/', 'k60/', 'k128/'].map(async (prefix) => (await versionsOf(engine, { prefix })).length));
    expect(kept).toEqual([42, 34, 0]);
    const deletions = operations(42).map(({ key }) => remove(key));
    await engine.commit(deletions);
    expect(await versionsOf(engine, { prefix: 'k42/' })).toHaveLength(84);
  });

  test('keys that expire have no rows', async () => {
    const engine = await open();
    await engine.commit([put('event', '1', 0, 3_600)]);
    expect(rowCount(etcd.endpoint, `/history/${count}`)).toBe(0);
  });

  test('what a server without history wrote is served as long as etcd has it', async () => {
    const [keeping, forgetful] = [await open(), await open({ history: undefined } as never)];
    const { revision } = await forgetful.commit([by('alice', put('old', '1', 0)), put('older', '1', 0)]);
    expect((await keeping.history.versions({ prefix: 'old', exact: true, limit: 5 })).versions.map(shown)).toEqual(['put old=1']);
    const next = await keeping.commit([by('bob', put('old', '2', revision))]);
    const at = async (at: number): Promise<string[]> => (await keeping.history.at({ prefix: '', at, limit: 10 })).versions.map(shown);
    expect(await at(revision)).toEqual(['put old=1', 'put older=1']);
    await keeping.compact(next.revision);
    expect(await linesOf(keeping, 'old')).toEqual(['put old=2 by bob']);
    // Of the first version of `old` nothing is left.
    expect(await at(revision)).toEqual(['put older=1']);
    expect(await at(next.revision)).toEqual(['put old=2 by bob', 'put older=1']);
  });

  test('a long history of a prefix is read by pages, newest first, each commit whole', async () => {
    const engine = await open();
    const first = engine.revision;
    const revisions = MOST_ROWS_OF_PAGE + MOST_BEHIND;
    await engine.skipTo(first + revisions + 1);
    const versions = Array.from({ length: revisions }, (_, index): KeptVersion[] => {
      const revision = first + 1 + index;
      const version = { type: 'put', revision, created: revision, time: revision * 1_000, note: undefined, value: bytes('x') } as const;
      return [`a/${index % 100}`, `b/${index % 100}`].map((key) => ({ ...version, key }));
    });
    await engine.history.add(versions.flat());
    const newest = await engine.history.versions({ prefix: '', limit: 3 });
    expect(newest.versions.map(({ revision }) => revision - first)).toEqual([revisions, revisions, revisions - 1, revisions - 1]);
    expect(newest.next).toBe(first + revisions - 1);
    const read = await versionsOf(engine, { prefix: 'a/', limit: 2_500 });
    expect(read.map(({ revision }) => first + revisions - revision)).toEqual(Array.from({ length: revisions }, (_, index) => index));
    const rare = await versionsOf(engine, { prefix: 'a/7', exact: true, limit: 7 });
    expect(rare).toHaveLength(read.filter(({ key }) => key === 'a/7').length);
    for (const revision of [first + 1, first + 4_321, first + revisions]) {
      expect(await engine.history.revisionAt(revision * 1_000)).toBe(revision);
      expect(await engine.history.revisionAt(revision * 1_000 + 999)).toBe(revision);
    }
    expect(await engine.history.revisionAt(first * 1_000)).toBe(0);
    const keys: string[] = [];
    for (let from: string | undefined; ; ) {
      const page = await engine.history.at({ prefix: '', at: first + 150, limit: 40, ...(from !== undefined && { from }) });
      keys.push(...page.versions.map(({ key }) => key));
      if (page.next === undefined) break;
      from = page.next;
    }
    expect(keys).toEqual(['a', 'b'].flatMap((kind) => Array.from({ length: 100 }, (_, index) => `${kind}/${index}`)).sort());
  });

  test('a server that knew an old revision when it wrote is in its place, however long the history is', async () => {
    const [engine, late] = [await open(), await open()];
    const version = { type: 'put', revision: 1, created: 1, time: 1, note: undefined, value: undefined } as const;
    await engine.history.add(Array.from({ length: MOST_ROWS_OF_PAGE + 1 }, (_, index) => ({ ...version, key: `old/${index}` })));
    await late.commit([put('warm', 'up')]);
    const expected: string[] = [];
    const newestAtLate = late.revision;
    for (let index = 0; index < 50; index++) {
      await engine.commit([put(`k${index}`, '')]);
      expected.unshift(`k${index}`);
      if (index !== 40) continue;
      expect(late.revision).toBe(newestAtLate);
      await late.commit([put('late', '')]);
      expected.unshift('late');
    }
    const { versions } = await engine.history.versions({ prefix: '', limit: expected.length });
    expect(versions.map(({ key }) => key)).toEqual(expected);
  });

  test('versions of a backup may be added twice', async () => {
    const engine = await open();
    await engine.skipTo(engine.revision + 10);
    const version = { type: 'put', key: 'a', revision: 5, created: 4, time: 1, note: bytes('alice'), value: bytes('1') } as const;
    await engine.history.add([version]);
    await engine.history.add([version, { ...version, key: 'never/a' }]);
    expect(await versionsOf(engine, {})).toEqual([version]);
  });

  test('of two servers one sweeps, once an interval, and deletes what is over in one transaction', async () => {
    let now = Date.now();
    const waits = [0, 0];
    // Time stands still for them, though they wake up: the interval is never over.
    const sweepingClock = (server: number): Clock => ({
      ...systemClock,
      now: () => now,
      after: (...args) => {
        waits[server] = (waits[server] ?? 0) + 1;
        return systemClock.after(...args);
      },
    });
    const engine = await open({ clock: sweepingClock(2), historySweepMs: 3_600_000 });
    for (let index = 0; index < 20; index++) await engine.commit([put('a', `${index}`)]);
    const gone = await engine.commit([put('gone', '1')]);
    await engine.commit([remove('gone', gone.revision)]);
    now += 2 * DAY_MS;
    const recent = await engine.commit([put('a', 'last')]);
    const seen = record(engine, recent.revision);
    await Promise.all([0, 1].map((server) => open({ clock: sweepingClock(server), historySweepMs: 100 })));
    await expect.poll(() => Math.min(...waits.slice(0, 2)), { timeout: 30_000 }).toBeGreaterThan(4);
    expect(await linesOf(engine, '')).toEqual(['put a=last', 'put a=19']);
    expect(rowCount(etcd.endpoint, `/history/${count}`)).toBe(2 * 2);
    // The record is claimed, written with the deletions, and written at the end; subscribers pass all of it without a change.
    expect(await engine.currentRevision()).toBe(recent.revision + 3);
    await seen.reached(recent.revision + 3);
    expect(seen.changes).toEqual([]);
  });

  test('a store at rest is swept once, and left alone until something is due', async () => {
    const clock = shiftedClock();
    let waits = 0;
    const countingClock: Clock = {
      ...clock,
      after: (...args) => {
        waits++;
        return clock.after(...args);
      },
    };
    const engine = await open({ clock: countingClock, historySweepMs: 100 });
    for (const value of ['1', '2']) await engine.commit([put('a', value)]);
    const first = engine.revision;
    await expect.poll(() => engine.currentRevision(), { timeout: 30_000 }).toBeGreaterThan(first);
    // The first sweep may have begun before the last write.
    const waitsBefore = waits;
    await expect.poll(() => waits, { timeout: 30_000 }).toBeGreaterThan(waitsBefore + 3);
    const rest = await engine.currentRevision();
    await expect.poll(() => waits, { timeout: 30_000 }).toBeGreaterThan(waitsBefore + 8);
    expect(await engine.currentRevision()).toBe(rest);
    clock.shift(2 * DAY_MS);
    await expect.poll(() => linesOf(engine, 'a'), { timeout: 30_000 }).toEqual(['put a=2']);
  });

  test('a store that is full takes deletions, without history, and is swept', async () => {
    const full = await startEtcd({ flags: ['--quota-backend-bytes', '4000000'] });
    const clock = shiftedClock();
    try {
      const engine = await open({ endpoints: [full.endpoint], prefix: '/full', clock, historySweepMs: 400 });
      for (let index = 0; index < 5; index++) await engine.commit([put('a', `${index}`)]);
      const fill = async () => {
        for (let index = 0; index < 20; index++) await engine.commit([put(`large${index}`, Buffer.alloc(700_000))]);
      };
      await expect(fill()).rejects.toThrow(/used up its space/);
      const { revision } = (await engine.get('large0')) as { revision: number };
      await engine.commit([by('alice', remove('large0', revision))]);
      expect(await engine.get('large0')).toBeUndefined();
      await expect(engine.commit([remove('a', revision)])).rejects.toMatchObject({ name: 'CommitConflict' });
      clock.shift(2 * DAY_MS);
      await expect.poll(() => linesOf(engine, 'a'), { timeout: 30_000 }).toEqual(['put a=4']);
      await engine.close();
    } finally {
      await full.stop();
    }
  });
});

test('the changes of a prefix are in the order of revisions, though rows lie in the order of what their writers knew', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ gap: fc.integer({ min: 1, max: 3_000 }), behind: fc.integer({ min: 1, max: MOST_BEHIND }) }), {
        minLength: 1,
        maxLength: 60,
      }),
      fc.integer({ min: 1, max: 20 }),
      async (writes, limit) => {
        let revision = 0;
        const rows = writes.map(({ gap, behind }): RowSummary => {
          revision += gap;
          const base = Math.max(0, revision - behind);
          return { key: 'a', name: `${revision}`, base, time: 1, type: 'put', isNew: true, bytes: 1, revision };
        });
        const scan = {
          byKey: async () => ({ rows: [], more: true, nextStart: '' }),
          byBase: async (first: number, end: number) => rows.filter(({ base }) => base >= first && base < end),
          versions: async (wanted: readonly RowSummary[]) => wanted.map((row) => ({ ...row, created: 1, value: Buffer.alloc(0) })),
        };
        const store = new EtcdHistory({ scan, currentRevision: async () => revision, orThrow: (call: unknown) => call } as never);
        const read = await versionsOf({ history: store }, { limit });
        expect(read.map((version) => version.revision)).toEqual(rows.map((row) => row.revision).reverse());
      },
    ),
  );
});

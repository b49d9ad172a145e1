/** The part of the behaviour suite about history: versions that outlast compaction (`history.ts`). */
import { expect } from 'vitest';
import { bytes, type EngineFixture, put, remove, type Scenario } from './engine.suite.tools.ts';
import { Compacted, type Engine, type Operation } from './engine.ts';
import type { HistoryPolicy, HistoryRule, KeptVersion, VersionsRequest } from './history.ts';

const DAY_MS = 24 * 3_600_000;
const LONG: HistoryRule = { retentionMs: DAY_MS, values: true, mostBytesPerKey: 1_000_000 };
/** Keeps all but the keys of `short/`, `never/` and `secret/`. */
const policy: HistoryPolicy = {
  ruleOf(key) {
    if (key.startsWith('never/')) return undefined;
    if (key.startsWith('short/')) return { ...LONG, retentionMs: 2_000 };
    return key.startsWith('secret/') ? { ...LONG, values: false } : LONG;
  },
  mostBytes: 10_000_000,
};
const kept = { history: policy };

const by = (name: string, operation: Operation): Operation => ({ ...operation, note: bytes(name) }) as Operation;
/** `put a=1 (1, alice)`. */
function line({ type, key, revision, note, value }: KeptVersion, base: number): string {
  const shownValue = type === 'put' ? `=${value?.toString() ?? '?'}` : '';
  return `${type} ${key}${shownValue} (${revision - base}${note === undefined ? '' : `, ${note}`})`;
}
async function linesOf(engine: Engine, request: Partial<VersionsRequest>, base: number): Promise<string[]> {
  return (await allVersions(engine, request)).map((version) => line(version, base));
}
/** All pages. */
async function allVersions({ history }: Engine, request: Partial<VersionsRequest>): Promise<KeptVersion[]> {
  const versions: KeptVersion[] = [];
  for (let before: number | undefined; ; ) {
    const page = await history.versions({ prefix: '', limit: 100, ...request, ...(before !== undefined && { before }) });
    versions.push(...page.versions);
    if (page.next === undefined) return versions;
    expect(page.next).toBeLessThan(before ?? Number.POSITIVE_INFINITY);
    before = page.next;
  }
}
async function linesAt({ history }: Engine, at: number, base: number, limit = 100, prefix = ''): Promise<string[]> {
  const versions: KeptVersion[] = [];
  for (let from: string | undefined; ; ) {
    const page = await history.at({ prefix, at, limit, ...(from !== undefined && { from }) });
    expect(page.versions.length).toBeLessThanOrEqual(limit);
    versions.push(...page.versions);
    if (page.next === undefined) return versions.map((version) => line(version, base));
    from = page.next;
  }
}
/** Lets time pass, so that what is written next is later. */
async function pass({ advance }: EngineFixture, milliseconds: number): Promise<void> {
  await (advance?.(milliseconds) ?? new Promise((resolve) => setTimeout(resolve, milliseconds)));
}
const compactAll = (engine: Engine): Promise<void> => engine.compact(engine.revision);

export function keptSuite(scenario: Scenario): void {
  versionsSuite((title, run, options = kept) => scenario(title, run, options));
  atSuite((title, run, options = kept) => scenario(title, run, options));
  policySuite((title, run, options = kept) => scenario(title, run, options));
  addSuite((title, run, options = kept) => scenario(title, run, options));
}

function versionsSuite(scenario: Scenario): void {
  scenario('history: the worked example of the contract', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([by('alice', put('a', '1'))]);
    await engine.commit([by('bob', put('a', '2', base + 1))]);
    await engine.commit([by('bob', remove('a', base + 2))]);
    await engine.compact(base + 3);
    await expect(engine.get('a', base + 1)).rejects.toThrow(Compacted);
    const first = await engine.history.versions({ prefix: 'a', limit: 2 });
    expect(first.versions.map((version) => line(version, base))).toEqual(['delete a (3, bob)', 'put a=2 (2, bob)']);
    expect(first.next).toBe(base + 2);
    const second = await engine.history.versions({ prefix: 'a', before: base + 2, limit: 2 });
    expect(second.versions.map((version) => line(version, base))).toEqual(['put a=1 (1, alice)']);
    expect(await linesAt(engine, base + 2, base)).toEqual(['put a=2 (2, bob)']);
  });

  scenario('versions are what was written, before and after compaction and a restart', async (fixture) => {
    const { engine } = fixture;
    const base = engine.revision;
    await engine.commit([by('alice', put('a', '1')), by('alice', put('b', '1'))]);
    await engine.commit([put('a', '2')]);
    await engine.commit([by('carol', remove('a')), put('c', '1')]);
    await engine.commit([by('dave', put('a', '3', 0))]);
    await engine.commit([by('dave', put('a', '4'))]);
    const expected = await allVersions(engine, { prefix: 'a', exact: true });
    expect(expected.map((version) => line(version, base))).toEqual([
      'put a=4 (5, dave)',
      'put a=3 (4, dave)',
      'delete a (3, carol)',
      'put a=2 (2)',
      'put a=1 (1, alice)',
    ]);
    expect(expected.map(({ created }) => created - base)).toEqual([4, 4, 1, 1, 1]);
    for (const { time } of expected) expect(time).toBeGreaterThan(0);
    await engine.compact(base + 3);
    expect(await allVersions(engine, { prefix: 'a', exact: true })).toEqual(expected);
    await compactAll(engine);
    expect(await allVersions(engine, { prefix: 'a', exact: true })).toEqual(expected);
    const reopened = (await fixture.reopen?.()) ?? engine;
    expect(await allVersions(reopened, { prefix: 'a', exact: true })).toEqual(expected);
    expect(await reopened.get('a')).toEqual({ key: 'a', value: bytes('4'), revision: base + 5, created: base + 4 });
    expect(await linesOf(reopened, { prefix: 'b' }, base)).toEqual(['put b=1 (1, alice)']);
  });

  scenario('versions of a prefix come newest first, and a limit never cuts a commit in two', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([put('p/a', '1'), put('p/b', '1'), put('q', '1')]);
    await engine.commit([put('p/a', '2')]);
    await engine.commit([put('p/b', '2'), remove('p/a'), put('q', '2')]);
    await engine.commit([put('q', '3')]);
    await compactAll(engine);
    for (const limit of [1, 2, 3, 100]) {
      const versions = await allVersions(engine, { prefix: 'p/', limit });
      expect(versions.map(({ revision }) => revision - base)).toEqual([3, 3, 2, 1, 1]);
      expect(versions.map((version) => line(version, base)).sort()).toEqual([
        'delete p/a (3)',
        'put p/a=1 (1)',
        'put p/a=2 (2)',
        'put p/b=1 (1)',
        'put p/b=2 (3)',
      ]);
    }
    const [page] = [await engine.history.versions({ prefix: 'p/', before: base + 4, limit: 1 })];
    expect(page.versions.every(({ revision }) => revision === base + 3)).toBe(true);
  });

  scenario('the history of one key is not that of keys that begin with it', async ({ engine }) => {
    const base = engine.revision;
    for (const key of ['a', 'a/1', 'ab', 'a!']) await engine.commit([put(key, '1')]);
    for (const key of ['a', 'a/1', 'ab', 'a!']) await engine.commit([put(key, '2')]);
    await compactAll(engine);
    expect(await linesOf(engine, { prefix: 'a', exact: true }, base)).toEqual(['put a=2 (5)', 'put a=1 (1)']);
    expect(await linesOf(engine, { prefix: 'a', limit: 3 }, base)).toHaveLength(8);
    expect(await linesOf(engine, { prefix: 'none', exact: true }, base)).toEqual([]);
  });

  scenario('many versions of a key and of many keys are read by pages', async ({ engine }) => {
    const commits: number[] = [];
    for (let index = 1; index <= 60; index++)
      commits.unshift((await engine.commit([put(`k${index % 3}`, `${index}`), put(`once/${index}`, '')])).revision);
    await compactAll(engine);
    const versions = await allVersions(engine, { prefix: 'k1', exact: true, limit: 7 });
    expect(versions.map(({ value }) => Number(value))).toEqual(Array.from({ length: 20 }, (_, index) => 58 - 3 * index));
    expect((await allVersions(engine, { limit: 7 })).map(({ revision }) => revision)).toEqual(commits.flatMap((one) => [one, one]));
  });
}

function atSuite(scenario: Scenario): void {
  scenario('the state at a revision is read after its compaction', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([put('a', '1'), put('b', '1')]);
    await engine.commit([remove('a'), put('c', '1')]);
    await engine.commit([put('a', '2'), put('b', '2')]);
    await engine.commit([remove('b'), remove('c')]);
    await compactAll(engine);
    for (const limit of [1, 2, 100]) {
      expect(await linesAt(engine, base, base, limit)).toEqual([]);
      expect(await linesAt(engine, base + 1, base, limit)).toEqual(['put a=1 (1)', 'put b=1 (1)']);
      expect(await linesAt(engine, base + 2, base, limit)).toEqual(['put b=1 (1)', 'put c=1 (2)']);
      expect(await linesAt(engine, base + 3, base, limit)).toEqual(['put a=2 (3)', 'put b=2 (3)', 'put c=1 (2)']);
      expect(await linesAt(engine, base + 4, base, limit)).toEqual(['put a=2 (3)']);
    }
    expect(await linesAt(engine, base + 3, base, 100, 'b')).toEqual(['put b=2 (3)']);
    const { versions } = await engine.history.at({ prefix: '', from: 'b', at: base + 3, limit: 100 });
    expect(versions.map(({ key }) => key)).toEqual(['b', 'c']);
  });

  scenario('the revision of a time is the newest that was written by then', async (fixture) => {
    const { engine } = fixture;
    const base = engine.revision;
    await pass(fixture, 20);
    for (const value of ['1', '2', '3']) {
      await engine.commit([put('a', value)]);
      await pass(fixture, 20);
    }
    await compactAll(engine);
    const [third, second, first] = (await allVersions(engine, { prefix: 'a' })).map(({ time }) => time) as [number, number, number];
    expect(await engine.history.revisionAt(third + 1_000)).toBeGreaterThanOrEqual(base + 3);
    expect(await engine.history.revisionAt(third)).toBe(base + 3);
    expect(await engine.history.revisionAt(third - 1)).toBe(base + 2);
    expect(await engine.history.revisionAt(second)).toBe(base + 2);
    expect(await engine.history.revisionAt(first)).toBe(base + 1);
    expect(await engine.history.revisionAt(first - 3_600_000)).toBe(0);
  });
}

function policySuite(scenario: Scenario): void {
  scenario(
    'without a policy nothing outlasts compaction',
    async ({ engine, hasSeparateHistory = false }) => {
      const base = engine.revision;
      await engine.commit([by('alice', put('a', '1'))]);
      await engine.commit([by('alice', put('a', '2')), put('b', '1')]);
      await engine.commit([remove('b')]);
      if (!hasSeparateHistory) expect(await linesOf(engine, { prefix: 'a' }, base)).toEqual(['put a=2 (2, alice)', 'put a=1 (1, alice)']);
      await compactAll(engine);
      const present = hasSeparateHistory ? 'put a=2 (2)' : 'put a=2 (2, alice)';
      expect(await linesOf(engine, { prefix: 'a', exact: true }, base)).toEqual([present]);
      expect(await linesOf(engine, { prefix: 'b' }, base)).toEqual([]);
    },
    {},
  );

  scenario('keys without a rule have only what is not compacted', async ({ engine, hasSeparateHistory = false }) => {
    const base = engine.revision;
    await engine.commit([put('never/a', '1'), put('always/a', '1')]);
    await engine.commit([put('never/a', '2'), put('always/a', '2')]);
    await engine.commit([remove('never/a'), remove('always/a')]);
    const readable = hasSeparateHistory ? [] : ['delete never/a (3)', 'put never/a=2 (2)', 'put never/a=1 (1)'];
    expect(await linesOf(engine, { prefix: 'never/' }, base)).toEqual(readable);
    await compactAll(engine);
    expect(await linesOf(engine, { prefix: 'never/' }, base)).toEqual([]);
    expect(await linesOf(engine, { prefix: 'always/' }, base)).toEqual(['delete always/a (3)', 'put always/a=2 (2)', 'put always/a=1 (1)']);
  });

  scenario('without values only notes outlast compaction', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([by('alice', put('secret/a', 'one'))]);
    await engine.commit([by('bob', put('secret/a', 'two'))]);
    await engine.commit([by('carol', put('secret/a', 'three'))]);
    await compactAll(engine);
    expect(await linesOf(engine, { prefix: 'secret/a', exact: true }, base)).toEqual([
      'put secret/a=three (3, carol)',
      'put secret/a=? (2, bob)',
      'put secret/a=? (1, alice)',
    ]);
    expect(await linesAt(engine, base + 2, base)).toEqual(['put secret/a=? (2, bob)']);
    expect((await engine.get('secret/a'))?.value.toString()).toBe('three');
  });

  scenario('a version is kept for its time from when it was superseded, by the rule of its key', async (fixture) => {
    const { engine } = fixture;
    const base = engine.revision;
    await engine.commit([put('short/a', '1'), put('short/gone', '1'), put('long', '1')]);
    await pass(fixture, 3_000);
    // The engine itself may have used revisions meanwhile.
    const later = (await engine.commit([put('short/a', '2'), remove('short/gone'), put('long', '2')])).revision - base;
    await compactAll(engine);
    const oldVersions = [`delete short/gone (${later})`, 'put short/a=1 (1)', `put short/a=2 (${later})`, 'put short/gone=1 (1)'];
    expect((await linesOf(engine, { prefix: 'short/' }, base)).sort()).toEqual(oldVersions);
    await pass(fixture, 15_000);
    await expect.poll(() => linesOf(engine, { prefix: 'short/' }, base), { timeout: 20_000 }).toEqual([`put short/a=2 (${later})`]);
    expect(await linesOf(engine, { prefix: 'long' }, base)).toEqual([`put long=2 (${later})`, 'put long=1 (1)']);
    expect((await engine.get('short/a'))?.value.toString()).toBe('2');
  });

  scenario(
    'too many bytes of all: the oldest go first, current values never',
    async (fixture) => {
      const { engine } = fixture;
      for (let index = 0; index < 100; index++) await engine.commit([put(`k${index % 10}`, `${index} `.padEnd(1_000, 'x'))]);
      await compactAll(engine);
      await pass(fixture, 15_000);
      await expect.poll(async () => (await allVersions(engine, {})).length, { timeout: 20_000 }).toBeLessThanOrEqual(10 + 20);
      const values = (await allVersions(engine, {})).map(({ value }) => Number(value?.toString().split(' ')[0]));
      expect(values.length).toBeGreaterThanOrEqual(10 + 10);
      expect(values).toEqual(Array.from({ length: values.length }, (_, index) => 99 - index));
      expect((await engine.range({ prefix: '' })).count).toBe(10);
    },
    { history: { ruleOf: () => LONG, mostBytes: 20_000 } },
  );

  scenario(
    'too many bytes of a key: its oldest go first, and no others',
    async (fixture) => {
      const { engine } = fixture;
      await engine.commit([put('other', '1')]);
      await engine.commit([put('other', '2')]);
      for (let index = 0; index < 100; index++) await engine.commit([put('a', `${index} `.padEnd(1_000, 'x'))]);
      await compactAll(engine);
      await pass(fixture, 15_000);
      const versionsOfKey = () => allVersions(engine, { prefix: 'a', exact: true });
      await expect.poll(async () => (await versionsOfKey()).length, { timeout: 20_000 }).toBeLessThanOrEqual(1 + 20);
      const values = (await versionsOfKey()).map(({ value }) => Number(value?.toString().split(' ')[0]));
      expect(values.length).toBeGreaterThanOrEqual(1 + 10);
      expect(values).toEqual(Array.from({ length: values.length }, (_, index) => 99 - index));
      expect(await allVersions(engine, { prefix: 'other' })).toHaveLength(2);
    },
    { history: { ruleOf: () => ({ ...LONG, mostBytesPerKey: 20_000 }), mostBytes: 10_000_000 } },
  );

  scenario('a key that expires is deleted without a note', async (fixture) => {
    const { engine } = fixture;
    const base = engine.revision;
    await engine.commit([by('alice', put('a', '1', undefined, 1))]);
    await pass(fixture, 1_000);
    await expect.poll(() => engine.get('a'), { timeout: 20_000 }).toBeUndefined();
    await compactAll(engine);
    const lines = (await linesOf(engine, { prefix: 'a' }, base)).map((text) => text.replace(/\d+\)/, 'later)'));
    expect(lines).toEqual(fixture.hasSeparateHistory === true ? [] : ['delete a (later)', 'put a=1 (1, alice)']);
  });

  scenario('history does not change what compaction means', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([put('a', '1'), put('b', '1')]);
    await engine.commit([put('a', '2'), remove('b')]);
    await engine.commit([put('a', '3')]);
    await engine.compact(base + 2);
    await expect(engine.get('a', base + 1)).rejects.toMatchObject({ name: 'Compacted', oldest: base + 2 });
    await expect(engine.changes({ after: base + 1, prefix: '' })).rejects.toThrow(Compacted);
    expect((await engine.range({ prefix: '', at: base + 2 })).entries.map(({ key, value }) => `${key}=${value}`)).toEqual(['a=2']);
    expect((await engine.changes({ after: base + 2, prefix: '' })).map(({ key, revision }) => [key, revision - base])).toEqual([['a', 3]]);
    const again = (await engine.commit([put('b', '2', 0)])).revision;
    expect(await engine.get('b')).toMatchObject({ revision: again, created: again });
  });
}

const version = (text: string, revision: number, created: number, time: number): KeptVersion => {
  const [type, key, value] = text.split(' ') as ['put' | 'delete', string, string | undefined];
  return { type, key, revision, created, time, note: bytes(`note ${revision}`), value: value === undefined ? undefined : bytes(value) };
};

function addSuite(scenario: Scenario): void {
  scenario('versions of a backup become history, and nothing of them is current', async (fixture) => {
    const { engine } = fixture;
    const before = (await engine.commit([put('own', '1')])).revision;
    await pass(fixture, 10);
    const now = (await allVersions(engine, { prefix: 'own' }))[0]?.time as number;
    await engine.skipTo(before + 100);
    const [first, second, third] = [before + 10, before + 20, before + 30];
    // In any order, in any number of calls.
    await engine.history.add([version('put a 3', third, first, now), version('delete b', third, first, now)]);
    await engine.history.add([version('put a 1', first, first, now), version('put b 1', first, first, now)]);
    await engine.history.add([version('put a 2', second, first, now), version('put never/a 1', second, second, now)]);
    expect(await engine.get('a')).toBeUndefined();
    expect((await engine.range({ prefix: '' })).entries.map(({ key }) => key)).toEqual(['own']);
    const { revision } = await engine.commit([put('a', '3', 0)]);
    expect(await engine.get('a')).toMatchObject({ revision, created: revision });
    const reopened = (await fixture.reopen?.()) ?? engine;
    expect((await allVersions(reopened, { prefix: 'a', exact: true })).map((one) => line(one, before))).toEqual([
      `put a=3 (${revision - before})`,
      `put a=3 (30, note ${third})`,
      `put a=2 (20, note ${second})`,
      `put a=1 (10, note ${first})`,
    ]);
    expect((await allVersions(reopened, { prefix: 'b' })).map((one) => line(one, before))).toEqual([
      `delete b (30, note ${third})`,
      `put b=1 (10, note ${first})`,
    ]);
    expect(await linesAt(reopened, second, before)).toEqual([
      `put a=2 (20, note ${second})`,
      `put b=1 (10, note ${first})`,
      'put own=1 (0)',
    ]);
    expect(await allVersions(reopened, { prefix: 'never/' })).toEqual([]);
    expect((await reopened.get('a'))?.revision).toBe(revision);
  });

  scenario('versions of a backup are dropped by their rules as others are', async (fixture) => {
    const { engine } = fixture;
    const before = (await engine.commit([put('own', '1')])).revision;
    const now = (await allVersions(engine, { prefix: 'own' }))[0]?.time as number;
    await engine.skipTo(before + 100);
    await engine.history.add([
      version('put short/a 1', before + 1, before + 1, now),
      version('put short/a 2', before + 2, before + 1, now),
      version('put long/a 1', before + 1, before + 1, now),
      version('put long/a 2', before + 2, before + 1, now),
    ]);
    await engine.commit([put('short/a', '3'), put('long/a', '3')]);
    await compactAll(engine);
    await pass(fixture, 15_000);
    const valuesOf = async (key: string) => (await allVersions(engine, { prefix: key })).map(({ value }) => value?.toString());
    await expect.poll(() => valuesOf('short/a'), { timeout: 20_000 }).toEqual(['3']);
    expect(await valuesOf('long/a')).toEqual(['3', '2', '1']);
  });
}

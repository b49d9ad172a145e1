/**
 * What every engine must do, as scripts of behaviour: `engineSuite('memory', open)` in the test file of each engine.
 * Nothing here assumes that revisions start at 0, since a store may have a past.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { backupSuite } from './engine.suite.backup.ts';
import { historySuite } from './engine.suite.history.ts';
import { keptSuite } from './engine.suite.kept.ts';
import { randomKeptVersions } from './engine.suite.random.kept.ts';
import { randomHistories } from './engine.suite.random.ts';
import {
  bytes,
  check,
  type EngineFixture,
  keysOf,
  pairsOf,
  put,
  remove,
  type Scenario,
  type ScenarioTest,
  type SuiteOptions,
  text,
} from './engine.suite.tools.ts';
import { CommitConflict, FutureRevision, StoreUnavailable } from './engine.ts';

export type { EngineFixture } from './engine.suite.tools.ts';

export function engineSuite(name: string, open: (options: SuiteOptions) => Promise<EngineFixture>): void {
  describe(`engine ${name}`, () => {
    let opened: EngineFixture | undefined;
    afterEach(async () => {
      await opened?.engine.close();
      await opened?.dispose?.();
      opened = undefined;
    });
    const scenario: Scenario = (title: string, run: ScenarioTest, options: SuiteOptions = {}) =>
      test(title, async (context) => {
        opened = await open(options);
        await run(opened, context);
      });
    readSuite(scenario);
    commitSuite(scenario);
    historySuite(scenario);
    backupSuite(scenario);
    lifeSuite(scenario);
    randomHistories(scenario);
    keptSuite(scenario);
    randomKeptVersions(scenario);
  });
}

function readSuite(scenario: Scenario): void {
  scenario('an empty store has nothing to read', async ({ engine }) => {
    expect(await engine.get('a')).toBeUndefined();
    expect(await engine.range({ prefix: '' })).toEqual({ entries: [], revision: engine.revision, more: false, count: 0 });
    expect(await engine.changes({ after: engine.revision, prefix: '' })).toEqual([]);
  });

  scenario('a value is read back with its revision and the revision of its creation', async ({ engine }) => {
    const first = (await engine.commit([put('a', 'one')])).revision;
    const second = (await engine.commit([put('a', 'two')])).revision;
    expect(second).toBe(first + 1);
    expect(engine.revision).toBe(second);
    expect(await engine.currentRevision()).toBe(second);
    expect(await engine.get('a')).toEqual({ key: 'a', value: bytes('two'), revision: second, created: first });
    expect(await engine.get('a', first)).toEqual({ key: 'a', value: bytes('one'), revision: first, created: first });
    expect(await engine.get('a', first - 1)).toBeUndefined();
  });

  scenario('a key that was deleted and created again has a new creation', async ({ engine }) => {
    await engine.commit([put('a', '1')]);
    const gone = (await engine.commit([remove('a')])).revision;
    expect(await engine.get('a')).toBeUndefined();
    const again = (await engine.commit([put('a', '2')])).revision;
    expect(await engine.get('a')).toEqual({ key: 'a', value: bytes('2'), revision: again, created: again });
    expect(text(await engine.get('a', gone - 1))).toBe('1');
    expect(await engine.get('a', gone)).toBeUndefined();
  });

  scenario('the worked example of the contract', async ({ engine }) => {
    const base = engine.revision;
    expect(await engine.commit([put('a', '1')])).toEqual({ revision: base + 1 });
    expect(await engine.commit([put('b', '1'), put('c', '1')])).toEqual({ revision: base + 2 });
    expect(await engine.commit([remove('a', base + 1)])).toEqual({ revision: base + 3 });
    await expect(engine.commit([put('b', '2', base + 1)])).rejects.toThrow(CommitConflict);
    expect(engine.revision).toBe(base + 3);
    expect(text(await engine.get('a', base + 2))).toBe('1');
    expect(await engine.get('a')).toBeUndefined();
    expect(keysOf(await engine.range({ prefix: '', at: base + 2 }))).toEqual(['a', 'b', 'c']);
    expect(keysOf(await engine.range({ prefix: '' }))).toEqual(['b', 'c']);
    expect(pairsOf(await engine.changes({ after: base + 1, prefix: '' }))).toEqual([
      ['put', 'b', base + 2],
      ['put', 'c', base + 2],
      ['delete', 'a', base + 3],
    ]);
  });

  scenario('keys are ordered by bytes, and a prefix is not a path', async ({ engine }) => {
    const keys = ['/a', '/a-b', '/a.b', '/a/', '/a/1', '/a/10', '/a/2', '/a0', '/aB', '/a_', '/ab', '/b', '0', '~'];
    for (const key of [...keys].reverse()) await engine.commit([put(key, key)]);
    expect(keysOf(await engine.range({ prefix: '' }))).toEqual(keys);
    expect(keysOf(await engine.range({ prefix: '/a/' }))).toEqual(['/a/', '/a/1', '/a/10', '/a/2']);
    expect(keysOf(await engine.range({ prefix: '/a' }))).toEqual(keys.slice(0, 11));
    expect(keysOf(await engine.range({ prefix: '/c' }))).toEqual([]);
    expect(keysOf(await engine.range({ prefix: '~' }))).toEqual(['~']);
  });

  scenario('a range goes on where a limit ended it', async ({ engine }) => {
    await engine.commit([put('p/0', 'x'), put('q/0', 'x'), ...['1', '2', '3', '4', '5'].map((name) => put(`p/${name}`, name))]);
    const { revision } = await engine.commit([put('p/3', 'changed'), remove('p/0')]);
    const first = await engine.range({ prefix: 'p/', limit: 2 });
    expect([keysOf(first), first.more, first.count, first.revision]).toEqual([['p/1', 'p/2'], true, 5, revision]);
    // The smallest key after another one is that key with a zero byte.
    const second = await engine.range({ prefix: 'p/', from: 'p/2\0', limit: 2 });
    expect([keysOf(second), second.more, second.count]).toEqual([['p/3', 'p/4'], true, 3]);
    const last = await engine.range({ prefix: 'p/', from: 'p/5', limit: 1 });
    expect([keysOf(last), last.more, last.count]).toEqual([['p/5'], false, 1]);
    expect(keysOf(await engine.range({ prefix: 'p/', from: 'p/5\0' }))).toEqual([]);
    await expect(engine.range({ prefix: 'p/', from: 'o' })).rejects.toThrow(RangeError);
    await expect(engine.range({ prefix: 'p/', from: 'q' })).rejects.toThrow(RangeError);
  });

  scenario('who wants no count reads the same entries', async ({ engine }) => {
    await engine.commit(['0', '1', '2', '3', '4', '5'].map((name) => put(`p/${name}`, name)));
    await engine.commit([remove('p/2'), remove('p/5'), put('q', 'x')]);
    for (const limit of [1, 2, 3, 4, 5]) {
      for (const from of ['p/', 'p/1\0', 'p/4']) {
        const { entries, more, revision } = await engine.range({ prefix: 'p/', from, limit });
        expect(await engine.range({ prefix: 'p/', from, limit, uncounted: true })).toMatchObject({ entries, more, revision });
      }
    }
  });

  scenario('pages of one revision stay whole while others write', async ({ engine }) => {
    const { revision } = await engine.commit(['1', '2', '3', '4'].map((name) => put(`p/${name}`, name)));
    const first = await engine.range({ prefix: 'p/', limit: 2, at: revision });
    await engine.commit([put('p/2a', 'new'), remove('p/3'), put('p/4', 'changed')]);
    const rest = await engine.range({ prefix: 'p/', from: 'p/2\0', limit: 2, at: revision });
    expect(first.entries.concat(rest.entries).map((entry) => [entry.key, text(entry)])).toEqual([
      ['p/1', '1'],
      ['p/2', '2'],
      ['p/3', '3'],
      ['p/4', '4'],
    ]);
    expect([rest.more, rest.count, rest.revision]).toEqual([false, 2, revision]);
  });

  scenario('a revision of the future cannot be read', async ({ engine }) => {
    const { revision } = await engine.commit([put('a', '1')]);
    await expect(engine.get('a', revision + 1)).rejects.toThrow(FutureRevision);
    await expect(engine.range({ prefix: '', at: revision + 1 })).rejects.toThrow(FutureRevision);
    await expect(engine.changes({ after: revision + 1, prefix: '' })).rejects.toThrow(FutureRevision);
    await expect(engine.compact(revision + 1)).rejects.toMatchObject({ name: 'FutureRevision', current: revision });
  });

  scenario('values are bytes: empty, binary and large', async ({ engine }) => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const large = Buffer.alloc(1_500_000, 'large values are kept whole; ');
    const { revision } = await engine.commit([put('empty', Buffer.alloc(0)), put('all', all), put('large', large)]);
    expect((await engine.get('empty'))?.value).toEqual(Buffer.alloc(0));
    expect((await engine.get('all'))?.value.equals(all)).toBe(true);
    expect((await engine.get('large'))?.value.equals(large)).toBe(true);
    const changes = await engine.changes({ after: revision - 1, prefix: 'l' });
    expect(changes[0]?.value?.equals(large)).toBe(true);
    expect((await engine.range({ prefix: 'l' })).entries[0]?.value.equals(large)).toBe(true);
  });

  scenario('many keys', async ({ engine }) => {
    const keys = Array.from({ length: 3_000 }, (_, index) => `many/${String(index).padStart(6, '0')}`);
    for (let index = 0; index < keys.length; index += 100) {
      await Promise.all(keys.slice(index, index + 100).map((key) => engine.commit([put(key, key)])));
    }
    const all = await engine.range({ prefix: 'many/' });
    expect(keysOf(all)).toEqual(keys);
    expect(all.entries.every((entry) => text(entry) === entry.key)).toBe(true);
    const page = await engine.range({ prefix: 'many/', from: keys[2_000] as string, limit: 10 });
    expect([keysOf(page), page.count, page.more]).toEqual([keys.slice(2_000, 2_010), 1_000, true]);
  });

  scenario('a value that was read stays as it was', async ({ engine }) => {
    await engine.commit([put('a', 'first'), put('b', 'first')]);
    const got = await engine.get('a');
    const ranged = await engine.range({ prefix: '' });
    for (let round = 0; round < 50; round++) await engine.commit([put('a', `round ${round}`), put('b', `round ${round}`)]);
    await engine.get('b');
    expect(text(got)).toBe('first');
    expect(ranged.entries.map(text)).toEqual(['first', 'first']);
  });
}

function commitSuite(scenario: Scenario): void {
  scenario('an exclusive engine reports the revision of a commit at once, and the next may build on it', async ({ engine }, context) => {
    if (!engine.exclusive) context.skip('a shared engine learns the revision with the answer');
    const assigned: number[] = [];
    const first = engine.commit([put('a', '1')], (revision) => assigned.push(revision));
    expect(assigned).toHaveLength(1);
    const second = engine.commit([put('a', '2', assigned[0])], (revision) => assigned.push(revision));
    expect(assigned).toHaveLength(2);
    expect([(await first).revision, (await second).revision]).toEqual(assigned);
    expect(text(await engine.get('a'))).toBe('2');
    await expect(engine.commit([put('a', '3', assigned[0])], (revision) => assigned.push(revision))).rejects.toThrow(CommitConflict);
    expect(assigned).toHaveLength(2);
  });

  scenario('a put may demand that the key is absent, or has a revision', async ({ engine }) => {
    const { revision } = await engine.commit([put('a', '1', 0)]);
    await expect(engine.commit([put('a', '2', 0)])).rejects.toMatchObject({ name: 'CommitConflict', key: 'a' });
    await expect(engine.commit([put('a', '2', revision - 1)])).rejects.toThrow(CommitConflict);
    await expect(engine.commit([put('b', '2', revision)])).rejects.toThrow(CommitConflict);
    const next = await engine.commit([put('a', '2', revision)]);
    expect(next.revision).toBe(revision + 1);
    await expect(engine.commit([remove('a', revision)])).rejects.toThrow(CommitConflict);
    await engine.commit([remove('a', next.revision)]);
    await expect(engine.commit([remove('a', next.revision)])).rejects.toThrow(CommitConflict);
    expect(await engine.get('a')).toBeUndefined();
  });

  scenario('a commit of several operations happens whole or not at all', async ({ engine }) => {
    const before = (await engine.commit([put('a', '1'), put('b', '1')])).revision;
    await expect(engine.commit([put('a', '2', before), remove('b', before - 1), put('c', '2')])).rejects.toMatchObject({ key: 'b' });
    expect(engine.revision).toBe(before);
    const { revision } = await engine.commit([put('a', '2', before), remove('b', before), put('c', '2', 0)]);
    const { entries } = await engine.range({ prefix: '' });
    expect(entries.map((entry) => [entry.key, text(entry), entry.revision, entry.created])).toEqual([
      ['a', '2', revision, before],
      ['c', '2', revision, revision],
    ]);
  });

  scenario('a check guards a commit without writing', async ({ engine }) => {
    const { revision } = await engine.commit([put('guard', '1')]);
    await engine.commit([check('guard', revision), check('other', 0), put('a', '1')]);
    await expect(engine.commit([check('guard', revision - 1), put('b', '1')])).rejects.toMatchObject({ key: 'guard' });
    await expect(engine.commit([check('guard', 0), put('b', '1')])).rejects.toThrow(CommitConflict);
    await expect(engine.commit([check('other', revision), put('b', '1')])).rejects.toThrow(CommitConflict);
    expect((await engine.get('guard'))?.revision).toBe(revision);
    expect(await engine.get('b')).toBeUndefined();
  });

  scenario('a key may be checked and written in one commit', async ({ engine }) => {
    const { revision } = await engine.commit([put('a', '1')]);
    await engine.commit([check('a', revision), put('a', '2')]);
    await expect(engine.commit([check('a', revision), put('a', '3')])).rejects.toThrow(CommitConflict);
    expect(text(await engine.get('a'))).toBe('2');
  });

  scenario('a commit that changes nothing uses no revision', async ({ engine }) => {
    const { revision } = await engine.commit([put('a', '1')]);
    expect(await engine.commit([])).toEqual({ revision });
    expect(await engine.commit([remove('absent')])).toEqual({ revision });
    expect(await engine.commit([remove('absent', 0)])).toEqual({ revision });
    expect(await engine.commit([check('a', revision)])).toEqual({ revision });
    expect(await engine.commit([put('b', '1')])).toEqual({ revision: revision + 1 });
  });

  scenario('one commit cannot write a key twice', async ({ engine }) => {
    const before = engine.revision;
    await expect(engine.commit([put('a', '1'), put('a', '2')])).rejects.toThrow(/twice/);
    await expect(engine.commit([put('a', '1'), remove('a')])).rejects.toThrow(/twice/);
    expect(engine.revision).toBe(before);
  });

  scenario('keys that cannot be kept are refused', async ({ engine }) => {
    for (const key of ['', 'a\0b', 'ä', 'tab\t', 'x'.repeat(1_025)]) await expect(engine.commit([put(key, '1')])).rejects.toThrow(/key/);
    const longest = 'x'.repeat(1_024);
    await engine.commit([put(longest, '1')]);
    expect(keysOf(await engine.range({ prefix: 'x' }))).toEqual([longest]);
  });

  scenario('of many writers with the same expectation one wins, and the others can read its value at once', async ({ engine }) => {
    let { revision } = await engine.commit([put('counter', '0')]);
    for (let round = 0; round < 5; round++) {
      const expected = revision;
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, async (_, writer) => {
          try {
            return (await engine.commit([put('counter', `${round}/${writer}`, expected)])).revision;
          } catch (error) {
            expect(error).toBeInstanceOf(CommitConflict);
            expect((await engine.get('counter'))?.revision).toBeGreaterThan(expected);
            return 0;
          }
        }),
      );
      const winners = outcomes.filter((outcome) => outcome > 0);
      expect(winners).toHaveLength(1);
      revision = winners[0] as number;
    }
  });

  scenario('many writers at once get revisions of their own, each with its own value', async ({ engine }) => {
    const writes = Array.from({ length: 200 }, (_, index) => `k${index % 20}=${index}`);
    const revisions = await Promise.all(
      writes.map(async (write) => (await engine.commit([put(write.slice(0, write.indexOf('=')), write)])).revision),
    );
    expect(new Set(revisions).size).toBe(200);
    for (const [index, revision] of revisions.entries()) {
      const write = writes[index] as string;
      expect(text(await engine.get(write.slice(0, write.indexOf('=')), revision))).toBe(write);
    }
  });

  scenario('a commit is visible when it is answered', async ({ engine }) => {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const { revision } = await engine.commit([put(`k${index}`, `${index}`)]);
        expect(engine.revision).toBeGreaterThanOrEqual(revision);
        expect((await engine.get(`k${index}`))?.revision).toBe(revision);
      }),
    );
  });
}

function lifeSuite(scenario: Scenario): void {
  scenario('a store answers for its health and size', async ({ engine }) => {
    await engine.commit([put('a', '1')]);
    await engine.ping();
    for (const figure of Object.values(await engine.stats())) expect(figure).toBeTypeOf('number');
  });

  scenario('a closed store refuses everything, and closing twice is no error', async ({ engine }) => {
    const last = engine.commit([put('a', '1')]);
    const closing = engine.close();
    const { revision } = await last;
    await closing;
    expect(engine.revision).toBe(revision);
    await engine.close();
    await expect(engine.get('a')).rejects.toThrow(StoreUnavailable);
    await expect(engine.range({ prefix: '' })).rejects.toThrow(StoreUnavailable);
    await expect(engine.commit([put('a', '2')])).rejects.toThrow(StoreUnavailable);
    await expect(engine.changes({ after: engine.revision, prefix: '' })).rejects.toThrow(StoreUnavailable);
    await expect(engine.currentRevision()).rejects.toThrow(StoreUnavailable);
    await expect(engine.ping()).rejects.toThrow(StoreUnavailable);
  });

  scenario('a store that is opened again has everything that it had', async (fixture, { skip }) => {
    if (fixture.reopen === undefined) return skip('the engine keeps nothing');
    const before = fixture.engine;
    const first = (await before.commit([put('a', '1'), put('b', '1')])).revision;
    const second = (await before.commit([put('a', '2'), remove('b')])).revision;
    const large = Buffer.alloc(300_000, 7);
    const third = (await before.commit([put('large', large)])).revision;
    const engine = await fixture.reopen();
    expect(await engine.currentRevision()).toBe(third);
    expect(await engine.get('a')).toEqual({ key: 'a', value: bytes('2'), revision: second, created: first });
    expect(await engine.get('b')).toBeUndefined();
    expect(text(await engine.get('b', first))).toBe('1');
    expect((await engine.get('large'))?.value.equals(large)).toBe(true);
    expect(pairsOf(await engine.changes({ after: first, prefix: '' }))).toEqual([
      ['put', 'a', second],
      ['delete', 'b', second],
      ['put', 'large', third],
    ]);
    await expect(engine.commit([put('a', '3', first)])).rejects.toThrow(CommitConflict);
    const { revision } = await engine.commit([put('a', '3', second)]);
    // A shared store may have used a revision itself, to learn that no change is missing.
    if (engine.exclusive) expect(revision).toBe(third + 1);
    else expect(revision).toBeGreaterThan(third);
  });

  scenario('what was compacted stays so when the store is opened again', async (fixture, { skip }) => {
    if (fixture.reopen === undefined) return skip('the engine keeps nothing');
    await fixture.engine.commit([put('a', '1')]);
    const { revision } = await fixture.engine.commit([put('a', '2')]);
    await fixture.engine.compact(revision);
    const engine = await fixture.reopen();
    await expect(engine.get('a', revision - 1)).rejects.toMatchObject({ name: 'Compacted', oldest: revision });
    expect(text(await engine.get('a', revision))).toBe('2');
  });
}

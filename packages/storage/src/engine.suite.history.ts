/** The part of the behaviour suite about time: changes, subscriptions, compaction and keys that expire. */
import { expect } from 'vitest';
import { pairsOf, put, record, remove, type Scenario, text } from './engine.suite.tools.ts';
import { Compacted, FutureRevision, StoreUnavailable } from './engine.ts';

export function historySuite(scenario: Scenario): void {
  changesSuite(scenario);
  subscribeSuite(scenario);
  compactSuite(scenario);
  ttlSuite(scenario);
}

function changesSuite(scenario: Scenario): void {
  scenario('changes are in the order of the operations', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([put('z', '1'), put('a', '1')]);
    await engine.commit([put('a', '2')]);
    await engine.commit([remove('z'), put('b', '1')]);
    expect((await engine.changes({ after: base, prefix: '' })).map((change) => ({ ...change, value: text(change) }))).toEqual([
      { type: 'put', key: 'z', value: '1', revision: base + 1, created: base + 1 },
      { type: 'put', key: 'a', value: '1', revision: base + 1, created: base + 1 },
      { type: 'put', key: 'a', value: '2', revision: base + 2, created: base + 1 },
      { type: 'delete', key: 'z', value: undefined, revision: base + 3, created: base + 1 },
      { type: 'put', key: 'b', value: '1', revision: base + 3, created: base + 3 },
    ]);
    expect(pairsOf(await engine.changes({ after: base + 1, prefix: 'a' }))).toEqual([['put', 'a', base + 2]]);
    expect(await engine.changes({ after: base + 3, prefix: '' })).toEqual([]);
  });

  scenario('a limit on changes never cuts a commit in two', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([put('a', '1'), put('b', '1'), put('c', '1')]);
    await engine.commit([put('a', '2')]);
    await engine.commit([put('b', '2'), put('c', '2')]);
    const limited = async (after: number, limit: number) =>
      (await engine.changes({ after, prefix: '', limit })).map((change) => change.key).join('');
    expect(await limited(base, 1)).toBe('abc');
    expect(await limited(base, 3)).toBe('abc');
    expect(await limited(base, 4)).toBe('abca');
    expect(await limited(base, 5)).toBe('abcabc');
    expect(await limited(base + 1, 1)).toBe('a');
  });
}

function subscribeSuite(scenario: Scenario): void {
  scenario('a subscriber gets what was and what comes, whole commits at a time', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([put('a', '1'), put('b', '1')]);
    const seen = record(engine, base);
    expect(seen.deliveries).toEqual([]);
    const { revision } = await engine.commit([remove('a'), put('c', '1')]);
    await seen.reached(revision);
    expect(pairsOf(seen.changes)).toEqual([
      ['put', 'a', base + 1],
      ['put', 'b', base + 1],
      ['delete', 'a', base + 2],
      ['put', 'c', base + 2],
    ]);
    expect(seen.changes[2]).toMatchObject({ value: undefined, created: base + 1 });
    for (const delivery of seen.deliveries) {
      expect(delivery.revision).toBeGreaterThanOrEqual(delivery.changes.at(-1)?.revision ?? 0);
      expect(delivery.changes).toHaveLength(delivery.changes.length - (delivery.changes.length % 2));
    }
    seen.stop();
  });

  scenario('a subscriber starts after any revision that is kept', async ({ engine }) => {
    const base = engine.revision;
    for (let index = 1; index <= 20; index++) await engine.commit([put(`k${index}`, `${index}`)]);
    for (const after of [base, base + 7, base + 19, base + 20]) {
      const seen = record(engine, after);
      await seen.reached(base + 20);
      expect(seen.changes.map((change) => change.revision)).toEqual(
        Array.from({ length: base + 20 - after }, (_, index) => after + 1 + index),
      );
      seen.stop();
    }
  });

  scenario('subscribers miss nothing and get nothing twice while many write', async ({ engine }) => {
    const base = engine.revision;
    const subscribers: ReturnType<typeof record>[] = [];
    let newest = base;
    const writer = async (name: number) => {
      for (let index = 0; index < 40; index++) {
        const { revision } = await engine.commit([put(`w${name}`, `${index}`), put(`all/${name}/${index}`, 'x')]);
        newest = Math.max(newest, revision);
        if (index % 10 === name) subscribers.push(record(engine, index % 2 === 0 ? base : revision - 1));
      }
    };
    await Promise.all([0, 1, 2, 3, 4].map(writer));
    const truth = pairsOf(await engine.changes({ after: base, prefix: '' }));
    expect(truth).toHaveLength(5 * 40 * 2);
    expect(subscribers).toHaveLength(20);
    for (const seen of subscribers) {
      await seen.reached(newest);
      const first = seen.changes[0]?.revision as number;
      expect(pairsOf(seen.changes)).toEqual(truth.filter(([, , revision]) => revision >= first));
      seen.stop();
    }
  });

  scenario('an exclusive engine calls its subscribers before it resolves a commit', async ({ engine }, { skip }) => {
    if (!engine.exclusive) return skip('a shared engine learns of changes from its store');
    const seen = record(engine, engine.revision);
    await engine.commit([put('first', '1')]);
    await seen.reached(engine.revision);
    await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const { revision } = await engine.commit([put(`k${index}`, '1')]);
        expect(seen.revision).toBeGreaterThanOrEqual(revision);
      }),
    );
    seen.stop();
  });

  scenario('nothing is delivered after the end of a subscription', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([put('a', '1')]);
    const stopped = record(engine, base);
    stopped.stop();
    const other = record(engine, base);
    const { revision } = await engine.commit([put('b', '1')]);
    await other.reached(revision);
    expect([stopped.deliveries, stopped.failures]).toEqual([[], []]);
    other.stop();
    other.stop();
  });

  scenario('a subscriber that throws is ended, and harms no other', async ({ engine }) => {
    const after = engine.revision;
    const failure = new Promise<string>((resolve) => {
      engine.subscribe(
        after,
        (changes) => {
          if (changes.length > 0) throw new Error('the subscriber is broken');
        },
        (error) => resolve(error.message),
      );
    });
    const seen = record(engine, after);
    await engine.commit([put('a', '1')]);
    const { revision } = await engine.commit([put('b', '1')]);
    await seen.reached(revision);
    expect(seen.changes).toHaveLength(2);
    expect(await failure).toBe('the subscriber is broken');
    seen.stop();
  });

  scenario('a subscription to the future of an exclusive engine fails', async ({ engine }, { skip }) => {
    if (!engine.exclusive) return skip('another server may have written what this one has not seen');
    expect(await record(engine, engine.revision + 1).failed()).toBeInstanceOf(FutureRevision);
  });

  scenario('a subscription ends with the engine', async ({ engine }) => {
    const seen = record(engine, engine.revision);
    const { revision } = await engine.commit([put('a', '1')]);
    await seen.reached(revision);
    await engine.close();
    expect(await seen.failed()).toBeInstanceOf(StoreUnavailable);
    expect(seen.failures).toHaveLength(1);
  });
}

function compactSuite(scenario: Scenario): void {
  scenario('compaction forgets what was before, and nothing else', async ({ engine }) => {
    const base = engine.revision;
    await engine.commit([put('a', '1'), put('gone', '1'), put('still', '1')]);
    await engine.commit([put('a', '2'), remove('gone')]);
    await engine.commit([put('a', '3')]);
    await engine.compact(base + 2);
    expect(engine.compacted).toBe(base + 2);
    await expect(engine.get('a', base + 1)).rejects.toMatchObject({ name: 'Compacted', oldest: base + 2 });
    await expect(engine.range({ prefix: '', at: base + 1 })).rejects.toThrow(Compacted);
    await expect(engine.changes({ after: base + 1, prefix: '' })).rejects.toThrow(Compacted);
    expect((await engine.range({ prefix: '', at: base + 2 })).entries.map((entry) => [entry.key, text(entry)])).toEqual([
      ['a', '2'],
      ['still', '1'],
    ]);
    expect(await engine.get('still')).toMatchObject({ revision: base + 1, created: base + 1 });
    expect(await engine.get('a')).toMatchObject({ revision: base + 3, created: base + 1 });
    expect(pairsOf(await engine.changes({ after: base + 2, prefix: '' }))).toEqual([['put', 'a', base + 3]]);
  });

  scenario('compaction up to now keeps every current value', async ({ engine }) => {
    for (let round = 0; round < 5; round++) {
      for (let index = 0; index < 20; index++) await engine.commit([put(`k${index}`, `${round}`)]);
    }
    await engine.commit([remove('k3')]);
    await engine.compact(engine.revision);
    const { entries, count } = await engine.range({ prefix: '' });
    expect(count).toBe(19);
    expect(entries.every((entry) => text(entry) === '4')).toBe(true);
    expect(await engine.get('k3')).toBeUndefined();
    const again = (await engine.commit([put('k3', 'again', 0)])).revision;
    expect(await engine.get('k3')).toMatchObject({ revision: again, created: again });
  });

  scenario('compacting what is compacted already does nothing', async ({ engine }) => {
    await engine.commit([put('a', '1')]);
    const { revision } = await engine.commit([put('a', '2')]);
    await engine.compact(revision);
    await engine.compact(revision);
    await engine.compact(revision - 1);
    expect(engine.compacted).toBe(revision);
    expect(text(await engine.get('a', revision))).toBe('2');
  });

  scenario('a subscription from a forgotten revision fails, one from the oldest kept works', async ({ engine }) => {
    await engine.commit([put('a', '1')]);
    const kept = (await engine.commit([put('a', '2')])).revision;
    const { revision } = await engine.commit([put('a', '3')]);
    await engine.compact(kept);
    const late = record(engine, kept - 1);
    expect(await late.failed()).toMatchObject({ name: 'Compacted', oldest: kept });
    expect(late.deliveries).toEqual([]);
    const seen = record(engine, kept);
    await seen.reached(revision);
    expect(pairsOf(seen.changes)).toEqual([['put', 'a', revision]]);
    seen.stop();
  });

  scenario('compaction does not disturb a subscriber that has caught up, nor writers', async ({ engine }) => {
    const base = engine.revision;
    const seen = record(engine, base);
    let newest = base;
    for (let round = 0; round < 10; round++) {
      const commits = Array.from({ length: 20 }, (_, index) => engine.commit([put(`k${index}`, `${round}`)]));
      newest = Math.max(...(await Promise.all(commits)).map((commit) => commit.revision));
      await seen.reached(newest);
      const more = engine.commit([put('during', `${round}`)]);
      await engine.compact(newest);
      newest = (await more).revision;
    }
    await seen.reached(newest);
    expect(seen.changes.map((change) => change.revision)).toEqual(Array.from({ length: 210 }, (_, index) => base + 1 + index));
    seen.stop();
  });
}

function ttlSuite(scenario: Scenario): void {
  scenario('a key with a time to live is deleted by a commit of its own', async ({ engine, advance }) => {
    const base = engine.revision;
    const seen = record(engine, base);
    await engine.commit([put('short', '1', undefined, 1), put('long', '1', undefined, 600), put('plain', '1')]);
    await seen.reached(base + 1);
    expect(text(await engine.get('short'))).toBe('1');
    await advance?.(60_000);
    await seen.reached(base + 2);
    expect(pairsOf(seen.changes.slice(3))).toEqual([['delete', 'short', base + 2]]);
    expect(await engine.get('short')).toBeUndefined();
    expect(text(await engine.get('short', base + 1))).toBe('1');
    expect((await engine.range({ prefix: '' })).count).toBe(2);
    seen.stop();
  });

  scenario('a later write replaces the time to live', async ({ engine, advance }) => {
    const seen = record(engine, engine.revision);
    await engine.commit([put('renewed', '1', undefined, 1), put('freed', '1', undefined, 1), put('again', '1', undefined, 1)]);
    await engine.commit([put('renewed', '2', undefined, 600), put('freed', '2'), remove('again')]);
    await engine.commit([put('again', '2'), put('witness', '1', undefined, 2)]);
    const before = engine.revision;
    await advance?.(60_000);
    // The witness was to live longer than the others, so that their time is over when it is gone.
    await seen.reached(before + 1);
    expect(pairsOf(await engine.changes({ after: before, prefix: '' }))).toEqual([['delete', 'witness', before + 1]]);
    expect((await engine.range({ prefix: '' })).count).toBe(3);
    seen.stop();
  });

  scenario('a time to live goes on over a restart', async (fixture, { skip }) => {
    if (fixture.reopen === undefined) return skip('the engine keeps nothing');
    await fixture.engine.commit([put('short', '1', undefined, 1), put('long', '1', undefined, 600)]);
    const engine = await fixture.reopen();
    const seen = record(engine, engine.revision);
    const before = engine.revision;
    if ((await engine.get('short')) !== undefined) {
      await fixture.advance?.(60_000);
      await seen.reached(before + 1);
    }
    expect(await engine.get('short')).toBeUndefined();
    expect(text(await engine.get('long'))).toBe('1');
    seen.stop();
  });
}

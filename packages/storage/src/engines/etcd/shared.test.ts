/** What several servers on one etcd do to each other, and what etcd does for them. */
import { Client, credentials } from '@grpc/grpc-js';
import { FakeClock } from '@plat-dev/lib/clock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../../../../../test/support/etcd.ts';
import { pairsOf, put, type Recording, record, remove, text } from '../../engine.suite.tools.ts';
import { CommitConflict, type Engine } from '../../engine.ts';
import { type EtcdOptions, openEtcd } from '../etcd.ts';
import { Reader, Writer } from './wire.ts';

describe.skipIf(etcdMissing !== undefined)(`shared etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`, () => {
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
    const engine = await openEtcd({ endpoints: [etcd.endpoint], prefix: `/shared/${count}`, historyRetentionMs: 0, ...options });
    engines.push(engine);
    return engine;
  }

  test('a store of a newer format is refused', async () => {
    const above = await open({ prefix: '/shared' });
    const mark = { format: 2, id: 'x', createdAt: 0, identity: 'plat', productVersion: '9' };
    await above.commit([put(`${count}.store`, JSON.stringify(mark))]);
    await expect(open()).rejects.toThrow(
      new RegExp(
        `^the store in etcd below /shared/${count}/ has the format 2 of a newer version; this one knows formats up to 1\\. Use that version$`,
      ),
    );
  });

  test('no increment of two servers with many writers is lost', async () => {
    const servers = [await open(), await open()];
    const counters = ['one', 'two', 'three'];
    const increment = async (engine: Engine, key: string) => {
      for (;;) {
        const entry = await engine.get(key);
        try {
          await engine.commit([put(key, String(Number(text(entry) ?? 0) + 1), entry?.revision ?? 0)]);
          return;
        } catch (error) {
          expect(error).toBeInstanceOf(CommitConflict);
        }
      }
    };
    const seen = record(servers[1] as Engine, (servers[1] as Engine).revision);
    await Promise.all(
      servers.flatMap((engine) =>
        Array.from({ length: 6 }, async (_, writer) => {
          for (let round = 0; round < 20; round++) await increment(engine, counters[(writer + round) % 3] as string);
        }),
      ),
    );
    const values = await Promise.all(counters.map(async (key) => Number(text(await (servers[0] as Engine).get(key)))));
    expect(values).toEqual([80, 80, 80]);
    await seen.reached(await (servers[1] as Engine).currentRevision());
    for (const key of counters) {
      const told = seen.changes.filter((change) => change.key === key).map((change) => Number(text(change)));
      expect(told).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    }
  });

  test('a server sees what another has written as soon as it asks', async () => {
    const [one, two] = [await open(), await open()];
    for (let round = 0; round < 20; round++) {
      const { revision } = await one.commit([put('a', `${round}`)]);
      expect(await two.currentRevision()).toBeGreaterThanOrEqual(revision);
      expect(text(await two.get('a'))).toBe(`${round}`);
    }
  });

  test('two prefixes share an etcd without seeing each other, and a subscriber reaches revisions that are not its own', async () => {
    const [mine, other] = [await open({ prefix: '/registry/a' }), await open({ prefix: '/registry/ab' })];
    const seen = record(mine, mine.revision);
    await mine.commit([put('x', '1')]);
    for (let round = 0; round < 3; round++) {
      const { revision } = await other.commit([put('x', 'foreign')]);
      const newest = await mine.currentRevision();
      expect(newest).toBeGreaterThanOrEqual(revision);
      await seen.reached(newest);
    }
    expect(seen.changes.map(text)).toEqual(['1']);
    expect((await mine.range({ prefix: '' })).entries.map(text)).toEqual(['1']);
    expect((await mine.changes({ after: 0 + mine.compacted, prefix: '' })).map((change) => change.key)).toEqual(['x']);
  });

  test('a change comes back as the very buffer that was written, another server gets the same bytes', async () => {
    const [one, two] = [await open(), await open()];
    const [atOne, atTwo] = [record(one, one.revision), record(two, two.revision)];
    await one.commit([put('warm', 'up')]);
    await atOne.reached(one.revision);
    const value = Buffer.from('some value');
    const { revision } = await one.commit([put('a', value)]);
    await Promise.all([atOne.reached(revision), atTwo.reached(revision)]);
    expect(atOne.changes.at(-1)?.value).toBe(value);
    expect(atTwo.changes.at(-1)?.value).not.toBe(value);
    expect(atTwo.changes.at(-1)?.value).toEqual(value);
  });

  test('of two servers one compacts, once an interval, and the other learns of it', async () => {
    const clock = new FakeClock();
    const [one, two] = [await open({ clock, historyRetentionMs: 300_000 }), await open({ clock, historyRetentionMs: 300_000 })];
    const [atOne, atTwo] = [record(one, one.revision), record(two, two.revision)];
    const minutes = async (count: number) => {
      for (let minute = 0; minute < count; minute++) {
        await clock.advance(60_000);
        // Both have compacted, or were told that the other has, when they wait for the next minute again.
        while (clock.pending < 2) await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    const write = async (value: string) => {
      const { revision } = await one.commit([put('a', value)]);
      await Promise.all([atOne.reached(revision), atTwo.reached(revision)]);
      return revision;
    };
    const opened = one.revision;
    const first = await write('1');
    await minutes(4);
    const second = await write('2');
    expect(await one.currentRevision()).toBe(second);
    // After five minutes what was before the first write is old enough, after six what was before the second one.
    await minutes(1);
    await atTwo.reached(second + 1);
    expect([one.compacted, two.compacted, await one.currentRevision()]).toEqual([opened, opened, second + 1]);
    await minutes(1);
    await atTwo.reached(second + 2);
    expect([one.compacted, two.compacted, await one.currentRevision()]).toEqual([first, first, second + 2]);
    expect(text(await two.get('a', first))).toBe('1');
    await expect(two.get('a', first - 1)).rejects.toMatchObject({ name: 'Compacted', oldest: first });
    // When nobody writes they come to rest.
    await minutes(10);
    const rest = await one.currentRevision();
    await minutes(10);
    expect(await one.currentRevision()).toBe(rest);
    expect(seenByBoth(atOne, atTwo)).toEqual(['1', '2']);
  });

  test('what another program compacted is found out', async () => {
    const [one, two] = [await open(), await open()];
    const { revision } = await one.commit([put('a', '1')]);
    await one.commit([put('a', '2')]);
    await one.compact(revision);
    await expect(two.get('a', revision - 1)).rejects.toMatchObject({ name: 'Compacted', oldest: revision });
    expect(two.compacted).toBe(revision);
    expect(text(await two.get('a', revision))).toBe('1');
    const third = await open();
    expect(third.compacted).toBe(revision);
  });

  test('a deletion at the very revision that is compacted to is not passed over in silence', async () => {
    const [one, two] = [await open(), await open()];
    const before = (await one.commit([put('a', '1'), put('b', '1')])).revision;
    const deleted = (await one.commit([remove('a')])).revision;
    await one.commit([put('b', '2')]);
    await one.compact(deleted);
    expect(await record(two, before).failed()).toMatchObject({ name: 'Compacted', oldest: deleted });
    const seen = record(two, deleted);
    await seen.reached(await two.currentRevision());
    expect(pairsOf(seen.changes)).toEqual([['put', 'b', deleted + 1]]);
  });

  test('writes with similar times to live share a lease, and a lease that is gone is replaced', async () => {
    const engine = await open();
    const before = await leaseIds(etcd.endpoint);
    await Promise.all(Array.from({ length: 100 }, (_, index) => engine.commit([put(`event/${index}`, 'x', 0, 3_590 + (index % 5))])));
    const granted = (await leaseIds(etcd.endpoint)).filter((id) => !before.includes(id));
    expect(granted).toHaveLength(1);
    await revoke(etcd.endpoint, granted[0] as bigint);
    expect((await engine.range({ prefix: 'event/' })).count).toBe(0);
    await engine.commit([put('event/again', 'x', 0, 3_600)]);
    expect(text(await engine.get('event/again'))).toBe('x');
  });
});

function seenByBoth(one: Recording, two: Recording): (string | undefined)[] {
  expect(two.changes).toEqual(one.changes);
  return one.changes.map(text);
}

async function leaseCall(endpoint: string, method: string, request: Buffer): Promise<Buffer> {
  const client = new Client(endpoint.replace('http://', ''), credentials.createInsecure());
  const same = (bytes: Buffer) => bytes;
  try {
    return await new Promise((resolve, reject) => {
      client.makeUnaryRequest(`/etcdserverpb.Lease/${method}`, same, same, request, (error, answer) =>
        error === null ? resolve(answer as Buffer) : reject(error),
      );
    });
  } finally {
    client.close();
  }
}

async function leaseIds(endpoint: string): Promise<bigint[]> {
  const reader = new Reader(await leaseCall(endpoint, 'LeaseLeases', Buffer.alloc(0)));
  const ids: bigint[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== 2) {
      reader.skip();
      continue;
    }
    const lease = reader.nested();
    for (let part = lease.next(); part !== 0; part = lease.next()) ids.push(lease.identifier());
  }
  return ids;
}

async function revoke(endpoint: string, id: bigint): Promise<void> {
  const writer = new Writer(16);
  writer.number(1, id);
  await leaseCall(endpoint, 'LeaseRevoke', writer.finish());
}

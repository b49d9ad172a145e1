/** Requests and answers that are too large for one message, and stores that are full. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../../../../../test/support/etcd.ts';
import { keysOf, pairsOf, put, record } from '../../engine.suite.tools.ts';
import { type Engine, type Operation, StoreUnavailable, WriteTooLarge } from '../../engine.ts';
import { openEtcd } from '../etcd.ts';
import { addressesOf, type EtcdOptions } from './options.ts';

describe.skipIf(etcdMissing !== undefined)(`limits of etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdFixture;
  let engine: Engine;
  let count = 0;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());
  afterEach(() => engine.close());
  async function open(endpoint = etcd.endpoint, more: Partial<EtcdOptions> = {}): Promise<Engine> {
    engine = await openEtcd({ endpoints: [endpoint], prefix: `/limits/${count++}`, historyRetentionMs: 0, ...more });
    return engine;
  }

  test('a write that is larger than etcd takes is refused, with the reason', async () => {
    await open();
    for (const size of [1_600_000, 3_000_000, 17_000_000]) {
      const write = engine.commit([put('a', Buffer.alloc(size))]);
      await expect(write).rejects.toThrow(WriteTooLarge);
      await expect(write).rejects.toThrow(/larger than etcd takes/);
      await expect(write).rejects.not.toThrow(/not known/);
    }
    expect(await engine.get('a')).toBeUndefined();
  });

  test('a commit of more operations than etcd takes is refused, with the reason', async () => {
    await open();
    const operations = (length: number): Operation[] => Array.from({ length }, (_, index) => put(`k${index}`, 'x', 0));
    await expect(engine.commit(operations(129))).rejects.toThrow(/more operations than etcd takes/);
    await engine.commit(operations(128));
    expect((await engine.range({ prefix: '' })).count).toBe(128);
  });

  test('a range that fits no message is read in pages, of the revision of the first', async () => {
    const size = 200_000;
    // Too little for all values, and enough for those of the pages that follow.
    await open(undefined, { mostAnswerBytes: 61 * size });
    const names = Array.from({ length: 70 }, (_, index) => `k${String(index).padStart(2, '0')}`);
    for (const name of names) await engine.commit([put(name, Buffer.alloc(size, name))]);
    const { entries, more, count, revision } = await engine.range({ prefix: 'k' });
    expect([entries.map((entry) => entry.key), more, count, revision]).toEqual([names, false, 70, engine.revision]);
    expect(entries.every(({ key, value }) => value.length === size && value.subarray(0, 3).toString() === key)).toBe(true);
    const first = await engine.range({ prefix: 'k', limit: 69 });
    expect([first.entries.length, first.more, first.count]).toEqual([69, true, 70]);
  });

  test('a range of many small keys is read in pages', async () => {
    await open();
    const names = Array.from({ length: 2_500 }, (_, index) => `k${String(index).padStart(4, '0')}`);
    for (let index = 0; index < names.length; index += 100) {
      await engine.commit(names.slice(index, index + 100).map((name) => put(name, 'x')));
    }
    expect(keysOf(await engine.range({ prefix: '' }))).toEqual(names);
    const limited = await engine.range({ prefix: '', limit: 1_700, from: 'k0100' });
    expect([keysOf(limited), limited.more, limited.count]).toEqual([names.slice(100, 1_800), true, 2_400]);
    expect(await engine.range({ prefix: '', limit: 0 })).toMatchObject({ entries: [], more: true, count: 2_500 });
  });

  test('history that comes in fragments is delivered in whole commits', async () => {
    await open();
    const base = engine.revision;
    for (let index = 0; index < 12; index++) {
      await engine.commit([put('a', Buffer.alloc(500_000, `${index}`)), put('b', Buffer.alloc(700_000, `${index}`)), put('c', '')]);
    }
    const seen = record(engine, base);
    await seen.reached(engine.revision);
    const expected = Array.from({ length: 12 }, (_, index) => ['a', 'b', 'c'].map((key) => ['put', key, base + 1 + index])).flat();
    expect(pairsOf(seen.changes)).toEqual(expected);
    expect(seen.deliveries.length).toBeGreaterThan(1);
    for (const { changes } of seen.deliveries) expect(changes.length % 3).toBe(0);
    expect(pairsOf(await engine.changes({ after: base, prefix: '' }))).toEqual(expected);
    seen.stop();
  });

  test('a long history is followed to its end', async () => {
    await open();
    const base = engine.revision;
    for (let round = 0; round < 12; round++) {
      await Promise.all(Array.from({ length: 250 }, (_, index) => engine.commit([put(`k${index}`, `${round}`)])));
    }
    const changes = await engine.changes({ after: base, prefix: '' });
    expect(changes.map((change) => change.revision)).toEqual(Array.from({ length: 3_000 }, (_, index) => base + 1 + index));
    expect(await engine.changes({ after: base, prefix: '', limit: 10 })).toEqual(changes.slice(0, 10));
  });

  test('a full etcd takes no writes, says why, and can still be read', async () => {
    const full = await startEtcd({ flags: ['--quota-backend-bytes', '4000000'] });
    try {
      await open(full.endpoint);
      await engine.commit([put('small', '1')]);
      const fill = async () => {
        for (let index = 0; index < 40; index++) await engine.commit([put(`large${index}`, Buffer.alloc(1_000_000))]);
      };
      await expect(fill()).rejects.toThrow(/used up its space/);
      await expect(engine.commit([put('small', '2')])).rejects.toThrow(StoreUnavailable);
      expect((await engine.get('small'))?.value.toString()).toBe('1');
      expect((await engine.stats()).alarms).toBeGreaterThan(0);
    } finally {
      await engine.close();
      await full.stop();
    }
  });
});

test('endpoints are understood, and refused when they would be less safe than asked for', () => {
  const targets = (endpoints: string[]) => addressesOf({ endpoints }).map(({ target }) => target);
  expect(targets(['http://a:1', 'b:2', 'http://[::1]:3/', 'unix:///run/etcd.sock'])).toEqual([
    'dns:a:1',
    'dns:b:2',
    'dns:[::1]:3',
    'unix:/run/etcd.sock',
  ]);
  for (const endpoint of ['', 'ftp://a:1', 'http://a:1/path', 'http://']) expect(() => targets([endpoint])).toThrow(/endpoint/);
  expect(() => targets([])).toThrow(/no endpoint/);
  expect(() => addressesOf({ endpoints: ['http://a:1'], caFile: '/ca' })).toThrow(/not https/);
  expect(() => addressesOf({ endpoints: ['https://a:1'], certFile: '/cert' })).toThrow(/its key/);
});

/** The calls that the engine makes, to one etcd through the gRPC client of this product and through @grpc/grpc-js: both get the same. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../../../../../test/support/etcd.ts';
import { type ComparedClient, comparable, libraryClient, type Outcome, ownClient } from '../../grpc/differential.testing.ts';
import {
  compactMethod,
  encodeCompact,
  encodeLease,
  encodeLeaseGrant,
  encodePut,
  encodeRange,
  leaseGrant,
  leaseRevoke,
  leaseTimeToLive,
  memberStatus,
  putMethod,
  type RangeQuery,
  rangeMethod,
} from './messages.ts';
import { METADATA } from './options.ts';
import { encodeCommit, transaction } from './transactions.ts';
import { encodeWatch } from './watch-messages.ts';

const MB = 1024 * 1024;
const range = rangeMethod({ root: '' } as never);
const bytesOf = (outcome: Outcome): Buffer => {
  if (!('answer' in outcome)) throw new Error(JSON.stringify(outcome));
  return Buffer.from(outcome.answer, 'latin1');
};

describe.skipIf(etcdMissing !== undefined)(
  `etcd through two clients${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`,
  () => {
    let etcd: EtcdFixture;
    let own: ComparedClient;
    let library: ComparedClient;
    beforeAll(async () => {
      etcd = await startEtcd();
      const options = { metadata: METADATA, mostAnswerBytes: 16 * MB, mostRequestBytes: 16 * MB };
      const target = new URL(etcd.endpoint).host;
      [own, library] = [ownClient(target, options), libraryClient(target, options)];
    });
    afterAll(async () => {
      own.close();
      library.close();
      await etcd.stop();
    });

    /** A call that changes nothing gets the same bytes through both; the fields of the header are those of one member at one revision. */
    const same = async (path: string, request: Buffer): Promise<Outcome> => {
      const [ours, theirs] = comparable(await own.call(path, request), await library.call(path, request));
      expect(ours).toEqual(theirs);
      return ours;
    };
    const put = async (key: string, value: string | Buffer): Promise<number> =>
      putMethod.decode(bytesOf(await own.call(putMethod.path, encodePut(key, Buffer.from(value as string)))));
    const select = (query: RangeQuery) => same(range.path, encodeRange(query));

    test('ranges: one key, many, pages, counts, older revisions, none', async () => {
      const first = await put('range/a', 'one');
      await put('range/a', 'two');
      for (let i = 0; i < 300; i++) await put(`range/b${i}`, `value ${i}`);
      for (const query of [
        { key: 'range/a' },
        { key: 'range/none' },
        { key: 'range/', end: 'range0' },
        { key: 'range/', end: 'range0', limit: 7 },
        { key: 'range/', end: 'range0', countOnly: true },
        { key: 'range/a', revision: first },
        { key: 'range/a', serializable: true },
      ])
        expect(Object.keys(await select(query))).toEqual(['answer']);
      expect(range.decode(bytesOf(await select({ key: 'range/', end: 'range0' }))).entries).toHaveLength(301);
    });

    test('large answers and requests', async () => {
      for (let i = 0; i < 8; i++) await put(`large/${i}`, Buffer.alloc(MB, String(i)));
      expect(bytesOf(await select({ key: 'large/', end: 'large0' })).length).toBeGreaterThan(8 * MB);
      // Etcd takes 1.5 MiB, and half a MiB more before it looks closer.
      const tooLarge = await same(putMethod.path, encodePut('large/x', Buffer.alloc(2 * MB)));
      expect(tooLarge).toMatchObject({ code: expect.any(String), message: expect.stringContaining('larger than max') });
    });

    test('errors: a compacted revision, one of the future, a lease that is not there, a method that is not there', async () => {
      await put('errors/a', 'one');
      const revision = await put('errors/a', 'two');
      await own.call(compactMethod.path, encodeCompact(revision));
      const outcomes = [
        await select({ key: 'errors/a', revision: 1 }),
        await select({ key: 'errors/a', revision: 1_000_000_000 }),
        await same(compactMethod.path, encodeCompact(1)),
        await same(leaseRevoke.path, encodeLease(12345n)),
        await same(leaseTimeToLive.path, encodeLease(12345n)),
        await same(putMethod.path, encodePut('errors/a', Buffer.from('x'), 12345n)),
        await same('/etcdserverpb.KV/Nothing', Buffer.alloc(0)),
        await same(putMethod.path, Buffer.alloc(0)),
        await same(putMethod.path, Buffer.from('no message')),
      ];
      expect(outcomes.map((outcome) => ('code' in outcome ? outcome.code : 'answered'))).toEqual([
        'OUT_OF_RANGE',
        'OUT_OF_RANGE',
        'OUT_OF_RANGE',
        'NOT_FOUND',
        'answered',
        'NOT_FOUND',
        'UNIMPLEMENTED',
        'INVALID_ARGUMENT',
        'INTERNAL',
      ]);
    });

    test('transactions: conditions that hold and that do not', async () => {
      for (const client of [own, library]) {
        const create = encodeCommit(`txn/${client.name}/`, [{ type: 'put', key: 'a', value: Buffer.from('1'), expect: 0 }], () => 0n);
        expect(transaction.decode(bytesOf(await client.call(transaction.path, create)))).toMatchObject({ succeeded: true });
        expect(transaction.decode(bytesOf(await same(transaction.path, create)))).toMatchObject({ succeeded: false });
      }
    });

    test('leases: granted, read and revoked', async () => {
      for (const client of [own, library]) {
        const { id, ttlSeconds } = leaseGrant.decode(bytesOf(await client.call(leaseGrant.path, encodeLeaseGrant(600))));
        expect([client.name, ttlSeconds]).toEqual([client.name, 600]);
        await client.call(putMethod.path, encodePut(`lease/${client.name}`, Buffer.from('x'), id));
        expect(leaseTimeToLive.decode(bytesOf(await client.call(leaseTimeToLive.path, encodeLease(id))))).toBeGreaterThan(0);
        await client.call(leaseRevoke.path, encodeLease(id));
        expect(range.decode(bytesOf(await select({ key: `lease/${client.name}` }))).entries).toEqual([]);
      }
    });

    test('a watch from a revision on: the same messages, whole and in order', async () => {
      const from = await put('watch/a', 'first');
      for (let i = 0; i < 50; i++) await put(`watch/${i}`, Buffer.alloc(20_000, String(i % 10)));
      const request = encodeWatch({ key: 'watch/', end: 'watch0', from });
      const talk = (client: ComparedClient, messages: number) => client.talk('/etcdserverpb.Watch/Watch', [request], messages);
      const [ours, theirs] = [await talk(own, 2), await talk(library, 2)];
      expect(ours.messages[1]?.length).toBeGreaterThan(50 * 20_000);
      expect(ours).toEqual(theirs);
    });

    test('a deadline: of a member that hangs, for both', async () => {
      etcd.freeze();
      try {
        const request = encodeRange({ key: 'a' });
        const [ours, theirs] = await Promise.all([own.call(range.path, request, 300), library.call(range.path, request, 300)]);
        expect(comparable(ours, theirs)).toEqual(Array(2).fill({ code: 'DEADLINE_EXCEEDED' }));
      } finally {
        etcd.thaw();
      }
      expect(Object.keys(await select({ key: 'a' }))).toEqual(['answer']);
    });

    test('the state of a member', async () => {
      const versions = [];
      for (const client of [own, library])
        versions.push(memberStatus.decode(bytesOf(await client.call(memberStatus.path, Buffer.alloc(0)))));
      expect(versions[0]).toEqual(versions[1]);
    });
  },
);

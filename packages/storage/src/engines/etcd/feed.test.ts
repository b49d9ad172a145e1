/** What a watch of etcd may say in rare cases, told by a server that says nothing else. */

import { type Metadata, Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { FakeClock } from '@plat-dev/lib/clock';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { afterEach, expect, test } from 'vitest';
import { pairsOf, put, record, remove } from '../../engine.suite.tools.ts';
import type { Engine, Operation } from '../../engine.ts';
import { openEtcd } from '../etcd.ts';
import { canReportProgress, Feed, type FeedSource, MOST_EARLY } from './feed.ts';
import { Reader, Writer } from './wire.ts';

type Stream = ServerDuplexStream<Buffer, Buffer>;
interface Fake {
  readonly endpoint: string;
  revision: number;
  /** Start revisions of the watches so far. */
  readonly starts: number[];
  progressRequests: number;
  puts: number;
  /** Answers the transactions, which look up deletions. */
  lookUp: () => Promise<Buffer>;
  /** The header `traceparent` of the transactions so far. */
  readonly traces: unknown[];
  /** The newest watch, once there are so many. */
  watch(number: number): Promise<Stream>;
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('a commit that is cut by a fragment is delivered whole', async () => {
  const { fake, engine } = await start('3.5.13');
  const seen = record(engine, 10);
  const stream = await fake.watch(1);
  stream.write(
    answer({
      fragment: true,
      events: [
        ['a', 11],
        ['b', 11],
        ['a', 12],
        ['b', 12],
      ],
    }),
  );
  stream.write(answer({ fragment: true, events: [['c', 12]] }));
  stream.write(
    answer({
      events: [
        ['d', 12],
        ['a', 13],
      ],
    }),
  );
  await seen.reached(13);
  expect(seen.deliveries.map(({ changes, revision }) => [changes.map(({ key }) => key).join(''), revision])).toEqual([
    ['ab', 11],
    ['abcda', 13],
  ]);
});

test('what comes twice is delivered once', async () => {
  const { fake, engine } = await start('3.5.13');
  const seen = record(engine, 10);
  const stream = await fake.watch(1);
  stream.write(
    answer({
      events: [
        ['a', 10],
        ['a', 11],
      ],
    }),
  );
  stream.write(
    answer({
      events: [
        ['a', 11],
        ['a', 12],
      ],
    }),
  );
  stream.write(answer({ events: [['a', 9]] }));
  stream.write(answer({ events: [['a', 13]] }));
  await seen.reached(13);
  expect(pairsOf(seen.changes)).toEqual([11, 12, 13].map((revision) => ['put', 'a', revision]));
});

test('a feed that has ended is not begun again by what its watch had sent', async () => {
  let created = (): void => {};
  const sent = new Promise<void>((resolve) => {
    created = resolve;
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  let watches = 0;
  const stream = {
    write() {},
    cancel() {},
    async *[Symbol.asyncIterator]() {
      await sent;
      yield { revision: 10, watch: 0, created: true, canceled: false, changes: [], deletions: 0, own: [], newest: 0 };
    },
  };
  const connection = {
    deadline: () => 0,
    ready: async () => ({}),
    callOn: async () => ({ version: '3.5.13' }),
    avoid() {},
    pauseAfter: () => 0,
    sleep: turn,
    stream() {
      watches++;
      return stream;
    },
  };
  const fail = (): void => expect.fail('something is delivered');
  const parts = { start: 'a', end: 'b', watch: () => ({}), currentRevision: async () => 10, notice: fail, own: fail };
  const source = { connection, clock: new FakeClock(), ...parts };
  const feed = new Feed(source as unknown as FeedSource, 10, fail, fail);
  while (watches === 0) await turn();
  feed.end();
  created();
  for (let turns = 0; turns < 5; turns++) await turn();
  expect(watches).toBe(1);
});

test('a watch that ends is taken up where it was, in the middle of a fragment too', async () => {
  const { fake, engine } = await start('3.5.13');
  const seen = record(engine, 10);
  (await fake.watch(1)).write(answer({ events: [['a', 11]] }));
  await seen.reached(11);
  fake.revision = 12;
  (await fake.watch(1)).write(answer({ fragment: true, events: [['a', 12]] }));
  (await fake.watch(1)).write(answer({ canceled: true, reason: 'etcdserver: no leader' }));
  (await fake.watch(2)).write(
    answer({
      events: [
        ['a', 11],
        ['a', 12],
        ['b', 12],
      ],
    }),
  );
  await seen.reached(12);
  (await fake.watch(2)).end();
  (await fake.watch(3)).write(answer({ canceled: true, compacted: 20 }));
  expect(await seen.failed()).toMatchObject({ name: 'Compacted', oldest: 20 });
  expect(fake.starts).toEqual([10, 11, 12]);
  expect(pairsOf(seen.changes)).toEqual([
    ['put', 'a', 11],
    ['put', 'a', 12],
    ['put', 'b', 12],
  ]);
});

test('a commit is delivered with its answer, and what the watch says of it is dropped', async () => {
  const { fake, engine } = await start('3.5.13');
  const seen = record(engine, 10);
  const stream = await fake.watch(1);
  stream.write(answer({ events: [['a', 11]] }));
  await seen.reached(11);
  fake.lookUp = async () => committed(12);
  const value = Buffer.from('made');
  await engine.commit([put('b', value, 0)]);
  expect(seen.changes.at(-1)).toEqual({ type: 'put', key: 'b', value, revision: 12, created: 12 });
  expect(seen.changes.at(-1)?.value).toBe(value);
  fake.lookUp = async () => committed(13);
  await engine.commit([{ type: 'delete', key: 'a', expect: 11, created: 4 }]);
  expect(seen.changes.at(-1)).toEqual({ type: 'delete', key: 'a', value: undefined, revision: 13, created: 4 });
  fake.lookUp = () => expect.fail('a deletion that is known is looked up');
  stream.write(answer({ events: [['b', 12]] }));
  stream.write(
    answer({
      events: [
        ['-a', 13],
        ['c', 14],
      ],
    }),
  );
  await seen.reached(14);
  expect(pairsOf(seen.changes)).toEqual([
    ['put', 'a', 11],
    ['put', 'b', 12],
    ['delete', 'a', 13],
    ['put', 'c', 14],
  ]);
});

test('commits that are answered in another order are delivered in theirs', async () => {
  const { fake, engine } = await start('3.5.13');
  const seen = record(engine, 10);
  const stream = await fake.watch(1);
  stream.write(answer({ events: [['a', 11]] }));
  await seen.reached(11);
  for (const revision of [14, 15, 13]) {
    fake.lookUp = async () => committed(revision);
    await engine.commit([put(`own${revision}`, 'x', 0)]);
  }
  // Another server has made revision 12.
  expect(seen.revision).toBe(11);
  stream.write(answer({ events: [['other', 12]] }));
  await seen.reached(15);
  expect(pairsOf(seen.changes).slice(1)).toEqual([
    ['put', 'other', 12],
    ['put', 'own13', 13],
    ['put', 'own14', 14],
    ['put', 'own15', 15],
  ]);
});

test('own commits that wait for another one are bounded, and those beyond come by the watch', async () => {
  const { fake, engine } = await start('3.5.13');
  const seen = record(engine, 10);
  const stream = await fake.watch(1);
  stream.write(answer({ events: [['a', 11]] }));
  await seen.reached(11);
  // Another server has made revision 12.
  const last = 12 + MOST_EARLY + 1;
  for (let revision = 13; revision <= last; revision++) {
    fake.lookUp = async () => committed(revision);
    await engine.commit([put(`own${revision}`, 'x', 0)]);
  }
  stream.write(answer({ events: [['other', 12]] }));
  await seen.reached(last - 1);
  expect(seen.revision).toBe(last - 1);
  stream.write(answer({ events: [[`own${last}`, last]] }));
  await seen.reached(last);
  expect(seen.changes.map(({ revision }) => revision)).toEqual(Array.from({ length: last - 10 }, (_, index) => 11 + index));
});

test('a commit passes on the span of the request that it is of', async () => {
  const { fake, engine } = await start('3.5.13');
  fake.lookUp = async () => committed(11);
  const spans = ['a', 'b', 'c'].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`);
  for (const traceparent of [...spans, undefined])
    await engine.commit([{ ...put('a', 'x', 0), traceparent } as Operation, put('b', 'x', 0)]);
  await engine.commit([{ ...remove('a'), traceparent: spans[0] } as Operation]);
  expect(fake.traces).toEqual([...spans, spans[0]]);
});

test('a commit whose changes are not fully known is delivered by the watch', async () => {
  const { fake, engine } = await start('3.5.13');
  const seen = record(engine, 10);
  const stream = await fake.watch(1);
  stream.write(answer({ events: [['a', 11]] }));
  await seen.reached(11);
  fake.lookUp = async () => committed(12);
  // When the key was created, whether it was there, and whether anything was written at all.
  for (const operation of [put('a', 'x', 11), put('a', 'x'), remove('a'), { type: 'check', key: 'a', expect: 11 } as const])
    await engine.commit([operation]);
  expect(seen.revision).toBe(11);
  stream.write(answer({ events: [['a', 12]] }));
  await seen.reached(12);
  expect(pairsOf(seen.changes)).toEqual([
    ['put', 'a', 11],
    ['put', 'a', 12],
  ]);
});

test('a deletion tells when its key had been created, and what comes after it waits', async () => {
  const { fake, engine } = await start('3.5.13');
  let answerLookUp: (states: Buffer) => void = () => {};
  const asked = new Promise<void>((resolve) => {
    fake.lookUp = () => {
      resolve();
      return new Promise((answer) => {
        answerLookUp = answer;
      });
    };
  });
  const seen = record(engine, 10);
  const stream = await fake.watch(1);
  stream.write(
    answer({
      events: [
        ['a', 11],
        ['-a', 12],
      ],
    }),
  );
  stream.write(answer({ events: [['b', 13]] }));
  await asked;
  expect(seen.deliveries).toEqual([]);
  answerLookUp(states([7]));
  await seen.reached(13);
  expect(pairsOf(seen.changes)).toEqual([
    ['put', 'a', 11],
    ['delete', 'a', 12],
    ['put', 'b', 13],
  ]);
  expect(seen.changes[1]?.created).toBe(7);
});

test('when a deletion cannot be looked up the watch begins anew, and nothing is lost', async () => {
  const { fake, engine } = await start('3.5.13');
  fake.lookUp = async () => {
    fake.lookUp = async () => states([5, 6]);
    throw new Error('not now');
  };
  const seen = record(engine, 10);
  const first = await fake.watch(1);
  first.write(answer({ events: [['x', 11]] }));
  await seen.reached(11);
  fake.revision = 13;
  first.write(answer({ events: [['-a', 12]] }));
  first.write(answer({ events: [['-b', 13]] }));
  const second = await fake.watch(2);
  second.write(
    answer({
      events: [
        ['x', 11],
        ['-a', 12],
        ['-b', 13],
      ],
    }),
  );
  await seen.reached(13);
  expect(seen.changes.map(({ key, revision, created }) => [key, revision, created])).toEqual([
    ['x', 11, 1],
    ['a', 12, 5],
    ['b', 13, 6],
  ]);
});

test('the newest revision is reached by asking for progress, where the server can be trusted', async () => {
  const { fake, engine } = await start('3.5.13');
  const seen = record(engine, 10);
  const stream = await fake.watch(1);
  fake.revision = 15;
  expect(await engine.currentRevision()).toBe(15);
  while (fake.progressRequests === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stream.write(answer({ watch: -1n, revision: 15 }));
  await seen.reached(15);
  expect([seen.changes, fake.puts]).toEqual([[], 0]);
});

test('an older server is not believed: a write of our own shows how far the watch has come', async () => {
  const { fake, engine } = await start('3.4.23');
  const seen = record(engine, 10);
  const stream = await fake.watch(1);
  fake.revision = 15;
  expect(await engine.currentRevision()).toBe(15);
  stream.write(answer({ watch: -1n, revision: 15 }));
  while (fake.puts === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect([seen.revision, fake.progressRequests]).toEqual([10, 0]);
  stream.write(answer({ events: [['a', 14]] }));
  stream.write(answer({ events: [['.barrier', 16]] }));
  await seen.reached(15);
  expect(pairsOf(seen.changes)).toEqual([['put', 'a', 14]]);
  // What a server reports by itself comes in its place among the events, and is true for every version.
  stream.write(answer({ revision: 20 }));
  await seen.reached(20);
});

test('versions whose progress reports can be trusted', () => {
  const trusted = ['3.4.31', '3.5.13', '3.5.21', '3.6.0', '3.6.0-rc.1', '4.0.0'];
  const doubtful = ['3.3.25', '3.4.0', '3.4.30', '3.5.0', '3.5.12', '3.5.0-alpha.0', '', 'Not provided'];
  expect(trusted.filter(canReportProgress)).toEqual(trusted);
  expect(doubtful.filter(canReportProgress)).toEqual([]);
});

async function start(version: string): Promise<{ fake: Fake; engine: Engine }> {
  const fake = await startFake(version);
  const engine = await openEtcd({ endpoints: [fake.endpoint], prefix: '/fake', historyRetentionMs: 0 });
  cleanups.push(() => engine.close());
  return { fake, engine };
}

async function startFake(version: string): Promise<Fake> {
  const streams: Stream[] = [];
  const server = new Server();
  const same = (bytes: Buffer) => bytes;
  const shape = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
  const unary = (path: string) => ({ [path]: { path, requestStream: false, responseStream: false, ...shape } });
  const handler =
    (answer: (metadata: Metadata) => MaybePromise<Buffer>) =>
    ({ metadata }: { metadata: Metadata }, callback: (error: Error | null, bytes?: Buffer) => void) =>
      void (async () => answer(metadata))().then((bytes) => callback(null, bytes), callback);
  const [range, put, status] = ['/etcdserverpb.KV/Range', '/etcdserverpb.KV/Put', '/etcdserverpb.Maintenance/Status'] as const;
  const transaction = '/etcdserverpb.KV/Txn';
  server.addService(
    { ...unary(range), ...unary(put), ...unary(status), ...unary(transaction) },
    {
      [transaction]: handler((metadata) => {
        fake.traces.push(...metadata.get('traceparent'));
        return fake.lookUp();
      }),
      [range]: handler(() => answer({ revision: fake.revision })),
      [put]: handler(() => {
        fake.puts++;
        return answer({ revision: fake.revision });
      }),
      [status]: handler(() => {
        const writer = new Writer(16);
        writer.text(2, version);
        return writer.finish();
      }),
    },
  );
  const watch = '/etcdserverpb.Watch/Watch';
  server.addService(
    { [watch]: { path: watch, requestStream: true, responseStream: true, ...shape } },
    {
      [watch]: (stream: Stream) => {
        stream.on('error', () => {});
        stream.on('data', (request: Buffer) => {
          const reader = new Reader(request);
          if (reader.next() === 3) {
            fake.progressRequests++;
            return;
          }
          const create = reader.nested();
          for (let field = create.next(); field !== 0; field = create.next()) {
            if (field === 3) fake.starts.push(create.number());
            else create.skip();
          }
          stream.write(answer({ created: true, revision: fake.revision }));
          streams.push(stream);
        });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  cleanups.push(() => server.forceShutdown());
  const fake: Fake = {
    endpoint: `http://127.0.0.1:${port}`,
    revision: 10,
    starts: [],
    progressRequests: 0,
    puts: 0,
    traces: [],
    lookUp: async () => states([]),
    async watch(number) {
      while (streams.length < number) await new Promise((resolve) => setTimeout(resolve, 2));
      return streams[number - 1] as Stream;
    },
  };
  return fake;
}

/** The answer of a transaction that was made at this revision. */
function committed(revision: number): Buffer {
  const writer = new Writer(16);
  writer.flag(2, true);
  const end = writer.position;
  writer.number(3, revision);
  writer.nested(1, end);
  return writer.finish();
}

/** The answer of a transaction that read keys with these revisions of creation. */
function states(created: number[]): Buffer {
  const writer = new Writer(16);
  for (const revision of created.reverse()) {
    const end = writer.position;
    writer.number(2, revision);
    writer.nested(2, end);
    writer.nested(1, end);
    writer.nested(3, end);
  }
  return writer.finish();
}

interface Answer {
  revision?: number;
  watch?: bigint;
  created?: boolean;
  canceled?: boolean;
  compacted?: number;
  reason?: string;
  fragment?: boolean;
  /** Keys, with a leading dot for records of the engine and a leading minus for deletions, and their revisions. */
  events?: [string, number][];
}

/** An answer of the watch; its header alone is one of a range or a put, too. */
function answer({ revision = 0, watch = 0n, events = [], ...rest }: Answer): Buffer {
  const writer = new Writer(16);
  for (const [key, at] of [...events].reverse()) {
    const end = writer.position;
    const deleted = key.startsWith('-');
    if (!deleted) writer.bytes(5, Buffer.from(`${key}@${at}`));
    writer.number(3, at);
    if (!deleted) writer.number(2, 1);
    writer.text(1, key.startsWith('.') ? `/fake${key}` : `/fake/${deleted ? key.slice(1) : key}`);
    writer.nested(2, end);
    writer.flag(1, deleted);
    writer.nested(11, end);
  }
  writer.flag(7, rest.fragment === true);
  if (rest.reason !== undefined) writer.text(6, rest.reason);
  if (rest.compacted !== undefined) writer.number(5, rest.compacted);
  writer.flag(4, rest.canceled === true);
  writer.flag(3, rest.created === true);
  if (watch !== 0n) writer.number(2, watch);
  const end = writer.position;
  writer.number(3, revision);
  writer.nested(1, end);
  return writer.finish();
}

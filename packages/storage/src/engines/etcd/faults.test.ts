/** Etcd dies, hangs or cannot be reached: nothing that was answered is lost, and nobody waits for ever. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { build } from 'esbuild';
import { afterEach, describe, expect, test } from 'vitest';
import { bundledPackages } from '../../../../../scripts/workspaces.mjs';
import { type EtcdFixture, etcdMissing, startEtcd, startEtcdCluster } from '../../../../../test/support/etcd.ts';
import { startProxy, type TcpProxy } from '../../../../../test/support/tcp-proxy.ts';
import { pairsOf, put, record, text } from '../../engine.suite.tools.ts';
import { CommitConflict, type Engine, StoreUnavailable } from '../../engine.ts';
import { type EtcdOptions, openEtcd } from '../etcd.ts';

/** Writes that may still be answered while etcd is killed and started: enough for some to be under way all the time. */
const ANSWERS_LEFT = 1_000;

describe.skipIf(etcdMissing !== undefined)(`etcd in trouble${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  async function etcdFor(options: Parameters<typeof startEtcd>[0] = {}): Promise<EtcdFixture> {
    const etcd = await startEtcd(options);
    cleanups.push(() => etcd.stop());
    return etcd;
  }
  async function proxyFor(etcd: EtcdFixture): Promise<TcpProxy & { endpoint: string }> {
    const proxy = await startProxy(Number(new URL(etcd.endpoint).port));
    cleanups.push(() => proxy.close());
    return { ...proxy, endpoint: `http://127.0.0.1:${proxy.port}` };
  }
  async function open(endpoints: string[], options: Partial<EtcdOptions> = {}): Promise<Engine> {
    const engine = await openEtcd({ endpoints, historyRetentionMs: 0, ...options });
    cleanups.push(() => engine.close());
    return engine;
  }

  /** Writes through both engines while `trouble` happens, and then holds what subscribers were told against what was answered. */
  async function writeThrough(engines: readonly [Engine, Engine], trouble: (until: (answers: number) => Promise<void>) => Promise<void>) {
    const base = engines[0].revision;
    const seen = engines.map((engine) => record(engine, base));
    const answered: [string, string, number][] = [];
    let stopped = false;
    // Writers are under way whenever something happens, and rest when nothing has happened for long.
    let mostAnswers = 0;
    const resting: (() => void)[] = [];
    const goOn = () => {
      for (const call of resting.splice(0)) call();
    };
    const writer = async (engine: Engine, name: string) => {
      for (let number = 0, revision = 0; !stopped; ) {
        if (answered.length >= mostAnswers) await new Promise<void>((resolve) => resting.push(resolve));
        try {
          ({ revision } = await engine.commit([put(name, `${number}`, revision)]));
          answered.push([name, `${number}`, revision]);
          number++;
        } catch (error) {
          // A conflict tells that a write without an answer had happened after all.
          expect(error instanceof StoreUnavailable || error instanceof CommitConflict).toBe(true);
          const entry = await readAgain(engine, name);
          revision = entry?.revision ?? 0;
          number = entry === undefined ? 0 : Number(text(entry)) + 1;
        }
      }
    };
    const writers = engines.flatMap((engine, server) => Array.from({ length: 8 }, (_, index) => writer(engine, `w${server}.${index}`)));
    const moreAnswers = async (count: number) => {
      const enough = answered.length + count;
      mostAnswers = enough + ANSWERS_LEFT;
      goOn();
      while (answered.length < enough) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await trouble(moreAnswers);
    await moreAnswers(100);
    stopped = true;
    goOn();
    await Promise.all(writers);

    const newest = await engines[0].currentRevision();
    const truth = await engines[0].changes({ after: base, prefix: '' });
    for (const recording of seen) {
      await recording.reached(newest);
      expect(pairsOf(recording.changes)).toEqual(pairsOf(truth));
    }
    const revisions = truth.map(({ revision }) => revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    const told = new Set(truth.map((change) => `${change.key} ${text(change)} ${change.revision}`));
    for (const [key, value, revision] of answered) expect(told.has(`${key} ${value} ${revision}`)).toBe(true);
    // The numbers of each writer follow each other: none was written twice, although some had no answer.
    for (const name of new Set(truth.map(({ key }) => key))) {
      const numbers = truth.filter((change) => change.key === name).map((change) => Number(text(change)));
      expect(numbers).toEqual(numbers.map((_, index) => index));
    }
  }

  test('etcd is killed again and again under writers and subscribers: nothing is lost, doubled or out of order', async () => {
    const etcd = await etcdFor();
    await writeThrough([await open([etcd.endpoint]), await open([etcd.endpoint])], async (moreAnswers) => {
      for (let round = 0; round < 3; round++) {
        await moreAnswers(100);
        await etcd.kill();
        await etcd.start();
      }
    });
  });

  test('the members of a cluster are killed one after the other: the others take over, and nothing is lost', {
    timeout: 60_000,
  }, async () => {
    const members = await startEtcdCluster(3);
    for (const member of members) cleanups.push(() => member.stop());
    const endpoints = members.map((member) => member.endpoint);
    await writeThrough([await open(endpoints), await open([...endpoints].reverse())], async (moreAnswers) => {
      for (const member of members) {
        await moreAnswers(100);
        await member.kill();
        await moreAnswers(100);
        await member.start();
      }
    });
  });

  test('a subscriber whose connection breaks goes on where it was', async () => {
    const etcd = await etcdFor();
    const proxy = await proxyFor(etcd);
    const [away, other] = [await open([proxy.endpoint]), await open([etcd.endpoint])];
    const seen = record(away, away.revision);
    for (let round = 0; round < 4; round++) {
      const { revision } = await other.commit([put('a', `${round} while connected`)]);
      await seen.reached(revision);
      proxy.cut();
      for (let index = 0; index < 5; index++) await other.commit([put('a', `${round} while away ${index}`), put('b', 'x')]);
      proxy.mend();
    }
    const { revision } = await other.commit([put('end', '')]);
    await seen.reached(revision);
    expect(seen.changes).toEqual(await other.changes({ after: revision - 25, prefix: '' }));
    expect(seen.failures).toEqual([]);
  });

  test('a subscriber that comes back after a compaction gets one error that says so', async () => {
    const etcd = await etcdFor();
    const proxy = await proxyFor(etcd);
    const [away, other] = [await open([proxy.endpoint]), await open([etcd.endpoint])];
    const seen = record(away, away.revision);
    const before = (await other.commit([put('a', '1')])).revision;
    await seen.reached(before);
    proxy.cut();
    await other.commit([put('a', '2')]);
    const { revision } = await other.commit([put('a', '3')]);
    await other.compact(revision);
    proxy.mend();
    expect(await seen.failed()).toMatchObject({ name: 'Compacted', oldest: revision });
    expect(seen.failures).toHaveLength(1);
    expect(seen.changes.map(text)).toEqual(['1']);
    expect(away.compacted).toBe(revision);
    // A new subscriber starts from what it reads.
    const { entries, revision: at } = await away.range({ prefix: '' });
    expect(entries.map(text)).toEqual(['3']);
    const again = record(away, at);
    await again.reached((await other.commit([put('a', '4')])).revision);
    expect(again.changes.map(text)).toEqual(['4']);
  });

  test('when an endpoint is lost the next one takes over', async () => {
    const etcd = await etcdFor();
    const proxies = [await proxyFor(etcd), await proxyFor(etcd)];
    const engine = await open(['http://127.0.0.1:1', ...proxies.map((proxy) => proxy.endpoint)]);
    const seen = record(engine, engine.revision);
    for (const proxy of [...proxies, ...proxies]) {
      // The break may hit a write, whose outcome is then unknown, but never a read.
      proxy.cut();
      expect(await engine.currentRevision()).toBeGreaterThan(0);
      const { revision } = await commitAgain(engine, 'a', proxy.endpoint);
      await seen.reached(revision);
      proxy.mend();
    }
    expect(seen.failures).toEqual([]);
  });

  test('an endpoint that hangs costs a read only a part of its time', async () => {
    const etcd = await etcdFor();
    const hanging = await proxyFor(etcd);
    const engine = await open([hanging.endpoint, etcd.endpoint], { requestTimeoutMs: 3_000 });
    await engine.commit([put('a', '1')]);
    hanging.stall();
    expect(text(await engine.get('a'))).toBe('1');
    const { revision } = await engine.commit([put('a', '2')]);
    expect(await engine.currentRevision()).toBe(revision);
  });

  test('a write without an answer is reported as one that may have happened, and is not repeated', async () => {
    const etcd = await etcdFor();
    const engine = await open([etcd.endpoint], { requestTimeoutMs: 1_500 });
    const { revision } = await engine.commit([put('a', '1')]);
    etcd.freeze();
    const write = engine.commit([put('a', '2', revision)]);
    await expect(write).rejects.toThrow(StoreUnavailable);
    await expect(write).rejects.toThrow(/not known/);
    await expect(write).rejects.toMatchObject({ inDoubt: true });
    await expect(engine.get('a')).rejects.toThrow(StoreUnavailable);
    await expect(engine.ping()).rejects.toThrow(StoreUnavailable);
    etcd.thaw();
    const entry = await readAgain(engine, 'a');
    // Etcd may or may not have got it, but it did not happen twice.
    expect([revision, revision + 1]).toContain(entry?.revision);
  });

  test('a write that was never sent is not in doubt', async () => {
    const etcd = await etcdFor();
    const proxy = await proxyFor(etcd);
    const engine = await open([proxy.endpoint], { requestTimeoutMs: 1_500 });
    proxy.cut();
    await expect(readUntilBroken(engine)).rejects.toThrow(/cannot be reached/);
    const write = engine.commit([put('a', '1', 0)]);
    await expect(write).rejects.toThrow(/cannot be reached/);
    await expect(write).rejects.not.toThrow(/not known/);
    proxy.mend();
    expect(await readAgain(engine, 'a')).toBeUndefined();
    await engine.commit([put('a', '1', 0)]);
  });

  test('a store that was set back is not followed further', async () => {
    const [etcd, empty] = [await etcdFor(), await etcdFor()];
    const ports = [etcd, empty].map(({ endpoint }) => Number(new URL(endpoint).port)) as [number, number];
    const proxies = [await startProxy(ports[0]), await startProxy(ports[1])];
    for (const proxy of proxies) cleanups.push(() => proxy.close());
    proxies[1]?.cut();
    const engine = await open(proxies.map(({ port }) => `http://127.0.0.1:${port}`));
    const seen = record(engine, engine.revision);
    for (let index = 0; index < 5; index++) await engine.commit([put('a', `${index}`)]);
    await seen.reached(engine.revision);
    proxies[0]?.cut();
    proxies[1]?.mend();
    expect((await seen.failed()).message).toMatch(/the store was replaced/);
  });

  test('opening fails, and says why, when there is no etcd or it does not trust the client', async () => {
    await expect(openEtcd({ endpoints: ['http://127.0.0.1:1'], requestTimeoutMs: 300 })).rejects.toThrow(
      /cannot be reached at http:\/\/127.0.0.1:1: connect ECONNREFUSED 127\.0\.0\.1:1: is it running there\?$/,
    );
    const etcd = await etcdFor({ tls: true });
    const caFile = etcd.tls?.caFile as string;
    await expect(openEtcd({ endpoints: [etcd.endpoint], caFile, requestTimeoutMs: 1_000 })).rejects.toThrow(StoreUnavailable);
    await expect(openEtcd({ endpoints: [etcd.endpoint], requestTimeoutMs: 1_000 })).rejects.toThrow(/certificate/);
    const engine = await open([etcd.endpoint], etcd.tls);
    const seen = record(engine, engine.revision);
    const { revision } = await engine.commit([put('a', '1', 0)]);
    await seen.reached(revision);
    expect(text(await engine.get('a'))).toBe('1');
  });

  test('a process whose engine is closed ends by itself', async () => {
    const etcd = await etcdFor();
    const directory = temporaryDirectory('plat-etcd-close');
    const outfile = join(directory, 'script.cjs');
    const script = `
      import { openEtcd } from ${JSON.stringify(new URL('../etcd.ts', import.meta.url).pathname)};
      (async () => {
        const engine = await openEtcd({ endpoints: [process.argv[2], 'http://127.0.0.1:1'] });
        engine.subscribe(engine.revision, () => {}, (error) => console.log(error.message));
        await engine.commit([{ type: 'put', key: 'a', value: Buffer.from('1'), expect: 0, ttlSeconds: 600 }]);
        engine.currentRevision().catch(() => {});
        await engine.close();
        console.log('closed');
      })();
    `;
    await build({
      stdin: { contents: script, resolveDir: directory },
      bundle: true,
      plugins: [bundledPackages],
      platform: 'node',
      format: 'cjs',
      outfile,
      logLevel: 'error',
    });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile, etcd.endpoint], { timeout: 20_000 });
    expect(stdout).toBe('the store is closed\nclosed\n');
  });
});

/** Reads, however long it takes. */
async function readAgain(engine: Engine, key: string) {
  for (;;) {
    try {
      return await engine.get(key);
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailable);
    }
  }
}

async function readUntilBroken(engine: Engine): Promise<never> {
  for (;;) await engine.get('a');
}

async function commitAgain(engine: Engine, key: string, value: string): Promise<{ revision: number }> {
  for (;;) {
    try {
      return await engine.commit([put(key, value)]);
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailable);
    }
  }
}

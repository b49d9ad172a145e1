/** Three servers on one etcd. The long form, with figures, is `node bench/servers.mjs`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine, Subscriber } from '../../packages/storage/src/engine.ts';
import { LOADED_AT_ONCE } from '../../packages/storage/src/loader.ts';
import { type EtcdFixture, etcdMissing, startEtcd } from '../support/etcd.ts';
import { holdLoads, multiply } from '../support/held-loads.ts';
import { type Answer, type Client, startTestServer, summary, type TestServer } from '../support/server.ts';
import { checkVisibleWrites, type Reply } from '../support/visible-writes.ts';

const WRITES = 60;
const WATCHERS = 20;

describe.skipIf(etcdMissing !== undefined)(
  `three servers on one etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`,
  () => {
    let etcd: EtcdFixture;
    const servers: TestServer[] = [];
    beforeAll(async () => {
      etcd = await startEtcd();
      const first = await startTestServer({ store: 'etcd', etcdServers: [etcd.endpoint] });
      servers.push(first);
      servers.push(await first.peer(), await first.peer({ wrapEngine: lag.wrap }));
    });
    afterAll(async () => {
      for (const server of servers) await server.close();
      await etcd?.stop();
    });
    const lag = lagging();
    const at = (index: number): TestServer => servers[index] as TestServer;

    test('a write at one is visible to a consistent read at the others at once', async () => {
      const path = `/api/v1/namespaces/${await at(0).namespace()}/configmaps`;
      const send = (index: number, method: string, target: string, body?: unknown): Promise<Reply> =>
        method === 'PATCH' ? at(index).admin.patch(target, body) : at(index).admin.send(method, target, body === undefined ? {} : { body });
      const { examples, ...counts } = await checkVisibleWrites(send, { servers: 3, path, writes: WRITES, clients: 4 });
      expect(examples).toEqual([]);
      // Each write is read as an object and in a list, at two servers.
      expect(counts).toEqual({ writes: WRITES, reads: WRITES * 4, staleReads: 0 });
    });

    test.each<[string, number, (client: Client, path: string, name: string) => Promise<Answer>]>([
      ['replace', 200, (client, path, name) => client.put(`${path}/${name}`, { metadata: { name }, data: { a: 'b' } })],
      ['merge patch', 200, (client, path, name) => client.patch(`${path}/${name}`, { data: { a: 'b' } })],
      ['JSON patch', 200, (client, path, name) => client.patch(`${path}/${name}`, [{ op: 'add', path: '/data', value: {} }], 'json-patch')],
      ['strategic patch', 200, (client, path, name) => client.patch(`${path}/${name}`, { data: { a: 'b' } }, 'strategic-merge-patch')],
      ['apply', 200, (client, path, name) => client.patch(`${path}/${name}?fieldManager=m`, applied(name), 'apply-patch')],
      ['delete', 200, (client, path, name) => client.delete(`${path}/${name}`)],
      ['create', 409, (client, path, name) => client.post(path, { metadata: { name } })],
      ['get', 200, (client, path, name) => client.get(`${path}/${name}`)],
    ])('%s of an object of which a server has not heard yet: %i', async (verb, status, act) => {
      const path = `/api/v1/namespaces/${await at(0).namespace()}/configmaps`;
      const name = verb.replace(' ', '-').toLowerCase();
      // It knows the namespace.
      await at(2).admin.ok('GET', path);
      lag.hold();
      await at(0).admin.ok('POST', path, { metadata: { name } });
      const answer = await act(at(2).admin, path, name);
      lag.release();
      expect(answer.status, answer.text).toBe(status);
    });

    test('an object is created in a namespace of which a server has not heard yet', async () => {
      lag.hold();
      const namespace = await at(0).namespace();
      const answer = await at(2).admin.post(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'a' } });
      lag.release();
      expect(answer.status, answer.text).toBe(201);
    });

    test('one that has just started has what the others write, though its objects are not loaded', async () => {
      const namespace = await at(0).namespace();
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      await at(0).admin.ok('POST', path, { metadata: { name: 'one' } });
      await multiply(at(0).engine, `core/configmaps/${namespace}/`, LOADED_AT_ONCE);
      const loads = holdLoads();
      const late = await at(0).peer({ wrapEngine: loads.wrap });
      try {
        for (let write = 0; write < 10; write++) {
          await at(write % 2).admin.patch(`${path}/copy5`, { data: { n: String(write) } });
          expect((await late.admin.ok('GET', `${path}/copy5`)).data).toEqual({ n: String(write) });
        }
        await at(0).admin.ok('DELETE', `${path}/copy6`);
        expect((await late.admin.get(`${path}/copy6`)).status).toBe(404);
        expect((await late.admin.patch(`${path}/copy5`, { data: { by: 'late' } })).json.data).toEqual({ n: '9', by: 'late' });
        expect((await late.admin.post(path, { metadata: { name: 'copy7' } })).status).toBe(409);
        await late.admin.ok('POST', path, { metadata: { name: 'late' } });
        const listed = late.admin.ok('GET', path);
        await at(1).admin.ok('DELETE', `${path}/copy8`);
        loads.release();
        const found = (await listed).items.map((item: { metadata: { name: string } }) => item.metadata.name);
        expect(found).toContain('late');
        expect(found).not.toContain('copy6');
        expect((await at(0).admin.ok('GET', path)).items).toEqual((await late.admin.ok('GET', path)).items);
      } finally {
        await late.close();
      }
    });

    test('watches of clients are no watches of etcd: each server has its own, however many clients it serves', async () => {
      const path = `/api/v1/namespaces/${await at(0).namespace()}/configmaps`;
      const watches = await Promise.all(
        servers.flatMap(({ admin }) => Array.from({ length: WATCHERS }, () => admin.watch(`${path}?watch=1&resourceVersion=0`))),
      );
      await at(1).admin.ok('POST', path, { metadata: { name: 'seen-by-all' } });
      const events = await Promise.all(watches.map(async (watch) => summary((await watch.until(isTheOne)).at(-1) as never)));
      expect(events).toEqual(Array(3 * WATCHERS).fill('ADDED seen-by-all'));
      await expect.poll(() => watchesOf(etcd)).toBe(servers.length);
      for (const watch of watches) watch.close();
    });
  },
);

const applied = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } });

/** Changes of a store that come late: not before the server asks for the newest revision. */
function lagging() {
  let held: (() => void)[] | undefined;
  const release = (): void => {
    const due = held ?? [];
    held = undefined;
    for (const deliver of due) deliver();
  };
  const wrap = (engine: Engine): Engine =>
    new Proxy(engine, {
      get: (target, name) => {
        if (name === 'currentRevision')
          return async () => {
            const revision = await target.currentRevision();
            release();
            return revision;
          };
        if (name === 'subscribe')
          return (after: number, deliver: Subscriber, failed: (error: Error) => void) =>
            target.subscribe(
              after,
              (changes, revision) => (held === undefined ? deliver(changes, revision) : void held.push(() => deliver(changes, revision))),
              failed,
            );
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const hold = (): void => {
    held = [];
  };
  return { wrap, hold, release };
}

const isTheOne = (event: { object: { metadata: { name: string } } }): boolean => event.object.metadata.name === 'seen-by-all';

/** Watches that clients of etcd have, by its own count. One that was interrupted may be counted for a while after it was made again. */
async function watchesOf({ endpoint }: EtcdFixture): Promise<number> {
  const text = await (await fetch(`${endpoint}/metrics`)).text();
  return Number(/^etcd_debugging_mvcc_watcher_total (\d+)$/m.exec(text)?.[1]);
}

describe('the check of visible writes', () => {
  /** Two servers of which the second is some writes behind. */
  const lagging = (lag: number) => {
    const states: Map<string, string>[] = [new Map()];
    return async (index: number, method: string, target: string, body?: unknown): Promise<Reply> => {
      const seen = states.at(index === 1 ? -1 - lag : -1) ?? new Map<string, string>();
      const name = /configmaps\/([^?]+)/.exec(target)?.[1] ?? (body as { metadata: { name: string } } | undefined)?.metadata.name;
      const version = String(states.length);
      if (method === 'GET' && name !== undefined) {
        const found = seen.get(name);
        return found === undefined ? { status: 404, json: {} } : { status: 200, json: { metadata: { resourceVersion: found } } };
      }
      if (method === 'GET')
        return { status: 200, json: { items: Array.from(seen, ([name, resourceVersion]) => ({ metadata: { name, resourceVersion } })) } };
      const next = new Map(states.at(-1));
      if (method === 'DELETE') next.delete(name as string);
      else next.set(name as string, version);
      states.push(next);
      return { status: 200, json: { metadata: { resourceVersion: version } } };
    };
  };
  const options = { servers: 2, path: '/api/v1/namespaces/a/configmaps', writes: 30, clients: 1 };

  test('finds none where every read has the last write', async () => {
    expect(await checkVisibleWrites(lagging(0), options)).toEqual({ writes: 30, reads: 60, staleReads: 0, examples: [] });
  });

  test('finds each read of a server that is one write behind', async () => {
    const found = await checkVisibleWrites(lagging(1), options);
    // Every second write is at the first server, and read at the second as an object and in a list.
    expect(found).toMatchObject({ writes: 30, reads: 60, staleReads: 30 });
    expect(found.examples[0]).toBe('get c0-000000 at server 1: 404 instead of 1');
    expect(found.examples).toHaveLength(10);
  });
});

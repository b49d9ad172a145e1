/** A server whose store no longer delivers changes, while reads and writes work: it answers nothing from a state that may be stale. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../packages/lib/src/clock.ts';
import { NEWEST_WAIT_MS } from '../../packages/storage/src/cache.ts';
import type { ChangeRecord, Engine, Subscriber } from '../../packages/storage/src/engine.ts';
import { type EtcdFixture, etcdMissing, startEtcd } from '../support/etcd.ts';
import { type Answer, type Client, startTestServer, type TestServer } from '../support/server.ts';
import { shortWaits } from '../support/short-waits.ts';

/** A store whose changes can be held back, and a clock on which waits for them are short meanwhile. */
function stalling() {
  let stalled = false;
  const short = shortWaits({ after: [NEWEST_WAIT_MS] });
  const clock: Clock = { ...systemClock, after: (...wait) => (stalled ? short : systemClock).after(...wait) };
  const waiting: [deliver: Subscriber, changes: readonly ChangeRecord[], revision: number][] = [];
  const subscribe =
    (engine: Engine): Engine['subscribe'] =>
    (after, deliver, failed) =>
      engine.subscribe(
        after,
        (changes, revision) => {
          if (stalled) waiting.push([deliver, changes, revision]);
          else deliver(changes, revision);
        },
        failed,
      );
  return {
    clock,
    wrap: (engine: Engine): Engine =>
      new Proxy(engine, {
        get(target, name) {
          if (name === 'subscribe') return subscribe(target);
          const value = Reflect.get(target, name, target) as unknown;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
    stall: () => {
      stalled = true;
    },
    resume: () => {
      stalled = false;
      for (const [deliver, changes, revision] of waiting.splice(0)) deliver(changes, revision);
    },
  };
}

const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });
const configMap = (name: string, n: string) => ({ metadata: { name }, data: { n } });

describe.skipIf(etcdMissing !== undefined)(`a stalled watch${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  const changes = stalling();
  let etcd: EtcdFixture;
  let other: TestServer;
  let stalled: TestServer;
  let namespace: string;
  beforeAll(async () => {
    etcd = await startEtcd();
    other = await startTestServer({
      store: 'etcd',
      etcdServers: [etcd.endpoint],
      controllers: [],
      disableAdmissionPlugins: ['ServiceAccount'],
    });
    stalled = await other.peer({ wrapEngine: changes.wrap, clock: changes.clock });
    namespace = await other.namespace();
  });
  afterAll(async () => {
    changes.resume();
    await stalled?.close();
    await other?.close();
    await etcd?.stop();
  });

  /** Makes an object, stops the delivery, changes the object at the other server, and acts at the stalled one. */
  async function behind(plural: string, object: { metadata: { name: string } }, act: (client: Client, url: string) => Promise<Answer>) {
    const url = `/api/v1/namespaces/${namespace}/${plural}`;
    const { name } = object.metadata;
    await other.admin.ok('POST', url, object);
    await stalled.admin.ok('GET', `${url}/${name}`);
    changes.stall();
    try {
      await other.admin.patch(`${url}/${name}`, { metadata: { labels: { by: 'other' } } });
      return await act(stalled.admin, `${url}/${name}`);
    } finally {
      changes.resume();
    }
  }

  test.each<[string, string, { metadata: { name: string } }, (client: Client, url: string) => Promise<Answer>]>([
    ['get', 'configmaps', configMap('get', '1'), (client, url) => client.get(url)],
    ['list', 'configmaps', configMap('list', '1'), (client, url) => client.get(url.slice(0, url.lastIndexOf('/')))],
    ['replace', 'configmaps', configMap('replace', '1'), (client, url) => client.put(url, configMap('replace', '2'))],
    ['patch', 'configmaps', configMap('patch', '1'), (client, url) => client.patch(url, { data: { n: '2' } })],
    ['patch that changes nothing', 'configmaps', configMap('same', '1'), (client, url) => client.patch(url, { data: { n: '1' } })],
    ['dry run', 'configmaps', configMap('dry', '1'), (client, url) => client.patch(`${url}?dryRun=All`, { data: { n: '2' } })],
    ['delete', 'configmaps', configMap('delete', '1'), (client, url) => client.delete(url)],
    ['get of what it never had', 'configmaps', configMap('missing', '1'), (client, url) => client.get(`${url}-2`)],
    ['patch of what it never had', 'configmaps', configMap('gone', '1'), (client, url) => client.patch(`${url}-2`, { data: { n: '2' } })],
    [
      'bind',
      'pods',
      pod('bind'),
      (client, url) => client.post(`${url}/binding`, { metadata: { name: 'bind' }, target: { kind: 'Node', name: 'n' } }),
    ],
    ['evict', 'pods', pod('evict'), (client, url) => client.post(`${url}/eviction`, { metadata: { name: 'evict' } })],
  ])('%s is answered with 503', async (_, plural, object, act) => {
    const answer = await behind(plural, object, act);
    expect([answer.status, answer.json]).toMatchObject([
      503,
      { kind: 'Status', reason: 'ServiceUnavailable', message: 'the store does not respond; try again' },
    ]);
    const { json } = await other.admin.get(`/api/v1/namespaces/${namespace}/${plural}/${object.metadata.name}`);
    expect(json).toMatchObject({ metadata: { labels: { by: 'other' } }, ...('data' in object && { data: { n: '1' } }) });
    expect(json.metadata.deletionTimestamp).toBeUndefined();
  });

  test('a read of what is not older than a version that it has goes on', async () => {
    const { json } = await behind('configmaps', configMap('cached', '1'), (client, url) => client.get(`${url}?resourceVersion=0`));
    expect(json.metadata).toMatchObject({ name: 'cached' });
    expect(json.metadata.labels).toBeUndefined();
  });

  test('a create is durable, and is answered as such', async () => {
    const url = `/api/v1/namespaces/${namespace}/configmaps`;
    changes.stall();
    const answer = await stalled.admin.post(url, configMap('created', '1'));
    const atOther = await other.admin.get(`${url}/created`);
    changes.resume();
    expect([answer.status, answer.json.metadata.uid]).toEqual([201, atOther.json.metadata.uid]);
  });
});

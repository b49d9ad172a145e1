/** Finding 41: watchers of a pod that is deleted at once see the mark, and then a deletion that carries it. */
import { expect, test } from 'vitest';
import type { Loose } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const pod = (name: string, nodeName?: string, more: object = {}): object => ({
  metadata: { name, ...more },
  spec: { ...(nodeName !== undefined && { nodeName }), containers: [{ name: 'c', image: 'reg.example/c' }] },
});

onStores(['memory', 'lmdb', 'etcd'], { identity: 'kubernetes' }, (server) => {
  /** The events that follow `from` up to the deletion of so many pods. */
  async function eventsOf(pods: string, from: string, deletions = 1): Promise<Loose[]> {
    const watch = await server().admin.watch(`${pods}?watch=1&resourceVersion=${from}`);
    const events: Loose[] = [];
    for (let i = 0; i < deletions; i++) events.push(...(await watch.until(({ type }) => type === 'DELETED')));
    watch.close();
    return events;
  }
  const seen = (events: Loose[]): Loose[] =>
    events.map(({ type, object }) => [type, object.metadata.name, object.metadata.deletionGracePeriodSeconds]);
  const place = async (): Promise<string> => `/api/v1/namespaces/${await server().namespace()}/pods`;

  test('a pod without a node', async () => {
    const pods = await place();
    const { admin } = server();
    const made = await admin.ok('POST', pods, pod('one'));
    const answer = await admin.ok('DELETE', `${pods}/one`);
    const events = await eventsOf(pods, made.metadata.resourceVersion);
    expect(seen(events)).toEqual([
      ['MODIFIED', 'one', 0],
      ['DELETED', 'one', 0],
    ]);
    const [marked, gone] = events.map(({ object }) => object.metadata);
    expect(marked.deletionTimestamp).toMatch(/^\d{4}-/);
    expect(gone.deletionTimestamp).toBe(marked.deletionTimestamp);
    expect(Number(gone.resourceVersion)).toBeGreaterThan(Number(marked.resourceVersion));
    expect(answer.metadata).toEqual(marked);
    expect((await admin.get(`${pods}/one`)).status).toBe(404);
  });

  test('a pod that was given time, and then none', async () => {
    const pods = await place();
    const { admin } = server();
    const made = await admin.ok('POST', pods, pod('two', 'node'));
    expect((await admin.ok('DELETE', `${pods}/two`)).metadata.deletionGracePeriodSeconds).toBe(30);
    await admin.ok('DELETE', `${pods}/two`, { gracePeriodSeconds: 0 });
    const events = await eventsOf(pods, made.metadata.resourceVersion);
    expect(seen(events)).toEqual([
      ['MODIFIED', 'two', 30],
      ['MODIFIED', 'two', 0],
      ['DELETED', 'two', 0],
    ]);
    const [first = 0, second = 0, gone] = events.map(({ object }) => Date.parse(object.metadata.deletionTimestamp));
    expect(first - second).toBe(30_000);
    expect(gone).toBe(second);
  });

  test('collections and dry runs', async () => {
    const pods = await place();
    const { admin } = server();
    const made = await admin.ok('POST', pods, pod('a'));
    await admin.ok('POST', pods, pod('b'));
    const dry = await admin.ok('DELETE', `${pods}/a?dryRun=All`);
    expect(dry.metadata.deletionGracePeriodSeconds).toBe(0);
    expect((await admin.ok('GET', `${pods}/a`)).metadata.deletionTimestamp).toBeUndefined();
    await admin.ok('DELETE', pods);
    const events = seen(await eventsOf(pods, made.metadata.resourceVersion, 2)).slice(1);
    for (const name of ['a', 'b'])
      expect(events.filter(([, one]) => one === name)).toEqual([
        ['MODIFIED', name, 0],
        ['DELETED', name, 0],
      ]);
  });

  test('a finalizer holds a pod that has no time left; the next deletion after it goes is not needed', async () => {
    const pods = await place();
    const { admin } = server();
    const made = await admin.ok('POST', pods, pod('held', undefined, { finalizers: ['example.com/hold'] }));
    await admin.ok('DELETE', `${pods}/held`);
    // Deleting it again changes nothing.
    const again = await admin.ok('DELETE', `${pods}/held`, { gracePeriodSeconds: 0 });
    expect(again.metadata.finalizers).toEqual(['example.com/hold']);
    await admin.patch(`${pods}/held`, { metadata: { finalizers: null } });
    expect(seen(await eventsOf(pods, made.metadata.resourceVersion)).map(([type, , grace]) => [type, grace])).toEqual([
      ['MODIFIED', 0],
      ['DELETED', 0],
    ]);
  });

  test('a negative time counts as one second, also for what is already on its way', async () => {
    const pods = await place();
    const { admin } = server();
    await admin.ok('POST', pods, pod('three', 'node'));
    await admin.ok('DELETE', `${pods}/three`);
    const shortened = await admin.ok('DELETE', `${pods}/three`, { gracePeriodSeconds: -5 });
    expect(shortened.metadata.deletionGracePeriodSeconds).toBe(1);
  });
});

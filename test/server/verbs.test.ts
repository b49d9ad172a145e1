import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupName, identities } from '../../packages/meta/src/identity.ts';
import { type Loose, startTestServer, summary, type TestServer, unique } from '../support/server.ts';

const named = (list: Loose): string[] => list.items.map((item: Loose) => item.metadata.name);

describe.each(['plat', 'kubernetes'])('as %s', (identity) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ identity });
  });
  afterAll(async () => {
    await server.close();
    expect(server.errors).toEqual([]);
  });

  const scheduling = `/apis/${groupName(identities[identity] as never, 'scheduling')}/v1`;
  const rbac = `/apis/${groupName(identities[identity] as never, 'rbac.authorization')}/v1`;
  /** A collection, an object of it by name, and a change to it. */
  const kinds = [
    {
      kind: 'ConfigMap',
      collection: async () => `/api/v1/namespaces/${await server.namespace()}/configmaps`,
      object: (name: string) => ({ metadata: { name }, data: { k: 'v' } }),
      change: (object: Loose) => ({ ...object, data: { k: 'w' } }),
      apiVersion: 'v1',
    },
    {
      kind: 'Deployment',
      collection: async () => `/apis/apps/v1/namespaces/${await server.namespace()}/deployments`,
      object: (name: string) => ({
        metadata: { name },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      }),
      change: (object: Loose) => ({ ...object, spec: { ...object.spec, replicas: 3 } }),
      apiVersion: 'apps/v1',
    },
    {
      kind: 'PriorityClass',
      collection: async () => `${scheduling}/priorityclasses`,
      object: (name: string) => ({ metadata: { name }, value: 5 }),
      change: (object: Loose) => ({ ...object, description: 'changed' }),
      apiVersion: scheduling.slice('/apis/'.length),
    },
    {
      kind: 'ClusterRole',
      collection: async () => `${rbac}/clusterroles`,
      object: (name: string) => ({ metadata: { name }, rules: [] }),
      change: (object: Loose) => ({ ...object, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
      apiVersion: rbac.slice('/apis/'.length),
    },
  ];

  test.each(kinds)('$kind: create, get, list, update, patch, delete', async ({ kind, collection, object, change, apiVersion }) => {
    const path = await collection();
    const name = unique('a');
    const created = await server.admin.post(path, object(name));
    expect(created.status).toBe(201);
    const { metadata } = created.json;
    expect(created.json).toMatchObject({ kind, apiVersion });
    expect(metadata).toMatchObject({
      name,
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resourceVersion: expect.stringMatching(/^\d+$/),
    });
    expect(Date.parse(metadata.creationTimestamp)).toBeGreaterThan(Date.now() - 60_000);

    expect((await server.admin.get(`${path}/${name}`)).text).toBe(created.text);
    const list = await server.admin.ok('GET', path);
    expect(list).toMatchObject({ kind: `${kind}List`, apiVersion });
    const { kind: _kind, apiVersion: _version, ...content } = created.json;
    expect(list.items.find((item: Loose) => item.metadata.name === name)).toEqual(content);

    const updated = await server.admin.put(`${path}/${name}`, change(created.json));
    expect(updated.status).toBe(200);
    expect(Number(updated.json.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
    const patched = await server.admin.patch(`${path}/${name}`, { metadata: { labels: { l: '1' } } });
    expect(patched.status).toBe(200);
    expect(patched.json.metadata.labels).toEqual({ l: '1' });

    const deleted = await server.admin.delete(`${path}/${name}`);
    expect(deleted.status).toBe(200);
    expect(deleted.json).toMatchObject({ kind: 'Status', status: 'Success', details: { name, uid: metadata.uid } });
    const gone = await server.admin.get(`${path}/${name}`);
    expect(gone.status).toBe(404);
    expect(gone.json).toMatchObject({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason: 'NotFound',
      code: 404,
      details: { name },
    });
    expect((await server.admin.delete(`${path}/${name}`)).status).toBe(404);
  });

  test('a list of all namespaces, one namespace, and the old watch paths', async () => {
    const [a, b] = [await server.namespace(), await server.namespace()];
    const label = unique('l');
    const all = await server.admin.watch(`/api/v1/watch/configmaps?labelSelector=${label}`);
    const one = await server.admin.watch(`/api/v1/watch/namespaces/${b}/configmaps?labelSelector=${label}`);
    const single = await server.admin.watch(`/api/v1/watch/namespaces/${a}/configmaps/y?labelSelector=${label}`);
    for (const [namespace, name] of [
      [b, 'x'],
      [a, 'y'],
      [a, 'x'],
    ])
      await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name, labels: { [label]: '' } } });
    const keys = (list: Loose) => list.items.map((item: Loose) => `${item.metadata.namespace}/${item.metadata.name}`);
    expect(keys(await server.admin.ok('GET', `/api/v1/configmaps?labelSelector=${label}`))).toEqual([`${a}/x`, `${a}/y`, `${b}/x`]);
    expect(keys(await server.admin.ok('GET', `/api/v1/namespaces/${b}/configmaps?labelSelector=${label}`))).toEqual([`${b}/x`]);
    expect((await all.take(3)).map(summary)).toEqual(['ADDED x', 'ADDED y', 'ADDED x']);
    expect((await one.take(1)).map(summary)).toEqual(['ADDED x']);
    expect((await single.take(1)).map(summary)).toEqual(['ADDED y']);
    const node = unique('node');
    const cluster = await server.admin.watch(`/api/v1/watch/nodes/${node}`);
    await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name: node } });
    expect(summary(await cluster.next())).toBe(`ADDED ${node}`);
    for (const watch of [all, one, single, cluster]) watch.close();
  });

  test('deletecollection takes what the selectors mean, and answers what it took', async () => {
    const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
    for (const name of ['a', 'b', 'c']) await server.admin.ok('POST', path, { metadata: { name, labels: { keep: String(name === 'b') } } });
    const held = { metadata: { name: 'd', labels: { keep: 'false' }, finalizers: ['example.com/hold'] } };
    await server.admin.ok('POST', path, held);
    const answer = await server.admin.send('DELETE', `${path}?labelSelector=keep%3Dfalse`);
    expect(answer.status).toBe(200);
    expect(answer.json.kind).toBe('SecretList');
    expect(named(answer.json)).toEqual(['a', 'c', 'd']);
    const left = await server.admin.ok('GET', path);
    expect(named(left)).toEqual(['b', 'd']);
    expect(left.items[1].metadata.deletionTimestamp).toBeDefined();
    await server.admin.ok('DELETE', `${path}?fieldSelector=metadata.name%3Db`);
    expect(named(await server.admin.ok('GET', path))).toEqual(['d']);
  });

  test('what a path does not allow is 405, what it does not lead to is 404', async () => {
    const ns = await server.namespace();
    const cases: [string, string, number][] = [
      ['POST', `/api/v1/namespaces/${ns}/configmaps/a`, 405],
      ['PUT', `/api/v1/namespaces/${ns}/configmaps`, 405],
      ['PATCH', `/api/v1/namespaces/${ns}/configmaps`, 405],
      ['POST', '/api/v1/configmaps', 405],
      ['DELETE', '/api/v1/configmaps', 405],
      ['DELETE', '/api/v1/namespaces', 405],
      ['GET', '/api/v1/componentstatuses?watch=1', 405],
      ['GET', '/api/v1/configmaps/a', 404],
      ['GET', `/api/v1/namespaces/${ns}/nodes`, 404],
      ['GET', `/api/v1/namespaces/${ns}/nothings`, 404],
      ['GET', `/api/v1/namespaces/${ns}/configmaps/a/status`, 404],
      ['GET', '/api/v2/pods', 404],
      ['GET', '/apis/apps/v2/deployments', 404],
      ['GET', '/apis/nobody.example/v1/things', 404],
    ];
    const got = await Promise.all(
      cases.map(async ([method, path]) => (await server.admin.send(method, path, method === 'GET' ? {} : { body: {} })).status),
    );
    expect(cases.map(([method, path], i) => `${method} ${path} ${got[i]}`)).toEqual(cases.map((c) => c.join(' ')));
  });
});

test('the deletion of a large collection lets others have turns of the loop', async () => {
  let turns = 0;
  const turnsOfCommits = new Set<number>();
  const server = await startTestServer({
    direct: true,
    wrapEngine: (engine) =>
      new Proxy(engine, {
        get(target, name) {
          if (name === 'commit') turnsOfCommits.add(turns);
          const value = Reflect.get(target, name) as unknown;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
  });
  const path = '/api/v1/namespaces/default/configmaps';
  for (let i = 0; i < 1000; i++) await server.admin.ok('POST', path, { metadata: { name: `c${i}` } });
  turnsOfCommits.clear();
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  count();
  await server.admin.ok('DELETE', path);
  isDone = true;
  expect(turnsOfCommits.size).toBeGreaterThan(3);
  await server.close();
});

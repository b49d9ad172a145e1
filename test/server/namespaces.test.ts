import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identities } from '../../packages/meta/src/identity.ts';
import { startTestServer, summary, type TestServer } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('as %s', (identity) => {
  const { rootCAConfigMap, namespaces, word } = identities[identity] as NonNullable<(typeof identities)[string]>;
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ identity, store: 'lmdb' });
  });
  afterAll(async () => {
    await server.close();
    expect(server.errors).toEqual([]);
  });

  test('a new namespace gets an account and the root certificates, and gets them back', async () => {
    const ns = await server.namespace();
    const accounts = await server.admin.watch(`/api/v1/namespaces/${ns}/serviceaccounts?watch=1`);
    const maps = await server.admin.watch(`/api/v1/namespaces/${ns}/configmaps?watch=1`);
    const account = await accounts.next();
    expect(summary(account)).toBe('ADDED default');
    const map = await maps.next();
    expect(summary(map)).toBe(`ADDED ${rootCAConfigMap}`);
    expect(map.object.data['ca.crt']).toMatch(/^-----BEGIN CERTIFICATE-----/);
    await server.admin.ok('DELETE', `/api/v1/namespaces/${ns}/serviceaccounts/default`);
    await server.admin.ok('DELETE', `/api/v1/namespaces/${ns}/configmaps/${rootCAConfigMap}`);
    const again = await accounts.until((event) => event.type === 'ADDED');
    expect(again.at(-1)?.object.metadata.uid).not.toBe(account.object.metadata.uid);
    await maps.until((event) => event.type === 'ADDED');
    accounts.close();
    maps.close();
  });

  test('a deleted namespace is emptied and removed', async () => {
    const ns = await server.namespace();
    const inside = `/api/v1/namespaces/${ns}`;
    await server.admin.ok('POST', `${inside}/configmaps`, { metadata: { name: 'a' } });
    await server.admin.ok('POST', `${inside}/pods`, {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await server.admin.ok('POST', `/apis/apps/v1/namespaces/${ns}/controllerrevisions`, { metadata: { name: 'r' }, revision: 1, data: {} });
    const watch = await server.admin.watch(`/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3D${ns}`);
    const answer = await server.admin.delete(inside);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' }, spec: { finalizers: [word] } });
    const events = await watch.until((event) => event.type === 'DELETED');
    expect(events.filter((event) => event.type !== 'ADDED')[0]?.object.status.phase).toBe('Terminating');
    expect((await server.admin.get(inside)).status).toBe(404);
    for (const path of [
      `${inside}/configmaps`,
      `${inside}/pods`,
      `${inside}/serviceaccounts`,
      `/apis/apps/v1/namespaces/${ns}/controllerrevisions`,
    ])
      expect((await server.admin.ok('GET', path)).items, path).toEqual([]);
    watch.close();
  });

  test('nothing is created in a namespace that goes; what holds an object holds the namespace', async () => {
    const ns = await server.namespace();
    const inside = `/api/v1/namespaces/${ns}`;
    await server.admin.ok('POST', `${inside}/configmaps`, { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
    await server.admin.ok('DELETE', inside);
    const refused = await server.admin.post(`${inside}/configmaps`, { metadata: { name: 'late' } });
    expect(refused.json).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    });
    expect(refused.json.message).toContain(`unable to create new content in namespace ${ns} because it is being terminated`);
    const maps = await server.admin.watch(`${inside}/configmaps?watch=1&fieldSelector=metadata.name%3Dheld`);
    const marked = await maps.until((event) => event.object.metadata.deletionTimestamp !== undefined);
    expect(marked.length).toBeGreaterThan(0);
    expect((await server.admin.ok('GET', inside)).status.phase).toBe('Terminating');
    const watch = await server.admin.watch(`/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3D${ns}`);
    await server.admin.patch(`${inside}/configmaps/held`, { metadata: { finalizers: null } });
    await watch.until((event) => event.type === 'DELETED');
    expect((await server.admin.get(inside)).status).toBe(404);
    maps.close();
    watch.close();
  });

  test('the namespaces of the server itself stay', async () => {
    for (const name of ['default', namespaces.system, namespaces.public]) {
      const answer = await server.admin.delete(`/api/v1/namespaces/${name}`);
      expect(answer.json, name).toMatchObject({ code: 403, message: expect.stringContaining('this namespace may not be deleted') });
    }
  });

  test('a namespace on its way out goes on after a restart', async () => {
    const ns = await server.namespace();
    const inside = `/api/v1/namespaces/${ns}`;
    await server.admin.ok('POST', `${inside}/secrets`, { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
    await server.admin.ok('DELETE', inside);
    server = await server.restart();
    const watch = await server.admin.watch(`/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3D${ns}`);
    await server.admin.patch(`${inside}/secrets/held`, { metadata: { finalizers: null } });
    await watch.until((event) => event.type === 'DELETED');
    watch.close();
  });
});

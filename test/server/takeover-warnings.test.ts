/** An update that changes what another manager applied gets a warning. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

describe.each([
  { identity: 'plat', warns: true },
  { identity: 'kubernetes', warns: false },
])('updates with identity $identity', ({ identity, warns }) => {
  let server: TestServer;
  let path: string;
  beforeAll(async () => {
    server = await startTestServer({ identity });
    path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
  });
  afterAll(() => server.close());

  async function applied(name: string, manager: string, data: Record<string, string>, force = false): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
    const { status } = await server.admin.patch(`${path}/${name}?fieldManager=${manager}&force=${force}`, body, 'apply-patch');
    expect(status).toBeLessThan(300);
  }
  async function warningOfPatch(name: string, manager: string, body: object): Promise<unknown> {
    const { status, headers } = await server.admin.patch(`${path}/${name}?fieldManager=${manager}`, body);
    expect(status).toBe(200);
    return headers.warning;
  }
  const expected = (text: string): string | undefined => (warns ? `299 - "${text.replaceAll('"', '\\"')}"` : undefined);

  test('a patch and a replace of an applied field are warned of, once', async () => {
    await applied('a', 'alice', { x: '1', y: '1' });
    expect(await warningOfPatch('a', 'bob', { data: { x: '2', z: '2' } })).toBe(
      expected('"bob" takes over fields that "alice" applied: .data.x; the next apply of "alice" will conflict'),
    );
    // The field is bob's now.
    expect(await warningOfPatch('a', 'bob', { data: { x: '3' } })).toBeUndefined();
    const current = await server.admin.ok('GET', `${path}/a`);
    const { headers } = await server.admin.put(`${path}/a?fieldManager=carol`, { ...current, data: { ...current.data, y: '3' } });
    expect(headers.warning).toBe(
      expected('"carol" takes over fields that "alice" applied: .data.y; the next apply of "alice" will conflict'),
    );
  });

  test('many fields are counted', async () => {
    const data = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key-${String(i).padStart(3, '0')}`, '1']));
    await applied('many', 'alice', data);
    const changed = Object.fromEntries(Object.keys(data).map((key) => [key, '2']));
    expect(await warningOfPatch('many', 'bob', { data: changed })).toBe(
      expected(
        '"bob" takes over fields that "alice" applied: .data.key-000, .data.key-001, .data.key-002, .data.key-003, .data.key-004 and 295 more; the next apply of "alice" will conflict',
      ),
    );
  });

  test('no warning: fields of updates, of the writer itself, the same value, an apply, and a repair of owners', async () => {
    await applied('quiet', 'alice', { x: '1' });
    expect(await warningOfPatch('quiet', 'bob', { data: { x: '1', y: '1' } })).toBeUndefined();
    expect(await warningOfPatch('quiet', 'carol', { data: { y: '2' } })).toBeUndefined();
    expect(await warningOfPatch('quiet', 'alice', { data: { x: '2' } })).toBeUndefined();
    await applied('quiet', 'dave', { x: '3' }, true);
    expect(await warningOfPatch('quiet', 'bob', { metadata: { managedFields: [{}] } })).toBeUndefined();
  });

  test('a scale that changes applied replicas is warned of', async () => {
    const apps = `${path.replace('/api/v1', '/apis/apps/v1').replace('configmaps', 'replicasets')}/web`;
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const body = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web' },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template },
    };
    expect((await server.admin.patch(`${apps}?fieldManager=alice`, body, 'apply-patch')).status).toBe(201);
    const { headers, status } = await server.admin.patch(`${apps}/scale?fieldManager=hpa`, { spec: { replicas: 3 } });
    expect(status).toBe(200);
    expect(headers.warning).toBe(
      expected('"hpa" takes over fields that "alice" applied: .spec.replicas; the next apply of "alice" will conflict'),
    );
  });
});

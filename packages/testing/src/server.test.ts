import { expect, test } from 'vitest';
import { startTestServer } from './server.ts';
import type { TestServer } from './test-server.ts';

async function withServer(test: (server: TestServer) => Promise<void>, options: Parameters<typeof startTestServer>[0] = {}): Promise<void> {
  await using server = await startTestServer(options);
  await test(server);
}

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

test.each(['plat', 'kubernetes'])('requests are answered without a port under the names of %s', (identity) =>
  withServer(
    async (server) => {
      expect(server.identity.name).toBe(identity);
      const made = await server.request('POST', '/api/v1/namespaces', { body: namespace('a') });
      expect(made).toMatchObject({ status: 201, body: { metadata: { name: 'a' } } });
      expect(made.headers.get('audit-id')).not.toBeNull();
      expect(() => server.url).toThrow('start it with { listen: true }');
    },
    { identity },
  ),
);

test('a request is authorized as the user it names, or as whom its credentials prove', () =>
  withServer(async (server) => {
    const path = '/api/v1/namespaces';
    expect(await server.request('GET', path)).toMatchObject({ status: 200 });
    expect(await server.request('GET', path, { user: 'alice' })).toMatchObject({
      status: 403,
      body: { reason: 'Forbidden', message: expect.stringContaining('User "alice" cannot list resource "namespaces"') },
    });
    expect(await server.request('GET', path, { user: 'alice', groups: ['system:masters'] })).toMatchObject({ status: 200 });
    expect(await server.request('GET', path, { headers: { Authorization: 'Bearer wrong' } })).toMatchObject({ status: 401 });
    expect(await server.request('GET', path, { user: 'system:anonymous' })).toMatchObject({ status: 403 });
    const { body: token } = await server.request('POST', '/api/v1/namespaces/default/serviceaccounts', {
      body: { metadata: { name: 'robot' } },
    });
    expect(token).toMatchObject({ kind: 'ServiceAccount' });
    const issued = await server.request('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', { body: {} });
    const { token: bearer } = (issued.body as { status: { token: string } }).status;
    expect(await server.request('GET', path, { headers: { authorization: `Bearer ${bearer}` } })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('system:serviceaccount:default:robot') },
    });
    await expect(server.request('GET', path, { groups: ['a'] })).rejects.toThrow('need a user');
  }));

test('fetch streams a watch, and ends with the server', async () => {
  const server = await startTestServer();
  const response = await server.fetch('/api/v1/namespaces?watch=true&fieldSelector=metadata.name=b');
  expect(response.status).toBe(200);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await server.fetch('/api/v1/namespaces', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(namespace('b')),
  });
  const { value } = await reader.read();
  expect(JSON.parse(Buffer.from(value as Uint8Array).toString())).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } });
  const end = reader.read();
  await server.close();
  expect(await end).toMatchObject({ done: true });
  await expect(server.fetch('/api')).rejects.toThrow('the test server is closed');
  await server.close();
});

test('a watch that is aborted is over for the server, too', () =>
  withServer(async (server) => {
    const ending = new AbortController();
    const response = await server.fetch('/api/v1/namespaces?watch=true', { signal: ending.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    ending.abort(new Error('enough'));
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow('enough');
    await expect(server.fetch('/api', { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
  }));

test('a watch ends when its user loses the right to it', () =>
  withServer(async (server) => {
    const rbac = `/apis/rbac.authorization.${server.identity.groupSuffix}/v1`;
    const role = { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['watch'] }] };
    const binding = {
      metadata: { name: 'r' },
      roleRef: { apiGroup: `rbac.authorization.${server.identity.groupSuffix}`, kind: 'ClusterRole', name: 'r' },
      subjects: [{ kind: 'User', name: 'alice' }],
    };
    expect(await server.request('POST', `${rbac}/clusterroles`, { body: role })).toMatchObject({ status: 201 });
    expect(await server.request('POST', `${rbac}/clusterrolebindings`, { body: binding })).toMatchObject({ status: 201 });
    const watch = await server.fetch('/api/v1/namespaces?watch=true', { user: 'alice' });
    expect(watch.status).toBe(200);
    expect(await server.request('DELETE', `${rbac}/clusterrolebindings/r`)).toMatchObject({ status: 200 });
    // Resolves when the server has ended it, or broken it off.
    await watch.text().catch(() => '');
  }));

test('requests of a test are bounded like those of any client', () =>
  withServer(
    async (server) => {
      const maps = '/api/v1/namespaces/default/configmaps';
      const answers = await Promise.all(Array.from({ length: 20 }, () => server.request('GET', maps, { user: 'alice', groups: ['dev'] })));
      const codes = new Set(answers.map(({ status }) => status));
      expect(codes).toContain(429);
    },
    { server: { enablePriorityAndFairness: false, maxRequestsInflight: 1, authorizationMode: ['AlwaysAllow'] } },
  ));

test('options and admission plug-ins that do not exist are refused with a suggestion', async () => {
  const start = (options: object): Promise<TestServer> => startTestServer(options);
  await expect(start({ identitty: 'kubernetes' })).rejects.toThrow('unknown option identitty (did you mean identity?)');
  await expect(start({ admission: { enabled: [] } })).rejects.toThrow('unknown option of admission enabled (did you mean enable?)');
  await expect(start({ admission: { disable: ['ResourceQuotas'] } })).rejects.toThrow(
    'unknown admission plug-in ResourceQuotas (did you mean ResourceQuota?)',
  );
});

test('requests that were made can be mapped', async () => {
  await using server = await startTestServer();
  await server.request('GET', '/api/v1/nodes');
  expect(server.requests.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['list nodes']);
});

/** `plat why slow`: where the time of slow requests went. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let admin: Plat;
let alice: Plat;
let ns: string;
beforeAll(async () => {
  // Every request is slow enough.
  server = await startTestServer({ identity: 'plat', slowRequestThreshold: 0 });
  admin = platFor(server);
  alice = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--token', 'alice-token']);
  ns = await server.namespace();
});
afterAll(() => server.close());

test('each request has the time of its steps, which add up to its own', async () => {
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  await server.admin.ok('POST', `${path}?fieldManager=secret-query`, { metadata: { name: 'a' } });
  const { requests } = await admin.json(['why', 'slow']);
  const request = requests.find((one: Loose) => one.method === 'POST' && one.path === path);
  expect(request).toMatchObject({ code: 201, auditID: expect.any(String), time: expect.stringMatching(/Z$/) });
  expect(JSON.stringify(requests)).not.toContain('secret-query');
  const names = request.steps.map(({ name }: Loose) => name);
  expect(names).toContain('store');
  expect(names).toContain('handling');
  const sum = request.steps
    .filter(({ name }: Loose) => name !== 'webhook')
    .reduce((all: number, step: Loose) => all + step.milliseconds, 0);
  // Each step is rounded to a tenth.
  expect(Math.abs(sum - request.milliseconds)).toBeLessThan(1);
  expect(await admin.ok(['why', 'slow'])).toMatch(new RegExp(`POST ${path} {2}201 {2}[\\d.]+ ms .* audit id \\S+\\n( {2}.* ms\\n)+`));
});

test('users see their own requests; those of all take the right to list them', async () => {
  await server.alice.get(`/api/v1/namespaces/${ns}/secrets/of-alice`);
  const own = await alice.json(['why', 'slow']);
  expect(new Set(own.requests.map(({ user }: Loose) => user))).toEqual(new Set(['alice']));
  expect(JSON.stringify(own)).toContain('of-alice');
  const denied = await alice.run(['why', 'slow', '--all-users']);
  expect(denied).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('cannot list resource "slowrequestsearches"') });
  const all = await admin.json(['why', 'slow', '--all-users']);
  expect(all.requests.map(({ user }: Loose) => user)).toContain('alice');
  expect(all.requests.length).toBeLessThanOrEqual(100);
});

test('a watch is no slow request', async () => {
  const watch = await server.admin.watch(`/api/v1/namespaces/${ns}/endpoints?watch=true&timeoutSeconds=1`);
  await watch.close();
  const { requests } = await admin.json(['why', 'slow']);
  expect(requests.filter(({ path }: Loose) => path.endsWith('/endpoints'))).toEqual([]);
});

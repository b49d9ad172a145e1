/** Tokens that Secrets hold: their use is noted, clients are warned, and marked ones are refused, from the releases on that do so. */
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../encryption/support.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});
const tracking = '/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking';
const secrets = '/api/v1/namespaces/default/secrets';

/** A server with the token of a service account that names it, as earlier releases made them. */
async function startWith(apiRelease: '1.24' | '1.30') {
  const options = { identity: 'kubernetes', store: 'memory', controllers: ['serviceaccount', 'serviceaccount-token'], apiRelease } as const;
  server = await startTestServer(options);
  const { admin } = server;
  await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' }, secrets: [{ name: 'robot-token' }] });
  const annotations = { 'kubernetes.io/service-account.name': 'robot' };
  await admin.post(secrets, { metadata: { name: 'robot-token', annotations }, type: 'kubernetes.io/service-account-token' });
  const { json } = await eventually(
    () => admin.get(`${secrets}/robot-token`),
    (answer) => answer.json.data?.token !== undefined,
  );
  const token = Buffer.from(json.data.token, 'base64').toString();
  const labels = async () => (await admin.get(`${secrets}/robot-token`)).json.metadata.labels;
  return { admin, client: server.client({ token }), labels };
}

test('a generated token is noted, warned of and refused once it is marked', async () => {
  const { admin, client, labels } = await startWith('1.30');
  expect((await admin.get(tracking)).json.data).toEqual({ since: new Date().toISOString().slice(0, 10) });
  const first = await client.get('/version');
  expect(first.status).toBe(200);
  expect(String(first.headers.warning)).toContain('Use tokens from the TokenRequest API');
  await eventually(labels, (now) => now?.['kubernetes.io/legacy-token-last-used'] !== undefined);
  await admin.patch(`${secrets}/robot-token`, { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2020-01-01' } } });
  expect((await client.get('/version')).status).toBe(401);
  await admin.patch(`${secrets}/robot-token`, { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': null } } });
  expect((await client.get('/version')).status).toBe(200);
});

test('1.24 does nothing of the kind', async () => {
  const { admin, client, labels } = await startWith('1.24');
  expect((await admin.get(tracking)).status).toBe(404);
  const answer = await client.get('/version');
  expect([answer.status, answer.headers.warning]).toEqual([200, undefined]);
  expect(await labels()).toBeUndefined();
});

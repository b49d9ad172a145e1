/** Finding 15: NamespaceAutoProvision and dry runs into a namespace that is not there. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWebhook, type TestWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let hook: TestWebhook;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', enableAdmissionPlugins: ['NamespaceAutoProvision', 'NamespaceExists'] });
  hook = await startWebhook(() => ({ allowed: true }));
  await server.admin.ok('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'by-name' },
    webhooks: [
      {
        name: 'by-name.example.com',
        clientConfig: { url: hook.url, caBundle: Buffer.from(hook.certificate).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'watched' } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
});
afterAll(async () => {
  await hook.close();
  await server.close();
});

const at = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

test('a dry run passes as the real request would, and stores neither object nor namespace', async () => {
  const dry = await server.admin.post(`${at('missing')}?dryRun=All`, { metadata: { name: 'one' } });
  expect(dry.status).toBe(201);
  expect(dry.json.metadata).toMatchObject({ name: 'one', namespace: 'missing' });
  expect((await server.admin.get('/api/v1/namespaces/missing')).status).toBe(404);
  expect((await server.admin.post(at('missing'), { metadata: { name: 'one' } })).status).toBe(201);
  expect((await server.admin.get('/api/v1/namespaces/missing')).status).toBe(200);
});

test('selectors of webhooks see the namespace as it would be made', async () => {
  expect((await server.admin.post(`${at('watched')}?dryRun=All`, { metadata: { name: 'one' } })).status).toBe(201);
  expect(hook.calls).toHaveLength(1);
  expect((await server.admin.post(`${at('other')}?dryRun=All`, { metadata: { name: 'one' } })).status).toBe(201);
  expect(hook.calls).toHaveLength(1);
});

test('a refused object is refused all the same, and updates do not make namespaces', async () => {
  const { json } = await server.admin.post(`${at('absent')}?dryRun=All`, { metadata: { name: 'one' }, data: { 'a/b': '' } });
  expect(json).toMatchObject({ code: 422, reason: 'Invalid' });
  const update = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
  expect((await server.admin.put(`${at('absent')}/one?dryRun=All`, update)).status).toBe(404);
});

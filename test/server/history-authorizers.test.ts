/** Who is asked for the right to see history: every authorizer, with the verb `history`; and APIs of other servers, which have none. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { caBundle, startWebhook, type TestWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { type Extension, startWorld, type World } from '../aggregation/support.ts';
import { platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const path = '/api/v1/namespaces/default/configmaps';

describe('a webhook that authorizes', () => {
  let hook: TestWebhook;
  let server: TestServer;
  /** Verbs that alice has. */
  let verbs: readonly string[];
  const questions: Loose[] = [];
  beforeAll(async () => {
    hook = await startWebhook((asked, res) => {
      const { spec } = asked as unknown as Loose;
      if (spec.user === 'alice') questions.push(spec.resourceAttributes);
      const allowed = spec.user === 'alice' && verbs.includes(spec.resourceAttributes?.verb);
      res.end(JSON.stringify({ apiVersion: asked.apiVersion, kind: 'SubjectAccessReview', status: { allowed, reason: 'by the book' } }));
      return undefined;
    });
    const file = join(temporaryDirectory('plat-authorizer'), 'webhook.conf');
    const cluster = { server: hook.url, 'certificate-authority-data': caBundle };
    const context = { cluster: 'c', user: 'u' };
    const named = { clusters: [{ name: 'c', cluster }], users: [{ name: 'u', user: {} }], contexts: [{ name: 'c', context }] };
    writeFileSync(file, jsonText({ apiVersion: 'v1', kind: 'Config', ...named, 'current-context': 'c' }), { mode: 0o600 });
    server = await startTestServer({
      direct: true,
      controllers: ['-*'],
      authorizationMode: ['RBAC', 'Webhook'],
      authorizationWebhookConfigFile: file,
      authorizationWebhookVersion: 'v1',
      authorizationWebhookCacheAuthorizedTtl: 0,
      authorizationWebhookCacheUnauthorizedTtl: 0,
    });
    await server.admin.ok('POST', path, { metadata: { name: 'a' } });
  });
  afterAll(async () => {
    await server.close();
    await hook.close();
  });

  test('is asked with the verb history beside get and list, and its answer counts', async () => {
    verbs = ['get', 'list', 'history'];
    questions.length = 0;
    expect((await server.alice.ok('GET', `${path}/a?history=true`)).items).toHaveLength(1);
    expect(questions).toEqual(
      ['get', 'history'].map((verb) => ({ namespace: 'default', verb, version: 'v1', resource: 'configmaps', name: 'a' })),
    );
    questions.length = 0;
    expect((await server.alice.ok('GET', `${path}?history=true`)).items).toHaveLength(1);
    expect(questions).toEqual(['list', 'history'].map((verb) => ({ namespace: 'default', verb, version: 'v1', resource: 'configmaps' })));
    verbs = ['get', 'list'];
    expect((await server.alice.get(`${path}/a?history=true`)).json).toMatchObject({
      code: 403,
      message: expect.stringMatching(/User "alice" cannot history resource "configmaps".*by the book/),
    });
    expect((await server.alice.get(`${path}?history=full`)).status).toBe(403);
    expect((await server.alice.get(`${path}/a?resourceVersion=1&resourceVersionMatch=Exact`)).status).toBe(403);
    verbs = ['history'];
    questions.length = 0;
    expect((await server.alice.get(`${path}/a?history=true`)).status).toBe(403);
    expect(questions.map(({ verb }) => verb)).toEqual(['get']);
  });
});

test('a node may read what its pods need, and not the history of it', async () => {
  const server = await startTestServer({ direct: true, authorizationMode: ['Node', 'RBAC'], controllers: [] });
  const { admin } = server;
  await admin.ok('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  for (const [kind, name] of [
    ['configmaps', 'needed'],
    ['secrets', 'needed'],
  ])
    await admin.ok('POST', `/api/v1/namespaces/default/${kind}`, { metadata: { name } });
  await admin.ok('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  const volumes = [
    { name: 'c', configMap: { name: 'needed' } },
    { name: 's', secret: { secretName: 'needed' } },
  ];
  const spec = { nodeName: 'n1', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], volumes };
  await admin.ok('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec });
  const node = admin.clone({ headers: { 'impersonate-user': 'system:node:n1', 'impersonate-group': 'system:nodes' } });
  for (const place of [
    'namespaces/default/configmaps/needed',
    'namespaces/default/secrets/needed',
    'namespaces/default/pods/p',
    'nodes/n1',
  ]) {
    await expect.poll(async () => (await node.get(`/api/v1/${place}`)).status).toBe(200);
    const { resourceVersion } = (await node.ok('GET', `/api/v1/${place}`)).metadata;
    for (const query of ['history=true', 'history=full', `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`])
      expect((await node.get(`/api/v1/${place}?${query}`)).json, `${place} ${query}`).toMatchObject({
        code: 403,
        message: expect.stringContaining('User "system:node:n1" cannot history resource'),
      });
  }
  expect((await node.get('/api/v1/nodes?history=true')).status).toBe(403);
  await server.close();
});

describe('APIs of other servers', () => {
  let world: World;
  let far: Extension;
  beforeAll(async () => {
    world = await startWorld({ runtimeConfig: readRuntimeConfig(['explain.k8s.io/v1alpha1=true']) });
    far = await world.extend();
  });
  afterAll(() => world.close());

  test('get the parameter as it is, and the commands say that they keep no history', async () => {
    const thing = { kind: 'Thing', apiVersion: `${far.group}/v1`, metadata: { name: 'a', namespace: 'default' } };
    far.answer = (_req, res) => void res.setHeader('content-type', 'application/json').end(JSON.stringify(thing));
    const url = `${far.base}/namespaces/default/things/a?history=true&since=yesterday`;
    expect(await world.server.admin.ok('GET', url)).toEqual(thing);
    expect(far.seen().at(-1)?.url).toBe(url);
    const plat = platFor(world.server);
    for (const command of [
      ['history', `things.${far.group}/a`],
      ['history', `things.${far.group}`],
      ['undo', `things.${far.group}/a`, '--yes'],
      ['diff', `things.${far.group}/a`, '--from', '1'],
      ['get', `things.${far.group}`, '--at', '1'],
      ['log', '--kind', `things.${far.group}`],
    ])
      expect(await plat.run(command), command.join(' ')).toMatchObject({
        code: command[0] === 'diff' ? 2 : 1,
        stdout: '',
        stderr: expect.stringMatching(/keeps no history of things\.\S+: .* not of APIs that other servers provide\n$/),
      });
    expect(await plat.run(['log'])).toMatchObject({ code: 0, stderr: '' });
  });
});

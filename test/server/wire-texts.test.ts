/** Finding 42: line ends of JSON, messages of bad continue tokens, and the name under which webhooks are called. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { kubernetes, plat, webhookAgent } from '../../packages/meta/src/identity.ts';
import { startWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let base: string;
let api: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
  const ns = await server.namespace();
  base = `/api/v1/namespaces/${ns}`;
  api = `/apis/apps/v1/namespaces/${ns}/deployments`;
  await server.admin.ok('POST', `${base}/configmaps`, { metadata: { name: 'small' }, data: { a: '1' } });
  await server.admin.ok('POST', `${base}/configmaps`, { metadata: { name: 'large' }, data: { a: 'x'.repeat(200_000) } });
  await server.admin.ok('POST', api, {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'reg.example/c' }] } },
    },
  });
});
afterAll(() => server.close());

const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
const metadata = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };
const metadataList = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };

test('compact JSON ends with one line end, indented JSON with none', async () => {
  const paths: [string, Record<string, string>?][] = [
    [`${base}/configmaps/small`],
    [`${base}/configmaps/large`],
    [`${base}/configmaps`],
    [`${base}/secrets`],
    [`${base}/configmaps/missing`],
    [`${base}/configmaps/small`, table],
    [`${base}/configmaps`, table],
    [`${base}/configmaps/small`, metadata],
    [`${base}/configmaps`, metadataList],
    [`${api}/web/scale`],
    ['/api/v1'],
    ['/apis'],
    ['/apis/apps'],
    ['/api/v1/componentstatuses'],
  ];
  for (const [path, headers = {}] of paths) {
    for (const encoding of ['identity', 'gzip']) {
      const compact = await server.admin.get(path, { ...headers, 'accept-encoding': encoding });
      if (compact.headers['content-encoding'] === 'gzip') continue;
      expect(compact.text, path).toMatch(/[^\n]\}\n$/);
      expect(compact.headers['content-length'] ?? String(compact.bytes.length), path).toBe(String(compact.bytes.length));
    }
    const query = path.includes('?') ? '&' : '?';
    const indented = await server.admin.get(`${path}${query}pretty=true`, headers);
    expect(indented.text, path).toMatch(/^\{\n {2}"kind"[\s\S]*\n\}$/);
  }
});

test('answers of writes, over HTTP/1.1 and HTTP/2, and of HEAD end alike', async () => {
  for (const http2 of [false, true]) {
    const client = server.client({ token: 'admin-token', http2 });
    for (const size of [10, 200_000]) {
      const { text } = await client.post(`${base}/configmaps?dryRun=All`, { metadata: { name: 'new' }, data: { a: 'x'.repeat(size) } });
      expect(text.endsWith('}\n')).toBe(true);
      expect(JSON.parse(text).data.a).toHaveLength(size);
    }
    expect((await client.get(`${base}/configmaps/large`)).json.data.a).toHaveLength(200_000);
    client.close();
  }
  const refused = await server.admin.delete(`${base}/configmaps/none`);
  expect(refused.text.endsWith('}\n')).toBe(true);
});

test('a continue token that cannot be read is refused in the words of a stock server', async () => {
  const token = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : jsonText(value)).toString('base64url');
  const v = 'meta.k8s.io/v1';
  for (const [text, why] of [
    [token('invalid'), "invalid character 'i' looking for beginning of value"],
    [token('nope'), "invalid character 'o' in literal null (expecting 'u')"],
    ['***', 'illegal base64 data at input byte 0'],
    ['abc$', 'illegal base64 data at input byte 3'],
    ['abcde', 'illegal base64 data at input byte 4'],
    [token({ v: 'meta.k8s.io/v9', rv: 1, start: 'a' }), 'server does not recognize this encoded version "meta.k8s.io/v9"'],
    [token({}), 'server does not recognize this encoded version ""'],
    [token('null'), 'server does not recognize this encoded version ""'],
    [token({ v, rv: 0, start: 'a' }), `incorrect encoded start resourceVersion (version ${v})`],
    [token({ v, rv: 1, start: '' }), `encoded start key empty (version ${v})`],
    [token({ v, rv: 1, start: '../other/a' }), '../other/a'],
    [token({ v, rv: 1, start: '/a//b' }), '/a//b'],
  ] as const) {
    const { json } = await server.admin.get(`${base}/configmaps?limit=1&continue=${encodeURIComponent(text)}`);
    expect(json).toMatchObject({ code: 400, reason: 'BadRequest', message: `invalid continue token: continue key is not valid: ${why}` });
  }
});

test('a list that was begun with a token of an earlier release goes on', async () => {
  const first = await server.admin.ok('GET', `${base}/configmaps?limit=1`);
  const token = JSON.parse(Buffer.from(first.metadata.continue, 'base64url').toString());
  expect(token.v).toBe('meta.k8s.io/v1');
  const old = Buffer.from(jsonText({ ...token, v: 'v1' })).toString('base64url');
  const [rest, same] = await Promise.all(
    [first.metadata.continue, old].map((one) => server.admin.ok('GET', `${base}/configmaps?limit=500&continue=${one}`)),
  );
  expect(rest.items.length).toBeGreaterThan(0);
  expect(same).toEqual(rest);
});

test('webhooks are called under the name of a stock server', async () => {
  expect([webhookAgent(kubernetes), webhookAgent(plat)]).toEqual(['kube-apiserver-admission', 'plat-apiserver-admission']);
  const hook = await startWebhook(() => ({ allowed: true }));
  await server.admin.ok('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'agent' },
    webhooks: [
      {
        name: 'agent.example.com',
        clientConfig: { url: hook.url, caBundle: Buffer.from(hook.certificate).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  await server.admin.ok('POST', `${base}/secrets`, { metadata: { name: 'one' } });
  expect(hook.calls.map(({ headers }) => headers['user-agent'])).toEqual(['kube-apiserver-admission']);
  await hook.close();
});

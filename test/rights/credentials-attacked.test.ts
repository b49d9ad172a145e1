/** Authenticating proxies and bootstrap tokens under attack, at a whole server. Who one is taken for is read from refusals. */
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { ensureAuthority, issueClient, issueServing, keyDirectory, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const DAY = 24 * 3600 * 1000;
const now = Date.now();
const proxiesPem = newAuthority('proxies', now);
const proxies = readAuthority(proxiesPem);
const strangers = readAuthority(newAuthority('proxies', now));
let server: TestServer;
let client: { cert: string; key: string };

beforeAll(async () => {
  const directory = temporaryDirectory('plat-proxy-ca');
  const requestheaderClientCaFile = join(directory, 'proxies.crt');
  writeFileSync(requestheaderClientCaFile, proxiesPem.certificate);
  server = await startTestServer({
    identity: 'kubernetes',
    controllers: [],
    enableBootstrapTokenAuth: true,
    requestheaderClientCaFile,
    requestheaderAllowedNames: ['front'],
    requestheaderUsernameHeaders: ['X-Remote-User', 'X-Other-User'],
    requestheaderGroupHeaders: ['X-Remote-Group'],
    requestheaderExtraHeadersPrefix: ['X-Remote-Extra-'],
  });
  const authority = await ensureAuthority(keyDirectory(join(server.dataDir, 'pki')), 'ca', 'kubernetes-ca', now);
  client = shown(issueClient(authority, 'dora', [], now));
});
afterAll(() => server.close());

const shown = ({ certificate, key }: { certificate: string; key: string }) => ({ cert: certificate, key });
const front = (authority = proxies, name = 'front', at = now) => shown(issueClient(authority, name, [], at));

/** Sends headers exactly as they are given, names and values in turn; answers who the server took the caller for. */
function whoIs(headers: readonly string[], certificate?: { cert: string; key: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { method: 'GET', rejectUnauthorized: false, agent: false as const, ...certificate };
    const all = ['Host', 'x', ...headers] as unknown as https.RequestOptions['headers'];
    const request = https.request(`${server.address}/api/v1/namespaces/kube-system/secrets`, { ...options, headers: all }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve(/User \\?"([^"\\]*)\\?"/.exec(text)?.[1] ?? String(response.statusCode)));
    });
    request.on('error', reject);
    request.end();
  });
}

describe('headers of authenticating proxies', () => {
  const jane = ['X-Remote-User', 'jane'];
  test('name the user where the proxy is one, so that the tests below can fail', async () => {
    expect(await whoIs(jane, front())).toBe('jane');
    expect(await whoIs(['x-rEmOtE-uSeR', 'jane'], front())).toBe('jane');
    expect(await whoIs([...jane, 'X-Remote-Group', 'system:masters'], front())).toBe('200');
  });

  test('say nothing without a certificate, or with that of a client', async () => {
    for (const headers of [
      jane,
      [...jane, 'X-Remote-Group', 'system:masters'],
      ['X_Remote_User', 'jane'],
      ['Impersonate-User', 'jane', ...jane],
    ])
      expect(await whoIs(headers)).toBe('system:anonymous');
    expect(await whoIs([...jane, 'X-Remote-Group', 'system:masters'], client)).toBe('dora');
  });

  test.each([
    ['another common name', () => front(proxies, 'mallory')],
    ['the name in another case', () => front(proxies, 'Front')],
    ['a name that begins the same', () => front(proxies, 'front\nx')],
    ['another authority of the same name', () => front(strangers)],
    ['a certificate for servers', () => shown(issueServing(proxies, { commonName: 'front', dns: ['front'], addresses: [] }, now))],
    ['one that has expired', () => front(proxies, 'front', now - 4000 * DAY)],
    ['one of the future', () => front(proxies, 'front', now + 400 * DAY)],
    ['the authority itself', () => ({ cert: proxiesPem.certificate, key: proxiesPem.key })],
  ])('say nothing with %s', async (_, make) => {
    expect(await whoIs([...jane, 'X-Remote-Group', 'system:masters'], make())).toBe('401');
  });

  test('a proxy that is shown behind a client is not the one that connects', async () => {
    const { cert } = front();
    expect(await whoIs([...jane, 'X-Remote-Group', 'system:masters'], { ...client, cert: client.cert + cert })).toBe('dora');
    const stranger = front(strangers);
    expect(await whoIs(jane, { ...stranger, cert: stranger.cert + cert + proxiesPem.certificate })).toBe('401');
    // What stands behind the proxy's own certificate does not matter.
    const proxy = front();
    expect(await whoIs(jane, { ...proxy, cert: proxy.cert + client.cert + stranger.cert })).toBe('jane');
  });

  test('are refused where they name two users, and read for what they are in all other odd forms', async () => {
    expect(await whoIs(['X-Remote-User', 'mallory', ...jane], front())).toBe('401');
    expect(await whoIs([...jane, 'X-Remote-User', 'jane'], front())).toBe('401');
    expect(await whoIs(['X-Remote-User', '', ...jane], front())).toBe('401');
    // The first kind of header that has a value counts.
    expect(await whoIs(['X-Other-User', 'mallory', ...jane], front())).toBe('jane');
    expect(await whoIs([...jane, 'X-Remote-Extra-__proto__', 'x', 'X-Remote-Extra-constructor', 'y'], front())).toBe('jane');
    // Underscores are no hyphens: the headers say nothing, and a proxy is no client.
    expect(await whoIs(['X_Remote_User', 'jane', 'X_Remote_Group', 'system:masters'], front())).toBe('401');
    expect(await whoIs([], front())).toBe('401');
    expect(await whoIs([...jane, 'Connection', 'X-Remote-User'], front())).toBe('jane');
  });

  test('name users to this server alone: a token beside them is not asked', async () => {
    expect(await whoIs([...jane, 'Authorization', 'Bearer admin-token'], front())).toBe('jane');
    expect(await whoIs([...jane, 'Authorization', 'Bearer bob-token'])).toBe('bob');
    expect(await whoIs([...jane, 'Authorization', 'Bearer wrong'])).toBe('401');
  });

  test('over HTTP/2', async () => {
    const secrets = '/api/v1/namespaces/kube-system/secrets';
    const forged = await server
      .client({ http2: true, headers: { 'x-remote-user': 'jane', 'x-remote-group': 'system:masters' } })
      .get(secrets);
    expect([forged.status, forged.text.includes('system:anonymous')]).toEqual([403, true]);
    const proxied = await server.client({ http2: true, certificate: front(), headers: { 'x-remote-user': 'jane' } }).get(secrets);
    expect([proxied.status, proxied.text.includes('jane')]).toEqual([403, true]);
  });
});

describe('bootstrap tokens', () => {
  const secrets = '/api/v1/namespaces/kube-system/secrets';
  const good = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' };
  const put = async (data: object, more: object = {}): Promise<void> => {
    await server.admin.delete(`${secrets}/bootstrap-token-abcdef`);
    const object = { metadata: { name: 'bootstrap-token-abcdef' }, type: 'bootstrap.kubernetes.io/token', stringData: data, ...more };
    await server.admin.ok('POST', secrets, object);
  };
  const by = (token: string) => whoIs(['Authorization', `Bearer ${token}`]);
  const token = 'abcdef.0123456789abcdef';

  test("malformed ones are nobody's", async () => {
    await put(good);
    expect(await by(token)).toBe('system:bootstrap:abcdef');
    for (const wrong of [
      'abcdef.0123456789abcde',
      'abcdef.0123456789abcdef0',
      'ABCDEF.0123456789abcdef',
      'abcdef.0123456789ABCDEF',
      'abcdef0123456789abcdef',
      'abcdef.',
      '.0123456789abcdef',
      'abcdef..0123456789abcdef',
      'abcdef.0123456789abcdef.',
      '../abc.0123456789abcdef',
      'abcdef.0123456789abcdee',
      'abcdeg.0123456789abcdef',
      `abcdef.${'0'.repeat(60_000)}`,
      'abcdef.0123456789abcd\u00e9f',
      'abcdef%2e0123456789abcdef',
    ])
      expect(await by(wrong), wrong.slice(0, 40)).toBe('401');
  });

  test.each([
    ['expired', { expiration: new Date(now - 1000).toISOString() }, {}],
    ['with a time that is none', { expiration: 'tomorrow' }, {}],
    ['with a year for a time', { expiration: '2999' }, {}],
    ['with a time in another form', { expiration: 'Jan 1 2999' }, {}],
    ['for signing only', { 'usage-bootstrap-authentication': 'false', 'usage-bootstrap-signing': 'true' }, {}],
    ['with a usage that is nearly true', { 'usage-bootstrap-authentication': 'TRUE' }, {}],
    ['of another id', { 'token-id': 'abcdeg' }, {}],
    ['with an empty secret', { 'token-secret': '' }, {}],
    ['with a group of administrators', { 'auth-extra-groups': 'system:masters' }, {}],
    ['with a group among good ones', { 'auth-extra-groups': 'system:bootstrappers:a,system:nodes' }, {}],
    ['with a group that only begins well', { 'auth-extra-groups': 'system:bootstrappers' }, {}],
    ['with a group over two lines', { 'auth-extra-groups': 'system:bootstrappers:a\nsystem:masters' }, {}],
    ['of another type', {}, { type: 'Opaque' }],
  ])('%s: 401', async (_, data, more) => {
    await put({ ...good, ...data }, more);
    expect(await by(token)).toBe('401');
  });

  test('of another namespace: 401; with a good group and time: let in as what it is', async () => {
    await server.admin.delete(`${secrets}/bootstrap-token-abcdef`);
    const object = { metadata: { name: 'bootstrap-token-abcdef' }, type: 'bootstrap.kubernetes.io/token', stringData: good };
    await server.admin.ok('POST', '/api/v1/namespaces/default/secrets', object);
    expect(await by(token)).toBe('401');
    await put({ ...good, 'auth-extra-groups': 'system:bootstrappers:a', expiration: new Date(now + DAY).toISOString() });
    expect(await by(token)).toBe('system:bootstrap:abcdef');
    expect(server.errors).toEqual([]);
  });
});

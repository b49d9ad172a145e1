/** Ways into the console, and what a session may do. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { productVersion } from '../../packages/lib/src/version.ts';
import { rawConnection } from '../connect/support.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';
import { Browser, codeOf, consoleFiles } from './browser.ts';

let server: TestServer;
const browsers: Browser[] = [];
const browser = (origin = server.address, options = {}): Browser => {
  const opened = new Browser(origin, options);
  browsers.push(opened);
  return opened;
};
const loggedIn = async (token: string): Promise<Browser> => {
  const opened = browser();
  expect((await opened.logIn({ token })).status).toBe(200);
  return opened;
};
const files = consoleFiles();

beforeAll(async () => {
  server = await startTestServer({ consoleFiles: files });
});
afterAll(async () => {
  for (const one of browsers) one.close();
  await server.close();
});

const safety = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

describe('files', () => {
  test.each([{ http2: false }, { http2: true }])('the page has all headers that protect it: %j', async (options) => {
    const page = await browser(server.address, options).client.get('/console/');
    expect(page).toMatchObject({
      status: 200,
      text: '<!doctype html><title>console</title>',
      headers: { ...safety, 'cache-control': 'no-cache' },
    });
  });
  test('paths of the page lead to the page, and those of files that are not there to none', async () => {
    const { client } = browser();
    expect((await client.get('/console/ns/default/apps/v1/deployments/web')).text).toContain('<title>console');
    expect(await client.get('/console/assets/gone-123456.js')).toMatchObject({ status: 404, headers: safety });
    expect(await client.get('/console')).toMatchObject({ status: 308, headers: { location: '/console/' } });
    expect(await client.send('POST', '/console/')).toMatchObject({ status: 405, headers: safety });
  });
  test('files with a hash in their name are kept for a year, and compressed for browsers that read that', async () => {
    const { client } = browser();
    const plain = await client.get('/console/assets/main-abc123.js');
    expect(plain).toMatchObject({ status: 200, text: 'console.log(1)' });
    expect(plain.headers).toMatchObject({
      ...safety,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
    });
    const compressed = await client.get('/console/assets/main-abc123.js', { 'accept-encoding': 'gzip, deflate, br' });
    expect(compressed.headers['content-encoding']).toBe('br');
    expect(compressed.bytes.length).not.toBe(plain.bytes.length);
  });
  test('no path leads out of the folder, or to files that are not for browsers', async () => {
    const { client } = browser();
    for (const path of [
      '/console/secret',
      '/console/../package.json',
      '/console/assets/../secret',
      '/console/%2e%2e/package.json',
      '/console/assets/main-abc123.js.br',
    ])
      expect((await client.get(path)).text, path).not.toMatch(/not for browsers|"name"/);
  });
  test('browsers get a page at / that leads to the console, others and those with credentials the API', async () => {
    const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    expect(await server.anonymous.get('/', html)).toMatchObject({ status: 200, headers: safety });
    expect((await server.anonymous.get('/', html)).text).toContain('href="/console/"');
    expect((await server.anonymous.get('/')).status).toBe(403);
    expect((await server.admin.get('/', html)).json.paths).toContain('/api/v1');
  });
  test('--console=false removes it', async () => {
    const without = await startTestServer({ console: false });
    expect(without.running.consoleLink).toBeUndefined();
    expect((await without.anonymous.get('/console/')).status).toBe(403);
    expect((await without.admin.get('/console/')).status).toBe(404);
    await without.close();
  });
});

test('every answer has the headers that protect the page, whatever it is', async () => {
  const admin = await loggedIn('admin-token');
  const own = { 'x-plat-console': '1' };
  const evil = { origin: 'https://evil.example' };
  const asked: readonly (readonly [method: string, path: string, status: number, headers?: Record<string, string>])[] = [
    ['GET', '/console', 308],
    ['GET', '/console/', 200],
    ['HEAD', '/console/', 200],
    ['GET', '/console/assets/none.js', 404],
    ['GET', '/console/%', 200],
    ['DELETE', '/console/', 405],
    ['GET', '/console/session', 200],
    ['GET', '/console/session', 403, evil],
    ['PATCH', '/console/session', 405],
    ['POST', '/console/session', 415],
    ['GET', '/console/watch', 400],
    ['GET', '/console/oidc/start', 404],
    ['GET', '/console/oidc/callback?code=1&state=2', 404],
    ['GET', '/console/api/version', 200, own],
    ['GET', '/console/api/version', 403],
    ['GET', '/console/api/version', 403, { ...own, ...evil }],
    ['GET', '/console/api/api/v1/unknown', 404, own],
    ['GET', '/console/api/api/v1/pods?limit=x', 400, own],
    ['PUT', '/console/api/api/v1/namespaces', 405, own],
    ['GET', '/console/api/livez', 200, own],
    ['GET', '/console/api/metrics', 200, own],
    ['GET', '/console/api/openapi/v2', 200, own],
    ['GET', '/console/api/console/', 404, own],
  ];
  for (const [method, path, status, headers = {}] of asked) {
    const answer = await admin.sendFrom(headers, method, path);
    const which = `${method} ${path} ${JSON.stringify(headers)}`;
    expect(answer.status, which).toBe(status);
    // The API says it of some answers itself; browsers read the first of the two.
    expect(answer.headers, which).toMatchObject({ ...safety, 'x-content-type-options': expect.stringMatching(/^nosniff(, nosniff)?$/) });
    expect(answer.headers['access-control-allow-origin'], path).toBeUndefined();
  }
});

describe('log-in', () => {
  test('by the code of the link, once', async () => {
    const first = browser();
    expect(await first.send('GET', '/console/session')).toMatchObject({ status: 401, headers: safety });
    expect((await first.send('GET', '/console/session')).json).toMatchObject({ kind: 'Status', code: 401, ways: ['token', 'certificate'] });
    expect(server.running.consoleLink).toMatch(new RegExp(`^${server.address}/console/\\?code=[\\w-]{22}$`));
    // The page itself, which a preview of the link reads, does not use it up.
    await first.client.get(`/console/?code=${codeOf(server)}`);
    const answer = await first.logIn({ code: codeOf(server) });
    expect(answer).toMatchObject({ status: 200, headers: safety });
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(new RegExp(`^__Host-plat-console-${server.port}=[\\w-]{43}; Secure; Path=/; HttpOnly; SameSite=Strict$`)),
    ]);
    expect((await first.send('GET', '/console/session')).json).toMatchObject({
      user: { name: 'admin', groups: ['system:masters', 'system:authenticated'] },
      way: 'code',
      identity: 'plat',
      server: { version: productVersion, release: '1.24' },
    });
    expect(await first.api('GET', '/api/v1/namespaces/default')).toMatchObject({ status: 200, headers: safety });
    expect((await browser().logIn({ code: codeOf(server) })).json).toMatchObject({ code: 401, reason: 'Unauthorized' });
  });
  test('by a token, with the rights of its user', async () => {
    const alice = await loggedIn('alice-token');
    expect((await alice.send('GET', '/console/session')).json).toMatchObject({ way: 'token', user: { name: 'alice' } });
    expect((await alice.api('GET', '/api/v1/nodes')).json.message).toContain('User "alice" cannot list resource "nodes"');
    const bad = await browser().logIn({ token: 'no such token' });
    expect(bad.json).toMatchObject({ code: 401 });
    expect(bad.headers['set-cookie']).toBeUndefined();
    expect((await browser().logIn({ token: 'unknown' })).json).toMatchObject({ code: 401, ways: ['token', 'certificate'] });
  });
  test.each([{ http2: false }, { http2: true }])('by a client certificate: %j', async (options) => {
    const config = readFileSync(server.running.adminConfigPath, 'utf8');
    const field = (name: string): string => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(config)?.[1] ?? '', 'base64').toString();
    const certificate = { cert: field('client-certificate-data'), key: field('client-key-data') };
    const withCertificate = browser(server.address, { certificate, ...options });
    expect((await withCertificate.logIn({ certificate: true })).json).toMatchObject({ way: 'certificate', user: { name: 'admin' } });
    expect((await withCertificate.api('GET', '/api/v1/nodes')).status).toBe(200);
    expect((await browser(server.address, options).logIn({ certificate: true })).json).toMatchObject({ code: 401 });
    // A session by a token is that user's, whatever certificate the browser has.
    expect((await withCertificate.logIn({ token: 'alice-token' })).json.user.name).toBe('alice');
    const { 'x-content-type-options': _, ...others } = safety;
    expect(await withCertificate.api('GET', '/api/v1/nodes')).toMatchObject({ status: 403, headers: others });
    expect(server.errors).toEqual([]);
  });
  test('needs a credential in JSON of a bounded size', async () => {
    const one = browser();
    expect((await one.logIn({})).status).toBe(400);
    expect((await one.logIn([])).status).toBe(400);
    expect(
      (await one.send('POST', '/console/session', { body: 'code=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }))
        .status,
    ).toBe(415);
    expect((await one.send('POST', '/console/session', { body: '{"token": "a"}', headers: { 'content-type': 'text/plain' } })).status).toBe(
      415,
    );
    expect((await one.logIn({ token: 'a'.repeat(200_000) })).status).toBe(413);
    expect((await one.send('PUT', '/console/session', { body: {} })).status).toBe(405);
  });
});

describe('requests of a session', () => {
  test('reach the API with every method, and without the cookie and other credentials', async () => {
    const admin = await loggedIn('admin-token');
    const name = unique('c');
    expect((await admin.api('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name }, data: { a: '1' } })).status).toBe(201);
    const path = `/console/api/api/v1/namespaces/default/configmaps/${name}`;
    const patch = { headers: { 'content-type': 'application/merge-patch+json' }, body: { data: { a: '2' } } };
    expect((await admin.send('PATCH', path, patch)).json.data).toEqual({ a: '2' });
    // The token of another user in the request changes nothing.
    expect((await admin.send('DELETE', path, { headers: { authorization: 'Bearer alice-token' } })).status).toBe(200);
    expect((await admin.send('GET', '/console/api/api/v1/nodes', { headers: { 'impersonate-user': 'alice' } })).status).toBe(403);
  });
  test('can watch', async () => {
    const admin = await loggedIn('admin-token');
    const name = unique('w');
    const watch = await admin.client.open('GET', '/console/api/api/v1/namespaces/default/configmaps?watch=true', {
      headers: { cookie: admin.cookie, 'x-plat-console': '1' },
    });
    await server.admin.ok('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name } });
    let text = '';
    for await (const chunk of watch.body) {
      text += String(chunk);
      if (text.includes(`"name":"${name}"`)) break;
    }
    expect(watch.headers).toMatchObject(safety);
    watch.destroy();
  });
  test.each([
    ['without the header of the page', {}],
    ['of another origin', { origin: 'https://evil.example', 'x-plat-console': '1' }],
    ['of another site', { 'sec-fetch-site': 'cross-site', 'x-plat-console': '1' }],
    ['of another origin of the same site', { 'sec-fetch-site': 'same-site', 'x-plat-console': '1' }],
  ])('are refused %s', async (_, from: Record<string, string>) => {
    const admin = await loggedIn('admin-token');
    const refused = await admin.sendFrom(from, 'GET', '/console/api/api/v1/namespaces');
    expect(refused).toMatchObject({ status: 403, headers: safety });
    expect(refused.headers['access-control-allow-origin']).toBeUndefined();
  });
  test('of other sites can neither log in nor out', async () => {
    const admin = await loggedIn('admin-token');
    const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await admin.sendFrom(evil, 'POST', '/console/session', { body: { token: 'alice-token' } })).status).toBe(403);
    expect((await admin.sendFrom(evil, 'DELETE', '/console/session')).status).toBe(403);
    expect((await admin.send('GET', '/console/session')).json.user.name).toBe('admin');
    // No consent for requests of other origins either.
    const preflight = await admin.sendFrom({ ...evil, 'access-control-request-headers': 'x-plat-console' }, 'OPTIONS', '/console/api/api');
    expect(preflight.status).toBe(403);
  });
  test('end with the log-out, also those that go on', async () => {
    const admin = await loggedIn('admin-token');
    const { cookie } = admin;
    const headers = { cookie, 'x-plat-console': '1' };
    const watch = await admin.client.open('GET', '/console/api/api/v1/namespaces?watch=true', { headers });
    const ended = new Promise((resolve) => watch.body.once('close', resolve));
    watch.body.on('error', () => {}).resume();
    const out = await admin.send('DELETE', '/console/session');
    expect(out.headers['set-cookie']).toEqual([expect.stringContaining('Max-Age=0')]);
    await ended;
    expect(admin.cookie).toBe('');
    admin.cookie = cookie;
    expect((await admin.api('GET', '/api/v1/namespaces')).json).toMatchObject({ code: 401, message: 'log in first' });
    expect((await admin.send('GET', '/console/session')).status).toBe(401);
  });
  test('have the rights that their user has now', async () => {
    const alice = await loggedIn('alice-token');
    const name = unique('r');
    const group = `rbac.authorization.${server.identity.groupSuffix}`;
    const roles = `/apis/${group}/v1/clusterroles`;
    const bindings = `/apis/${group}/v1/clusterrolebindings`;
    await server.admin.ok('POST', roles, { metadata: { name }, rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }] });
    const subjects = [{ kind: 'User', name: 'alice', apiGroup: group }];
    await server.admin.ok('POST', bindings, { metadata: { name }, subjects, roleRef: { apiGroup: group, kind: 'ClusterRole', name } });
    expect((await alice.api('GET', '/api/v1/nodes')).status).toBe(200);
    await server.admin.ok('DELETE', `${bindings}/${name}`);
    expect((await alice.api('GET', '/api/v1/nodes')).status).toBe(403);
  });
  test('end with the token', async () => {
    const namespace = await server.namespace();
    await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'robot' } });
    const request = await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/robot/token`, { spec: {} });
    const robot = await loggedIn(request.status.token);
    expect((await robot.send('GET', '/console/session')).json.user.name).toBe(`system:serviceaccount:${namespace}:robot`);
    await server.admin.ok('DELETE', `/api/v1/namespaces/${namespace}/serviceaccounts/robot`);
    expect((await robot.send('GET', '/console/session')).status).toBe(401);
    expect((await robot.api('GET', '/api/v1/namespaces')).status).toBe(401);
  });
});

test('sessions end an hour after their last use, and twelve hours after log-in', async () => {
  const clock = new FakeClock(Date.now());
  const timed = await startTestServer({ consoleFiles: files, clock });
  const one = browser(timed.address);
  await one.logIn({ token: 'admin-token' });
  await clock.advance(59 * 60_000);
  expect((await one.send('GET', '/console/session')).status).toBe(200);
  await clock.advance(60 * 60_000);
  expect((await one.send('GET', '/console/session')).status).toBe(401);
  await one.logIn({ token: 'admin-token' });
  for (let i = 0; i < 12; i++) {
    expect((await one.send('GET', '/console/session')).status).toBe(200);
    await clock.advance(60 * 60_000 - 1);
  }
  await clock.advance(12);
  expect((await one.api('GET', '/api/v1/namespaces')).status).toBe(401);
  await timed.close();
});

test.each([
  ['a path that takes none', 'POST /console/ HTTP/1.1', 405],
  ['a request of another site', 'POST /console/api/api/v1/namespaces HTTP/1.1', 403],
  ['a log-in that is no JSON', 'POST /console/session HTTP/1.1', 415],
])('a body without an end for %s is read for two seconds, then the connection is closed', async (_, line, status) => {
  const clock = new FakeClock(Date.now());
  const timed = await startTestServer({ consoleFiles: files, clock });
  const connection = await rawConnection(timed, `${line}\r\nHost: localhost:${timed.port}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n`);
  await connection.until(({ text }) => text.includes('\r\n\r\n'));
  expect(connection.text).toContain(`HTTP/1.1 ${status}`);
  await clock.advance(1999);
  connection.socket.write('1\r\nb\r\n');
  expect(connection.closed).toBe(false);
  await clock.advance(1);
  await connection.until(({ ended, closed }) => ended || closed);
  connection.socket.destroy();
  await timed.close();
});

test('--console-address: the link and the origin of the console are those of the address', async () => {
  const named = await startTestServer({ consoleFiles: files, consoleAddress: 'plat.example' });
  expect(named.running.consoleLink).toMatch(/^https:\/\/plat\.example\/console\/\?code=/);
  const far = browser(named.address);
  const from = { origin: 'https://plat.example', 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '10.0.0.1' };
  expect((await far.sendFrom(from, 'POST', '/console/session', { body: { code: codeOf(named) } })).status).toBe(200);
  await named.close();
  await expect(startTestServer({ consoleAddress: 'https://plat.example/' })).rejects.toThrow('is not of the form HOST or HOST:PORT');
});

test('a restart ends all sessions', async () => {
  const first = await startTestServer({ consoleFiles: files });
  const one = browser(first.address);
  await one.logIn({ token: 'admin-token' });
  const second = await first.restart();
  one.client.close();
  const after = browser(second.address);
  after.cookie = one.cookie;
  expect((await after.send('GET', '/console/session')).status).toBe(401);
  await second.close();
});

/** Log-in by the code of the link, and bounds of sessions. */
import { expect, test } from 'vitest';
import { CODE_MS } from './code.ts';
import { ALL_WRONG_TRIES, WRONG_TRIES } from './code-check.ts';
import { type TestGateway, testGateway } from './gateway.testing.ts';
import { MAX_SESSIONS, MAX_USER_SESSIONS } from './sessions.ts';

const tried = async ({ ask }: TestGateway, code: string, address?: string, headers?: Record<string, string>): Promise<number> =>
  (await ask({ method: 'POST', url: '/console/session', body: { code }, ...(address && { address }), ...(headers && { headers }) })).status;

test('a code is used once', async () => {
  const one = testGateway();
  expect(await tried(one, one.code.text)).toBe(200);
  expect(await tried(one, one.code.text)).toBe(401);
});
test('a code has 128 bits', () => {
  expect(Buffer.from(testGateway().code.text, 'base64url').length).toBe(16);
});
test('a code is valid for five minutes', async () => {
  const [early, late] = [testGateway(), testGateway()];
  await early.clock.advance(CODE_MS - 1);
  expect(await tried(early, early.code.text)).toBe(200);
  await late.clock.advance(CODE_MS);
  expect(await tried(late, late.code.text)).toBe(401);
});
test('an address has ten wrong tries a minute, then even the right code is refused', async () => {
  const one = testGateway();
  for (let i = 0; i < WRONG_TRIES; i++) expect(await tried(one, `guess ${i}`)).toBe(401);
  expect(await tried(one, one.code.text)).toBe(429);
  expect(await tried(one, one.code.text, '127.0.0.2')).toBe(200);
});
test('after a minute an address may try again', async () => {
  const one = testGateway();
  for (let i = 0; i < WRONG_TRIES; i++) await tried(one, 'guess');
  await one.clock.advance(59_999);
  expect(await tried(one, one.code.text)).toBe(429);
  await one.clock.advance(1);
  expect(await tried(one, one.code.text)).toBe(200);
});
test('all addresses together have a hundred wrong tries a minute', async () => {
  const one = testGateway();
  for (let i = 0; i < ALL_WRONG_TRIES; i++) expect(await tried(one, 'guess', `127.0.0.${i % 20}`)).toBe(401);
  expect(await tried(one, one.code.text, '127.0.1.1')).toBe(429);
});
test.each([
  ['another machine', '10.0.0.1', undefined],
  ['another machine, by IPv6', '2001:db8::1', undefined],
  ['a proxy on this machine', '127.0.0.1', { 'x-forwarded-for': '10.0.0.1' }],
  ['a proxy that speaks RFC 7239', '127.0.0.1', { forwarded: 'for=10.0.0.1' }],
  ['a proxy that names itself only', '127.0.0.1', { via: '1.1 proxy' }],
  ['a proxy that names the client as nginx examples do', '127.0.0.1', { 'x-real-ip': '10.0.0.1' }],
  ['a proxy that names the host only', '127.0.0.1', { 'x-forwarded-host': 'plat.example' }],
])('a code cannot be used from %s, unless the server has an address for others', async (_, address, headers) => {
  const [local, open] = [testGateway(), testGateway({ publicHost: 'plat.example' })];
  expect(await tried(local, local.code.text, address, headers)).toBe(403);
  // It is not used up by that.
  expect(await tried(local, local.code.text, '::ffff:127.0.0.1')).toBe(200);
  expect(await tried(open, open.code.text, address, headers)).toBe(200);
});
const statusOf = async ({ ask }: TestGateway, cookie: string, address?: string): Promise<number> =>
  (await ask({ url: '/console/session', headers: { cookie }, ...(address && { address }) })).status;

test('of more than a thousand sessions the least recently used ends', async () => {
  const one = testGateway();
  const [first, second] = [await one.logIn({ token: 'good-1' }), await one.logIn({ token: 'good-2' })];
  for (let i = 2; i < MAX_SESSIONS; i++) await one.logIn({ token: `good-${i}` });
  expect(await statusOf(one, first)).toBe(200);
  await one.logIn({ token: 'good' });
  expect(one.gateway.sessions.size).toBe(MAX_SESSIONS);
  expect([await statusOf(one, first), await statusOf(one, second)]).toEqual([200, 401]);
});
test('a user who logs in again and again ends no session but their own', async () => {
  const one = testGateway();
  const admin = await one.logIn({ code: one.code.text });
  const [first, second] = [await one.logIn({ token: 'good' }), await one.logIn({ token: 'good' })];
  for (let i = 2; i < MAX_USER_SESSIONS; i++) await one.logIn({ token: 'good' });
  expect(await statusOf(one, first)).toBe(200);
  for (let i = 0; i < MAX_SESSIONS; i++) await one.logIn({ token: 'good' });
  expect(one.gateway.sessions.size).toBe(1 + MAX_USER_SESSIONS);
  expect([await statusOf(one, admin), await statusOf(one, second)]).toEqual([200, 401]);
});
test('a cookie of this machine, which browsers send to all of its ports, is of no use elsewhere', async () => {
  const one = testGateway();
  const cookie = await one.logIn({ token: 'good' });
  expect(await statusOf(one, cookie, '10.0.0.1')).toBe(401);
  const headers = { cookie, 'x-plat-console': '1' };
  expect((await one.ask({ url: '/console/api/api/v1/nodes', headers, address: '2001:db8::1' })).status).toBe(401);
  expect([await statusOf(one, cookie, '::1'), await statusOf(one, cookie, '127.0.0.1')]).toEqual([200, 200]);
});
test('a cookie of another machine goes with it from address to address', async () => {
  const one = testGateway();
  const { headers } = await one.ask({ method: 'POST', url: '/console/session', body: { token: 'good' }, address: '10.0.0.1' });
  const cookie = headers['set-cookie']?.split(';')[0] as string;
  expect([await statusOf(one, cookie, '10.0.0.2'), await statusOf(one, cookie, '127.0.0.1')]).toEqual([200, 200]);
});
test('behind a proxy that ends TLS, the cookie is one of TLS', async () => {
  const { ask } = testGateway({ publicHost: 'plat.example' });
  const answer = await ask({
    method: 'POST',
    url: '/console/session',
    body: { token: 'good' },
    headers: { host: 'plat.example', origin: 'https://plat.example' },
    encrypted: false,
  });
  expect(answer.headers['set-cookie']).toMatch(/^__Host-plat-console-443=[\w-]{43}; Secure; Path=\/; HttpOnly; SameSite=Strict$/);
});
test('without TLS only names of this machine lead to the console, and its cookie is for its own paths', async () => {
  const { ask } = testGateway();
  const plain = (host: string) =>
    ask({ method: 'POST', url: '/console/session', body: { token: 'good' }, headers: { host }, encrypted: false });
  // A name of a web page may lead to this machine.
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80'])
    expect((await plain(host)).status, host).toBe(403);
  for (const host of ['localhost:8001', '127.0.0.1:8001', '[::1]:8001']) {
    const { headers } = await plain(host);
    expect(headers['set-cookie'], host).toMatch(/^plat-console-8001=[\w-]{43}; Path=\/console\/; HttpOnly; SameSite=Strict$/);
  }
});
test('behind a proxy, the public origin is one of its own', async () => {
  const { ask } = testGateway({ publicHost: 'plat.example' });
  const from = async (origin: string): Promise<number> =>
    (await ask({ method: 'POST', url: '/console/session', body: { token: 'good' }, headers: { origin } })).status;
  expect([await from('https://plat.example'), await from('https://localhost:6443'), await from('https://evil.example')]).toEqual([
    200, 200, 403,
  ]);
});
test('errors that nobody expects are sent without their details', async () => {
  const { ask } = testGateway({}, { byToken: () => () => Promise.reject(new Error('password is 1234')) });
  const { status, text } = await ask({ method: 'POST', url: '/console/session', body: { token: 'any' } });
  expect(status).toBe(500);
  expect(text).not.toContain('1234');
});

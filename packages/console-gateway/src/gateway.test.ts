/** Log-in by the code of the link, and bounds of sessions. */
import { expect, test } from 'vitest';
import { CODE_MS } from './code.ts';
import { ALL_WRONG_TRIES, WRONG_TRIES } from './code-check.ts';
import { type TestGateway, testGateway } from './gateway.testing.ts';
import { MAX_SESSIONS } from './sessions.ts';

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
])('a code cannot be used from %s, unless the server has an address for others', async (_, address, headers) => {
  const [local, open] = [testGateway(), testGateway({ publicHost: 'plat.example' })];
  expect(await tried(local, local.code.text, address, headers)).toBe(403);
  // It is not used up by that.
  expect(await tried(local, local.code.text, '::ffff:127.0.0.1')).toBe(200);
  expect(await tried(open, open.code.text, address, headers)).toBe(200);
});
test('of more than a thousand sessions the least recently used ends', async () => {
  const { ask, logIn, gateway } = testGateway();
  const [first, second] = [await logIn({ token: 'good' }), await logIn({ token: 'good' })];
  for (let i = 2; i < MAX_SESSIONS; i++) await logIn({ token: 'good' });
  const status = async (cookie: string): Promise<number> => (await ask({ url: '/console/session', headers: { cookie } })).status;
  expect(await status(first)).toBe(200);
  await logIn({ token: 'good' });
  expect(gateway.sessions.size).toBe(MAX_SESSIONS);
  expect([await status(first), await status(second)]).toEqual([200, 401]);
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

/** Log-in to the console at a real OpenID provider. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { consoleHost, startProvider, type TestProvider } from '../../packages/server/src/auth/oidc/provider.testing.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { Browser, consoleFiles } from './browser.ts';

let provider: TestProvider;
let server: TestServer;
const browsers: Browser[] = [];
beforeAll(async () => {
  provider = await startProvider({ ann: { email: 'ann@example.org', email_verified: true, groups: ['dev'] } });
  const folder = temporaryDirectory('plat-oidc');
  writeFileSync(join(folder, 'ca.crt'), provider.ca);
  writeFileSync(join(folder, 'secret'), 'client-secret\n');
  server = await startTestServer({
    consoleFiles: consoleFiles(),
    consoleAddress: consoleHost,
    oidcIssuerUrl: provider.issuer,
    oidcClientId: 'plat',
    oidcUsernamePrefix: '-',
    oidcCaFile: join(folder, 'ca.crt'),
    consoleOidcClientSecretFile: join(folder, 'secret'),
  });
});
afterAll(async () => {
  for (const one of browsers) one.close();
  await server.close();
  provider.close();
});

const browser = (): Browser => {
  const opened = new Browser(server.address, { headers: { host: consoleHost } });
  browsers.push(opened);
  return opened;
};
const navigate = (from: Browser, path: string, site = 'same-origin') => from.sendFrom({ 'sec-fetch-site': site }, 'GET', path);
const own = (address: string): string => address.slice(address.indexOf('/console/'));

test('--console-oidc-client-secret-file: a user logs in at the provider, and has the rights of that user', async () => {
  const ann = browser();
  expect((await ann.send('GET', '/console/session')).json.ways).toEqual(['token', 'certificate', 'oidc']);
  const start = await navigate(ann, '/console/oidc/start');
  expect(start.status).toBe(302);
  expect(start.headers['set-cookie']).toEqual([
    expect.stringMatching(/^__Host-plat-console-443-oidc=[\w-]{43}; Secure; Path=\/; HttpOnly; SameSite=Lax$/),
  ]);
  const asked = new URL(start.headers.location as string).searchParams;
  expect(asked.get('code_challenge_method')).toBe('S256');
  expect(asked.get('scope')).toContain('openid');
  const back = own(await provider.signIn(start.headers.location as string, 'ann'));
  const finish = await navigate(ann, back, 'cross-site');
  expect(finish).toMatchObject({ status: 302, headers: { location: '/console/' } });
  expect((await ann.send('GET', '/console/session')).json).toMatchObject({ way: 'oidc', user: { name: 'ann' } });
  expect((await ann.api('GET', '/api/v1/nodes')).json.message).toContain('User "ann" cannot list resource "nodes"');
  // The same answer of the provider logs nobody in again.
  expect((await navigate(browser(), back, 'cross-site')).headers.location).toBe('/console/?error=refused');
});
test('a log-in that another browser began is refused', async () => {
  const [victim, attacker] = [browser(), browser()];
  const start = await navigate(attacker, '/console/oidc/start');
  const back = own(await provider.signIn(start.headers.location as string, 'ann'));
  await navigate(victim, '/console/oidc/start');
  const answer = await navigate(victim, back, 'cross-site');
  expect(answer.headers.location).toBe('/console/?error=refused');
  expect((await victim.send('GET', '/console/session')).status).toBe(401);
});
test('other sites cannot begin a log-in, and other paths are none', async () => {
  expect((await navigate(browser(), '/console/oidc/start', 'cross-site')).status).toBe(403);
  expect((await navigate(browser(), '/console/oidc/other')).status).toBe(404);
  expect((await browser().send('POST', '/console/oidc/start')).status).toBe(405);
});

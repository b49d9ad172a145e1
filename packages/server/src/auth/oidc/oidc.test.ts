import { createHmac } from 'node:crypto';
import { systemClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { rsaKeys } from '@plat-dev/lib/testing/rsa-keys.testing';
import { newKeyPair } from '@plat-dev/pki';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { bearerToken } from '../authn/bearer.ts';
import { checkOidcOptions, type OidcOptions, type OidcTokens, oidcTokens } from './authenticator.ts';
import { startProvider, type TestProvider } from './provider.testing.ts';

const accounts = {
  jane: { email: 'jane@example.com', email_verified: true, groups: ['dev', 'qa'], team: 'blue' },
  mallory: { email: 'jane@example.com', email_verified: false, groups: 'system:masters', team: 'red' },
};
let provider: TestProvider;
let now: number;
const clock = { ...systemClock, now: () => now };
const opened: OidcTokens[] = [];
beforeAll(async () => {
  // The provider tells at length that it is not set up for production.
  for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {});
  provider = await startProvider(accounts);
});
afterAll(() => provider.close());
beforeEach(() => {
  now = Date.now();
});
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});
function method(more: Partial<OidcOptions> = {}): OidcTokens {
  const made = oidcTokens({ issuerURL: provider.issuer, clientID: 'plat', ca: provider.ca, clock, ...more });
  opened.push(made);
  return made;
}
/** Name and groups, or the reason why not. */
async function prove(by: OidcTokens, token: string): Promise<readonly string[] | string> {
  try {
    const result = await by.authenticateToken(bearerToken(token), []);
    return result === undefined ? 'unknown' : [result.user.name, ...result.user.groups];
  } catch (error) {
    return (error as Error).message;
  }
}

test('an ID token of the provider names the user, by the configured claims', async () => {
  const token = await provider.idToken('jane');
  expect(await prove(method(), token)).toEqual([`${provider.issuer}#jane`]);
  expect(await prove(method({ usernamePrefix: '-' }), token)).toEqual(['jane']);
  expect(await prove(method({ usernamePrefix: 'oidc:' }), token)).toEqual(['oidc:jane']);
  expect(await prove(method({ usernameClaim: 'email' }), token)).toEqual(['jane@example.com']);
  expect(await prove(method({ usernameClaim: 'email', usernamePrefix: 'oidc:' }), token)).toEqual(['oidc:jane@example.com']);
  expect(await prove(method({ usernamePrefix: '-', groupsClaim: 'groups' }), token)).toEqual(['jane', 'dev', 'qa']);
  expect(await prove(method({ usernamePrefix: '-', groupsClaim: 'groups', groupsPrefix: 'oidc:' }), token)).toEqual([
    'jane',
    'oidc:dev',
    'oidc:qa',
  ]);
  expect(await prove(method({ usernamePrefix: '-', groupsClaim: 'missing' }), token)).toEqual(['jane']);
  expect(await prove(method({ usernamePrefix: '-', requiredClaims: { team: 'blue', email: 'jane@example.com' } }), token)).toEqual([
    'jane',
  ]);
});

test('claims that do not fit keep the user out', async () => {
  const [jane, mallory] = await Promise.all([provider.idToken('jane'), provider.idToken('mallory')]);
  expect(await prove(method({ requiredClaims: { team: 'red' } }), jane)).toMatch(/required claim team/);
  expect(await prove(method({ requiredClaims: { other: '' } }), jane)).toMatch(/required claim other/);
  expect(await prove(method({ usernameClaim: 'missing' }), jane)).toMatch(/claim missing is not a text/);
  expect(await prove(method({ usernameClaim: 'groups' }), jane)).toMatch(/claim groups is not a text/);
  expect(await prove(method({ usernameClaim: 'toString' }), jane)).toMatch(/claim toString is not a text/);
  expect(await prove(method({ usernameClaim: 'email' }), mallory)).toMatch(/email not verified/);
  expect(await prove(method({ groupsClaim: 'groups' }), mallory)).toMatch(/claim groups is not a list/);
  expect(await prove(method(), await provider.idToken('jane', 'another'))).toMatch(/another client/);
});

test('a token ends with its time, though it was accepted before', async () => {
  const by = method({ usernamePrefix: '-' });
  const token = await provider.idToken('jane');
  expect(await prove(by, token)).toEqual(['jane']);
  now += 24 * 3600 * 1000;
  expect(await prove(by, token)).toMatch(/expired/);
});

test('wrong tokens are kept out', async () => {
  const by = method();
  const good = await provider.idToken('jane');
  const [head, body, signature] = good.split('.') as [string, string, string];
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  const header = JSON.parse(Buffer.from(head, 'base64url').toString());
  const part = (value: unknown) => Buffer.from(jsonText(value)).toString('base64url');
  const other = rsaKeys(3).privateKey;
  const foreign = (more: object = {}, alg = 'RS256', key = other) =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg, kid: header.kid }).sign(key);
  const hmacHead = part({ alg: 'HS256', kid: header.kid });
  const hmac = createHmac('sha256', provider.ca).update(`${hmacHead}.${body}`).digest('base64url');
  const table: [string, string, RegExp][] = [
    ['no algorithm', `${part({ alg: 'none' })}.${body}.`, /unknown/],
    ['no algorithm, with a signature', `${part({ alg: 'none' })}.${body}.${signature}`, /algorithm/],
    ['a shared secret', `${hmacHead}.${body}.${hmac}`, /algorithm/],
    ['an algorithm that is not allowed', await foreign({}, 'ES256', newKeyPair().privateKey), /algorithm/],
    ['another key under the same id', await foreign(), /signature/],
    ['other claims', `${head}.${part({ ...claims, sub: 'root' })}.${signature}`, /signature/],
    ['another issuer', await foreign({ iss: 'https://elsewhere' }), /unknown/],
    ['the issuer with a slash', await foreign({ iss: `${provider.issuer}/` }), /unknown/],
    ['an access token', 'opaque-access-token', /unknown/],
    ['nothing', '', /unknown/],
  ];
  for (const [what, token, why] of table) expect([what, await prove(by, token)]).toEqual([what, expect.stringMatching(why)]);
  expect(await prove(by, good)).toBeTypeOf('object');
});

test('the provider is asked for its keys once, not for every request nor for every bad token', async () => {
  const by = method();
  await by.start();
  const before = provider.keyReads();
  const token = await provider.idToken('jane');
  for (let i = 0; i < 5; i++) expect(await prove(by, token)).toBeTypeOf('object');
  expect(by.authenticateToken(bearerToken(token), [])).not.toBeInstanceOf(Promise);
  const claims = { iss: provider.issuer, aud: 'plat', sub: 'x', exp: 4e9 };
  const key = rsaKeys(3).privateKey;
  for (let i = 0; i < 5; i++) {
    const bad = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: `unheard-${i}` }).sign(key);
    expect(await prove(by, bad)).toMatch(/signature/);
  }
  expect(provider.keyReads() - before).toBe(1);
  const bad = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'unheard' }).sign(key);
  now += 999;
  expect(await prove(by, bad)).toMatch(/signature/);
  expect(provider.keyReads() - before).toBe(1);
  now += 1;
  expect(await prove(by, bad)).toMatch(/signature/);
  expect(provider.keyReads() - before).toBe(2);
});

test('a new key of the provider is found, a withdrawn one forgotten', async () => {
  const by = method({ usernamePrefix: '-' });
  const old = await provider.idToken('jane');
  expect(await prove(by, old)).toEqual(['jane']);
  await provider.rotate();
  const fresh = await provider.idToken('jane');
  now += 1000;
  expect(await prove(by, fresh)).toEqual(['jane']);
  expect(await prove(by, old)).toMatch(/signature/);
});

test('a key that is new since the start is asked for at once', async () => {
  const by = method({ usernamePrefix: '-' });
  const old = await provider.idToken('jane');
  await by.start();
  expect(await prove(by, old)).toEqual(['jane']);
  await provider.rotate();
  expect(await prove(by, await provider.idToken('jane'))).toEqual(['jane']);
  expect(await prove(by, old)).toMatch(/signature/);
});

test('keys that are old are read again; where that fails it is tried again after a while, and they still count', async () => {
  const by = method({ usernamePrefix: '-' });
  const token = await provider.idToken('jane');
  await by.start();
  const before = provider.keyReads();
  now += 10 * 60 * 1000 + 1;
  by.authenticateToken(bearerToken(token), []);
  by.authenticateToken(bearerToken(token), []);
  await by.start();
  expect(provider.keyReads() - before).toBe(1);
});

test('a provider that cannot be reached or trusted lets nobody in', async () => {
  const token = await provider.idToken('jane');
  const strange = await startProvider(accounts);
  const wrongCA = method({ ca: strange.ca });
  await expect(wrongCA.start()).rejects.toThrow();
  expect(await prove(wrongCA, token)).toMatch(/not initialized/);
  strange.close();
  const gone = method({ issuerURL: strange.issuer, ca: strange.ca });
  await expect(gone.start()).rejects.toThrow();
  const misnamed = method({ issuerURL: `${provider.issuer.replace('localhost', '127.0.0.1')}` });
  await expect(misnamed.start()).rejects.toThrow(/another issuer/);
});

test('options that cannot work are refused', () => {
  expect(checkOidcOptions({ issuerURL: 'https://x', clientID: 'c' })).toBeUndefined();
  expect(checkOidcOptions({ issuerURL: 'http://x', clientID: 'c' })).toMatch(/https/);
  expect(checkOidcOptions({ issuerURL: 'x', clientID: 'c' })).toMatch(/not a URL/);
  expect(checkOidcOptions({ issuerURL: 'https://x', clientID: '' })).toMatch(/oidc-client-id/);
  expect(checkOidcOptions({ issuerURL: 'https://x', clientID: 'c', signingAlgs: ['HS256'] })).toMatch(/HS256/);
});

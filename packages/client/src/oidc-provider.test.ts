import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { signJwt } from '@plat-dev/pki/jwt';
import { parseYaml } from '@plat-dev/schema/yaml';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadConfig } from './config.ts';
import { connectionOf } from './connection.ts';
import type { CredentialSource } from './credentials.ts';

const directory = temporaryDirectory('plat-oidc');
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const start = Date.parse('2026-01-01T00:00:00Z');
/** ID tokens that end so many seconds after the beginning. */
const idTokens = new Map<number, string>();
for (const seconds of [7200, 3600, 5, -1]) idTokens.set(seconds, await signJwt({ sub: 'jane', exp: start / 1000 + seconds }, privateKey));
const idToken = (seconds: number): string => idTokens.get(seconds) as string;

interface Asked {
  form: Record<string, string>;
  authorization: string | undefined;
}
let provider: Server;
let issuer: string;
const authority = newAuthority('idp-ca', Date.now());
let asked: Asked[] = [];
let answer: (asked: Asked) => [number, unknown];
beforeAll(async () => {
  const serving = issueServing(readAuthority(authority), { commonName: 'idp', dns: ['localhost'], addresses: ['127.0.0.1'] }, Date.now());
  provider = createServer({ key: serving.key, cert: serving.certificate }, (request, response) => {
    if (request.url === '/realm/.well-known/openid-configuration') {
      return void response.end(JSON.stringify({ issuer, token_endpoint: `${issuer}/token` }));
    }
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const one = { form: Object.fromEntries(new URLSearchParams(body)), authorization: request.headers.authorization };
      asked.push(one);
      const [status, json] = answer(one);
      response.statusCode = status;
      response.end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  issuer = `https://127.0.0.1:${(provider.address() as AddressInfo).port}/realm`;
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});
let path: string;
let serial = 0;
let shown = '';
const show = (text: string): void => {
  shown += text;
};
const clock = new FakeClock(start);
beforeEach(() => {
  asked = [];
  shown = '';
  path = join(directory, `config-${serial++}`);
  answer = () => [200, { id_token: idToken(7200), refresh_token: 'r2', token_type: 'Bearer' }];
});

async function source(settings: Record<string, string>, name = 'oidc'): Promise<CredentialSource> {
  const file = {
    clusters: [{ name: 'c', cluster: { server: 'https://one.example' } }],
    users: [{ name: 'jane', user: { 'auth-provider': { name, config: settings } } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'jane' } }],
    'current-context': 'x',
    extensions: [{ name: 'kept' }],
  };
  writeFileSync(path, JSON.stringify(file), { mode: 0o600 });
  const world = { env: {}, clock, interactive: false, show };
  return (await connectionOf(await loadConfig([path]), {}, world)).credentials as CredentialSource;
}
const settings = (more: Record<string, string> = {}): Record<string, string> => ({
  'idp-issuer-url': issuer,
  'client-id': 'plat',
  'client-secret': 's&cret',
  'refresh-token': 'r1',
  'idp-certificate-authority-data': Buffer.from(authority.certificate).toString('base64'),
  ...more,
});
const kept = (): Record<string, unknown> => {
  const file = parseYaml(readFileSync(path, 'utf8')) as unknown as {
    users: { user: { 'auth-provider': { config: Record<string, unknown> } } }[];
    extensions: unknown;
  };
  expect(file.extensions).toEqual([{ name: 'kept' }]);
  return file.users[0]?.user['auth-provider'].config ?? {};
};

test('a token that is good is sent as it is', async () => {
  const token = idToken(3600);
  expect(await (await source(settings({ 'id-token': token }))).current()).toEqual({ authorization: `Bearer ${token}` });
  expect(asked).toEqual([]);
});

test('one that has ended is renewed, and the new ones are kept in the file, for its owner only', async () => {
  const credentials = await source(settings({ 'id-token': idToken(5) }));
  chmodSync(path, 0o644);
  const [first, second] = await Promise.all([credentials.current(), credentials.current()]);
  expect(second).toEqual(first);
  expect(asked).toEqual([
    {
      form: { grant_type: 'refresh_token', refresh_token: 'r1' },
      authorization: `Basic ${Buffer.from('plat:s%26cret').toString('base64')}`,
    },
  ]);
  const config = kept();
  expect(`Bearer ${config['id-token']}`).toBe(first.authorization);
  expect(config).toMatchObject({ 'refresh-token': 'r2', 'client-secret': 's&cret' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a file behind a link is written where it is', async () => {
  const credentials = await source(settings());
  const link = join(directory, 'link');
  symlinkSync(path, link);
  const config = await loadConfig([link]);
  const world = { env: {}, clock, interactive: false, show: () => {} };
  await (await connectionOf(config, {}, world)).credentials?.current();
  expect(kept()).toMatchObject({ 'refresh-token': 'r2' });
  expect(credentials).toBeDefined();
});

test('a client that may send its secret in the body only', async () => {
  answer = ({ form }) =>
    form.client_secret === 's&cret' ? [200, { id_token: idToken(7200) }] : [401, { error: 'invalid_client', error_description: 'no' }];
  await (await source(settings())).current();
  expect(asked.map(({ form, authorization }) => [form.client_id, authorization !== undefined])).toEqual([
    [undefined, true],
    ['plat', false],
  ]);
  // A refresh token that was not replaced stays.
  expect(kept()).toMatchObject({ 'refresh-token': 'r1' });
});

test('a token that the server refuses is renewed where it can be', async () => {
  const token = idToken(3600);
  const credentials = await source(settings({ 'id-token': token }));
  expect(await credentials.refused(await credentials.current())).toBe(true);
  expect((await credentials.current()).authorization).not.toBe(`Bearer ${token}`);
  const { 'refresh-token': _, ...alone } = settings({ 'id-token': token });
  const fixed = await source(alone);
  expect(await fixed.refused(await fixed.current())).toBe(false);
});

test('what is missing is reported, and what to do', async () => {
  const { 'refresh-token': _, ...alone } = settings({ 'id-token': idToken(-1) });
  await expect((await source(alone)).current()).rejects.toThrow(
    'the user "jane" has an expired id-token and no refresh-token: log in again',
  );
  await expect(source({ 'client-id': 'plat' })).rejects.toThrow('has no idp-issuer-url');
  await expect(source(settings({ 'idp-issuer-url': 'http://far.example' }))).rejects.toThrow('begins with https://');
  await expect(source({}, 'gcp')).rejects.toThrow('"gcp", which is not known: use its credential plug-in instead');
  const { 'idp-certificate-authority-data': _ca, ...untrusted } = settings();
  await expect((await source(untrusted)).current()).rejects.toThrow('gives no answer');
  answer = () => [400, { error: 'invalid_grant', error_description: 'token is not active' }];
  await expect((await source(settings())).current()).rejects.toThrow('answered 400 (invalid_grant: token is not active). Log in again');
  answer = () => [200, { access_token: 'a' }];
  await expect((await source(settings())).current()).rejects.toThrow('got no id_token');
});

test('a renewed token is used even where it cannot be kept', async () => {
  const credentials = await source(settings());
  writeFileSync(path, '{ broken');
  expect((await credentials.current()).authorization).toMatch(/^Bearer /);
  expect(shown).toContain('the renewed token could not be kept');
});

/** Providers and services that are slow, huge or lie. Whatever they do, nobody gets in by it, and nothing grows or hangs. */

import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { systemRandom } from '@plat-dev/lib/random';
import { rsaKeys } from '@plat-dev/lib/testing/rsa-keys.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { signJwt, toJwk } from '@plat-dev/pki/jwt';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bearerToken } from './authn/bearer.ts';
import { type OidcTokens, oidcTokens } from './oidc/authenticator.ts';
import type { Attributes, TokenAuthenticator } from './types.ts';
import { webhookAuthorizer } from './webhook/authorizer.ts';
import { tokenWebhook } from './webhook/token.ts';

const authorityPair = newAuthority('hostile', Date.now());
const names = { commonName: 'localhost', dns: ['localhost'], addresses: ['127.0.0.1'] };
const serving = issueServing(readAuthority(authorityPair), names, Date.now());
const { privateKey, publicKey } = rsaKeys(0);
const stranger = rsaKeys(1);

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
let handle: Handler;
let calls: string[];
let server: https.Server;
let origin: string;
let now = Date.now();
const clock = { ...systemClock, now: () => now };
const closing: (() => void)[] = [];

beforeEach(async () => {
  calls = [];
  now = Date.now();
  server = https.createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    calls.push(request.url ?? '');
    request.resume();
    response.on('error', () => {});
    handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `https://localhost:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
  server.closeAllConnections();
  server.close();
});

/** Long enough for an honest answer on a slow machine. */
const limits = { timeoutMillis: 2_000, maxBytes: 64 * 1024 };
function oidc(more: object = {}): OidcTokens {
  const made = oidcTokens({ issuerURL: origin, clientID: 'plat', ca: authorityPair.certificate, clock, limits, ...more });
  closing.push(() => made.close());
  return made;
}
const outcome = async (by: TokenAuthenticator, token: string): Promise<string> => {
  try {
    const result = await by.authenticateToken(bearerToken(token), []);
    return result === undefined ? 'unknown' : `in as ${result.user.name}`;
  } catch (error) {
    return (error as Error).message;
  }
};
const claims = () => ({ iss: origin, aud: 'plat', sub: 'jane', exp: Math.floor(now / 1000) + 600 });
const goodToken = () => signJwt(claims(), privateKey);

const discovery = () => JSON.stringify({ issuer: origin, jwks_uri: `${origin}/keys` });
const keySet = (...keys: unknown[]) => JSON.stringify({ keys });
/** An honest provider, except for the answer of one path. */
const except =
  (path: string, other: Handler): Handler =>
  (request, response) => {
    if (request.url === path) other(request, response);
    else if (request.url === '/keys') response.end(keySet(toJwk(publicKey)));
    else response.end(discovery());
  };
const drip: Handler = (_, response) => {
  response.write('{');
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};
const flood: Handler = (_, response) => {
  const block = Buffer.alloc(16_384, ' ');
  const more = (): void => {
    while (!response.destroyed && response.write(block));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};
const configuration = '/.well-known/openid-configuration';

test('the honest provider lets jane in', async () => {
  handle = except('', () => {});
  expect(await outcome(oidc(), await goodToken())).toBe(`in as ${origin}#jane`);
});

test.each<[string, string, Handler]>([
  ['never answers', configuration, () => {}],
  ['never sends its keys', '/keys', () => {}],
  ['drips its configuration', configuration, drip],
  ['drips its keys', '/keys', drip],
  ['sends keys without end', '/keys', flood],
  ['sends a configuration without end', configuration, flood],
  [
    'names another issuer',
    configuration,
    (_, response) => response.end(discovery().replace('"issuer":"', '"issuer":"https://evil.example/')),
  ],
  [
    'keeps its keys on plain http',
    configuration,
    (_, response) => response.end(JSON.stringify({ issuer: origin, jwks_uri: 'http://127.0.0.1/keys' })),
  ],
  [
    'keeps its keys in a file',
    configuration,
    (_, response) => response.end(JSON.stringify({ issuer: origin, jwks_uri: 'file:///etc/passwd' })),
  ],
  [
    'redirects to where the keys of another are',
    '/keys',
    (_, response) => response.writeHead(302, { location: `${origin}/other-keys` }).end(),
  ],
  ['sends no JSON', '/keys', (_, response) => response.end('<html>')],
  ['sends a list of nothing', '/keys', (_, response) => response.end('[]')],
  ['sends an error', '/keys', (_, response) => response.writeHead(500).end()],
  ['breaks off', '/keys', (_, response) => void response.destroy()],
  [
    'says more than it announced',
    '/keys',
    (_, response) => void response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}{}{}'),
  ],
  [
    'announces two lengths',
    '/keys',
    (_, response) => void response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 99\r\n\r\n{}'),
  ],
])('a provider that %s lets nobody in, and does not hang', async (_, path, how) => {
  handle = except(path, how);
  const by = oidc({ limits: { ...limits, timeoutMillis: 300 } });
  expect(await outcome(by, await goodToken())).toMatch(/not initialized|failed to verify/);
  // What a moment ago failed is not asked for again by the next hundred tokens.
  const before = calls.length;
  const token = await goodToken();
  for (let i = 0; i < 100; i++) expect(await outcome(by, token)).toMatch(/not initialized|failed to verify/);
  expect(calls.length).toBe(before);
});

test('keys that are odd do not keep out those that are not', async () => {
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const odd = [
    null,
    7,
    'key',
    {},
    { kty: 'oct', k: 'c2VjcmV0' },
    { kty: 'RSA', n: 'AQAB' },
    { kty: 'EC', crv: 'P-999' },
    { ...toJwk(stranger.publicKey), use: 'enc' },
  ];
  handle = except('/keys', (_, response) =>
    response.end(keySet(...odd, { kty: 'RSA', ...small.publicKey.export({ format: 'jwk' }) }, toJwk(publicKey))),
  );
  const by = oidc();
  expect(await outcome(by, await goodToken())).toMatch(/^in as/);
  expect(await outcome(by, await signJwt(claims(), stranger.privateKey))).toBe('oidc: failed to verify signature');
});

test('keys beyond the first hundred are not read', async () => {
  const many = Array.from({ length: 5_000 }, () => ({ kty: 'oct', k: 'AA' }));
  handle = except('/keys', (_, response) => response.end(keySet(...many.slice(0, 100), toJwk(publicKey))));
  expect(await outcome(oidc({ limits: { timeoutMillis: 2_000 } }), await goodToken())).toMatch(/failed to verify/);
});

const part = (value: unknown): string => Buffer.from(jsonText(value)).toString('base64url');
const forged = (head: object, key?: KeyObject): string => {
  const signed = `${part(head)}.${part(claims())}`;
  if (key === undefined) return `${signed}.${part('x')}`;
  return `${signed}.${createHmac('sha256', key.export({ type: 'spki', format: 'pem' }))
    .update(signed)
    .digest('base64url')}`;
};
test('tokens that bring their own keys, or none, are refused', async () => {
  handle = except('', () => {});
  const by = oidc({ signingAlgs: ['RS256', 'ES256'] });
  const own = { jwk: toJwk(stranger.publicKey), jku: `${origin}/evil-keys`, x5u: `${origin}/evil-chain`, kid: '../../keys' };
  const [, body, signature] = (await signJwt(claims(), stranger.privateKey)).split('.');
  const tokens = [
    forged({ alg: 'none' }),
    forged({ alg: 'None' }),
    forged({ alg: 'HS256' }, publicKey),
    forged({ alg: 'RS256', ...own }),
    `${part({ alg: 'RS256', ...own })}.${body}.${signature}`,
    forged({ alg: 'ES256' }),
    forged({ alg: '__proto__' }),
    `${part({ alg: 'RS256', crit: ['exp'] })}.${body}.${signature}`,
    `${await goodToken()}.`,
    `${(await goodToken()).slice(0, -4)}AAAA`,
  ];
  for (const token of tokens) expect(await outcome(by, token)).not.toMatch(/^in as/);
  expect(calls.filter((path) => path.includes('evil'))).toEqual([]);
});

test('claims of odd shapes name nobody', async () => {
  handle = except('', () => {});
  const by = oidc({ groupsClaim: 'groups' });
  const odd = [
    { sub: '' },
    { sub: { toString: 'admin' } },
    { sub: ['admin'] },
    { exp: 'never' },
    { exp: -1 },
    { nbf: 9e12 },
    { aud: 'others' },
    { aud: {} },
    { groups: { 0: 'system:masters' } },
    { groups: [['system:masters']] },
  ];
  for (const one of odd) expect(await outcome(by, await signJwt({ ...claims(), ...one }, privateKey))).not.toMatch(/^in as/);
});

test('keys that have moved are found again', async () => {
  let place = '/keys-1';
  handle = (request, response) => {
    if (request.url === place) response.end(keySet(toJwk(publicKey)));
    else if (request.url === configuration) response.end(JSON.stringify({ issuer: origin, jwks_uri: `${origin}${place}` }));
    else response.writeHead(404).end();
  };
  const by = oidc();
  expect(await outcome(by, await goodToken())).toMatch(/^in as/);
  place = '/keys-2';
  for (let i = 0; i < 2; i++) {
    now += 3_600_000;
    await outcome(by, await signJwt(claims(), stranger.privateKey));
  }
  expect(calls.at(-1)).toBe('/keys-2');
});

// ---- token webhook and authorization webhook -----------------------------------------------------------------------

const remote = () => ({ server: `${origin}/review`, ca: authorityPair.certificate });
const retry = { attempts: 2, waitMillis: 1, ...limits, timeoutMillis: 300 };
const review = (kind: string, group: string, status: unknown): string =>
  jsonText({ apiVersion: `${group}.k8s.io/v1`, kind, metadata: {}, status });
function tokens(patience = 5_000): TokenAuthenticator {
  const made = tokenWebhook({
    identity: kubernetes,
    remote: remote(),
    version: 'v1',
    cacheMillis: 60_000,
    audiences: ['here'],
    clock,
    random: systemRandom,
    retry: { ...retry, maxBytes: 1 << 20, timeoutMillis: patience },
  });
  closing.push(() => made.close());
  return made;
}
const said =
  (status: unknown): Handler =>
  (_, response) =>
    response.end(review('TokenReview', 'authentication', status));

test.each<[string, Handler]>([
  ['never answers', () => {}],
  ['drips', drip],
  ['answers without end', flood],
  ['redirects', (_, response) => response.writeHead(307, { location: `${origin}/elsewhere` }).end()],
  [
    'changes the protocol',
    (_, response) => void response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ],
  ['says yes to a user without a name', said({ authenticated: true, user: { groups: ['system:masters'] } })],
  ['says yes to a user of a megabyte', said({ authenticated: true, user: { username: 'jane', groups: ['x'.repeat(900_000)] } })],
  ['says yes in words', said({ authenticated: 'yes', user: { username: 'jane' } })],
  ['says yes for others', said({ authenticated: true, audiences: ['elsewhere'], user: { username: 'jane' } })],
])('a token webhook that %s lets nobody in, and does not hang', async (_, how) => {
  handle = how;
  expect(await outcome(tokens(300), 'some-token')).not.toMatch(/^in as/);
});

test('a long reason of a webhook is cut before it is kept or shown', async () => {
  handle = said({ authenticated: false, error: 'no '.repeat(100_000) });
  expect((await outcome(tokens(), 'some-token')).length).toBeLessThan(1_100);
});

test('extras with names of built-in properties stay extras', async () => {
  handle = (_, response) =>
    response.end(
      '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","status":{"authenticated":true,"user":{"username":"jane","extra":{"__proto__":["a"],"constructor":["b"]}}}}',
    );
  const result = await tokens().authenticateToken(bearerToken('t'), []);
  expect(Object.entries(result?.user.extra ?? {})).toEqual([
    ['__proto__', ['a']],
    ['constructor', ['b']],
  ]);
  expect(({} as Record<string, unknown>).a).toBeUndefined();
});

const question = {
  user: { name: 'jane', groups: [] },
  verb: 'get',
  resourceRequest: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  name: '',
  namespace: '',
  path: '/',
} as unknown as Attributes;
function access(patience = 5_000) {
  const made = webhookAuthorizer({
    identity: kubernetes,
    remote: remote(),
    version: 'v1',
    allowedMillis: 1000,
    refusedMillis: 1000,
    clock,
    random: systemRandom,
    retry: { ...retry, maxBytes: 1 << 20, timeoutMillis: patience },
  });
  closing.push(() => made.close());
  return made;
}
const decided =
  (status: unknown): Handler =>
  (_, response) =>
    response.end(review('SubjectAccessReview', 'authorization', status));

test.each<[string, Handler, string]>([
  ['never answers', () => {}, 'none'],
  ['drips', drip, 'none'],
  ['answers without end', flood, 'none'],
  ['says yes and no', decided({ allowed: true, denied: true }), 'deny'],
  ['says yes in words', decided({ allowed: 'true' }), 'none'],
  ['says yes as another kind', (_, response) => response.end(review('TokenReview', 'authorization', { allowed: true })), 'none'],
])('an authorization webhook that %s allows nothing', async (_, how, decision) => {
  handle = how;
  expect((await access(decision === 'none' ? 300 : 5_000).authorize(question)).decision).toBe(decision);
});

test('a long reason of an authorization webhook is cut before it is kept', async () => {
  handle = decided({ allowed: false, reason: 'no '.repeat(100_000), evaluationError: 'x'.repeat(500_000) });
  const { reason, error } = await access().authorize(question);
  expect(reason.length).toBeLessThan(1_100);
  expect((error ?? '').length).toBeLessThan(1_100);
});

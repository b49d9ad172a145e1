import { createHmac, createPublicKey, type KeyObject } from 'node:crypto';
import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { jsonText } from '@plat-dev/lib/json-text';
import { silentLog } from '@plat-dev/lib/log';
import { rsaKeys } from '@plat-dev/lib/testing/rsa-keys.testing';
import { ApiError } from '@plat-dev/meta/errors';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { newKeyPair } from '@plat-dev/pki';
import { parseJwt } from '@plat-dev/pki/jwt';
import { createLocalJWKSet, jwtVerify, SignJWT } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import { bearer, bearerToken, tokenUnion } from '../authn/bearer.ts';
import { MAX_TOKEN } from '../review/token.ts';
import type { TokenAuthenticator, TokenResult } from '../types.ts';
import { serviceAccountTokens } from './authenticator.ts';
import { signLegacy } from './claims.ts';
import { hasDocuments, issuerDocuments } from './discovery.ts';
import { LegacyTokenUse } from './legacy-token-use.ts';
import { noTokenFeatures, type TokenFeatures, tokenFeatures } from './token-features.ts';
import { issueToken, MAX_AUDIENCE_CHARACTERS, type RequestedToken, type TokenIssuer } from './token-request.ts';

const issuer = 'https://kubernetes.default.svc';
const rsa = rsaKeys(0);
const ec = newKeyPair();
const hour = 3600_000;
const start = Date.parse('2026-06-01T00:00:00Z');

let store: FakeStore;
let now: number;
let keys: readonly KeyObject[];
let tokens: TokenAuthenticator;
let maker: TokenIssuer;
const account = (uid: string, more: object = {}) =>
  store.put('', 'serviceaccounts', { metadata: { namespace: 'ns', name: 'robot', uid, ...more } });
const pod = (uid: string, more: object = {}) =>
  store.put('', 'pods', { metadata: { namespace: 'ns', name: 'p', uid, ...more }, spec: { serviceAccountName: 'robot' } } as never);
const secret = (uid: string, data: Record<string, string> = {}) =>
  store.put('', 'secrets', { metadata: { namespace: 'ns', name: 's', uid }, data } as never);

beforeEach(() => {
  store = new FakeStore();
  now = start;
  keys = [createPublicKey(rsa.privateKey), ec.publicKey];
  startWith(noTokenFeatures);
  account('uid-1');
});
function startWith(features: TokenFeatures): void {
  const common = { identity: kubernetes, audiences: [issuer], live: store.live, features, now: () => now };
  tokens = serviceAccountTokens({ ...common, issuers: [issuer], keys: () => keys });
  maker = { ...common, issuer, key: rsa.privateKey, extend: true, newId: () => 'id-1' };
}

/** What a token proves; the reason where it is refused; 'unknown' where it is not one of ours. */
function prove(token: string, audiences: readonly string[] = []): TokenResult | string {
  try {
    return (tokens.authenticateToken(bearerToken(token), audiences) as TokenResult | undefined) ?? 'unknown';
  } catch (error) {
    return (error as Error).message;
  }
}
const ask = async (spec: RequestedToken = {}) => (await issueToken(maker, { namespace: 'ns', name: 'robot' }, spec)).token;
const name = 'system:serviceaccount:ns:robot';
const groups = ['system:serviceaccounts', 'system:serviceaccounts:ns'];

test('a bound token names its account, for the audiences it was made for', async () => {
  const token = await ask({ audiences: ['vault', issuer] });
  const user = { name, uid: 'uid-1', groups };
  expect(prove(token)).toEqual({ user, audiences: [issuer] });
  expect(prove(token, ['vault', 'other'])).toEqual({ user, audiences: ['vault'] });
  expect(prove(token, ['other'])).toMatch(/is invalid for the target audiences/);
  expect(prove(await ask({ audiences: ['vault'] }))).toBe(
    'token audiences ["vault"] is invalid for the target audiences ["https://kubernetes.default.svc"]',
  );
});

test('while their kinds are still being loaded, the objects of a token are read alone', async () => {
  pod('pod-1');
  secret('secret-1');
  const ofPod = await ask({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } });
  const ofSecret = await ask({ boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's' } });
  const known = tokens.authenticateToken(bearerToken(ofPod), []);
  for (const plural of ['serviceaccounts', 'pods', 'secrets']) store.view('', plural).hold();
  expect(known).toMatchObject({ user: { name } });
  for (const token of [ofPod, ofSecret]) expect(await tokens.authenticateToken(bearerToken(token), [])).toMatchObject({ user: { name } });
  store.remove('', 'pods', 'ns', 'p');
  await expect(tokens.authenticateToken(bearerToken(ofPod), [])).rejects.toThrow('has been invalidated');
});

test('a token is signed beside the event loop: the turn that asks for it ends first', async () => {
  let isSigned = false;
  const token = ask().then(() => {
    isSigned = true;
  });
  // Promises alone do not let the event loop go on.
  for (let i = 0; i < 1000; i++) await Promise.resolve();
  expect(isSigned).toBe(false);
  await token;
});

test('claims stand in the order that the stock server writes', async () => {
  const { claims, algorithm } = parseJwt(await ask({ expirationSeconds: 600 })) ?? {};
  expect(algorithm).toBe('RS256');
  const iat = start / 1000;
  expect(JSON.stringify(claims)).toBe(
    JSON.stringify({
      aud: [issuer],
      exp: iat + 600,
      iat,
      iss: issuer,
      'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'uid-1' } },
      nbf: iat,
      sub: name,
    }),
  );
});

test('a token dies with its account, its pod, its secret and its time', async () => {
  pod('pod-1');
  secret('secret-1');
  const plain = await ask();
  const ofPod = await ask({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } });
  const ofSecret = await ask({ boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'secret-1' } });
  expect(prove(plain)).toBeTypeOf('object');
  expect(prove(ofSecret)).toBeTypeOf('object');
  expect((prove(ofPod) as TokenResult).user.extra).toEqual({
    'authentication.kubernetes.io/pod-name': ['p'],
    'authentication.kubernetes.io/pod-uid': ['pod-1'],
  });
  const dead = 'service account token has been invalidated';
  pod('pod-2');
  expect(prove(ofPod)).toBe(dead);
  store.remove('', 'secrets', 'ns', 's');
  expect(prove(ofSecret)).toBe(dead);
  account('uid-2');
  expect(prove(plain)).toBe(dead);
  account('uid-1');
  expect(prove(plain)).toBeTypeOf('object');
  account('uid-1', { deletionTimestamp: new Date(now - 61_000).toISOString() });
  expect(prove(plain)).toBe(dead);
  account('uid-1');
  now += hour;
  expect(prove(plain)).toBe('service account token has expired');
});

test('a token in a secret works while the secret holds it', async () => {
  const token = await signLegacy(kubernetes, rsa.privateKey, {
    namespace: 'ns',
    secretName: 's',
    account: { name: 'robot', uid: 'uid-1' },
  });
  expect(prove(token)).toBe('service account token has been invalidated');
  secret('secret-1', { token: Buffer.from(token).toString('base64') });
  expect(prove(token)).toEqual({ user: { name, uid: 'uid-1', groups }, audiences: [issuer] });
  now += 10 * 365 * 24 * hour;
  expect(prove(token)).toBeTypeOf('object');
  secret('secret-1', { token: Buffer.from(`${token}x`).toString('base64') });
  expect(prove(token)).toBe('service account token has been invalidated');
  secret('secret-1', { token: Buffer.from(token).toString('base64') });
  expect(prove(token)).toBeTypeOf('object');
  store.remove('', 'serviceaccounts', 'ns', 'robot');
  expect(prove(token)).toBe('service account token has been invalidated');
});

const part = (value: unknown) => Buffer.from(jsonText(value)).toString('base64url');
const claims = (more: object = {}) => ({
  aud: [issuer],
  exp: start / 1000 + 600,
  iat: start / 1000,
  nbf: start / 1000,
  iss: issuer,
  'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'uid-1' } },
  sub: name,
  ...more,
});
/** Signed by another library. */
const foreign = (key: KeyObject, alg: string, more: object = {}, header: object = {}) =>
  new SignJWT(claims(more)).setProtectedHeader({ alg, ...header }).sign(key);

test('tokens signed elsewhere with our keys are believed, by the algorithm of the key', async () => {
  expect(prove(await foreign(rsa.privateKey, 'RS256'))).toBeTypeOf('object');
  expect(prove(await foreign(ec.privateKey, 'ES256'))).toBeTypeOf('object');
});

test('wrong tokens are kept out', async () => {
  const publicPem = createPublicKey(rsa.privateKey).export({ type: 'spki', format: 'pem' }).toString();
  const hmac = (secretText: string) => {
    const signed = `${part({ alg: 'HS256' })}.${part(claims())}`;
    return `${signed}.${createHmac('sha256', secretText).update(signed).digest('base64url')}`;
  };
  const good = await foreign(rsa.privateKey, 'RS256');
  const [head, body, signature] = good.split('.') as [string, string, string];
  const admin = claims({ 'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'admin', uid: 'uid-1' } } });
  const table: [string, string, RegExp][] = [
    ['no algorithm', `${part({ alg: 'none' })}.${part(claims())}.`, /unknown/],
    ['no algorithm, with a signature', `${part({ alg: 'none' })}.${part(claims())}.${signature}`, /signature/],
    ['another case of none', `${part({ alg: 'nOnE' })}.${part(claims())}.${signature}`, /signature/],
    ['a secret made of the public key', hmac(publicPem), /signature/],
    ['an empty secret', hmac(''), /signature/],
    ['another key', await foreign(rsaKeys(1).privateKey, 'RS256'), /signature/],
    ['another algorithm of our key', await foreign(rsa.privateKey, 'PS256'), /signature/],
    ['a longer hash of our key', await foreign(rsa.privateKey, 'RS512'), /signature/],
    ['other claims', `${head}.${part(admin)}.${signature}`, /signature/],
    ['another head', `${part({ alg: 'RS256', kid: 'x' })}.${body}.${signature}`, /signature/],
    ['a cut signature', `${head}.${body}.${signature.slice(0, -4)}`, /signature/],
    ['another issuer', await foreign(rsa.privateKey, 'RS256', { iss: 'https://elsewhere' }), /unknown/],
    ['no issuer', await foreign(rsa.privateKey, 'RS256', { iss: undefined }), /unknown/],
    ['another audience', await foreign(rsa.privateKey, 'RS256', { aud: ['vault'] }), /audiences/],
    ['no audience', await foreign(rsa.privateKey, 'RS256', { aud: undefined }), /audiences/],
    ['expired', await foreign(rsa.privateKey, 'RS256', { exp: start / 1000 - 1 }), /expired/],
    ['never expiring', await foreign(rsa.privateKey, 'RS256', { exp: undefined }), /expiration/],
    ['from the future', await foreign(rsa.privateKey, 'RS256', { nbf: start / 1000 + 120 }), /not valid yet/],
    ['a time that is none', await foreign(rsa.privateKey, 'RS256', { exp: 'soon' as never }), /exp/],
    ['another subject', await foreign(rsa.privateKey, 'RS256', { sub: 'system:serviceaccount:kube-system:admin' }), /contradictory/],
    ['no account', await foreign(rsa.privateKey, 'RS256', { 'kubernetes.io': { namespace: 'ns' } }), /incomplete/],
    [
      'a pod without uid',
      await foreign(rsa.privateKey, 'RS256', { 'kubernetes.io': { ...claims()['kubernetes.io'], pod: { name: 'p' } } }),
      /incomplete/,
    ],
    ['a critical extension', await foreign(rsa.privateKey, 'RS256', {}, { crit: ['b64'], b64: true }), /unknown/],
    [
      'the claims of a secret under the wrong issuer',
      await foreign(rsa.privateKey, 'RS256', { iss: 'kubernetes/serviceaccount' }),
      /incomplete/,
    ],
    ['two parts', `${head}.${body}`, /unknown/],
    ['four parts', `${good}.${signature}`, /unknown/],
    ['padding', `${good}=`, /unknown/],
    ['nothing', '', /unknown/],
    ['no token', 'abc', /unknown/],
  ];
  for (const [what, token, why] of table) expect([what, prove(token)]).toEqual([what, expect.stringMatching(why)]);
  expect(prove(good)).toBeTypeOf('object');
});

test('a token signed with a key that is no longer trusted is refused, though it was accepted before', async () => {
  const token = await ask();
  expect(prove(token)).toBeTypeOf('object');
  keys = [ec.publicKey];
  expect(prove(token)).toBe('service account token has an invalid signature');
});

test('as a bearer token', async () => {
  const method = bearer(tokenUnion([tokens]), [issuer]);
  const request = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, rawHeaders: [] });
  expect(method.authenticate(request(await ask()))).toEqual({ name, uid: 'uid-1', groups: [...groups, 'system:authenticated'] });
  const forAnother = request(await ask({ audiences: ['vault'] }));
  const refusal = () => method.authenticate(forAnother);
  expect(refusal).toThrow(ApiError);
  expect(refusal).toThrow(/^Unauthorized$/);
});

const refusal = async (spec: RequestedToken, account = 'robot'): Promise<string> => {
  try {
    await issueToken(maker, { namespace: 'ns', name: account }, spec);
    return 'issued';
  } catch (error) {
    return `${(error as ApiError).code} ${(error as ApiError).message}`;
  }
};
test('audiences of more characters than a token may have are refused before anything is signed', async () => {
  const half = 'a'.repeat(MAX_AUDIENCE_CHARACTERS / 2);
  expect((await ask({ audiences: [half, half] })).length).toBeLessThan(MAX_TOKEN);
  expect(await refusal({ audiences: [half, half, 'b'] })).toMatch(/^422 .*spec\.audiences: Too long/);
});
test('requests that cannot be met', async () => {
  store.put('', 'pods', { metadata: { namespace: 'ns', name: 'q', uid: 'x' }, spec: { serviceAccountName: 'default' } } as never);
  secret('secret-1');
  const to = (kind: string, target: string, apiVersion = 'v1', uid = '') =>
    refusal({ boundObjectRef: { apiVersion, kind, name: target, ...(uid && { uid }) } });
  expect(await refusal({}, 'ghost')).toBe('404 serviceaccounts "ghost" not found');
  expect(await refusal({ expirationSeconds: 599 })).toBe(
    '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
  );
  expect(await refusal({ expirationSeconds: 2 ** 32 + 1 })).toMatch(/may not specify a duration larger than 2\^32 seconds/);
  expect(await refusal({ expirationSeconds: 2 ** 32 })).toBe('issued');
  expect(await to('Pod', 'ghost')).toBe('404 pods "ghost" not found');
  expect(await to('Pod', 'q')).toBe('400 cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.');
  expect(await to('Secret', 's', 'v1', 'not-this-one')).toBe(
    '409 Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (not-this-one) does not match the UID in record. The object might have been deleted and then recreated',
  );
  expect(await to('ConfigMap', 'c')).toBe('400 cannot bind token to object of type /v1, Kind=ConfigMap');
  expect(await to('Pod', 'p', 'apps/v1')).toBe('400 cannot bind token to object of type apps/v1, Kind=Pod');
  expect(await refusal({ boundObjectRef: {} })).toBe('400 cannot bind token to object of type /, Kind=');
});

test('a mounted token lives a year and warns after an hour', async () => {
  pod('pod-1');
  const spec = { expirationSeconds: 3607, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } };
  const life = (token: string) => {
    const found = parseJwt(token)?.claims ?? {};
    const { warnafter } = found['kubernetes.io'] as { warnafter?: number };
    const iat = Number(found.iat);
    return [Number(found.exp) - iat, warnafter === undefined ? undefined : warnafter - iat];
  };
  expect(life(await ask(spec))).toEqual([365 * 24 * 3600, 3607]);
  expect(await issueToken(maker, { namespace: 'ns', name: 'robot' }, spec)).toMatchObject({
    expirationSeconds: 3607,
    expirationTimestamp: '2026-06-01T01:00:07Z',
  });
  expect(life(await ask({ expirationSeconds: 3607 }))).toEqual([3607, undefined]);
  expect(life(await ask({ ...spec, audiences: ['vault'] }))).toEqual([3607, undefined]);
  maker = { ...maker, maxSeconds: 1200 };
  expect(life(await ask({ expirationSeconds: 7200 }))).toEqual([1200, undefined]);
});

test('the documents of the issuer let another library check a token', async () => {
  const documents = issuerDocuments(issuer, keys);
  expect(JSON.parse(documents.configuration)).toEqual({
    issuer,
    jwks_uri: `${issuer}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'RS256'],
  });
  const set = createLocalJWKSet(JSON.parse(documents.keys));
  const { payload } = await jwtVerify(await ask(), set, { issuer, audience: issuer, currentDate: new Date(now) });
  expect(payload.sub).toBe(name);
  expect(JSON.stringify(documents)).not.toContain('"d"');
});

test('an issuer that cannot be looked up has no documents', () => {
  expect(hasDocuments(issuer)).toBe(true);
  expect(hasDocuments('not-a-url')).toBe(false);
  expect(hasDocuments('http://plain')).toBe(false);
});

test('another identity signs under its own names', async () => {
  const { token } = await issueToken({ ...maker, identity: plat }, { namespace: 'ns', name: 'robot' }, {});
  expect(parseJwt(token)?.claims).toHaveProperty(['plat.dev', 'namespace'], 'ns');
  expect(prove(token)).toBe('service account token has incomplete claims');
});

// ---- what later releases add -----------------------------------------------------------------------------------

const allFeatures: TokenFeatures = {
  identifiers: true,
  podNodes: true,
  nodeBinding: true,
  accountUid: true,
  legacyTracking: false,
  legacyWarnings: false,
};
const node = (uid: string) => store.put('', 'nodes', { metadata: { name: 'n1', uid } } as never);
const extraOf = (token: string) => (prove(token) as TokenResult).user.extra;
const toNode = { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: 'n1' } };

test('a token has an identifier, and its user knows it', async () => {
  startWith(allFeatures);
  const token = await ask();
  expect(parseJwt(token)?.claims.jti).toBe('id-1');
  expect(extraOf(token)).toEqual({ 'authentication.kubernetes.io/credential-id': ['JTI=id-1'] });
  startWith(noTokenFeatures);
  expect(parseJwt(await ask())?.claims).not.toHaveProperty('jti');
  expect(extraOf(token)).toBeUndefined();
});

test('a token of a pod names its node, be that gone', async () => {
  startWith(allFeatures);
  store.put('', 'pods', {
    metadata: { namespace: 'ns', name: 'p', uid: 'pod-1' },
    spec: { serviceAccountName: 'robot', nodeName: 'n1' },
  } as never);
  const toPod = { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } };
  expect(parseJwt(await ask(toPod))?.claims['kubernetes.io']).toMatchObject({ node: { name: 'n1' }, pod: { name: 'p', uid: 'pod-1' } });
  node('node-1');
  const token = await ask(toPod);
  const extra = {
    'authentication.kubernetes.io/credential-id': ['JTI=id-1'],
    'authentication.kubernetes.io/pod-name': ['p'],
    'authentication.kubernetes.io/pod-uid': ['pod-1'],
    'authentication.kubernetes.io/node-name': ['n1'],
    'authentication.kubernetes.io/node-uid': ['node-1'],
  };
  expect(extraOf(token)).toEqual(extra);
  node('node-2');
  expect(extraOf(token)).toEqual(extra);
});

test('a token that is bound to a node ends with it', async () => {
  expect(await refusal(toNode)).toBe(
    '400 cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
  );
  startWith(allFeatures);
  expect(await refusal(toNode)).toBe('404 nodes "n1" not found');
  node('node-1');
  const token = await ask(toNode);
  expect(prove(token)).toMatchObject({ user: { name } });
  node('node-2');
  expect(prove(token)).toBe('service account token has been invalidated');
  node('node-1');
  startWith({ ...allFeatures, nodeBinding: false });
  expect(prove(token)).toBe('service account token is bound to a node, which this server does not check');
});

test('the uid of a request is that of the account', async () => {
  const asking = (uid: string) => issueToken(maker, { namespace: 'ns', name: 'robot', uid }, {});
  await expect(asking('uid-2')).resolves.toBeDefined();
  startWith(allFeatures);
  await expect(asking('uid-1')).resolves.toBeDefined();
  await expect(asking('uid-2')).rejects.toThrow(
    'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request (uid-2) does not match the UID of the service account (uid-1)',
  );
});

test.each([
  ['1.24', [], noTokenFeatures],
  ['1.29', ['ServiceAccountTokenJTI'], { ...noTokenFeatures, identifiers: true }],
  ['1.32', [], { ...noTokenFeatures, identifiers: true, podNodes: true }],
  ['1.36', ['TokenRequestServiceAccountUIDValidation'], allFeatures],
])('release %s with gates %o', (release, gates, features) => {
  expect(tokenFeatures(release, (gate) => gates.includes(gate as never))).toEqual(features);
});

test('the use of a token in a Secret is noted, and one that is marked invalid is refused', async () => {
  const used: string[] = [];
  const features = tokenFeatures('1.28', () => true);
  const withNotes = serviceAccountTokens({
    identity: kubernetes,
    audiences: [issuer],
    live: store.live,
    features,
    now: () => now,
    issuers: [issuer],
    keys: () => keys,
    secretUsed: ({ namespace, name: secretName }) => used.push(`${namespace}/${secretName}`),
  });
  const token = await signLegacy(kubernetes, rsa.privateKey, {
    namespace: 'ns',
    secretName: 's',
    account: { name: 'robot', uid: 'uid-1' },
  });
  const data = { token: Buffer.from(token).toString('base64') };
  secret('secret-1', data);
  const anybody: string[] = [];
  const ask = () => withNotes.authenticateToken(bearerToken(token), anybody) as TokenResult;
  expect(ask().notes).toEqual({ annotation: ['authentication.k8s.io/legacy-token-manual-secret', 'ns/s'] });
  expect(ask()).toBe(ask());
  account('uid-1', {});
  store.put('', 'serviceaccounts', { metadata: { namespace: 'ns', name: 'robot', uid: 'uid-1' }, secrets: [{ name: 's' }] } as never);
  expect(ask().notes).toEqual({
    warning: 'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.',
    annotation: ['authentication.k8s.io/legacy-token-autogenerated-secret', 'ns/s'],
  });
  expect(new Set(used)).toEqual(new Set(['ns/s']));
  store.put('', 'secrets', {
    metadata: { namespace: 'ns', name: 's', uid: 'secret-1', labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } },
    data,
  } as never);
  expect(ask).toThrow('the token in secret ns/s for service account ns/robot has been marked invalid');
  // Before the feature the label means nothing.
  expect(prove(token)).toMatchObject({ user: { name } });
});

test('the day of use is written once a day', async () => {
  const writes: string[] = [];
  const use = new LegacyTokenUse(kubernetes, () => now, silentLog);
  const object = { metadata: { namespace: 'ns', name: 's' } as { labels?: Record<string, string> } };
  use.note({ namespace: 'ns', name: 's', labels: undefined });
  use.writer = {
    change: async (_group, _plural, namespace, secretName, change) => {
      change(object as never);
      writes.push(`${namespace}/${secretName} ${jsonText(object.metadata.labels)}`);
    },
  };
  const note = () => use.note({ namespace: 'ns', name: 's', labels: object.metadata.labels });
  note();
  note();
  await Promise.resolve();
  note();
  expect(writes).toEqual(['ns/s {"kubernetes.io/legacy-token-last-used":"2026-06-01"}']);
  now += 24 * hour;
  await new Promise((resolve) => setImmediate(resolve));
  note();
  expect(writes.at(-1)).toBe('ns/s {"kubernetes.io/legacy-token-last-used":"2026-06-02"}');
});

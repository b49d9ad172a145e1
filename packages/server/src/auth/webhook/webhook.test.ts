import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '@plat-dev/lib/clock';
import { systemRandom } from '@plat-dev/lib/random';
import { kubernetes } from '@plat-dev/meta/identity';
import { issueClient, issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Remote } from '../../http-client/outbound.ts';
import { bearer, bearerToken, tokenUnion } from '../authn/bearer.ts';
import type { Attributes, TokenResult } from '../types.ts';
import { type WebhookAuthorizerOptions, webhookAuthorizer } from './authorizer.ts';
import { type TokenWebhookOptions, tokenWebhook } from './token.ts';

// A real service on loopback TLS that demands a client certificate, as its configuration file would tell.
const authorityPair = newAuthority('remote', Date.now());
const authority = readAuthority(authorityPair);
const serving = issueServing(authority, { commonName: 'localhost', dns: ['localhost'], addresses: ['127.0.0.1'] }, Date.now());
const mine = issueClient(authority, 'apiserver', [], Date.now());

interface Review {
  apiVersion: string;
  kind: string;
  spec: Record<string, unknown>;
}
let answer: (review: Review, request: IncomingMessage) => unknown;
let asked: Review[];
let remote: Remote;
let now: number;
const clock = { ...systemClock, now: () => now };
const closing: (() => void)[] = [];
beforeEach(async () => {
  asked = [];
  now = 1_000_000;
  const server = https.createServer(
    { cert: serving.certificate, key: serving.key, ca: authorityPair.certificate, requestCert: true, rejectUnauthorized: true },
    async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      const review = JSON.parse(text) as Review;
      asked.push(review);
      const said = answer(review, request);
      if (typeof said === 'number') response.statusCode = said;
      response.setHeader('content-type', 'application/json');
      response.end(typeof said === 'string' ? said : JSON.stringify(said));
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  remote = {
    server: `https://localhost:${(server.address() as AddressInfo).port}/review`,
    ca: authorityPair.certificate,
    certificate: mine.certificate,
    key: mine.key,
  };
});
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});
/** The answer that a well-behaved service gives: the question again, with a status. */
const withStatus = (status: object) => (review: Review) => ({ ...review, status });
const here = ['https://here'];
const quick = { attempts: 3, waitMillis: 1 };

function tokens(more: Partial<TokenWebhookOptions> = {}) {
  const made = tokenWebhook({
    identity: kubernetes,
    remote,
    version: 'v1',
    cacheMillis: 120_000,
    audiences: here,
    clock,
    random: systemRandom,
    retry: quick,
    ...more,
  });
  closing.push(() => made.close());
  return made;
}
const prove = async (by: ReturnType<typeof tokens>, token = 'abc', audiences: readonly string[] = here): Promise<TokenResult | string> => {
  try {
    return (await by.authenticateToken(bearerToken(token), audiences)) ?? 'unknown';
  } catch (error) {
    return (error as Error).message;
  }
};

test('the service is asked about a token, with a certificate, in the configured version', async () => {
  const user = { username: 'jane', uid: '42', groups: ['dev'], extra: { team: ['blue'] } };
  answer = (review, request) => {
    expect((request.socket as TLSSocket).getPeerCertificate().subject.CN).toBe('apiserver');
    return withStatus({ authenticated: true, user })(review);
  };
  for (const version of ['v1', 'v1beta1'] as const) {
    expect(await prove(tokens({ version }))).toEqual({
      user: { name: 'jane', uid: '42', groups: ['dev'], extra: { team: ['blue'] } },
      audiences: here,
    });
    expect(asked.at(-1)).toMatchObject({
      apiVersion: `authentication.k8s.io/${version}`,
      kind: 'TokenReview',
      spec: { token: 'abc', audiences: here },
    });
  }
});

test('what the service says in place of yes', async () => {
  const table: [string, unknown, RegExp][] = [
    ['no', withStatus({ authenticated: false }), /^unknown$/],
    ['no, with a reason', withStatus({ authenticated: false, error: 'token was stolen' }), /^token was stolen$/],
    ['a word for true', withStatus({ authenticated: 'true', user: { username: 'jane' } }), /^unknown$/],
    ['yes to nobody', withStatus({ authenticated: true, user: { groups: ['system:masters'] } }), /named no user/],
    ['yes for another audience', withStatus({ authenticated: true, user: { username: 'jane' }, audiences: ['elsewhere'] }), /^unknown$/],
    [
      'another version',
      (review: Review) => ({
        ...review,
        apiVersion: 'authentication.k8s.io/v1beta1',
        status: { authenticated: true, user: { username: 'jane' } },
      }),
      /must answer with TokenReview/,
    ],
    ['another kind', (review: Review) => ({ ...review, kind: 'Pod', status: {} }), /must answer with TokenReview/],
    ['no status', (review: Review) => review, /without a status/],
    ['no JSON', () => 'yes', /not JSON/],
    ['not found', () => 404, /answered 404/],
  ];
  for (const [what, said, why] of table) {
    answer = said as typeof answer;
    expect([what, await prove(tokens())]).toEqual([what, expect.stringMatching(why)]);
  }
});

test('the reason of the service is shown to the caller; a failure of the service is not', async () => {
  const ask = (by: ReturnType<typeof tokens>) =>
    Promise.resolve(bearer(tokenUnion([by]), here).authenticate({ headers: { authorization: 'Bearer abc' }, rawHeaders: [] }));
  answer = withStatus({ authenticated: false, error: 'token was stolen' });
  await expect(ask(tokens())).rejects.toMatchObject({ code: 401, message: 'token was stolen' });
  answer = withStatus({ authenticated: false });
  await expect(ask(tokens())).rejects.toMatchObject({ code: 401, message: 'Unauthorized' });
  answer = () => 404;
  await expect(ask(tokens())).rejects.toMatchObject({ code: 401, message: 'Unauthorized' });
});

test('answers are kept for their time, good and bad, but failures are not', async () => {
  answer = withStatus({ authenticated: true, user: { username: 'jane' } });
  const by = tokens({ cacheMillis: 1000 });
  await prove(by);
  expect(by.authenticateToken(bearerToken('abc'), here)).not.toBeInstanceOf(Promise);
  await prove(by, 'abcd');
  expect(asked).toHaveLength(2);
  now += 1000;
  await prove(by);
  expect(asked).toHaveLength(3);
  answer = withStatus({ authenticated: false });
  await prove(by, 'bad');
  await prove(by, 'bad');
  expect(asked).toHaveLength(4);
  answer = () => 404;
  await prove(by, 'worse');
  await prove(by, 'worse');
  expect(asked).toHaveLength(6);
  const none = tokens({ cacheMillis: 0 });
  answer = withStatus({ authenticated: true, user: { username: 'jane' } });
  await prove(none);
  await prove(none);
  expect(asked).toHaveLength(8);
});

test('requests that come together ask once', async () => {
  answer = withStatus({ authenticated: true, user: { username: 'jane' } });
  const by = tokens();
  const results = await Promise.all(Array.from({ length: 20 }, () => prove(by)));
  expect(results.every((one) => typeof one === 'object')).toBe(true);
  expect(asked).toHaveLength(1);
});

test('a service that stumbles is asked again, one that stays down lets nobody in', async () => {
  let failures = 2;
  answer = (review) => (failures-- > 0 ? 503 : withStatus({ authenticated: true, user: { username: 'jane' } })(review));
  expect(await prove(tokens())).toBeTypeOf('object');
  answer = () => 500;
  expect(await prove(tokens())).toMatch(/answered 500/);
  expect(await prove(tokens({ remote: { ...remote, certificate: undefined, key: undefined } }))).toMatch(/failed/);
  expect(await prove(tokens({ remote: { ...remote, ca: undefined } }))).toMatch(/failed/);
});

// Authorization.
function authorizer(more: Partial<WebhookAuthorizerOptions> = {}) {
  const made = webhookAuthorizer({
    identity: kubernetes,
    remote,
    version: 'v1',
    allowedMillis: 1000,
    refusedMillis: 100,
    clock,
    random: systemRandom,
    retry: quick,
    ...more,
  });
  closing.push(() => made.close());
  return made;
}
const question = (more: Partial<Attributes> = {}): Attributes => ({
  user: { name: 'jane', uid: '42', groups: ['dev'], extra: { team: ['blue'] } },
  verb: 'get',
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  subresource: 'scale',
  name: 'd',
  namespace: 'ns',
  path: '',
  resourceRequest: true,
  ...more,
});

test('a question is put as a review, in both versions', async () => {
  answer = withStatus({ allowed: true, reason: 'fine' });
  expect(await authorizer().authorize(question())).toEqual({ decision: 'allow', reason: 'fine' });
  const attributes = {
    namespace: 'ns',
    verb: 'get',
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    subresource: 'scale',
    name: 'd',
  };
  expect(asked[0]).toMatchObject({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { resourceAttributes: attributes, user: 'jane', uid: '42', groups: ['dev'], extra: { team: ['blue'] } },
  });
  await authorizer({ version: 'v1beta1' }).authorize(question({ resourceRequest: false, path: '/x' }));
  expect(asked[1]).toMatchObject({
    apiVersion: 'authorization.k8s.io/v1beta1',
    spec: { nonResourceAttributes: { path: '/x', verb: 'get' }, group: ['dev'] },
  });
});

test.each<[string, unknown, object]>([
  ['no opinion', { allowed: false, reason: 'who?' }, { decision: 'none', reason: 'who?' }],
  ['denied', { allowed: false, denied: true, reason: 'never' }, { decision: 'deny', reason: 'never' }],
  ['both', { allowed: true, denied: true }, { decision: 'deny' }],
  ['a word for true', { allowed: 'true' }, { decision: 'none' }],
  ['trouble', { allowed: false, evaluationError: 'x' }, { decision: 'none', error: 'x' }],
])('an answer: %s', async (_, status, expected) => {
  answer = withStatus(status as object);
  expect(await authorizer().authorize(question())).toMatchObject(expected);
});

test('decisions are kept, refusals shorter; questions of great size and failures are not', async () => {
  const by = authorizer();
  answer = withStatus({ allowed: true });
  await by.authorize(question());
  now += 999;
  expect(by.authorize(question())).not.toBeInstanceOf(Promise);
  now += 1;
  answer = withStatus({ allowed: false });
  await by.authorize(question());
  expect(asked).toHaveLength(2);
  now += 100;
  await by.authorize(question());
  expect(asked).toHaveLength(3);
  const large = question({ name: 'x'.repeat(20_000) });
  await by.authorize(large);
  await by.authorize(large);
  expect(asked).toHaveLength(5);
  answer = () => 404;
  const failed = await by.authorize(question({ name: 'other' }));
  expect(failed).toEqual({ decision: 'none', reason: '', error: 'the authorization webhook failed: the webhook answered 404' });
  await by.authorize(question({ name: 'other' }));
  expect(asked).toHaveLength(7);
  expect(await by.rulesFor({ name: 'u', groups: [] }, 'ns')).toMatchObject({ incomplete: true });
});

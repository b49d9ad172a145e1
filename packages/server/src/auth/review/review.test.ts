import type { ApiError } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { forServerAudiences, tokenUnion } from '../authn/bearer.ts';
import { staticTokens } from '../authn/static-tokens.ts';
import { type Attributes, type Authorizer, TokenRejected, type User } from '../types.ts';
import {
  type AccessReview,
  MAX_REVIEWED,
  reviewLocalSubjectAccess,
  reviewSelfAccess,
  reviewSelfRules,
  reviewSubjectAccess,
} from './access.ts';
import { checkAudiences, MAX_AUDIENCES, MAX_TOKEN, reviewToken } from './token.ts';

const alice: User = { name: 'alice', groups: ['dev'] };
let asked: Attributes | undefined;
const authorizer: Authorizer = {
  name: 'test',
  authorize(question) {
    asked = question;
    return question.verb === 'list'
      ? { decision: 'allow', reason: 'because' }
      : question.verb === 'never'
        ? { decision: 'deny', reason: '', error: 'trouble' }
        : { decision: 'none', reason: '' };
  },
  rulesFor: async (_, namespace) => ({
    resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: [namespace] }],
    nonResourceRules: [],
    incomplete: true,
    error: 'some',
  }),
};
const pods = { namespace: 'ns', verb: 'list', resource: 'pods' };
const path = { path: '/x', verb: 'get' };
type Spec = AccessReview['spec'];
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: ApiError) => `${error.code} ${error.message}`,
  );
const subject = (spec: Spec, metadata?: object) =>
  reviewSubjectAccess(kubernetes, authorizer, { ...(spec && { spec }), ...(metadata && { metadata: metadata as never }) });
const local = (spec: Spec, metadata: object = { namespace: 'ns' }) =>
  reviewLocalSubjectAccess(kubernetes, authorizer, 'ns', { ...(spec && { spec }), metadata: metadata as never });
const self = (spec: Spec) => reviewSelfAccess(kubernetes, authorizer, alice, spec ? { spec } : {});

test('decisions become answers', async () => {
  expect(await self({ resourceAttributes: pods })).toEqual({ allowed: true, reason: 'because' });
  expect(asked).toEqual({
    user: alice,
    verb: 'list',
    group: '',
    version: '',
    resource: 'pods',
    subresource: '',
    name: '',
    namespace: 'ns',
    path: '',
    resourceRequest: true,
  });
  expect(await self({ nonResourceAttributes: path })).toEqual({ allowed: false });
  expect(asked).toMatchObject({ verb: 'get', path: '/x', resourceRequest: false });
  expect(await self({ resourceAttributes: { ...pods, verb: 'never' } })).toEqual({
    allowed: false,
    denied: true,
    evaluationError: 'trouble',
  });
});

test('a subject is taken as given', async () => {
  const spec = { user: 'eve', uid: 'u', groups: ['g'], extra: { k: ['v'] }, resourceAttributes: pods };
  expect(await subject(spec)).toEqual({ allowed: true, reason: 'because' });
  expect(asked?.user).toEqual({ name: 'eve', uid: 'u', groups: ['g'], extra: { k: ['v'] } });
  await local({ groups: ['g'], resourceAttributes: pods });
  expect(asked?.user).toEqual({ name: '', groups: ['g'] });
});

const head = (kind: string): string => `422 ${kind}.authorization.k8s.io "" is invalid:`;
const one = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
test('questions that cannot be answered', async () => {
  expect(await refusal(self(undefined))).toBe(`${head('SelfSubjectAccessReview')} spec.resourceAttributes: Invalid value: "null": ${one}`);
  expect(await refusal(self({ resourceAttributes: pods, nonResourceAttributes: path }))).toMatch(
    /spec\.nonResourceAttributes: Invalid value: authorization\.NonResourceAttributes\{Path:"\/x", Verb:"get"\}: cannot be specified in combination with resourceAttributes$/,
  );
  expect(await refusal(subject({}))).toBe(
    `${head('SubjectAccessReview')} [spec.resourceAttributes: Invalid value: "null": ${one}, spec.user: Invalid value: "": at least one of user or group must be specified]`,
  );
  expect(await refusal(subject({ user: 'u', resourceAttributes: pods }, { name: 'x' }))).toMatch(/metadata: Invalid value/);
  expect(await refusal(subject({ user: 'u', resourceAttributes: pods }, { creationTimestamp: null, managedFields: [{}] }))).toBe(
    'answered',
  );
  expect(await refusal(local({ user: 'u', resourceAttributes: { ...pods, namespace: 'default' } }))).toBe(
    `${head('LocalSubjectAccessReview')} spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace`,
  );
  expect(await refusal(local({ user: 'u', nonResourceAttributes: path }))).toBe(
    `${head('LocalSubjectAccessReview')} spec.nonResourceAttributes: Invalid value: authorization.NonResourceAttributes{Path:"/x", Verb:"get"}: disallowed on this kind of request`,
  );
  expect(await refusal(local({ user: 'u', resourceAttributes: pods }, { namespace: 'ns', name: 'x' }))).toMatch(/metadata/);
  expect(await refusal(reviewSelfRules(authorizer, alice, ''))).toBe('400 no namespace on request');
});

test('rules are listed', async () => {
  expect(await reviewSelfRules(authorizer, alice, 'ns')).toEqual({
    resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['ns'] }],
    nonResourceRules: [],
    incomplete: true,
    evaluationError: 'some',
  });
});

const here = ['https://here'];
const known = forServerAudiences(staticTokens('alice-token,alice,alice-uid,"dev,qa"\n'), here);
const picky = {
  name: 'picky',
  authenticateToken: (token: { value: string }) => {
    if (token.value === 'old') throw new TokenRejected('token has expired');
    if (token.value === 'broken') throw new Error('secret inside');
    return undefined;
  },
};
const tokens = tokenUnion([known, picky]);
test('token reviews', async () => {
  const user = { username: 'alice', uid: 'alice-uid', groups: ['dev', 'qa', 'system:authenticated'] };
  expect(await reviewToken(tokens, here, { token: 'alice-token' })).toEqual({ authenticated: true, user, audiences: here });
  expect(await reviewToken(tokens, here, { token: 'alice-token and more' })).toMatchObject({ authenticated: true });
  expect(await reviewToken(tokens, here, { token: 'alice-token', audiences: ['elsewhere', ...here] })).toMatchObject({ audiences: here });
  expect(await reviewToken(tokens, here, { token: 'alice-token', audiences: ['elsewhere'] })).toEqual({
    user: {},
    error: 'invalid bearer token',
  });
  expect(await reviewToken(tokens, here, { token: 'nobody' })).toEqual({ user: {}, error: 'invalid bearer token' });
  expect(await reviewToken(tokens, here, { token: 'old' })).toEqual({ user: {}, error: 'token has expired' });
  expect(await reviewToken(tokens, here, { token: 'broken' })).toEqual({ user: {}, error: 'invalid bearer token' });
  for (const spec of [undefined, {}, { token: '' }]) {
    expect(await refusal(reviewToken(tokens, here, spec))).toBe('400 token is required for TokenReview in authentication');
  }
});

test('groups, extra values and audiences of a review have a bound, and a token that no header could hold is not looked at', async () => {
  const many = (length: number) => Array.from({ length }, (_, i) => `g${i}`);
  const ask = (more: Spec) => refusal(subject({ resourceAttributes: pods, user: 'a', ...more }));
  expect(await ask({ groups: many(MAX_REVIEWED) })).toBe('answered');
  expect(await ask({ groups: many(MAX_REVIEWED + 1) })).toMatch(/^422 .*spec.groups: Too many: 5001: must have at most 5000 items/);
  expect(await ask({ extra: { a: many(MAX_REVIEWED) } })).toBe('answered');
  expect(await ask({ extra: { a: many(MAX_REVIEWED), b: [] } })).toMatch(/^422 .*spec.extra: Too many: 5001/);
  expect(() => checkAudiences(kubernetes, { audiences: many(MAX_AUDIENCES) })).not.toThrow();
  expect(() => checkAudiences(kubernetes, { audiences: many(MAX_AUDIENCES + 1) })).toThrow(
    'TokenReview.authentication.k8s.io "" is invalid: spec.audiences: Too many: 5001',
  );
  const seen: number[] = [];
  const tokens = {
    authenticateToken(token: { readonly value?: string }) {
      seen.push(JSON.stringify(token).length);
      return undefined;
    },
  };
  for (const length of [MAX_TOKEN, MAX_TOKEN + 1]) await reviewToken(tokens as never, [], { token: 'a'.repeat(length) });
  expect(seen).toHaveLength(1);
});

test('selectors are asked about, and what cannot be read is left out', async () => {
  const listing = (more: object) => self({ resourceAttributes: { ...pods, ...more } as never });
  expect(
    await listing({ fieldSelector: { rawSelector: 'a=b' }, labelSelector: { requirements: [{ key: 'l', operator: 'Exists' }] } }),
  ).toEqual({
    allowed: true,
    reason: 'because',
  });
  expect(asked?.selectors).toEqual({
    fields: [{ key: 'a', operator: 'In', values: ['b'] }],
    labels: [{ key: 'l', operator: 'Exists', values: [] }],
  });
  const some = [
    { key: 'a', operator: 'In', values: ['b'] },
    { key: 'c', operator: 'In', values: ['d', 'e'] },
  ];
  expect(await listing({ fieldSelector: { requirements: some } })).toMatchObject({
    evaluationError: 'spec.resourceAttributes.fieldSelector partially ignored due to parse error',
  });
  expect(asked?.selectors).toEqual({ fields: [some[0]] });
  expect(await listing({ labelSelector: { requirements: [{ key: 'a', operator: 'Later' }] } })).toMatchObject({
    evaluationError: 'spec.resourceAttributes.labelSelector ignored due to parse error',
  });
  expect(asked?.selectors).toEqual({});
});

test('selectors of a review are checked', async () => {
  const refused = (more: object) => refusal(self({ resourceAttributes: { ...pods, ...more } as never }));
  expect(await refused({ fieldSelector: { requirements: [{ key: '', operator: 'In' }] } })).toContain(
    'requirements[0].key: Required value',
  );
  expect(await refused({ fieldSelector: { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'Exists' }] } })).toContain(
    'may not specified at the same time as requirements',
  );
  expect(await refused({ labelSelector: {} })).toContain('requirements or rawSelector is required');
  expect(await refused({ labelSelector: { requirements: [{ key: 'a', operator: 'NotIn', values: ['-'] }] } })).toContain(
    'values[0]: Invalid',
  );
  const many = Array.from({ length: 1_001 }, () => ({ key: 'a', operator: 'Exists' }));
  expect(await refused({ labelSelector: { requirements: many } })).toContain('must have at most 1000 items');
});

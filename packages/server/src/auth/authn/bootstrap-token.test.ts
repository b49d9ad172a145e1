import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { beforeEach, expect, test } from 'vitest';
import type { TokenResult } from '../types.ts';
import { bearerToken } from './bearer.ts';
import { bootstrapTokens } from './bootstrap-token.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
let store: FakeStore;
const encode = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
const put = (data: Record<string, string> = {}, more: { type?: string; metadata?: object; name?: string } = {}) =>
  store.put('', 'secrets', {
    metadata: { namespace: 'kube-system', name: more.name ?? 'bootstrap-token-abcdef', ...more.metadata },
    type: more.type ?? 'bootstrap.kubernetes.io/token',
    data: encode({ 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true', ...data }),
  } as never);
const prove = (token = 'abcdef.0123456789abcdef'): readonly string[] | string => {
  try {
    const result = bootstrapTokens(kubernetes, store.live, () => now).authenticateToken(bearerToken(token), []) as TokenResult | undefined;
    return result === undefined ? 'unknown' : [result.user.name, ...result.user.groups];
  } catch (error) {
    return (error as Error).message;
  }
};
beforeEach(() => {
  store = new FakeStore();
});

test('a token names a user and the groups of its secret, sorted, each once', () => {
  put();
  expect(prove()).toEqual(['system:bootstrap:abcdef', 'system:bootstrappers']);
  put({
    'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:a:b-c,system:bootstrappers:z',
    expiration: '2026-06-01T00:00:01Z',
  });
  expect(prove()).toEqual(['system:bootstrap:abcdef', 'system:bootstrappers', 'system:bootstrappers:a:b-c', 'system:bootstrappers:z']);
});

test('while secrets are still being loaded, the secret of the token is read alone', async () => {
  put();
  store.view('', 'secrets').hold();
  const answer = bootstrapTokens(kubernetes, store.live, () => now).authenticateToken(bearerToken('abcdef.0123456789abcdef'), []);
  expect(await answer).toMatchObject({ user: { name: 'system:bootstrap:abcdef' } });
});

test.each<[string, Record<string, string>, Parameters<typeof put>[1], RegExp]>([
  ['another secret', { 'token-secret': 'fedcba9876543210' }, {}, /unknown/],
  ['no secret', { 'token-secret': '' }, {}, /unknown/],
  ['another id', { 'token-id': 'other1' }, {}, /unknown/],
  ['usage of another case', { 'usage-bootstrap-authentication': 'True' }, {}, /unknown/],
  ['no usage', { 'usage-bootstrap-authentication': '' }, {}, /unknown/],
  ['another type of secret', {}, { type: 'Opaque' }, /unknown/],
  ['another namespace', {}, { metadata: { namespace: 'default' } }, /unknown/],
  ['being deleted', {}, { metadata: { deletionTimestamp: '2026-05-31T00:00:00Z' } }, /unknown/],
  ['expired', { expiration: '2026-06-01T00:00:00Z' }, {}, /expired/],
  ['a time that is none', { expiration: 'soon' }, {}, /expired/],
  ['a date in words', { expiration: 'Jan 1 2030' }, {}, /expired/],
  ['a date without a time', { expiration: '2030-01-01' }, {}, /expired/],
  ['a day that there is not', { expiration: '2030-02-30T00:00:00Z' }, {}, /expired/],
  ['a bare year', { expiration: '2030' }, {}, /expired/],
  ['a short secret', { 'token-secret': '0123456789abcde' }, {}, /unknown/],
  ['a group from elsewhere', { 'auth-extra-groups': 'system:bootstrappers:fine,system:masters' }, {}, /groups/],
  ['an ill-formed group', { 'auth-extra-groups': 'system:bootstrappers:Upper' }, {}, /groups/],
  ['a group that is only the prefix', { 'auth-extra-groups': 'system:bootstrappers:' }, {}, /groups/],
])('kept out: %s', (_, data, more, why) => {
  put(data, more);
  expect(prove()).toMatch(why);
});

test.each([
  '',
  'abcdef',
  'abcdef.',
  'ABCDEF.0123456789abcdef',
  'abcdef.0123456789abcdeF',
  'abcdef.0123456789abcdef0',
  ' abcdef.0123456789abcdef',
  'abcdef.0123456789abcdef\n',
])('not even looked up: %j', (token) => {
  put();
  expect(prove(token)).toBe('unknown');
});

test('a removed token stops working', () => {
  put();
  expect(prove()).not.toBe('unknown');
  store.remove('', 'secrets', 'kube-system', 'bootstrap-token-abcdef');
  expect(prove()).toBe('unknown');
});

import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { bootstrapTokenExpiry, bootstrapTokenOf, bootstrapTokenWarnings, type TokenSecret } from './bootstrap-token.ts';

const secret = (data: Record<string, string>, more: object = {}): TokenSecret => ({
  metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system', ...more },
  type: 'bootstrap.kubernetes.io/token',
  data: Object.fromEntries(
    Object.entries({ 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', ...data }).map(([key, value]) => [
      key,
      Buffer.from(value).toString('base64'),
    ]),
  ),
});

test('a time of RFC 3339 is when a token expires; none is never, anything else is past', () => {
  const expiry = (expiration: string) => bootstrapTokenExpiry(secret({ expiration }));
  expect(expiry('2030-01-02T03:04:05Z')).toBe(Date.parse('2030-01-02T03:04:05Z'));
  expect(expiry('2030-01-02T03:04:05.5+01:00')).toBe(Date.parse('2030-01-02T02:04:05.500Z'));
  expect(expiry('')).toBe(Number.POSITIVE_INFINITY);
  for (const text of [
    'Jan 1 2030',
    '2030-01-01',
    '2030',
    '2030-02-30T00:00:00Z',
    '2030-01-02 03:04:05Z',
    '2030-01-02T03:04:05',
    '1893456000',
  ])
    expect([text, expiry(text)]).toEqual([text, Number.NEGATIVE_INFINITY]);
});

test.each<[string, Record<string, string>, object, string | undefined]>([
  ['a good token', {}, {}, undefined],
  ['a short id', { 'token-id': 'abc' }, {}, 'data[token-id]: must be 6 characters of a-z and 0-9, so that the token is of no use'],
  ['a short secret', { 'token-secret': 'abc' }, {}, 'data[token-secret]: must be 16 characters'],
  ['a secret in capitals', { 'token-secret': '0123456789ABCDEF' }, {}, 'data[token-secret]'],
  ['another name', {}, { name: 'bootstrap-token-other1' }, 'metadata.name: must be bootstrap-token- and the token-id'],
  ['another namespace', {}, { namespace: 'default' }, 'metadata.namespace: must be kube-system'],
  ['a date in words', { expiration: 'Jan 1 2030' }, {}, 'data[expiration]: must be a time of RFC 3339'],
  ['a foreign group', { 'auth-extra-groups': 'system:masters' }, {}, 'data[auth-extra-groups]'],
])('%s', (_, data, more, warning) => {
  const made = secret(data, more);
  expect(bootstrapTokenWarnings(made, kubernetes)).toEqual(warning === undefined ? [] : [expect.stringContaining(warning)]);
  const own = ['a short id', 'a short secret', 'a secret in capitals', 'another name'].includes(_);
  expect(bootstrapTokenOf(made) === undefined).toBe(own);
});

test('a secret of another type is none of the business, and values are never shown', () => {
  expect(bootstrapTokenWarnings({ ...secret({ 'token-id': 'x' }), type: 'Opaque' }, kubernetes)).toEqual([]);
  expect(bootstrapTokenWarnings(secret({ 'token-id': 'x' }), plat)).toEqual([]);
  expect(bootstrapTokenWarnings(secret({ 'token-secret': 'nearly-right' }), kubernetes).join()).not.toContain('nearly');
});

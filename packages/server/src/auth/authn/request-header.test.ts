import { X509Certificate } from 'node:crypto';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { issueClient, newAuthority, readAuthority } from '@plat-dev/pki';
import { expect, test } from 'vitest';
import type { ClientCertificate } from '../../connections/client-certificates.ts';
import { type AuthRequest, type User, union } from '../types.ts';
import { anonymous } from './anonymous.ts';
import { requestHeader } from './request-header.ts';

const now = Date.now();
const proxies = readAuthority(newAuthority('proxies', now));
const clients = readAuthority(newAuthority('clients', now));
/** A certificate that OpenSSL accepted: the server has the CAs of clients, too. */
const certificate = (authority = proxies, name = 'front'): ClientCertificate => ({
  certificate: new X509Certificate(issueClient(authority, name, [], now).certificate),
  refusal: undefined,
  sent: [],
  authorities: [clients.certificate, proxies.certificate],
});
const roots = [proxies.certificate];
const method = (allowedNames: readonly string[] = [], at = now) =>
  union(
    [
      requestHeader({
        usernameHeaders: ['X-Remote-User', 'X-Other-User'],
        groupHeaders: ['X-Remote-Group', 'X-Teams'],
        extraHeaderPrefixes: ['X-Remote-Extra-'],
        allowedNames,
        trust: { authorities: () => roots, now: () => at },
      }),
    ],
    anonymous,
  );
const request = (pairs: readonly [string, string][], shown?: ClientCertificate): AuthRequest => ({
  headers: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])),
  rawHeaders: pairs.flat(),
  clientCertificate: shown,
});
const who = (by: ReturnType<typeof method>, asked: AuthRequest): User | string => {
  try {
    return by.authenticate(asked) as User;
  } catch (error) {
    return (error as Error).message;
  }
};
const proxy = certificate();

test('a proxy names user, groups and extras', () => {
  const pairs: [string, string][] = [
    ['x-remote-user', 'jane'],
    ['X-REMOTE-GROUP', 'dev'],
    ['X-Remote-Group', 'a, b'],
    ['X-Teams', 'blue'],
    ['X-Remote-Extra-Scopes', 'view'],
    ['x-remote-extra-scopes', 'edit'],
    ['X-Remote-Extra-example.com%2Fteam', 'red'],
    ['X-Remote-Extra-bad%zz', 'v'],
  ];
  expect(who(method(), request(pairs, proxy))).toEqual({
    name: 'jane',
    groups: ['dev', 'a, b', 'blue', 'system:authenticated'],
    extra: { scopes: ['view', 'edit'], 'example.com/team': ['red'], 'bad%zz': ['v'] },
  });
});

test('the first user header with a value counts', () => {
  expect(
    who(
      method(),
      request(
        [
          ['X-Other-User', 'two'],
          ['X-Remote-User', ''],
        ],
        proxy,
      ),
    ),
  ).toMatchObject({ name: 'two' });
  expect(
    who(
      method(),
      request(
        [
          ['X-Other-User', 'two'],
          ['X-Remote-User', 'one'],
        ],
        proxy,
      ),
    ),
  ).toMatchObject({ name: 'one' });
  expect(who(method(), request([['X-Remote-User', Buffer.from('jürgen').toString('latin1')]], proxy))).toMatchObject({ name: 'jürgen' });
});

const jane: [string, string][] = [
  ['X-Remote-User', 'jane'],
  ['X-Remote-Group', 'system:masters'],
];
test.each<[string, ClientCertificate | undefined, readonly string[], number, string]>([
  ['no certificate', undefined, [], now, 'system:anonymous'],
  ['a certificate of another authority', certificate(clients), [], now, 'Unauthorized'],
  ['a name that is not allowed', proxy, ['other'], now, 'Unauthorized'],
  ['a name in another case', proxy, ['Front'], now, 'Unauthorized'],
  ['an expired certificate', proxy, [], now + 400 * 24 * 3600 * 1000, 'Unauthorized'],
])('headers are not believed: %s', (_, shown, allowedNames, at, expected) => {
  const answer = who(method(allowedNames, at), request(jane, shown));
  expect(typeof answer === 'string' ? answer : answer.name).toBe(expected);
});

test('an allowed name is believed; a proxy that names nobody is anonymous', () => {
  expect(who(method(['x', 'front']), request(jane, proxy))).toMatchObject({ name: 'jane' });
  expect(who(method(), request([['X-Remote-Group', 'dev']], proxy))).toMatchObject({ name: 'system:anonymous' });
});

test('no headers without the certificate ever name anyone', () => {
  const name = fc.constantFrom('x-remote-user', 'X-Remote-User', 'x-remote-group', 'X-Remote-Extra-a', 'x_remote_user', 'x-other-user');
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.string()), { maxLength: 6 }), (pairs) => {
      expect(who(method(), request(pairs as [string, string][]))).toEqual({ name: 'system:anonymous', groups: ['system:unauthenticated'] });
    }),
  );
});

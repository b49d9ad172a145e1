import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { ApiError } from '@plat-dev/meta/errors';
import { issue, issueClient, issueServing, newAuthority, newKeyPair, readAuthority, readRevoked } from '@plat-dev/pki';
import { extendedUsage, makeAuthority, makeCertificate } from '@plat-dev/pki/made.testing';
import { afterEach, expect, test } from 'vitest';
import { type ClientCertificate, clientCertificateOf } from '../../connections/client-certificates.ts';
import { type Authenticator, type AuthRequest, type User, union } from '../types.ts';
import { anonymous } from './anonymous.ts';
import { bearer, forServerAudiences, tokenOf, tokenUnion } from './bearer.ts';
import { clientCertificate } from './client-certificate.ts';
import { parseCsv, staticTokens } from './static-tokens.ts';
import { parseServiceAccount } from './users.ts';

const file = 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid,"dev,qa"\r\nbob-token,bob,bob-uid,""\n';
const server = ['https://here'];
const withHeader = (authorization: string, socketKey?: object): AuthRequest => ({
  headers: { authorization },
  rawHeaders: ['Authorization', authorization],
  ...(socketKey && { socketKey }),
});
const nothing: AuthRequest = { headers: {}, rawHeaders: [] };
const tokens = tokenUnion([forServerAudiences(staticTokens(file), server)]);
const method = union([bearer(tokens, server)], anonymous);

/** The name of whom a request comes from, or the code it is refused with. */
async function who(request: AuthRequest, by: Authenticator = method): Promise<string | number> {
  try {
    return (await by.authenticate(request))?.name ?? 'nobody';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

test('a known token names its user, at once', () => {
  expect(method.authenticate(withHeader('Bearer alice-token'))).toEqual({
    name: 'alice',
    uid: 'alice-uid',
    groups: ['dev', 'qa', 'system:authenticated'],
  });
  expect(method.authenticate(withHeader('bearer bob-token'))).toEqual({
    name: 'bob',
    uid: 'bob-uid',
    groups: ['', 'system:authenticated'],
  });
});

test('what a token is worth is found out for every request of a connection; what it is is read once for headers that are the same', () => {
  const alice = { user: { name: 'alice', groups: [] } };
  let result: { user: User } | undefined = alice;
  const asked: string[] = [];
  const kind = {
    name: 'test',
    authenticateToken: ({ value }: { value: string }) => {
      asked.push(value);
      return result;
    },
  };
  const by = bearer(kind, []);
  const socketKey = {};
  const request = withHeader('Bearer one', socketKey);
  const same = (): AuthRequest => ({ ...request });
  const first = by.authenticate(same());
  expect([by.authenticate(same()), by.authenticate(withHeader('Bearer one', socketKey))].every((user) => user === first)).toBe(true);
  result = { user: { name: 'alice', groups: ['more'] } };
  expect(by.authenticate(same())).toMatchObject({ groups: ['more', 'system:authenticated'] });
  result = undefined;
  for (let i = 0; i < 2; i++) expect(() => by.authenticate(same())).toThrow('Unauthorized');
  result = alice;
  expect(by.authenticate(same())).toBe(first);
  expect(by.authenticate(withHeader('Bearer two', socketKey))).toBe(first);
  expect(by.authenticate(same())).toBe(first);
  expect(asked).toEqual(['one', 'one', 'one', 'one', 'one', 'one', 'one', 'two', 'one']);
  // Another connection, and one whose next request has no token.
  expect(by.authenticate({ headers: {}, rawHeaders: [], socketKey })).toBe(undefined);
  expect(by.authenticate({ ...request, socketKey: {} })).toBe(first);
});

test.each([
  ['no header', nothing, 'system:anonymous'],
  ['an empty header', withHeader(''), 'system:anonymous'],
  ['the word alone', withHeader('Bearer'), 'system:anonymous'],
  ['the word and a space', withHeader('Bearer '), 'system:anonymous'],
  ['two spaces', withHeader('Bearer  admin-token'), 'system:anonymous'],
  ['more after the token', withHeader('Bearer bob-token and more'), 'bob'],
  ['basic credentials', withHeader('Basic YWRtaW46YWRtaW4tdG9rZW4='), 'system:anonymous'],
  ['no scheme', withHeader('admin-token'), 'system:anonymous'],
  ['an unknown token', withHeader('Bearer nobody'), 401],
  ['a token in another case', withHeader('Bearer ADMIN-TOKEN'), 401],
  ['the start of a token', withHeader('Bearer admin-toke'), 401],
  ['a token with a tail', withHeader('Bearer admin-tokenx'), 401],
  ['a user name for a token', withHeader('Bearer admin'), 401],
  ['a very long token', withHeader(`Bearer ${'x'.repeat(100_000)}`), 401],
  [
    'two headers',
    {
      headers: { authorization: 'Bearer bob-token' },
      rawHeaders: ['authorization', 'Bearer bob-token', 'AUTHORIZATION', 'Bearer admin-token'],
    },
    401,
  ],
])('%s', async (_, request, expected) => {
  expect(await who(request)).toBe(expected);
});

test('a header seen before on a connection does not outlive its change', async () => {
  const connection = {};
  expect(await who(withHeader('Bearer alice-token', connection))).toBe('alice');
  expect(await who(withHeader('Bearer alice-token', connection))).toBe('alice');
  expect(await who(withHeader('Bearer nobody', connection))).toBe(401);
  expect(await who(withHeader('Bearer bob-token', connection))).toBe('bob');
  expect(await who(nothing)).toBe('system:anonymous');
});

test('no header proves an identity but a token of the file', () => {
  const proved = new Map([
    ['admin-token', 'admin'],
    ['alice-token', 'alice'],
    ['bob-token', 'bob'],
  ]);
  const piece = fc.constantFrom(
    'Bearer',
    'bearer',
    'Basic',
    ' ',
    '  ',
    'admin-token',
    'alice-token',
    'system:masters',
    'admin',
    ',',
    '\t',
    '\u00a0',
    '"',
  );
  const header = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 6 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(header, (text) => {
      let user: User | undefined;
      try {
        user = method.authenticate(withHeader(text)) as User;
      } catch (error) {
        expect((error as ApiError).code).toBe(401);
        return;
      }
      const token = tokenOf(text);
      expect(user.name).toBe(token === '' ? 'system:anonymous' : proved.get(token));
    }),
    { numRuns: rounds(1000) },
  );
});

test('without anonymous access a request without credentials is nobody', () => {
  expect(union([bearer(tokens, server)]).authenticate(nothing)).toBeUndefined();
});

test('the first method that proves a user wins, though an earlier one failed', async () => {
  const reports: Authenticator = {
    name: 'reports',
    authenticate: () => {
      throw new Error('no');
    },
  };
  const later: Authenticator = { name: 'later', authenticate: () => Promise.resolve({ name: 'late', groups: [] }) };
  const refuses: Authenticator = { name: 'refuses', authenticate: () => Promise.reject(new ApiError(401, 'Unauthorized', 'Unauthorized')) };
  expect(await who(nothing, union([reports, later], anonymous))).toBe('late');
  expect(await who(nothing, union([refuses, later], anonymous))).toBe('late');
  expect(await who(nothing, union([later, refuses], anonymous))).toBe('late');
  expect(await who(nothing, union([refuses], anonymous))).toBe(401);
});

test('an error in a token file names its line, not its content', () => {
  expect(() => staticTokens('a,b,c\nsecret,two\n')).toThrow('record 2 must have at least 3 fields');
  expect(() => staticTokens('"secret,two\n')).toThrow(/does not end/);
  expect(() => staticTokens('secret,,uid\n')).toThrow('record 1 has no user name');
});

test('fields may be quoted', () => {
  expect(parseCsv('a,"b,""c""",d\r\n\n"x\ny",,\nlast,1')).toEqual([
    ['a', 'b,"c"', 'd'],
    ['x\ny', '', ''],
    ['last', '1'],
  ]);
});

test('long headers are not remembered with their connection', () => {
  const seen: object[] = [];
  const by = bearer({ name: 'test', authenticateToken: (token) => void seen.push(token) }, []);
  const ask = (long: string, socketKey: object): void => {
    const headers = { authorization: 'Bearer one' };
    const request = { headers, rawHeaders: ['Authorization', headers.authorization, 'X', long], socketKey };
    for (let i = 0; i < 2; i++) expect(() => by.authenticate(request)).toThrow('Unauthorized');
  };
  ask('short', {});
  expect(seen[0]).toBe(seen[1]);
  ask('x'.repeat(60_000), {});
  expect(seen[2]).not.toBe(seen[3]);
});

test('names of service accounts are taken apart only where they are well formed', () => {
  expect(parseServiceAccount('system:serviceaccount:ns:robot.x')).toEqual({ namespace: 'ns', name: 'robot.x' });
  for (const name of [
    'robot',
    'system:serviceaccount:ns',
    'system:serviceaccount:Bad_Ns:robot',
    'system:serviceaccount:a:b:c',
    'system:serviceaccount::x',
  ]) {
    expect(parseServiceAccount(name)).toBeUndefined();
  }
});

// Client certificates, over real connections.
const now = Date.now();
const day = 24 * 3600 * 1000;
const root = readAuthority(newAuthority('clients', now));
const stranger = readAuthority(newAuthority('clients', now));
const middleKeys = newKeyPair();
const middlePem = issue(root, {
  subject: { commonName: 'middle', organizations: [] },
  publicKey: middleKeys.publicKey,
  usages: ['certSign'],
  extendedUsages: [],
  notBefore: now - day,
  notAfter: now + day,
  authority: true,
});
const middle = { certificate: new X509Certificate(middlePem), key: middleKeys.privateKey };
const serving = issueServing(root, { commonName: 'localhost', dns: ['localhost'], addresses: ['127.0.0.1'] }, now);
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Connects with this certificate and asks `by` who that is, as often as told, on one connection. */
async function connect(
  by: Authenticator,
  client: { certificate: string; key: string } | undefined,
  extra: { header?: string; times?: number; session?: Buffer } = {},
) {
  const answers: (string | number)[] = [];
  let reused = false;
  const listener = tls.createServer(
    { cert: serving.certificate, key: serving.key, ca: roots.map(String), requestCert: true, rejectUnauthorized: false },
    async (socket: TLSSocket) => {
      reused = socket.isSessionReused();
      const base = extra.header === undefined ? nothing : withHeader(extra.header);
      const shown = clientCertificateOf(socket, roots);
      for (let i = 0; i < (extra.times ?? 1); i++) answers.push(await who({ ...base, clientCertificate: shown, socketKey: socket }, by));
      socket.end('done');
    },
  );
  listener.setTicketKeys(ticketKeys);
  listener.listen(0, '127.0.0.1');
  closing.push(() => listener.close());
  await once(listener, 'listening');
  const socket = tls.connect({
    port: (listener.address() as AddressInfo).port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...(client && { cert: client.certificate, key: client.key }),
    ...(extra.session && { session: extra.session }),
  });
  let session: Buffer | undefined;
  socket.on('session', (value) => {
    session = value;
  });
  socket.resume();
  await once(socket, 'close');
  return { answer: answers.at(-1), session, reused };
}
const ticketKeys = Buffer.alloc(48, 7);
const roots = [root.certificate];
const certificates = (at = now) => clientCertificate({ authorities: () => roots, now: () => at });
const methodWith = (at = now) => union([certificates(at), bearer(tokens, server)], anonymous);

/** A certificate that OpenSSL accepted. */
const accepted = (pem: string, authorities: readonly X509Certificate[] = roots): ClientCertificate => ({
  certificate: new X509Certificate(pem),
  refusal: undefined,
  sent: [],
  authorities,
});

test('a client certificate names user and groups', () => {
  const shown = accepted(issueClient(root, 'jane', ['dev', 'qa'], now).certificate);
  expect(certificates().authenticate({ ...nothing, clientCertificate: shown })).toEqual({
    name: 'jane',
    groups: ['dev', 'qa', 'system:authenticated'],
  });
});

const certificateOf = (organizations: readonly string[], uids: readonly string[]): string =>
  issue(root, {
    subject: { commonName: 'jane', organizations, uids },
    publicKey: newKeyPair().publicKey,
    usages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
    notBefore: now,
    notAfter: now + 3_600_000,
  });

test('a client certificate is known by its digest, and names the uid of its user', () => {
  const users = { credentialKey: 'authentication.kubernetes.io/credential-id', uids: true };
  const method = clientCertificate({ authorities: () => roots, now: () => now }, users);
  const user = (uids: readonly string[]) => {
    const shown = accepted(certificateOf(['dev'], uids));
    const digest = shown.certificate.fingerprint256.replaceAll(':', '').toLowerCase();
    return { digest, by: () => method.authenticate({ ...nothing, clientCertificate: shown }) };
  };
  const plain = user([]);
  const extra = (digest: string) => ({ 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] });
  expect(plain.by()).toEqual({ name: 'jane', groups: ['dev', 'system:authenticated'], extra: extra(plain.digest) });
  expect(user(['u-1']).by()).toMatchObject({ name: 'jane', uid: 'u-1' });
  expect(user(['u-1', 'u-2']).by).toThrow('Unauthorized');
  expect(user(['']).by).toThrow('Unauthorized');
  const older = accepted(certificateOf([], ['u-1', 'u-2']));
  expect(certificates().authenticate({ ...nothing, clientCertificate: older })).toEqual({ name: 'jane', groups: ['system:authenticated'] });
});

test('certificates over a real connection', async () => {
  const direct = issueClient(root, 'jane', [], now);
  const throughMiddle = issueClient(middle, 'jane', [], now);
  const chained = { certificate: throughMiddle.certificate + middlePem, key: throughMiddle.key };
  expect((await connect(methodWith(), direct, { times: 3 })).answer).toBe('jane');
  expect((await connect(methodWith(), chained)).answer).toBe('jane');
  expect((await connect(methodWith(), undefined)).answer).toBe('system:anonymous');
  expect((await connect(methodWith(), direct, { header: 'Bearer nobody' })).answer).toBe('jane');

  expect((await connect(methodWith(), throughMiddle)).answer).toBe(401);
  expect((await connect(methodWith(), issueClient(stranger, 'jane', ['system:masters'], now), { times: 3 })).answer).toBe(401);
  expect((await connect(methodWith(), issueClient(stranger, 'jane', [], now), { header: 'Bearer bob-token' })).answer).toBe('bob');
  expect((await connect(methodWith(now + 400 * day), direct)).answer).toBe(401);
  expect((await connect(methodWith(), serving)).answer).toBe(401);
  expect((await connect(methodWith(), issueClient(root, '', ['system:masters'], now))).answer).toBe('system:anonymous');
});

test('a certificate of a resumed session is refused: it was verified with the CAs of an earlier time', async () => {
  const client = issueClient(root, 'jane', [], now);
  const first = await connect(methodWith(), client);
  const second = await connect(methodWith(), client, { session: first.session as Buffer });
  expect([first.answer, second.reused, second.answer]).toEqual(['jane', true, 401]);
});

test('a CA that goes takes its clients with it, on open connections too', async () => {
  let current: readonly X509Certificate[] = roots;
  let at = now;
  const reasons: string[] = [];
  const by = clientCertificate({ authorities: () => current, now: () => at, refused: (_, reason) => reasons.push(reason) });
  const request = { ...nothing, clientCertificate: accepted(issueClient(root, 'jane', [], now).certificate) };
  expect(await who(request, by)).toBe('jane');
  current = [stranger.certificate];
  expect(await who(request, by)).toBe(401);
  current = [root.certificate];
  expect(await who(request, by)).toBe('jane');
  at = now + 400 * day;
  expect(await who(request, by)).toBe(401);
  expect(await who(request, by)).toBe(401);
  expect(reasons).toEqual(['its CA is another one', 'it, or its CA, has expired or is not yet valid']);
});

test('a CA that was renewed with its key is another one: OpenSSL may not have verified it', async () => {
  const old = makeAuthority('ca');
  const renewed = makeAuthority('ca', { keys: old.keys, to: now + 100 * day });
  const [first, second] = [new X509Certificate(old.certificate), new X509Certificate(renewed.certificate)];
  const client = makeCertificate({ name: 'jane', issuer: old, extensions: [extendedUsage('clientAuth')] });
  const request = { ...nothing, clientCertificate: accepted(client.certificate, [first, second]) };
  const by = (...current: X509Certificate[]) => clientCertificate({ authorities: () => current, now: () => now });
  expect(await who(request, by(first, second))).toBe('jane');
  expect(await who(request, by(second))).toBe(401);
  expect(await who({ ...nothing, clientCertificate: accepted(client.certificate, [second]) }, by(second))).toBe('jane');
});

test('a CA that Node does not show may be of any root: it counts where all roots are of one bundle, and nothing is revoked', async () => {
  const leaf = issueClient(middle, 'jane', [], now).certificate;
  const revoked = readRevoked('4f:1a\n');
  const by = (current: readonly X509Certificate[], more: object = {}) =>
    clientCertificate({ authorities: () => current, now: () => now, ...more });
  const shown = (authorities: readonly X509Certificate[], sent: readonly X509Certificate[] = []) => ({
    ...nothing,
    clientCertificate: { ...accepted(leaf, authorities), sent },
  });
  const all = [root.certificate, stranger.certificate];
  expect(await who(shown(roots), by(roots))).toBe('jane');
  expect(await who(shown(all), by(roots))).toBe(401);
  expect(await who(shown(all, [middle.certificate]), by(roots))).toBe('jane');
  expect(await who(shown(roots), by(roots, { revoked: () => revoked }))).toBe(401);
  expect(await who(shown(roots, [middle.certificate]), by(roots, { revoked: () => revoked }))).toBe('jane');
  const serials = readRevoked(middle.certificate.serialNumber);
  expect(await who(shown(roots, [middle.certificate]), by(roots, { revoked: () => serials }))).toBe(401);
});

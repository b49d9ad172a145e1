/** Servers are trusted by a bundle: by OpenSSL, or as the namesake of a CA of it. */
import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { systemClock } from '@plat-dev/lib/clock';
import { issue, issueServing, newAuthority, newKeyPair, readAuthority } from '@plat-dev/pki';
import {
  constraints,
  extendedUsage,
  type Form,
  type Made,
  makeCertificate,
  names,
  onlyBelow,
  unknown,
  usage,
} from '@plat-dev/pki/made.testing';
import { knative, knativeAuthority, knativeServer, otherStrongKeys, pepr, strongKeys, weakKeys } from '@plat-dev/pki/namesakes.testing';
import { oldAuthority } from '@plat-dev/pki/old-form.testing';
import { afterEach, expect, test } from 'vitest';
import { HttpClient } from './client.ts';
import { callFault } from './errors.ts';
import { Answer } from './exchange.ts';
import { tlsSettings } from './tls.ts';

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0).reverse()) one.close();
});

const now = Date.now();
const day = 24 * 3600 * 1000;
const rootPair = newAuthority('root', now);
const root = readAuthority(rootPair);
const middleKeys = newKeyPair();
const middleCertificate = issue(root, {
  subject: { commonName: 'middle', organizations: [] },
  publicKey: middleKeys.publicKey,
  usages: ['certSign'],
  extendedUsages: [],
  notBefore: now - day,
  notAfter: now + day,
  authority: true,
});
const middle = readAuthority({
  certificate: middleCertificate,
  key: middleKeys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
});
const HOST = 'peer.example';
const NAMES = { commonName: 'peer', dns: [HOST], addresses: ['127.0.0.1'] };
const leaf = issueServing(middle, NAMES, now);
const sibling = issueServing(middle, NAMES, now);
const expired = issueServing(middle, NAMES, now - 800 * day, 400);
const old = oldAuthority('old', now);
const underOld = issueServing(readAuthority(old), NAMES, now);

interface Peer {
  readonly address: { readonly host: string; readonly port: number };
  /** What was sent to it. */
  readonly received: string[];
}

/** A server with a certificate, and those that it sends after it. */
async function serve(pair: { certificate: string; key: string }, sent = ''): Promise<Peer> {
  const received: string[] = [];
  // Weak certificates are for the client to refuse.
  const server = createServer({ cert: pair.certificate + sent, key: pair.key, ciphers: 'DEFAULT:@SECLEVEL=0' }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received.push(chunk.toString());
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok');
    });
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => server.close() });
  return { address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port }, received };
}

/** The answer of a server that is trusted, or why it is not. */
type Ask = (to: Peer, bundle: string, serverName?: string) => Promise<string>;

const clientWith = (ca: string, serverName: string, authoritiesOnly = false): HttpClient => {
  const tls = tlsSettings({ ca, serverName, authoritiesOnly });
  const client = new HttpClient({ clock: systemClock, tls, maxConnections: 1, maxCalls: 1, maxBytes: 1000 });
  open.push(client);
  return client;
};
const callWith =
  (authoritiesOnly: boolean): Ask =>
  ({ address }, ca, serverName = HOST) =>
    clientWith(ca, serverName, authoritiesOnly)
      .call(address, { method: 'POST', path: '/', headers: ['host', 'x'], body: 'secret' }, 10_000)
      .then(
        ({ body }) => body.toString(),
        (error: Error) => callFault(error, address),
      );
const requestThrough: Ask = async ({ address }, ca, serverName = HOST) => {
  const request = { method: 'GET', path: '/', headers: ['host', 'x', 'authorization', 'secret'] };
  const { head } = await clientWith(ca, serverName).open(address, request);
  try {
    const answer = await head;
    return answer instanceof Answer ? (await answer.setEncoding('utf8').toArray()).join('') : 'switched';
  } catch (error) {
    return callFault(error as Error, address);
  }
};

const UNKNOWN = 'x509: certificate signed by unknown authority';
const EXPIRED = 'x509: certificate has expired or is not yet valid';

const ways: readonly [string, Ask][] = [
  ['calls', callWith(false)],
  ['requests', requestThrough],
];

test.each(ways)('%s: a root, an intermediate and the certificate itself are trusted', async (_, ask) => {
  for (const bundle of [rootPair.certificate, middleCertificate, leaf.certificate, `${old.certificate}${leaf.certificate}`]) {
    const peer = await serve(leaf, middleCertificate);
    expect(await ask(peer, bundle)).toBe('ok');
    expect(peer.received.join('')).toContain('secret');
  }
  expect(await ask(await serve(leaf), middleCertificate)).toBe('ok');
  expect(await ask(await serve(underOld), old.certificate)).toBe('ok');
});

test.each(ways)('%s: other servers are not trusted, and nothing is sent to them', async (_, ask) => {
  for (const [pair, sent, bundle, name, fault] of [
    [leaf, middleCertificate, old.certificate, HOST, UNKNOWN],
    // Another certificate of the same CA.
    [leaf, middleCertificate, sibling.certificate, HOST, UNKNOWN],
    [leaf, '', rootPair.certificate, HOST, UNKNOWN],
    [leaf, middleCertificate, 'no certificate', HOST, UNKNOWN],
    [leaf, middleCertificate, middleCertificate, 'other.example', /^x509: certificate is valid for .*, not other\.example$/],
    [leaf, middleCertificate, leaf.certificate, 'other.example', /^x509: certificate is valid for .*, not other\.example$/],
    [expired, middleCertificate, middleCertificate, HOST, EXPIRED],
  ] as const) {
    const peer = await serve(pair, sent);
    expect(await ask(peer, bundle, name)).toEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault));
    expect(peer.received).toEqual([]);
  }
});

test('where authorities alone are trusted, other certificates are not; one of version 1 is an authority', async () => {
  const ask = callWith(true);
  for (const bundle of [rootPair.certificate, middleCertificate])
    expect(await ask(await serve(leaf, middleCertificate), bundle)).toBe('ok');
  expect(await ask(await serve(leaf, middleCertificate), leaf.certificate)).toBe(UNKNOWN);
  expect(await ask(await serve(underOld), old.certificate)).toBe('ok');
});

// ---- certificates with the name of their CA ----------------------------------------------------------------------

const knatives = knative(HOST);
const peprs = pepr(HOST);

test.each(ways)('%s: certificates with the name of their CA are trusted, as Knative and Pepr make them', async (_, ask) => {
  for (const { authority, server } of [knatives, peprs]) {
    expect(await ask(await serve(server), authority.certificate)).toBe('ok');
    expect(await ask(await serve(server, authority.certificate), authority.certificate)).toBe('ok');
    // Beside others, as while a CA is replaced.
    expect(await ask(await serve(server), `${rootPair.certificate}${authority.certificate}`)).toBe('ok');
  }
  expect(await ask(await serve(certificateOf({ keys: newKeyPair(), issuer: curved })), curved.certificate)).toBe('ok');
});

const caWith = (changes: Partial<Form>): Made => knativeAuthority(HOST, changes);
const caExtensions = [usage('digitalSignature', 'certSign'), constraints(true)];
const certificateOf = (changes: Partial<Form>): Made => knativeServer(knatives.authority, HOST, changes);
/** Same name, another key. */
const impostor = caWith({ keys: otherStrongKeys });
const middleNamesake = caWith({ issuer: knatives.authority, keys: otherStrongKeys, hasKeyIds: false });

const smallCurve = generateKeyPairSync('ec', { namedCurve: 'secp224r1' });
const curved = caWith({ keys: newKeyPair() });

/** Each differs from what is trusted by one fault. */
const forgeries: Record<string, readonly [server: Made, bundle: string, serverName?: string]> = {
  'signed by another key': [certificateOf({ issuer: impostor, keys: strongKeys }), knatives.authority.certificate],
  'signed by itself': [certificateOf({ issuer: impostor }), knatives.authority.certificate],
  'without names, signed by another key': [peprsSignedBy(otherStrongKeys), peprs.authority.certificate],
  'signed with SHA-1': [certificateOf({ digest: 'sha1' }), knatives.authority.certificate],
  'a key of 1024 bits': [certificateOf({ keys: weakKeys }), knatives.authority.certificate],
  'a CA with a key of 1024 bits': signedBy(caWith({ keys: weakKeys })),
  'a curve of 224 bits': [certificateOf({ keys: smallCurve, issuer: curved }), curved.certificate],
  'a CA with a curve of 224 bits': signedBy(caWith({ keys: smallCurve }), newKeyPair()),
  expired: [certificateOf({ to: now - day }), knatives.authority.certificate],
  'not yet valid': [certificateOf({ from: now + day }), knatives.authority.certificate],
  'an expired CA': signedBy(caWith({ to: now - day })),
  'a CA that is not yet valid': signedBy(caWith({ from: now + day })),
  'a CA without the flag': signedBy(caWith({ extensions: [usage('digitalSignature', 'certSign'), constraints(false)] })),
  'a CA without extensions': signedBy(caWith({ version: 1, extensions: [] })),
  'a CA that may not sign': signedBy(caWith({ extensions: [usage('digitalSignature'), constraints(true)] })),
  'a CA for clients alone': signedBy(caWith({ extensions: [...caExtensions, extendedUsage('clientAuth')] })),
  'a CA for other names': signedBy(caWith({ extensions: [...caExtensions, onlyBelow('other.example')] })),
  'a CA with an unknown rule': signedBy(caWith({ extensions: [...caExtensions, unknown(true)] })),
  'a certificate for clients alone': [
    certificateOf({ extensions: [usage('digitalSignature'), extendedUsage('clientAuth'), names([HOST])] }),
    knatives.authority.certificate,
  ],
  'a certificate with an unknown rule': [certificateOf({ extensions: [names([HOST]), unknown(true)] }), knatives.authority.certificate],
  'a CA of another name with the same key': [knatives.server, caWith({ name: 'other' }).certificate],
  'another host': [knatives.server, knatives.authority.certificate, 'other.example'],
  'two signatures below the CA': [certificateOf({ issuer: middleNamesake, keys: strongKeys }), knatives.authority.certificate],
  'signed by a certificate of the bundle': [certificateOf({ issuer: knatives.server, keys: strongKeys }), knatives.server.certificate],
};

function signedBy(authority: Made, keys = otherStrongKeys): readonly [Made, string] {
  return [certificateOf({ issuer: authority, keys }), authority.certificate];
}
function peprsSignedBy(keys: Made['keys']): Made {
  return makeCertificate({
    name: '',
    issuer: { ...peprs.authority, keys },
    keys: strongKeys,
    extensions: [names([HOST])],
    hasKeyIds: false,
  });
}

for (const [forgery, [server, bundle, serverName]] of Object.entries(forgeries))
  test.each(ways)(`%s: ${forgery} is refused, and nothing is sent`, async (_, ask) => {
    const peer = await serve(server, forgery === 'two signatures below the CA' ? middleNamesake.certificate : '');
    expect(await ask(peer, bundle, serverName)).not.toBe('ok');
    expect(peer.received).toEqual([]);
  });

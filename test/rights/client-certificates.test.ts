/**
 * Who gets in with a client certificate is who OpenSSL lets in. Every chain of the table is made with the program `openssl`, sent
 * over HTTPS to a server whose CA file is its bundle, as a client and as a front proxy, and judged by `openssl verify` with the same
 * purpose and CA file.
 *
 * TLS verifies chains at the security level of the connection, `openssl verify` at level 0 unless it is named. Node's level is the
 * default of the OpenSSL that it was built with, 1 or 2, and is found out here: at level 2 a key of RSA with 1024 bits is too short.
 */

import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RELOAD_PERIOD_MS } from '../../packages/lib/src/files/reload.ts';
import { replaceFile } from '../../packages/lib/src/files/replace-file.ts';
import { type Log, silentLog } from '../../packages/lib/src/log.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { MAX_SENT } from '../../packages/server/src/connections/client-certificates.ts';
import { Lines } from '../support/log-lines.ts';
import {
  type CertificateForm,
  type KeyKind,
  makeCertificate,
  type OpensslCertificate,
  opensslMissing,
  opensslVerdict,
  withChangedSignature,
} from '../support/openssl.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { shortWaits } from '../support/short-waits.ts';

interface Chain {
  readonly client: OpensslCertificate;
  /** What the client sends with its own certificate. */
  readonly sent?: readonly OpensslCertificate[];
  readonly bundle: readonly OpensslCertificate[];
}
/** `level`: it depends on the security level. */
type Expected = 'in' | 'out' | 'level';
type Form = Partial<CertificateForm>;

const MASTERS = '/O=system:masters/CN=mallory';
const IDS = ['subjectKeyIdentifier=hash', 'authorityKeyIdentifier=keyid'];
const CA = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign', ...IDS];
const CLIENT = ['basicConstraints=critical,CA:FALSE', 'keyUsage=critical,digitalSignature', 'extendedKeyUsage=clientAuth', ...IDS];

const root = (form: Form = {}): OpensslCertificate => makeCertificate({ subject: '/CN=root', extensions: CA, ...form });
const middle = (issuer: OpensslCertificate, form: Form = {}): OpensslCertificate =>
  makeCertificate({ subject: '/CN=middle', issuer, extensions: CA, ...form });
const client = (issuer: OpensslCertificate | undefined, form: Form = {}): OpensslCertificate =>
  makeCertificate({ subject: MASTERS, issuer, extensions: CLIENT, ...form });

/** A root and a client. */
function direct(rootForm: Form = {}, clientForm: Form = {}): Chain {
  const ca = root(rootForm);
  return { client: client(ca, clientForm), bundle: [ca] };
}
/** A root, a CA below it that the client sends, and a client. */
function through(rootForm: Form = {}, middleForm: Form = {}, clientForm: Form = {}): Chain {
  const ca = root(rootForm);
  const between = middle(ca, middleForm);
  return { client: client(between, clientForm), sent: [between], bundle: [ca] };
}
const constrained = (constraints: string, clientForm: Form = {}): Chain =>
  through({}, { extensions: [...CA, `nameConstraints=${constraints}`, '[team]', 'O=team-a', '[masters]', 'O=system:masters'] }, clientForm);
const withDns = (name: string): Form => ({ subject: '/CN=mallory', extensions: [...CLIENT, `subjectAltName=DNS:${name}`] });
const usage = (...usages: readonly string[]): Form => ({ extensions: [...usages, ...IDS] });
const withKeys = (rootKey: KeyKind, clientKey: KeyKind, digest: readonly string[] = []): Chain =>
  direct({ key: rootKey, digest }, { key: clientKey, digest });
/** Without key identifiers. */
const NO_IDS: Form = { extensions: ['basicConstraints=critical,CA:TRUE', 'subjectKeyIdentifier=none', 'authorityKeyIdentifier=none'] };
const FOR_CLIENTS: Form = { extensions: ['extendedKeyUsage=clientAuth'] };
const RULE = '1.3.6.1.4.1.99999.1=critical,ASN1:UTF8String:x';

const table: Record<string, readonly [Expected, () => Chain]> = {
  // Keys and signatures.
  'P-256': ['in', () => direct()],
  'P-384 with SHA-384': ['in', () => withKeys('p384', 'p384', ['-sha384'])],
  'P-521 with SHA-512': ['in', () => withKeys('p521', 'p521', ['-sha512'])],
  Ed25519: ['in', () => withKeys('ed25519', 'ed25519')],
  'RSA with 2048 bits': ['in', () => withKeys('rsa2048', 'rsa2048')],
  'RSA-PSS': ['in', () => withKeys('rsa2048', 'rsa2048', ['-sigopt', 'rsa_padding_mode:pss', '-sha256'])],
  'a client signed with MD5': ['out', () => direct({ key: 'rsa2048' }, { digest: ['-md5'] })],
  'a client signed with SHA-1': ['out', () => direct({ key: 'rsa2048' }, { digest: ['-sha1'] })],
  'a client signed with SHA-1 and ECDSA': ['out', () => direct({}, { digest: ['-sha1'] })],
  'a CA signed with MD5': ['out', () => through({ key: 'rsa2048' }, { digest: ['-md5'] })],
  'a CA signed with SHA-1': ['out', () => through({ key: 'rsa2048' }, { digest: ['-sha1'] })],
  'a root signed with MD5, which proves nothing': ['in', () => direct({ key: 'rsa2048', digest: ['-md5'] })],
  'a root signed with SHA-1, which proves nothing': ['in', () => direct({ digest: ['-sha1'] })],
  'a client with RSA of 512 bits': ['out', () => direct({}, { key: 'rsa512' })],
  'a client with RSA of 1024 bits': ['level', () => direct({}, { key: 'rsa1024' })],
  'a CA with RSA of 512 bits': ['out', () => through({}, { key: 'rsa512' })],
  'a CA with RSA of 1024 bits': ['level', () => through({}, { key: 'rsa1024' })],
  'a root with RSA of 1024 bits': ['level', () => direct({ key: 'rsa1024' })],
  'a root with RSA of 512 bits': ['out', () => direct({ key: 'rsa512' })],
  'a CA with a curve of 224 bits': ['in', () => through({}, { key: 'p224' })],
  'a CA with a curve of 192 bits': ['level', () => through({}, { key: 'p192' })],
  'a root with a curve of 192 bits': ['level', () => direct({ key: 'p192' })],

  // Names that a CA may sign for.
  'within the organization': ['in', () => constrained('critical,permitted;dirName:team', { subject: '/O=team-a/CN=mallory' })],
  'outside of the organization': ['out', () => constrained('critical,permitted;dirName:team')],
  'outside of the organization, not critical': ['out', () => constrained('permitted;dirName:team')],
  'an excluded organization': ['out', () => constrained('critical,excluded;dirName:masters')],
  'another than the excluded organization': ['in', () => constrained('excluded;dirName:masters', { subject: '/O=team-a/CN=mallory' })],
  'within the domain': ['in', () => constrained('critical,permitted;DNS:example.com', withDns('a.example.com'))],
  'outside of the domain': ['out', () => constrained('critical,permitted;DNS:example.com', withDns('a.example.org'))],
  'outside of the domain, not critical': ['out', () => constrained('permitted;DNS:example.com', withDns('a.example.org'))],
  'an excluded domain': ['out', () => constrained('excluded;DNS:example.org', withDns('a.example.org'))],
  'a domain, and no domain name': ['in', () => constrained('critical,permitted;DNS:example.com', { subject: '/CN=mallory' })],
  'a root for another organization': [
    'out',
    () => direct({ extensions: [...CA, 'nameConstraints=permitted;dirName:team', '[team]', 'O=team-a'] }),
  ],

  // How long a chain may be.
  'a root for clients alone': ['in', () => direct({ extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0', ...IDS] })],
  'a CA below a root for clients alone': ['out', () => through({ extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0', ...IDS] })],
  'a CA below a root that allows one': ['in', () => through({ extensions: ['basicConstraints=critical,CA:TRUE,pathlen:1', ...IDS] })],
  'a CA below a CA for clients alone': ['out', () => twoBetween({ extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0', ...IDS] })],

  // What keys are for.
  'for nothing in particular': ['in', () => direct({}, usage())],
  'for servers': ['out', () => direct({}, usage('extendedKeyUsage=serverAuth'))],
  'for clients and servers': ['in', () => direct({}, usage('extendedKeyUsage=clientAuth,serverAuth'))],
  'for anything': ['out', () => direct({}, usage('extendedKeyUsage=anyExtendedKeyUsage'))],
  'for code': ['out', () => direct({}, usage('extendedKeyUsage=codeSigning'))],
  'for code, critical': ['out', () => direct({}, usage('extendedKeyUsage=critical,codeSigning'))],
  'a CA for servers': ['out', () => through({}, { extensions: [...CA, 'extendedKeyUsage=serverAuth'] })],
  'a CA for clients': ['in', () => through({}, { extensions: [...CA, 'extendedKeyUsage=clientAuth'] })],
  'a root for servers': ['out', () => direct({ extensions: [...CA, 'extendedKeyUsage=serverAuth'] })],
  'a key for encryption': ['out', () => direct({}, usage('keyUsage=critical,keyEncipherment', 'extendedKeyUsage=clientAuth'))],
  'a CA that may not sign': [
    'out',
    () => through({}, { extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=digitalSignature', ...IDS] }),
  ],
  'a root that may not sign': [
    'out',
    () => direct({ extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=digitalSignature', ...IDS] }),
  ],

  // When.
  'not yet valid': ['out', () => direct({}, { from: 2 })],
  expired: ['out', () => direct({}, { from: -10, to: -2 })],
  'an expired CA': ['out', () => through({}, { from: -10, to: -2 })],
  'a CA that is not yet valid': ['out', () => through({}, { from: 2 })],
  'an expired root': ['out', () => direct({ from: -10, to: -2 })],
  'a root that is not yet valid': ['out', () => direct({ from: 2 })],

  // What is a CA.
  'a CA without the flag': ['out', () => through({}, { extensions: ['basicConstraints=CA:FALSE', ...IDS] })],
  'a client as CA': ['out', () => through({}, { extensions: CLIENT })],
  'a CA without constraints': ['out', () => through({}, { extensions: IDS })],
  'a root without the flag': ['out', () => direct({ extensions: ['basicConstraints=CA:FALSE', ...IDS] })],
  'a root of version 1': ['in', () => direct({ extensions: [] }, FOR_CLIENTS)],
  'a CA of version 1': ['out', () => through({}, { extensions: [] }, FOR_CLIENTS)],
  'a client of version 1': ['in', () => direct({}, { extensions: [] })],

  // Which chains there are.
  'a CA that is sent': ['in', () => through()],
  'a CA that is not sent': ['out', () => ({ ...through(), sent: [] })],
  'a CA in the bundle, with its root': [
    'in',
    () => withBundle((chain) => ({ bundle: [...chain.bundle, ...(chain.sent ?? [])], sent: [] })),
  ],
  'a CA in the bundle, without its root': ['out', () => withBundle(({ sent = [] }) => ({ bundle: sent, sent: [] }))],
  'two CAs that are sent': ['in', () => twoBetween()],
  'two CAs that are sent in another order': ['in', () => withBundle(({ sent = [] }) => ({ sent: [...sent].reverse() }), twoBetween())],
  'one of two CAs': ['out', () => withBundle(({ sent = [] }) => ({ sent: sent.slice(0, 1) }), twoBetween())],
  'a root that is sent, and not in the bundle': ['out', () => withBundle(({ bundle }) => ({ sent: bundle, bundle: [root()] }))],
  'certificates that have nothing to do with it': [
    'in',
    () => withBundle(({ sent = [] }) => ({ sent: [root({ subject: '/CN=x' }), ...sent] })),
  ],
  'a CA that two roots signed, by the one in the bundle': ['in', () => crossSigned((_, recent) => [recent])],
  'a CA that two roots signed, by both, the one in the bundle first': ['in', () => crossSigned((old, recent) => [recent, old])],
  'a CA that two roots signed, by both, the other one first: OpenSSL tries one': ['out', () => crossSigned((old, recent) => [old, recent])],
  'a CA that two roots signed, by the other one': ['out', () => crossSigned((old) => [old])],
  'the client in the bundle': ['out', () => withBundle((chain) => ({ bundle: [chain.client] }), direct())],
  'the client in the bundle, with its root': ['in', () => withBundle((chain) => ({ bundle: [chain.client, ...chain.bundle] }), direct())],
  'a client that signed itself, in the bundle': ['in', () => signedItself(true)],
  'a client that signed itself': ['out', () => signedItself(false)],
  'another root of the same name': ['out', () => ({ ...direct(), bundle: [root()] })],
  'another root of the same name, without key identifiers': ['out', () => namesakes()],
  'a changed signature': ['out', () => withBundle((chain) => ({ client: withChangedSignature(chain.client) }), direct())],
  'a CA with a changed signature': ['out', () => withBundle(({ sent = [] }) => ({ sent: sent.map(withChangedSignature) }))],
  'a rule that nobody knows': ['out', () => direct({}, { extensions: [...CLIENT, RULE] })],
  'a CA with a rule that nobody knows': ['out', () => through({}, { extensions: [...CA, RULE] })],
  'a root with a rule that nobody knows': ['out', () => direct({ extensions: [...CA, RULE] })],
};

function twoBetween(upperForm: Form = {}): Chain {
  const ca = root();
  const upper = middle(ca, { subject: '/CN=upper', ...upperForm });
  const lower = middle(upper, { subject: '/CN=lower' });
  return { client: client(lower), sent: [lower, upper], bundle: [ca] };
}
function withBundle(change: (chain: Chain) => Partial<Chain>, chain: Chain = through()): Chain {
  return { ...chain, ...change(chain) };
}
/** A CA with one key and two certificates; the root of the second is in the bundle. */
function crossSigned(sent: (old: OpensslCertificate, recent: OpensslCertificate) => readonly OpensslCertificate[]): Chain {
  const recentRoot = root({ subject: '/CN=recent root' });
  const old = middle(root({ subject: '/CN=old root' }));
  const recent = middle(recentRoot, { key: old });
  return { client: client(old), sent: sent(old, recent), bundle: [recentRoot] };
}
function signedItself(isTrusted: boolean): Chain {
  const own = client(undefined);
  return { client: own, bundle: [isTrusted ? own : root()] };
}
function namesakes(): Chain {
  return { client: client(root(NO_IDS), FOR_CLIENTS), bundle: [root(NO_IDS)] };
}

// ---- the servers ------------------------------------------------------------------------------------------------

const directory = temporaryDirectory('plat-chains');
const clientCaFile = join(directory, 'clients.pem');
const requestheaderClientCaFile = join(directory, 'proxies.pem');

const proxyFlags = { requestheaderUsernameHeaders: ['X-Remote-User'], requestheaderGroupHeaders: ['X-Remote-Group'] };

/** A server that reads its CAs again when a test replaces them. */
interface Judge {
  readonly server: TestServer;
  use(bundle: string): Promise<void>;
}
let clients: Judge;
let proxies: Judge;
async function judge(bundleFile: string, options: TestServerOptions): Promise<Judge> {
  const lines = new Lines();
  const clock = shortWaits({ every: [RELOAD_PERIOD_MS] });
  const server = await startTestServer({
    store: 'memory',
    identity: 'kubernetes',
    controllers: [],
    clock,
    log: lines.log,
    ...options,
  });
  return {
    server,
    use: async (bundle) => {
      const reloaded = lines.next('reloaded files');
      replaceFile(bundleFile, bundle);
      await reloaded;
    },
  };
}
beforeAll(async () => {
  if (opensslMissing !== undefined) return;
  for (const file of [clientCaFile, requestheaderClientCaFile]) writeFileSync(file, root({ subject: '/CN=nobody' }).certificate);
  clients = await judge(clientCaFile, { clientCaFile });
  proxies = await judge(requestheaderClientCaFile, { requestheaderClientCaFile, ...proxyFlags });
});
afterAll(async () => {
  await clients?.server.close();
  await proxies?.server.close();
});

const pemOf = (list: readonly OpensslCertificate[]): string => list.map(({ certificate }) => certificate).join('');
const isTiny = (pem: string): boolean => new X509Certificate(pem).publicKey.asymmetricKeyDetails?.modulusLength === 512;

/** Who the server takes a caller for: a name, 200 for a member of system:masters, 401, or why there is no connection. */
function whoIs(
  { address }: TestServer,
  { client: { certificate, key }, sent = [] }: Chain,
  headers: Record<string, string> = {},
): Promise<string> {
  const cert = [certificate, ...sent.map((one) => one.certificate)].join('');
  // The client has no objection to its own certificate. Signatures of TLS 1.3 are longer than keys of 512 bits.
  const own = { cert, key, ciphers: 'DEFAULT:@SECLEVEL=0', ...(isTiny(cert) && { maxVersion: 'TLSv1.2' as const }) };
  const options = { ...own, rejectUnauthorized: false, agent: false as const, headers };
  return new Promise((resolve) => {
    const request = https.get(`${address}/api/v1/namespaces/kube-system/secrets`, options, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve(/User \\?"([^"\\]*)\\?"/.exec(text)?.[1] ?? String(response.statusCode)));
    });
    request.on('error', (error: NodeJS.ErrnoException) => resolve(`no connection: ${error.code ?? error.message}`));
  });
}
const AS_JANE = { 'x-remote-user': 'jane', 'x-remote-group': 'system:masters' };
/** The level of Node's own TLS. */
function securityLevel(): 1 | 2 {
  const { certificate, key } = root({ key: 'rsa1024' });
  try {
    createSecureContext({ cert: certificate, key });
    return 1;
  } catch {
    return 2;
  }
}

describe.skipIf(opensslMissing !== undefined)(
  `client certificates${opensslMissing === undefined ? '' : ` (skipped: ${opensslMissing})`}`,
  () => {
    const level = opensslMissing === undefined ? securityLevel() : 1;
    /** Some releases of Node 24 forget what a client sends with its certificate. */
    let hidesSent = false;
    beforeAll(async () => {
      const { client: own, sent, bundle } = through();
      await proxies.use(pemOf(bundle));
      hidesSent = (await whoIs(proxies.server, { client: own, sent, bundle }, AS_JANE)) === '401';
      expect(hidesSent && !process.version.startsWith('v24.')).toBe(false);
    });

    test('the table has at least 40 chains, of which some are accepted', () => {
      const expected = Object.values(table).map(([first]) => first);
      expect(expected.length).toBeGreaterThanOrEqual(40);
      expect(expected.filter((one) => one === 'in').length).toBeGreaterThanOrEqual(20);
    });

    test.each(Object.entries(table))('%s', async (_, [expected, make]) => {
      const chain = make();
      const { client: own, sent = [] } = chain;
      const bundle = pemOf(chain.bundle);
      const { accepts, text } = opensslVerdict(own, sent, bundle, level);
      expect(expected === 'level' ? (level === 1 ? 'in' : 'out') : expected, text).toBe(accepts ? 'in' : 'out');

      await clients.use(bundle);
      const name = accepts ? (own.subject === MASTERS ? '200' : 'mallory') : '401';
      expect(await whoIs(clients.server, chain)).toBe(name);
      expect(await whoIs(clients.server, chain, AS_JANE)).toBe(name);

      await proxies.use(bundle);
      const isSeen = !hidesSent || opensslVerdict(own, [], bundle, level).accepts;
      expect(await whoIs(proxies.server, chain, AS_JANE)).toBe(accepts && isSeen ? '200' : '401');
      // A proxy is no client.
      expect(await whoIs(proxies.server, chain)).toBe('401');
    });

    /** A server for clients of some CAs and proxies of others. */
    async function both(
      forClients: readonly OpensslCertificate[],
      forProxies: readonly OpensslCertificate[],
      options: TestServerOptions = {},
    ) {
      writeFileSync(clientCaFile, pemOf(forClients));
      writeFileSync(requestheaderClientCaFile, pemOf(forProxies));
      const files = { clientCaFile, requestheaderClientCaFile };
      return startTestServer({ store: 'memory', identity: 'kubernetes', controllers: [], ...files, ...proxyFlags, ...options });
    }

    test('a client is no proxy, though the CAs of both have one name and no key identifiers', async () => {
      const [forClients, forProxies] = [root(NO_IDS), root(NO_IDS)];
      for (const order of [[forClients], [forProxies, forClients]]) {
        const server = await both(order.slice(-1), [forProxies]);
        const chain = { client: client(forClients, { ...FOR_CLIENTS, subject: '/CN=mallory' }), bundle: [] };
        for (const sent of [[], [forProxies], [forClients, forProxies]])
          expect(['mallory', '401']).toContain(await whoIs(server, { ...chain, sent }, AS_JANE));
        await server.close();
      }
    });

    test('a CA that was signed for clients and for proxies is neither: OpenSSL verified one chain, and does not say which', async () => {
      const [forClients, forProxies] = [root({ subject: '/CN=clients' }), root({ subject: '/CN=proxies' })];
      const shared = middle(forClients);
      const again = middle(forProxies, { key: shared });
      const server = await both([forClients], [forProxies]);
      const own = client(shared, { subject: '/CN=mallory' });
      for (const sent of [
        [shared, again],
        [again, shared],
        [shared, again, forClients, forProxies],
      ]) {
        expect(await whoIs(server, { client: own, sent, bundle: [] }, AS_JANE)).toBe('401');
        expect(await whoIs(server, { client: own, sent, bundle: [] })).toBe('401');
      }
      // Sent alone, the chain is certain.
      if (!hidesSent) {
        expect(await whoIs(server, { client: own, sent: [shared], bundle: [] }, AS_JANE)).toBe('mallory');
        expect(await whoIs(server, { client: own, sent: [again], bundle: [] }, AS_JANE)).toBe('200');
      }
      await server.close();
    });

    test('a CA of both bundles is both', async () => {
      const ca = root();
      const server = await both([ca], [ca]);
      const chain = { client: client(ca, { subject: '/CN=mallory' }), bundle: [] };
      expect([await whoIs(server, chain), await whoIs(server, chain, AS_JANE)]).toEqual(['mallory', '200']);
      await server.close();
    });

    test.each(['VersionTLS10', 'VersionTLS11'] as const)('%s accepts no weak certificates', async (tlsMinVersion) => {
      const ca = root({ key: 'rsa2048' });
      const weakCA = middle(ca, { digest: ['-md5'] });
      const server = await both([ca], [root()], { tlsMinVersion });
      const by = (own: OpensslCertificate, sent: readonly OpensslCertificate[] = []) => whoIs(server, { client: own, sent, bundle: [] });
      expect(await by(client(ca))).toBe('200');
      for (const digest of ['-md5', '-sha1']) expect(await by(client(ca, { digest: [digest] }))).toBe('401');
      expect(await by(client(ca, { key: 'rsa512' }))).toBe('401');
      expect(await by(client(weakCA), [weakCA])).toBe('401');
      await server.close();
    });

    test('a client may send as many certificates as the bound, and not one more', async () => {
      const ca = root();
      const server = await both([ca], [root()]);
      const chain = { client: client(ca), bundle: [] };
      const other = root({ subject: '/CN=other' });
      expect(await whoIs(server, { ...chain, sent: Array(MAX_SENT).fill(other) })).toBe('200');
      expect(await whoIs(server, { ...chain, sent: Array(MAX_SENT + 1).fill(other) })).toBe(hidesSent ? '200' : '401');
      await server.close();
    });

    test('the log has the reason of a refusal, once for a connection', async () => {
      const refusals: unknown[] = [];
      const info = (message: string, fields?: object): void => void (message === 'client certificate refused' && refusals.push(fields));
      const log: Log = { ...silentLog, info, child: () => log };
      const ca = root();
      const server = await both([ca], [root({ subject: '/CN=proxies' })], { log });
      const expired = client(ca, { from: -10, to: -2 });
      const holder = server.client({ certificate: { cert: expired.certificate, key: expired.key } });
      for (let i = 0; i < 3; i++) expect((await holder.get('/api')).status).toBe(401);
      const { serialNumber } = new X509Certificate(expired.certificate);
      const subject = 'O=system:masters\nCN=mallory';
      expect(refusals).toEqual([{ reason: 'CERT_HAS_EXPIRED', subject, serialNumber, flag: 'client-ca-file' }]);
      await server.close();
    });
  },
);

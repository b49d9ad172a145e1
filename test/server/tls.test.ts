import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { parseServerFlags } from '../../packages/compose/src/config/server-options.ts';
import { RELOAD_PERIOD_MS } from '../../packages/lib/src/files/reload.ts';
import { replaceFile } from '../../packages/lib/src/files/replace-file.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import {
  issueClient,
  issueServing,
  newAuthority,
  newKeyPair,
  privateKeyPem,
  publicKeyPem,
  readAuthority,
} from '../../packages/pki/src/index.ts';
import { oldAuthority } from '../../packages/pki/src/old-form.testing.ts';
import { Lines } from '../support/log-lines.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { shortWaits } from '../support/short-waits.ts';

const now = Date.now();
const authorityPem = newAuthority('test-ca', now);
const authority = readAuthority(authorityPem);
const other = newAuthority('other-ca', now);
const directory = temporaryDirectory('plat-tls');
let serial = 0;
const file = (content: string): string => {
  const path = join(directory, `file-${serial++}`);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
};
const servingFor = (...dns: string[]) => issueServing(authority, { commonName: dns[0] as string, dns, addresses: ['127.0.0.1'] }, now);

const open: TestServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const start = async (options: TestServerOptions): Promise<TestServer> => {
  const server = await startTestServer({ clock: shortWaits({ every: [RELOAD_PERIOD_MS] }), ...options });
  open.push(server);
  return server;
};

/** The connection as a client sees it, or the code of its failure. */
function dial(
  server: TestServer,
  options: ConnectionOptions = {},
): Promise<{ names: string; protocol: string | null; cipher: string } | string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ...options }, () => {
      const found = {
        names: socket.getPeerCertificate().subjectaltname ?? '',
        protocol: socket.getProtocol(),
        cipher: socket.getCipher().standardName,
      };
      socket.destroy();
      resolve(found);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

test('the oldest version of TLS is 1.2 unless another is named', async () => {
  const old: ConnectionOptions = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' };
  const usual = await start({});
  expect(await dial(usual, old)).toMatch(/ALERT|WRONG_VERSION|ECONNRESET/);
  expect(await dial(usual, { maxVersion: 'TLSv1.2' })).toMatchObject({ protocol: 'TLSv1.2' });
  expect(await dial(usual)).toMatchObject({ protocol: 'TLSv1.3' });
  const newest = await start({ tlsMinVersion: 'VersionTLS13' });
  expect(await dial(newest, { maxVersion: 'TLSv1.2' })).toMatch(/ALERT|WRONG_VERSION|ECONNRESET/);
  expect(await dial(newest)).toMatchObject({ protocol: 'TLSv1.3' });
  const oldest = await start({ tlsMinVersion: 'VersionTLS11' });
  expect(await dial(oldest, old)).toMatchObject({ protocol: 'TLSv1.1' });
});

test('only the named cipher suites are offered, and openssl agrees', async () => {
  const server = await start({ tlsCipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'] });
  expect(await dial(server, { maxVersion: 'TLSv1.2' })).toMatchObject({ cipher: 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384' });
  expect(await dial(server, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' })).toMatch(/ALERT|HANDSHAKE/);
  expect(await dial(server)).toMatchObject({ protocol: 'TLSv1.3' });
  const foreign = (suite: string): Promise<string> =>
    new Promise((resolve) => {
      const args = ['s_client', '-connect', `127.0.0.1:${server.port}`, '-tls1_2', '-cipher', suite];
      const child = execFile('openssl', args, { timeout: 10_000 }, (error, stdout) => {
        if ((error as NodeJS.ErrnoException | null)?.code === 'ENOENT') resolve('');
        else resolve(error === null ? stdout : 'refused');
      });
      child.stdin?.end();
    });
  const good = await foreign('ECDHE-ECDSA-AES256-GCM-SHA384');
  if (good === '') return;
  expect(good).toContain('Cipher is ECDHE-ECDSA-AES256-GCM-SHA384');
  expect(await foreign('ECDHE-ECDSA-CHACHA20-POLY1305')).toBe('refused');
});

test('flags that say nothing sensible are refused', () => {
  expect(() => parseServerFlags(['--tls-cipher-suites', 'TLS_AES_128_GCM_SHA25'])).toThrow(/unknown cipher suite .*TLS_AES_128_GCM_SHA256/);
  expect(() => parseServerFlags(['--tls-min-version', 'TLS12'])).toThrow(/--tls-min-version/);
  expect(() => parseServerFlags(['--tls-sni-cert-key', 'only-one'])).toThrow(/certificate,key/);
  expect(() => parseServerFlags(['--tls-sni-cert-key', 'a,b:*.*.x'])).toThrow(/pattern/);
  const both = ['--tls-min-version', 'VersionTLS13', '--tls-cipher-suites', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'];
  expect(() => parseServerFlags(both)).toThrow(/no suite of TLS 1.3/);
  expect(parseServerFlags(['--tls-sni-cert-key', 'a,b:x.example,*.y.example'])).toMatchObject({
    tlsSniCertKey: [{ certificate: 'a', key: 'b', names: ['x.example', '*.y.example'] }],
  });
});

test('a client gets the certificate of the name it asks for', async () => {
  const pair = (names: readonly string[], ...dns: string[]) => {
    const { certificate, key } = servingFor(...dns);
    return { certificate: file(certificate), key: file(key), names };
  };
  const server = await start({
    tlsSniCertKey: [
      pair([], 'own.example', '*.own.example'),
      pair(['*.wide.example'], 'of-pattern'),
      pair(['exact.wide.example', 'OWN.example'], 'of-names'),
    ],
  });
  const asked = async (servername: string): Promise<unknown> => {
    const found = await dial(server, { servername, ALPNProtocols: ['h2'] });
    return typeof found === 'string' ? found : found.names;
  };
  expect(await asked('a.own.example')).toContain('DNS:own.example');
  expect(await asked('own.example')).toBe('DNS:of-names, IP Address:127.0.0.1');
  expect(await asked('a.wide.example')).toContain('DNS:of-pattern');
  expect(await asked('EXACT.wide.example')).toContain('DNS:of-names');
  expect(await asked('a.b.wide.example')).toContain('DNS:localhost');
  expect(await asked('localhost')).toContain('DNS:localhost');
});

test('a client gets the certificate of the name it asks for, whatever keys the certificates have', async () => {
  const selfSigned = (name: string, ...keyType: string[]) => {
    const [certificate, key] = [file(''), file('')];
    const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', ...keyType, '-nodes', '-days', '1', ...names, '-keyout', key, '-out', certificate],
      {
        stdio: 'ignore',
      },
    );
    return { certificate, key, names: [] };
  };
  const rsa = selfSigned('rsa.example', 'rsa:2048');
  const ec = selfSigned('ec.example', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384');
  const pss = selfSigned('pss.example', 'rsa-pss');
  const edwards = selfSigned('ed.example', 'ed25519');
  const named = [rsa, ec, pss, edwards];
  for (const own of [undefined, ...named]) {
    const ownPair = own === undefined ? {} : { tlsCertFile: own.certificate, tlsPrivateKeyFile: own.key };
    const server = await start({ ...ownPair, tlsSniCertKey: named });
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      for (const servername of ['rsa.example', 'ec.example', 'pss.example', 'ed.example']) {
        const dialled = await dial(server, { servername, minVersion: version, maxVersion: version });
        expect(dialled).toMatchObject({ names: `DNS:${servername}`, protocol: version });
      }
    }
  }
});

test('a certificate that is replaced is served from then on; one that does not fit its key is not', async () => {
  const [first, second] = [servingFor('first.example'), servingFor('second.example')];
  const [tlsCertFile, tlsPrivateKeyFile] = [file(first.certificate), file(first.key)];
  const lines = new Lines();
  const server = await start({ tlsCertFile, tlsPrivateKeyFile, log: lines.log });
  const names = async () => ((await dial(server)) as { names: string }).names;
  expect(await names()).toContain('first.example');
  let seen = lines.next('cannot reload files');
  replaceFile(tlsCertFile, second.certificate);
  await seen;
  expect(await names()).toContain('first.example');
  seen = lines.next('reloaded files');
  replaceFile(tlsPrivateKeyFile, second.key);
  await seen;
  expect(await names()).toContain('second.example');
});

test.each([false, true])('a changed file of CAs counts on open connections, HTTP/2: %s', async (http2) => {
  const clientCaFile = file(authorityPem.certificate);
  const lines = new Lines();
  const server = await start({ clientCaFile, log: lines.log, identity: 'kubernetes' });
  const holder = (issued: { certificate: string; key: string }) =>
    server.client({ http2, certificate: { key: issued.key, cert: issued.certificate } });
  const jane = holder(issueClient(authority, 'jane', ['system:masters'], now));
  const june = holder(issueClient(readAuthority(other), 'june', ['system:masters'], now));
  expect((await jane.get('/api/v1/namespaces')).status).toBe(200);
  expect((await june.get('/api/v1/namespaces')).status).toBe(401);
  const published = await server.admin.watch(
    '/api/v1/namespaces/kube-system/configmaps?watch=1&fieldSelector=metadata.name%3Dextension-apiserver-authentication',
  );
  await published.until((event) => event.type === 'ADDED');
  replaceFile(clientCaFile, other.certificate);
  await lines.next('reloaded files');
  expect((await jane.get('/api/v1/namespaces')).status).toBe(401);
  // What was refused is verified again in a new connection, which the client makes for its next request.
  expect((await june.get('/api/v1/namespaces')).status).toBe(401);
  expect((await june.get('/api/v1/namespaces')).status).toBe(200);
  const [changed] = (await published.until((event) => event.type === 'MODIFIED')).slice(-1);
  expect(changed?.object.data['client-ca-file']).toContain(other.certificate.trim());
  published.close();
});

test('the file of CAs of front proxies may change, too', async () => {
  const requestheaderClientCaFile = file(authorityPem.certificate);
  const lines = new Lines();
  const server = await start({ requestheaderClientCaFile, requestheaderUsernameHeaders: ['X-Remote-User'], log: lines.log });
  const front = (by: typeof other) => {
    const { certificate: cert, key } = issueClient(readAuthority(by), 'front', [], now);
    const proxy = server.client({ certificate: { cert, key }, headers: { 'x-remote-user': 'jane' } });
    return async () => (await proxy.get('/api/v1/namespaces')).status;
  };
  const [first, second] = [front(authorityPem), front(other)];
  expect([await first(), await second()]).toEqual([403, 401]);
  replaceFile(requestheaderClientCaFile, other.certificate);
  await lines.next('reloaded files');
  expect([await first(), await second(), await second()]).toEqual([401, 401, 403]);
});

test('no session is resumed: the certificate of every connection is verified with the CAs of now', async () => {
  const { certificate: cert, key } = issueClient(authority, 'jane', ['system:masters'], now);
  const server = await start({ clientCaFile: file(authorityPem.certificate) });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const once = (session?: Buffer): Promise<{ reused: boolean; session: Buffer | undefined }> =>
      new Promise((resolve, reject) => {
        let given: Buffer | undefined;
        const options = { port: server.port, host: '127.0.0.1', rejectUnauthorized: false, cert, key, maxVersion };
        const socket = connect({ ...options, ...(session && { session }) });
        socket.on('session', (value) => {
          given = value;
        });
        let reused = false;
        socket.once('secureConnect', () => {
          reused = socket.isSessionReused();
          socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
        });
        socket.resume().once('error', reject);
        socket.once('close', () => resolve({ reused, session: given }));
      });
    const { session } = await once();
    expect((await once(session)).reused).toBe(false);
  }
});

test('a client authority of version 1 is one, a certificate of version 3 without the flag is none (finding 2)', async () => {
  const old = oldAuthority('old', now);
  const unflagged = issueClient(authority, 'unflagged', [], now);
  const server = await start({ clientCaFile: file(`${old.certificate}${unflagged.certificate}`) });
  const status = async (by: { certificate: string; key: string }): Promise<number> => {
    const { certificate: cert, key } = issueClient(readAuthority(by), 'jane', ['system:masters'], now);
    return (await server.client({ certificate: { key, cert } }).get('/api/v1/namespaces')).status;
  };
  expect(await status(old)).toBe(200);
  expect(await status(unflagged)).toBe(401);
  expect(await status(oldAuthority('old', now))).toBe(401);
});

test('revoked certificates are refused, by serial number and authority', async () => {
  const issued = ['jane', 'june', 'joan'].map((name) => issueClient(authority, name, ['system:masters'], now));
  const serialOf = (index: number): string =>
    execFileSync('openssl', ['x509', '-noout', '-serial'], {
      input: (issued[index] as { certificate: string }).certificate,
      encoding: 'utf8',
    })
      .trim()
      .replace('serial=', '');
  const revokedCertificatesFile = file('# nobody yet\n');
  const lines = new Lines();
  const server = await start({ clientCaFile: file(authorityPem.certificate), revokedCertificatesFile, log: lines.log });
  const clients = issued.map(({ certificate, key }) => server.client({ certificate: { key, cert: certificate } }));
  const statuses = () => Promise.all(clients.map(async (client) => (await client.get('/api/v1/namespaces')).status));
  expect(await statuses()).toEqual([200, 200, 200]);
  const colons = serialOf(0)
    .toLowerCase()
    .replace(/../g, (byte) => `${byte}:`)
    .slice(0, -1);
  let seen = lines.next('reloaded files');
  replaceFile(revokedCertificatesFile, `${colons}   # not a comment, but an authority of that name\n0x${serialOf(1)}\ttest-ca\n`);
  await seen;
  expect(await statuses()).toEqual([200, 401, 200]);
  seen = lines.next('cannot reload files');
  replaceFile(revokedCertificatesFile, 'serial 5\n');
  await seen;
  expect(await statuses()).toEqual([200, 401, 200]);
  seen = lines.next('reloaded files');
  replaceFile(revokedCertificatesFile, `${colons}\n`);
  await seen;
  expect((await statuses())[0]).toBe(401);
});

test('keys that verify service account tokens are read again', async () => {
  const { privateKey, publicKey } = newKeyPair();
  const keyFile = file(publicKeyPem(newKeyPair().publicKey));
  const lines = new Lines();
  const signing = file(privateKeyPem(privateKey));
  const issuer = 'https://tokens.example';
  const maker = await start({ serviceAccountSigningKeyFile: signing, serviceAccountIssuer: [issuer] });
  const server = await start({ serviceAccountKeyFile: [keyFile], serviceAccountIssuer: [issuer], log: lines.log });
  for (const one of [maker, server])
    await one.admin.send('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'robot' } } });
  const token = (await maker.admin.ok('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: {} })).status.token;
  const robot = server.client({ token });
  expect((await robot.get('/api')).status).toBe(401);
  replaceFile(keyFile, publicKeyPem(publicKey));
  await lines.next('reloaded files');
  // The account of the same name has another uid on this server: the signature is good now, the account is not.
  const review = { spec: { token } };
  const { status } = await server.admin.ok('POST', `/apis/authentication.${server.identity.groupSuffix}/v1/tokenreviews`, review);
  expect(status.error).toBe('service account token has been invalidated');
});

test('a start with files that cannot be served names the flag', async () => {
  const { certificate } = servingFor('a.example');
  const wrongKey = servingFor('b.example').key;
  const pair = { certificate: file(certificate), key: file(wrongKey), names: [] };
  await expect(startTestServer({ tlsSniCertKey: [pair] })).rejects.toThrow(/--tls-sni-cert-key/);
  await expect(startTestServer({ revokedCertificatesFile: file('xyz\n') })).rejects.toThrow(/--revoked-certificates-file: line 1/);
  await expect(startTestServer({ clientCaFile: file('nothing') })).rejects.toThrow(/--client-ca-file: no certificate/);
});

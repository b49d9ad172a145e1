import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { rsaKeys } from '@plat-dev/lib/testing/rsa-keys.testing';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import {
  DerError,
  ensureAuthority,
  ensureClient,
  ensureServing,
  ensureSigningKey,
  issue,
  issueClient,
  issueServing,
  keyDirectory,
  makeRequest,
  newAuthority,
  newKeyPair,
  noNames,
  parseRequest,
  readAuthority,
  readBundle,
  readPublicKeys,
  servingNames,
  subjectOf,
  toPem,
} from './index.ts';
import { addressBytes, addressText } from './subject-names.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
const day = 24 * 3600 * 1000;
const authority = (name = 'root') => readAuthority(newAuthority(name, now));
const read = (pem: string) => new X509Certificate(pem);
const root = authority();

const isSignedBy = (one: X509Certificate, issuer: X509Certificate): boolean => one.checkIssued(issuer) && one.verify(issuer.publicKey);

test('a serving certificate holds its names and addresses', () => {
  const request = servingNames({
    serviceName: 'plat',
    bindAddress: '192.0.2.7',
    hostName: 'host.example.com',
    serviceAddress: '10.0.0.1',
    extra: ['fd00::1:2', 'api.example.com', '::ffff:1.2.3.4'],
  });
  const certificate = read(issueServing(root, request, now).certificate);
  for (const name of ['localhost', 'plat', 'plat.default.svc', 'plat.default.svc.cluster.local', 'host.example.com', 'api.example.com']) {
    expect(certificate.checkHost(name)).toBe(name);
  }
  for (const address of ['127.0.0.1', '::1', '192.0.2.7', '10.0.0.1', 'fd00::1:2']) expect(certificate.checkIP(address)).toBe(address);
  expect(certificate.checkHost('other.example.com')).toBeUndefined();
  expect(certificate.checkIP('0.0.0.0')).toBeUndefined();
  expect(certificate.ca).toBe(false);
  expect(isSignedBy(certificate, root.certificate)).toBe(true);
});

test('a client certificate holds its user and groups, whatever characters they have', () => {
  const groups = ['dev', 'a,b', 'line\nO=system:masters', 'grüße', 'a+b=c\\'];
  const certificate = read(issueClient(root, 'O=x, CN=y\n', groups, now).certificate);
  expect(subjectOf(certificate)).toEqual({ commonName: 'O=x, CN=y\n', organizations: groups });
});

test('client authorities may sign with RSA, P-384 or Ed25519', () => {
  const kinds = [rsaKeys(0), generateKeyPairSync('ec', { namedCurve: 'P-384' }), generateKeyPairSync('ed25519')];
  for (const keys of kinds) {
    const middle = read(
      issue(root, {
        subject: { commonName: 'middle', organizations: [] },
        publicKey: keys.publicKey,
        usages: ['certSign'],
        extendedUsages: [],
        notBefore: now - day,
        notAfter: now + day,
        authority: true,
      }),
    );
    const leaf = read(issueClient({ certificate: middle, key: keys.privateKey }, 'u', [], now).certificate);
    expect([isSignedBy(leaf, middle), isSignedBy(middle, root.certificate)]).toEqual([true, true]);
  }
});

test('a bundle is read block by block; text between blocks does not matter', () => {
  const stranger = authority();
  const bundle = `first\n${root.certificate}\nsecond\n${stranger.certificate}`;
  expect(readBundle(bundle).map((one) => one.fingerprint256)).toEqual([
    root.certificate.fingerprint256,
    stranger.certificate.fingerprint256,
  ]);
  expect(() => readBundle('nothing')).toThrow('no certificate found');
});

// Made by OpenSSL: O=dev, O=qa, CN=jane.
const foreign = `-----BEGIN CERTIFICATE REQUEST-----
MIHmMIGMAgEAMCoxDDAKBgNVBAoMA2RldjELMAkGA1UECgwCcWExDTALBgNVBAMM
BGphbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS1F5y9Kpkv9SkdKoFRJlMy
fXKBUfX8hZG6d68L4p7eTumckvH64OlP8ki7PinEe8n2DzkEshIpfRUuTOP/tHQj
oAAwCgYIKoZIzj0EAwIDSQAwRgIhAKah/6wcCgRWeRJcnNDHSkkquI6Jj5bPDl5i
c2aIr5HPAiEAkxk++iS6VVdMWsu19xCtcIRhus4bhmD4V28qomHUokU=
-----END CERTIFICATE REQUEST-----
`;
test('a foreign certificate request is read and signed', () => {
  const request = parseRequest(foreign);
  expect(request.subject).toEqual({ commonName: 'jane', organizations: ['dev', 'qa'] });
  expect(request.signed).toBe(true);
  const template = {
    subject: request.subjectBytes,
    publicKey: request.publicKey,
    usages: ['digitalSignature'] as const,
    extendedUsages: ['clientAuth'] as const,
    notBefore: now,
    notAfter: now + 1e14,
  };
  const certificate = read(issue(root, template));
  expect(certificate.subject).toBe('O=dev\nO=qa\nCN=jane');
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(Date.parse(certificate.validTo)).toBe(Date.parse(root.certificate.validTo));
});

test('a request that was tampered with is not signed', () => {
  const bytes = Buffer.from(foreign.replace(/-----[^-]+-----/g, ''), 'base64');
  bytes[bytes.indexOf('jane')] = 'k'.charCodeAt(0);
  const request = parseRequest(toPem('CERTIFICATE REQUEST', bytes));
  expect(request.subject.commonName).toBe('kane');
  expect(request.signed).toBe(false);
});

test('a request carries alternative names', () => {
  const names = { ...noNames, dns: ['node'], addresses: ['10.1.2.3', '0:0:0:0:0:0:0:1'] };
  const request = parseRequest(makeRequest({ commonName: 'system:node:n', organizations: ['system:nodes'] }, newKeyPair(), names));
  expect(request.names).toEqual(names);
  expect(request.signed).toBe(true);
});

test('bytes that are no request are refused without harm', () => {
  expect(() => parseRequest('')).toThrow(DerError);
  expect(() => parseRequest(String(root.certificate))).toThrow(DerError);
  const bytes = Buffer.from(foreign.replace(/-----[^-]+-----/g, ''), 'base64');
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
      const changed = Buffer.from(bytes);
      changed[at] = value;
      let signed = false;
      try {
        signed = parseRequest(toPem('CERTIFICATE REQUEST', changed)).signed;
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
      expect(signed).toBe(bytes[at] === value);
    }),
  );
});

test('addresses turn into bytes and back', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      expect(addressBytes(addressText(addressBytes(address)))).toEqual(addressBytes(address));
    }),
  );
  expect(addressBytes('::ffff:1.2.3.4').toString('hex')).toBe('00000000000000000000ffff01020304');
  expect(addressBytes('fe80::1').toString('hex')).toBe('fe800000000000000000000000000001');
});

test('what a directory holds is kept while it fits, and secret', async () => {
  const directory = join(temporaryDirectory('plat-pki'), 'pki');
  const names = { commonName: 'plat', dns: ['localhost'], addresses: ['127.0.0.1'] };
  const ca = await ensureAuthority(keyDirectory(directory), 'ca', 'plat-ca', now);
  const serving = await ensureServing(keyDirectory(directory), 'apiserver', ca, names, now);
  const admin = await ensureClient(keyDirectory(directory), 'admin', ca, 'admin', ['system:masters'], now);
  const signingKey = ensureSigningKey(keyDirectory(directory), 'sa');
  expect(readdirSync(directory)).not.toContain('sa.key');
  const key = await signingKey();
  expect(await signingKey()).toBe(key);

  expect((await ensureAuthority(keyDirectory(directory), 'ca', 'plat-ca', now)).certificate.fingerprint256).toBe(
    ca.certificate.fingerprint256,
  );
  expect(await ensureServing(keyDirectory(directory), 'apiserver', ca, names, now)).toEqual(serving);
  expect(await ensureClient(keyDirectory(directory), 'admin', ca, 'admin', ['system:masters'], now)).toEqual(admin);
  expect((await ensureSigningKey(keyDirectory(directory), 'sa')()).equals(key)).toBe(true);

  expect(await ensureServing(keyDirectory(directory), 'apiserver', ca, { ...names, dns: ['localhost', 'new'] }, now)).not.toEqual(serving);
  expect(await ensureClient(keyDirectory(directory), 'admin', ca, 'admin', ['system:masters'], now + 340 * day)).not.toEqual(admin);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  for (const file of readdirSync(directory)) {
    expect(file).toMatch(/\.(crt|key)$/);
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
  }
});

test('an authority whose files do not belong together is not used', async () => {
  const directory = temporaryDirectory('plat-pki');
  await ensureAuthority(keyDirectory(directory), 'ca', 'one', now);
  writeFileSync(join(directory, 'ca.key'), newAuthority('two', now).key);
  await expect(ensureAuthority(keyDirectory(directory), 'ca', 'one', now)).rejects.toThrow(/do not belong together/);
});

test('public keys are read from keys of any kind and from certificates', () => {
  const pair = newAuthority('x', now);
  const rsa = rsaKeys(0);
  const text = `${pair.key}${pair.certificate}${rsa.publicKey.export({ type: 'spki', format: 'pem' })}`;
  const keys = readPublicKeys(text);
  expect(keys).toHaveLength(3);
  expect(keys[0]?.equals(createPublicKey(pair.key))).toBe(true);
  expect(keys[1]?.equals(createPublicKey(pair.key))).toBe(true);
});

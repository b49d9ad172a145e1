/** Certificates made with the program `openssl`, and its verdict on them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rsaKeys } from '../../packages/lib/src/testing/rsa-keys.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';

export const opensslMissing = spawnSync('openssl', ['version']).error === undefined ? undefined : 'openssl is not installed';

export interface OpensslCertificate {
  readonly subject: string;
  /** PEM of the certificate and of its key. */
  readonly certificate: string;
  readonly key: string;
  /** Their files. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

const keyKinds = {
  p256: () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  p384: () => generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
  p521: () => generateKeyPairSync('ec', { namedCurve: 'secp521r1' }),
  p224: () => generateKeyPairSync('ec', { namedCurve: 'secp224r1' }),
  p192: () => generateKeyPairSync('ec', { namedCurve: 'prime192v1' }),
  ed25519: () => generateKeyPairSync('ed25519'),
  rsa512: () => generateKeyPairSync('rsa', { modulusLength: 512 }),
  rsa1024: () => generateKeyPairSync('rsa', { modulusLength: 1024 }),
  // To make one takes long.
  rsa2048: () => rsaKeys(0),
} as const;
export type KeyKind = keyof typeof keyKinds;

export interface CertificateForm {
  /** `/O=team/CN=jane` */
  readonly subject: string;
  /** Absent: it signs itself. */
  readonly issuer?: OpensslCertificate | undefined;
  /** A kind, or the certificate whose key it has, too. */
  readonly key?: KeyKind | OpensslCertificate;
  /** Options of openssl that choose the digest: `-md5`. */
  readonly digest?: readonly string[];
  /** Lines of a configuration; none: a certificate of version 1. */
  readonly extensions: readonly string[];
  /** Days from now. */
  readonly from?: number;
  readonly to?: number;
}

const DAY = 24 * 3600 * 1000;
const directory = temporaryDirectory('plat-openssl');
let count = 0;
const file = (name: string, content: string): string => {
  const path = join(directory, `${count++}-${name}`);
  writeFileSync(path, content);
  return path;
};
const openssl = (...args: readonly string[]): string => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe', encoding: 'utf8' });

const caConfiguration = (index: string, serial: string): string => `
[ca]
default_ca = it
[it]
database = ${index}
serial = ${serial}
new_certs_dir = ${directory}
unique_subject = no
default_md = sha256
policy = any
[any]
countryName = optional
organizationName = optional
organizationalUnitName = optional
commonName = optional
`;

function newKey(kind: KeyKind): Pick<OpensslCertificate, 'key' | 'keyFile'> {
  const { privateKey } = keyKinds[kind]();
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { key, keyFile: file('key.pem', key) };
}

export function makeCertificate(form: CertificateForm): OpensslCertificate {
  const { subject, issuer, extensions, digest = [] } = form;
  const { key, keyFile } = typeof form.key === 'object' ? form.key : newKey(form.key ?? 'p256');
  const certificateFile = join(directory, `${count++}-certificate.pem`);
  const extfile = file('extensions.cnf', extensions.join('\n'));
  if (form.from === undefined && form.to === undefined) {
    const signer = issuer === undefined ? ['-signkey', keyFile] : ['-CA', issuer.certificateFile, '-CAkey', issuer.keyFile];
    const publicKeyFile = file('public.pem', createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString());
    const contents = ['-force_pubkey', publicKeyFile, '-subj', subject, '-extfile', extfile];
    openssl('x509', '-new', ...contents, ...signer, ...digest, '-days', '30', '-out', certificateFile);
  } else {
    // Only `openssl ca` sets both dates.
    const requestFile = file('request.pem', openssl('req', '-new', '-key', keyFile, '-subj', subject));
    const configuration = file('ca.cnf', caConfiguration(file('index.txt', ''), file('serial', `${4096 + count}`)));
    const signer =
      issuer === undefined ? ['-selfsign', '-keyfile', keyFile] : ['-cert', issuer.certificateFile, '-keyfile', issuer.keyFile];
    const dates = ['-startdate', dateOf(form.from ?? -1), '-enddate', dateOf(form.to ?? 30)];
    const contents = ['-in', requestFile, '-extfile', extfile, '-preserveDN', '-notext'];
    openssl('ca', '-batch', '-config', configuration, ...contents, ...signer, ...dates, '-out', certificateFile);
  }
  return { subject, certificate: readFileSync(certificateFile, 'utf8'), key, certificateFile, keyFile };
}

/** The same with another last byte, which is one of the signature. */
export function withChangedSignature(made: OpensslCertificate): OpensslCertificate {
  const { raw } = new X509Certificate(made.certificate);
  raw[raw.length - 1] = (raw.at(-1) as number) ^ 1;
  const certificate = `-----BEGIN CERTIFICATE-----\n${raw.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
  return { ...made, certificate, certificateFile: file('changed.pem', certificate) };
}

const dateOf = (days: number): string => `${new Date(Date.now() + days * DAY).toISOString().replace(/[-:T]|\.\d+Z/g, '')}Z`;

/** What `openssl verify` says of a client certificate at a security level. */
export function opensslVerdict(
  client: OpensslCertificate,
  sent: readonly OpensslCertificate[],
  bundle: string,
  level: number,
): { readonly accepts: boolean; readonly text: string } {
  const untrusted = sent.length === 0 ? [] : ['-untrusted', file('sent.pem', sent.map(({ certificate }) => certificate).join(''))];
  const trusted = ['-CAfile', file('bundle.pem', bundle), '-no-CApath', '-no-CAstore'];
  const args = ['verify', '-purpose', 'sslclient', '-auth_level', String(level), ...trusted, ...untrusted, client.certificateFile];
  const { status, stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  return { accepts: status === 0, text: stdout + stderr };
}

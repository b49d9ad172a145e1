/** Makes certificates: CAs, serving certificates, client certificates. Keys are ECDSA P-256, which are fast to make. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign as signBytes,
  X509Certificate,
} from 'node:crypto';
import { bits, boolean, element, explicit, implicit, integer, octets, oid, read, sequence, Tag, time } from './der.ts';
import {
  type AlternativeNames,
  type Extension,
  encodeAlternativeNames,
  encodeExtension,
  encodeSubject,
  extensionOids,
  isEmpty,
  noNames,
  type Subject,
} from './subject-names.ts';
import { type ExtendedUsage, extendedUsageOids, type KeyUsage, keyUsageBits } from './usages.ts';

export * from './usages.ts';

export interface Authority {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}
/** A certificate and its private key, as PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateTemplate {
  /** A subject, or the bytes of one, to be copied unchanged. */
  readonly subject: Subject | Buffer;
  readonly publicKey: KeyObject;
  readonly names?: AlternativeNames;
  readonly usages: readonly KeyUsage[];
  readonly extendedUsages: readonly ExtendedUsage[];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly authority?: boolean;
}

interface Signing {
  readonly algorithm: Buffer;
  readonly digest: string | null;
}

function signingOf(key: KeyObject): Signing {
  if (key.asymmetricKeyType === 'ec') {
    const curve = key.asymmetricKeyDetails?.namedCurve;
    if (curve === 'secp384r1') return { algorithm: sequence(oid('1.2.840.10045.4.3.3')), digest: 'sha384' };
    if (curve === 'secp521r1') return { algorithm: sequence(oid('1.2.840.10045.4.3.4')), digest: 'sha512' };
    return { algorithm: sequence(oid('1.2.840.10045.4.3.2')), digest: 'sha256' };
  }
  if (key.asymmetricKeyType === 'rsa') {
    return { algorithm: sequence(oid('1.2.840.113549.1.1.11'), element(0x05)), digest: 'sha256' };
  }
  if (key.asymmetricKeyType === 'ed25519') return { algorithm: sequence(oid('1.3.101.112')), digest: null };
  throw new Error(`cannot sign with a key of type ${key.asymmetricKeyType}`);
}

const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/** The hash of the key, by which issuers and subjects are matched. */
function keyId(publicKey: KeyObject): Buffer {
  const key = read(spki(publicKey)).children()[1];
  return createHash('sha1')
    .update(key?.bitBytes() ?? Buffer.alloc(0))
    .digest();
}

function usageBits(usages: readonly KeyUsage[]): Buffer {
  const bytes = Buffer.alloc(2);
  let last = 0;
  for (const usage of usages) {
    const bit = keyUsageBits[usage];
    bytes[bit >> 3] = (bytes[bit >> 3] as number) | (0x80 >> (bit & 7));
    last = Math.max(last, bit);
  }
  return bits(bytes.subarray(0, (last >> 3) + 1), 7 - (last & 7));
}

function extensionsOf(template: CertificateTemplate, issuerKeyId: Buffer): Buffer {
  const list: Extension[] = [
    { oid: extensionOids.keyUsage, critical: true, value: usageBits(template.usages) },
    {
      oid: extensionOids.basicConstraints,
      critical: true,
      value: sequence(...(template.authority === true ? [boolean(true)] : [])),
    },
    { oid: extensionOids.authorityKeyId, critical: false, value: sequence(implicit(0, issuerKeyId)) },
  ];
  if (template.usages.length === 0) list.shift();
  if (template.authority === true) {
    list.push({ oid: extensionOids.subjectKeyId, critical: false, value: octets(keyId(template.publicKey)) });
  }
  if (template.extendedUsages.length > 0) {
    const value = sequence(...template.extendedUsages.map((usage) => oid(extendedUsageOids[usage])));
    list.push({ oid: extensionOids.extendedKeyUsage, critical: false, value });
  }
  const names = template.names ?? noNames;
  if (!isEmpty(names)) list.push({ oid: extensionOids.alternativeNames, critical: false, value: encodeAlternativeNames(names) });
  return explicit(3, sequence(...list.map(encodeExtension)));
}

function signed(template: CertificateTemplate, issuer: Buffer, issuerKey: KeyObject, issuerKeyId: Buffer): string {
  const { algorithm, digest } = signingOf(issuerKey);
  // Sixteen random bytes; the leading bit is cleared so that the number is positive and its length is the same for all.
  const serial = randomBytes(16);
  serial[0] = ((serial[0] as number) & 0x7f) | 0x40;
  const subject = Buffer.isBuffer(template.subject) ? template.subject : encodeSubject(template.subject);
  const body = sequence(
    explicit(0, integer(2)),
    integer(serial),
    algorithm,
    issuer,
    sequence(time(template.notBefore), time(template.notAfter)),
    subject,
    spki(template.publicKey),
    extensionsOf(template, issuerKeyId),
  );
  return toPem('CERTIFICATE', sequence(body, algorithm, bits(signBytes(digest, body, issuerKey))));
}

export function toPem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** The subject's bytes within a certificate, for the issuer field of certificates that it signs. */
function subjectBytes(certificate: X509Certificate): Buffer {
  const fields = read(Buffer.from(certificate.raw)).children()[0]?.as(Tag.sequence).children() ?? [];
  const offset = fields[0]?.tag === 0xa0 ? 1 : 0;
  const subject = fields[offset + 4];
  if (subject === undefined) throw new Error('the certificate has no subject');
  return subject.raw;
}

/** A certificate signed by the CA; not valid for longer than the CA itself. */
export function issue(authority: Authority, template: CertificateTemplate): string {
  const notAfter = Math.min(template.notAfter, Date.parse(authority.certificate.validTo));
  return signed({ ...template, notAfter }, subjectBytes(authority.certificate), authority.key, keyId(createPublicKey(authority.key)));
}

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}
export const newKeyPair = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const privateKeyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
export const publicKeyPem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();

const day = 24 * 3600 * 1000;
/** Clocks of clients may be a little behind. */
const leeway = 5 * 60 * 1000;

export function newAuthority(commonName: string, now: number, days = 3650): Issued {
  const { privateKey, publicKey } = newKeyPair();
  const subject = encodeSubject({ commonName, organizations: [] });
  const template: CertificateTemplate = {
    subject,
    publicKey,
    usages: ['digitalSignature', 'keyEncipherment', 'certSign'],
    extendedUsages: [],
    notBefore: now - leeway,
    notAfter: now + days * day,
    authority: true,
  };
  return { certificate: signed(template, subject, privateKey, keyId(publicKey)), key: privateKeyPem(privateKey) };
}

export const readAuthority = (issued: Issued): Authority => ({
  certificate: new X509Certificate(issued.certificate),
  key: createPrivateKey(issued.key),
});

export interface ServingRequest {
  readonly commonName: string;
  readonly dns: readonly string[];
  readonly addresses: readonly string[];
}
export function issueServing(authority: Authority, request: ServingRequest, now: number, days = 365): Issued {
  const { privateKey, publicKey } = newKeyPair();
  const certificate = issue(authority, {
    subject: { commonName: request.commonName, organizations: [] },
    publicKey,
    names: { ...noNames, dns: request.dns, addresses: request.addresses },
    usages: ['digitalSignature', 'keyEncipherment'],
    extendedUsages: ['serverAuth'],
    notBefore: now - leeway,
    notAfter: now + days * day,
  });
  return { certificate, key: privateKeyPem(privateKey) };
}

export function issueClient(authority: Authority, user: string, groups: readonly string[], now: number, days = 365): Issued {
  const { privateKey, publicKey } = newKeyPair();
  const certificate = issue(authority, {
    subject: { commonName: user, organizations: groups },
    publicKey,
    usages: ['digitalSignature', 'keyEncipherment'],
    extendedUsages: ['clientAuth'],
    notBefore: now - leeway,
    notAfter: now + days * day,
  });
  return { certificate, key: privateKeyPem(privateKey) };
}

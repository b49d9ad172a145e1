/** Certificates of any form, also of those that no authority should issue. */
import { createHash, type KeyObject, sign } from 'node:crypto';
import { type KeyPair, newKeyPair, privateKeyPem, toPem } from './certificate.ts';
import { bits, boolean, element, explicit, implicit, integer, octets, oid, sequence, time } from './der.ts';
import { type Extension, encodeAlternativeNames, encodeExtension, encodeSubject, extensionOids, noNames } from './subject-names.ts';
import { type ExtendedUsage, extendedUsageOids, type KeyUsage, keyUsageBits } from './usages.ts';

export interface Made {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  readonly keys: KeyPair;
  readonly name: string;
  readonly organizations: readonly string[];
}
export interface Form {
  /** The common name; empty: none. */
  readonly name: string;
  readonly organizations?: readonly string[];
  /** Absent: it signs itself. */
  readonly issuer?: Made;
  /** The common name of the issuer, where it is another than its own. */
  readonly issuerName?: string;
  readonly keys?: KeyPair;
  readonly from?: number;
  readonly to?: number;
  readonly extensions: readonly Extension[];
  /** The key identifier of the issuer, where it is another than its own. */
  readonly issuerKeyId?: Buffer;
  /** Whether it names its key and that of its issuer; true if absent. */
  readonly hasKeyIds?: boolean;
  readonly digest?: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  /** 1: without extensions. */
  readonly version?: 1 | 3;
}

/** Long before and after any test. */
const since = Date.UTC(2020, 0, 1);
const until = Date.UTC(2048, 0, 1);

const nameOf = (commonName: string, organizations: readonly string[] = []): Buffer => encodeSubject({ commonName, organizations });
const critical = (type: string, value: Buffer): Extension => ({ oid: type, critical: true, value });
const plain = (type: string, value: Buffer): Extension => ({ oid: type, critical: false, value });

export const constraints = (authority: boolean, pathLength?: number): Extension =>
  critical(
    extensionOids.basicConstraints,
    sequence(...(authority ? [boolean(true)] : []), ...(pathLength === undefined ? [] : [integer(pathLength)])),
  );
export function usage(...usages: readonly KeyUsage[]): Extension {
  let value = 0;
  for (const one of usages) value |= 0x80 >> keyUsageBits[one];
  return critical(extensionOids.keyUsage, bits(Buffer.from([value])));
}
export const extendedUsage = (...usages: readonly ExtendedUsage[]): Extension =>
  plain(extensionOids.extendedKeyUsage, sequence(...usages.map((one) => oid(extendedUsageOids[one]))));
export const names = (dns: readonly string[], addresses: readonly string[] = []): Extension =>
  plain(extensionOids.alternativeNames, encodeAlternativeNames({ ...noNames, dns, addresses }));
/** An extension that nobody knows. */
export const unknown = (isCritical: boolean): Extension => ({
  oid: '1.3.6.1.4.1.99999.1',
  critical: isCritical,
  value: octets(Buffer.from('x')),
});
/** Only names below a domain. */
export const onlyBelow = (domain: string): Extension =>
  plain('2.5.29.30', sequence(element(0xa0, sequence(implicit(2, Buffer.from(domain))))));

const idOf = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();

/** The DER of the algorithm of a signature. */
function algorithmOf(key: KeyObject, digest: NonNullable<Form['digest']>): Buffer {
  const ec = { sha1: '1.2.840.10045.4.1', sha256: '1.2.840.10045.4.3.2', sha384: '1.2.840.10045.4.3.3', sha512: '1.2.840.10045.4.3.4' };
  const rsa = {
    sha1: '1.2.840.113549.1.1.5',
    sha256: '1.2.840.113549.1.1.11',
    sha384: '1.2.840.113549.1.1.12',
    sha512: '1.2.840.113549.1.1.13',
  };
  return key.asymmetricKeyType === 'rsa' ? sequence(oid(rsa[digest]), element(0x05)) : sequence(oid(ec[digest]));
}

export function makeCertificate(form: Form): Made {
  const { name, organizations = [], issuer, keys = newKeyPair(), from = since, to = until, digest = 'sha256', version = 3 } = form;
  const { hasKeyIds = true } = form;
  const signer = issuer?.keys ?? keys;
  const algorithm = algorithmOf(signer.privateKey, digest);
  const ids = [
    plain(extensionOids.subjectKeyId, octets(idOf(keys.publicKey))),
    plain(extensionOids.authorityKeyId, sequence(implicit(0, form.issuerKeyId ?? idOf(signer.publicKey)))),
  ];
  const body = sequence(
    ...(version === 3 ? [explicit(0, integer(2))] : []),
    // A number for each name and time is enough.
    integer(createHash('sha256').update(`${name} ${from} ${to} ${digest}`).digest().subarray(0, 8)),
    algorithm,
    nameOf(form.issuerName ?? issuer?.name ?? name, (issuer ?? form).organizations),
    sequence(time(from), time(to)),
    nameOf(name, organizations),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    ...(version === 3 ? [explicit(3, sequence(...[...form.extensions, ...(hasKeyIds ? ids : [])].map(encodeExtension)))] : []),
  );
  const certificate = toPem('CERTIFICATE', sequence(body, algorithm, bits(sign(digest, body, signer.privateKey))));
  return { certificate, key: privateKeyPem(keys.privateKey), keys, name, organizations };
}

const authorityExtensions: readonly Extension[] = [constraints(true), usage('digitalSignature', 'certSign')];
export const makeAuthority = (name: string, changes: Partial<Form> = {}): Made =>
  makeCertificate({ name, extensions: authorityExtensions, ...changes });

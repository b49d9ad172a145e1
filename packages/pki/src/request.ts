/** Certificate requests (PKCS #10): parsed, verified by their own signature, and written for clients and tests. */

import { createPublicKey, type KeyObject, sign as signBytes, verify as verifyBytes } from 'node:crypto';
import { own } from '@plat-dev/lib/own';
import { toPem } from './certificate.ts';
import { bits, DerError, type Element, element, explicit, integer, oid, read, sequence, set, Tag } from './der.ts';
import {
  type AlternativeNames,
  decodeAlternativeNames,
  decodeExtensions,
  decodeSubject,
  type Extension,
  encodeAlternativeNames,
  encodeExtension,
  encodeSubject,
  extensionOids,
  isEmpty,
  noNames,
  type Subject,
} from './subject-names.ts';

export interface CertificateRequest {
  readonly subject: Subject;
  /** The subject of the request, to be copied into the certificate. */
  readonly subjectBytes: Buffer;
  readonly names: AlternativeNames;
  readonly extensions: readonly Extension[];
  readonly publicKey: KeyObject;
}

const extensionRequestOid = '1.2.840.113549.1.9.14';

/** The signatures that are accepted: SHA-2 or better. */
export const signatures: Readonly<Record<string, { readonly digest: string | null; readonly type: string } | undefined>> = {
  '1.2.840.10045.4.3.2': { digest: 'sha256', type: 'ec' },
  '1.2.840.10045.4.3.3': { digest: 'sha384', type: 'ec' },
  '1.2.840.10045.4.3.4': { digest: 'sha512', type: 'ec' },
  '1.2.840.113549.1.1.11': { digest: 'sha256', type: 'rsa' },
  '1.2.840.113549.1.1.12': { digest: 'sha384', type: 'rsa' },
  '1.2.840.113549.1.1.13': { digest: 'sha512', type: 'rsa' },
  '1.3.101.112': { digest: null, type: 'ed25519' },
};

/**
 * The first PEM block of a text, which must be a certificate request. Throws DerError if it cannot be
 * parsed. `signed`: whether its signature is that of its own key.
 */
export function parseRequest(pem: string): CertificateRequest & { readonly signed: boolean } {
  const block = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/.exec(pem);
  if (block === null || (block[1] !== 'CERTIFICATE REQUEST' && block[1] !== 'NEW CERTIFICATE REQUEST')) {
    throw new DerError('PEM block type must be CERTIFICATE REQUEST');
  }
  const [body, algorithm, signature] = read(Buffer.from(block[2] as string, 'base64'))
    .as(Tag.sequence)
    .children();
  if (body === undefined || algorithm === undefined || signature === undefined) throw new DerError('incomplete request');
  const [version, subject, key, attributes] = body.as(Tag.sequence).children();
  if (version === undefined || subject === undefined || key === undefined) throw new DerError('incomplete request');
  const publicKey = publicKeyOf(key);
  const extensions = requestedExtensions(attributes);
  const names = extensions.find((extension) => extension.oid === extensionOids.alternativeNames);
  return {
    subject: decodeSubject(subject),
    subjectBytes: subject.raw,
    names: names === undefined ? noNames : decodeAlternativeNames(read(names.value)),
    extensions,
    publicKey,
    signed: isSigned(body, algorithm, signature, publicKey),
  };
}

function publicKeyOf(key: Element): KeyObject {
  try {
    return createPublicKey({ key: key.raw, format: 'der', type: 'spki' });
  } catch {
    throw new DerError('the public key of the request cannot be read');
  }
}

function requestedExtensions(attributes: Element | undefined): Extension[] {
  if (attributes === undefined || attributes.tag !== 0xa0) return [];
  for (const attribute of attributes.children()) {
    const [type, values] = attribute.as(Tag.sequence).children();
    if (type?.oid() !== extensionRequestOid) continue;
    const list = values?.as(Tag.set).children()[0];
    return list === undefined ? [] : decodeExtensions(list);
  }
  return [];
}

function isSigned(body: Element, algorithm: Element, signature: Element, publicKey: KeyObject): boolean {
  const method = own(signatures, algorithm.as(Tag.sequence).children()[0]?.oid() ?? '');
  if (method === undefined || publicKey.asymmetricKeyType !== method.type) return false;
  return verifyBytes(method.digest, body.raw, publicKey, signature.bitBytes());
}

/** A request signed with an ECDSA P-256 key. */
export function makeRequest(
  subject: Subject,
  keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  names: AlternativeNames = noNames,
): string {
  const namesExtension = { oid: extensionOids.alternativeNames, critical: false, value: encodeAlternativeNames(names) };
  const attributes = isEmpty(names) ? [] : [sequence(oid(extensionRequestOid), set(sequence(encodeExtension(namesExtension))))];
  const body = sequence(
    integer(0),
    encodeSubject(subject),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    attributes.length === 0 ? element(0xa0) : explicit(0, ...attributes),
  );
  const signature = bits(signBytes('sha256', body, keys.privateKey));
  return toPem('CERTIFICATE REQUEST', sequence(body, sequence(oid('1.2.840.10045.4.3.2')), signature));
}

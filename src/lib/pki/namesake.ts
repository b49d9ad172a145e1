/**
 * Certificates of servers that bear the name of their CA, as Knative and Pepr make them: CA and certificate have one name, or none,
 * and no key identifier distinguishes them. OpenSSL takes such a certificate for a self-signed one, and looks for no CA; stock
 * servers verify its signature.
 *
 *   CA of the bundle → certificate with the name of the CA                      true
 *   CA of the bundle → CA with the same name → certificate with the same name   false
 *
 * What OpenSSL requires of a chain of two is required here: valid times, strong keys, a strong signature, usages.
 */

import type { KeyObject, X509Certificate } from 'node:crypto';
import { own } from '../own.ts';
import { extensionsOf, isValidAt, signatureAlgorithmOf } from './contents.ts';
import { signatures } from './request.ts';
import { extensionOids } from './subject-names.ts';
import { extendedUsageOids } from './usages.ts';

/** Whether one of the authorities signed the certificate, and both may be used for a server now. Its host name is not checked. */
export const isIssuedByNamesake = (certificate: X509Certificate, authorities: readonly X509Certificate[], now: number): boolean =>
  isUsable(certificate, now) &&
  own(signatures, signatureAlgorithmOf(certificate)) !== undefined &&
  authorities.some(
    (authority) =>
      authority.ca &&
      isUsable(authority, now) &&
      isUnconstrained(authority) &&
      certificate.checkIssued(authority) &&
      certificate.verify(authority.publicKey),
  );

function isUsable(certificate: X509Certificate, now: number): boolean {
  // The property of this name has the extended usages.
  const usages = certificate.keyUsage as readonly string[] | undefined;
  return (
    isValidAt(certificate, now) &&
    isStrong(certificate.publicKey) &&
    (usages === undefined || usages.includes(extendedUsageOids.serverAuth))
  );
}

const LEAST_RSA_BITS = 2048;
const curves: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

function isStrong({ asymmetricKeyType, asymmetricKeyDetails: { modulusLength = 0, namedCurve } = {} }: KeyObject): boolean {
  if (asymmetricKeyType === 'rsa') return modulusLength >= LEAST_RSA_BITS;
  return asymmetricKeyType === 'ed25519' || (asymmetricKeyType === 'ec' && curves.has(namedCurve));
}

const understood: ReadonlySet<string> = new Set(Object.values(extensionOids));
const NAME_CONSTRAINTS = '2.5.29.30';

/** A CA that restricts names, or something unknown, is left to OpenSSL, which refuses the certificate. */
const isUnconstrained = (authority: X509Certificate): boolean =>
  extensionsOf(authority).every(({ oid, critical }) => oid !== NAME_CONSTRAINTS && (!critical || understood.has(oid)));

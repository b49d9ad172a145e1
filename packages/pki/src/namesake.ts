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

import type { X509Certificate } from 'node:crypto';
import { extensionsOf, isValidAt } from './contents.ts';
import { hasStrongKey, hasStrongSignature } from './strength.ts';
import { extensionOids } from './subject-names.ts';
import { extendedUsageOids } from './usages.ts';

/** Whether one of the authorities signed the certificate, and both may be used for a server now. Its host name is not checked. */
export const isIssuedByNamesake = (certificate: X509Certificate, authorities: readonly X509Certificate[], now: number): boolean =>
  authorities.some((authority) => {
    try {
      return isIssuedBy(certificate, authority, now);
    } catch {
      // The bytes of one of them cannot be read, or its key.
      return false;
    }
  });

const isIssuedBy = (certificate: X509Certificate, authority: X509Certificate, now: number): boolean =>
  authority.ca &&
  isUsable(certificate, now) &&
  isUsable(authority, now) &&
  isUnconstrained(authority) &&
  hasStrongSignature(certificate) &&
  certificate.checkIssued(authority) &&
  certificate.verify(authority.publicKey);

function isUsable(certificate: X509Certificate, now: number): boolean {
  // The property of this name has the extended usages.
  const usages = certificate.keyUsage as readonly string[] | undefined;
  return (
    isValidAt(certificate, now) && hasStrongKey(certificate) && (usages === undefined || usages.includes(extendedUsageOids.serverAuth))
  );
}

const understood: ReadonlySet<string> = new Set(Object.values(extensionOids));
const NAME_CONSTRAINTS = '2.5.29.30';

/** A CA that restricts names, or something unknown, is left to OpenSSL, which refuses the certificate. */
const isUnconstrained = (authority: X509Certificate): boolean =>
  extensionsOf(authority).every(({ oid, critical }) => oid !== NAME_CONSTRAINTS && (!critical || understood.has(oid)));

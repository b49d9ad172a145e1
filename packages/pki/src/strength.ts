/** Whether keys and signatures are strong, where OpenSSL does not check them at a security level. */
import type { X509Certificate } from 'node:crypto';
import { own } from '@plat-dev/lib/own';
import { signatureAlgorithmOf } from './contents.ts';
import { signatures } from './request.ts';

const LEAST_RSA_BITS = 2048;
const curves: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

export function hasStrongKey({ publicKey }: X509Certificate): boolean {
  const { asymmetricKeyType, asymmetricKeyDetails: { modulusLength = 0, namedCurve } = {} } = publicKey;
  if (asymmetricKeyType === 'rsa') return modulusLength >= LEAST_RSA_BITS;
  return asymmetricKeyType === 'ed25519' || (asymmetricKeyType === 'ec' && curves.has(namedCurve));
}

/** SHA-2 or better. */
export const hasStrongSignature = (certificate: X509Certificate): boolean =>
  own(signatures, signatureAlgorithmOf(certificate)) !== undefined;

/**
 * Trust in a server by a bundle of certificates. OpenSSL decides. Every certificate of the bundle is an anchor, be it a root, an
 * intermediate or the certificate of the server itself: that is what clients put into `caBundle`, and what a stock server accepts.
 *
 * One refusal of OpenSSL is looked at again: that of a certificate which bears the name of its CA (pki/namesake.ts).
 */
import type { X509Certificate } from 'node:crypto';
import { checkServerIdentity, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { systemClock } from '@plat-dev/lib/clock';
import { canBeRoot, readBundle } from '@plat-dev/pki';
import { isIssuedByNamesake } from '@plat-dev/pki/namesake';

export interface BundleTrust {
  /** For `createSecureContext` and what takes the same options. */
  readonly context: Pick<SecureContextOptions, 'ca'> & { readonly allowPartialTrustChain?: boolean };
  /** The certificates of the bundle. With them `rejectUnauthorized` is false, and `refusalOf` decides before anything is sent. */
  readonly authorities?: readonly X509Certificate[];
}

/** `authoritiesOnly`: certificates that cannot be a CA are no anchors. Absent bundle: the roots of the host. */
export function trustIn(pem: string | undefined, authoritiesOnly = false): BundleTrust {
  if (pem === undefined) return { context: {} };
  const bundle = certificatesOf(pem);
  const authorities = authoritiesOnly ? bundle.filter(canBeRoot) : bundle;
  return { context: { ca: authorities.map(String), allowPartialTrustChain: true }, authorities };
}

/** A text without a certificate trusts nobody. */
function certificatesOf(pem: string): readonly X509Certificate[] {
  try {
    return readBundle(pem);
  } catch {
    return [];
  }
}

/**
 * Why the server of a connection is not trusted; undefined: it is. `name`: the name or address that its certificate must have.
 * Certificates are checked by the machine's clock, as OpenSSL does.
 */
export function refusalOf(socket: TLSSocket, name: string, authorities: readonly X509Certificate[]): Error | undefined {
  if (socket.authorized) return undefined;
  // Node has the code of the error here, and no text.
  const code = socket.authorizationError as unknown as string;
  const certificate = socket.getPeerX509Certificate();
  const wrongName = certificate && checkServerIdentity(name, certificate.toLegacyObject());
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' && wrongName !== undefined) return wrongName;
  const isRefusedByName = code === 'DEPTH_ZERO_SELF_SIGNED_CERT';
  if (isRefusedByName && certificate && isIssuedByNamesake(certificate, authorities, systemClock.now())) return wrongName;
  return Object.assign(new Error(`the certificate is not accepted: ${code}`), { code });
}

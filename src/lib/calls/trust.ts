/**
 * Trust in a bundle of certificates. Every certificate of it is an anchor, be it a root, an intermediate or the
 * certificate of the server itself: that is what clients put into `caBundle`, and what a stock server accepts.
 *
 * OpenSSL requires a root by default, which Node can change from 20.18 and 22.9 on. Before these the chain is verified
 * here, by the rules of client certificates, before anything is sent.
 */
import type { X509Certificate } from 'node:crypto';
import { checkServerIdentity, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { ChainError, canBeRoot, peerChain, readBundle, verifyChain } from '../pki.ts';

export interface BundleTrust {
  /** For `createSecureContext` and what takes the same options. */
  readonly context: Pick<SecureContextOptions, 'ca'> & { readonly allowPartialTrustChain?: boolean };
  /** Anchors, if Node does not accept all of the bundle as such: then `accepts` checks what OpenSSL refuses. */
  readonly anchors?: readonly X509Certificate[];
}

export function trustsPartialChains(version: string = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 9) || (major === 20 && minor >= 18);
}

/** `authoritiesOnly`: certificates that cannot be a CA are no anchors. Absent bundle: the roots of the host. */
export function trustIn(pem: string | undefined, authoritiesOnly = false, partial: boolean = trustsPartialChains()): BundleTrust {
  if (pem === undefined) return { context: {} };
  let ca: string | string[] = pem;
  if (authoritiesOnly) ca = readBundle(pem).flatMap((one) => (canBeRoot(one) ? [one.toString()] : []));
  if (partial) return { context: { ca, allowPartialTrustChain: true } };
  return { context: { ca }, anchors: anchorsIn(ca) };
}

/** A text without a certificate is refused, or reported, by its user. */
function anchorsIn(ca: string | readonly string[]): X509Certificate[] {
  try {
    return readBundle(typeof ca === 'string' ? ca : ca.join('\n'));
  } catch {
    return [];
  }
}

/** The error code of OpenSSL for a chain with an unknown root. */
const unknownRoot: ReadonlySet<unknown> = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
]);

/** Why a server that OpenSSL did not accept is not trusted; undefined: one of the anchors signed it. */
export function faultOf(socket: TLSSocket, name: string, anchors: readonly X509Certificate[], now: number): Error | undefined {
  if (socket.authorized) return undefined;
  const refusal = socket.authorizationError as unknown as Error | string | undefined;
  const code = typeof refusal === 'string' ? refusal : (refusal as NodeJS.ErrnoException | undefined)?.code;
  const error = refusal instanceof Error ? refusal : Object.assign(new Error(`the certificate is not accepted: ${code}`), { code });
  if (!unknownRoot.has(code)) return error;
  try {
    const [leaf] = verifyChain(peerChain(socket), anchors, now, 'serverAuth');
    return checkServerIdentity(name, (leaf as X509Certificate).toLegacyObject());
  } catch (fault) {
    return fault instanceof ChainError ? error : (fault as Error);
  }
}

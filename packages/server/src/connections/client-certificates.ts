/**
 * Certificates of clients. OpenSSL verifies them in the handshake, against all CAs of the server together; its verdict is final.
 * Which bundle of CAs a certificate belongs to (clients, front proxies) follows from where the verified chain ends:
 *
 *   CAs of clients { A }   CAs of proxies { P }
 *   jane ← A               ends in A: a client
 *   front ← middle ← P     ends in P: a proxy
 *   x ← middle ← A, P      two CAs signed `middle`: OpenSSL verified one of the chains, and does not say which. Neither.
 */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { isValidAt, notAfterOf } from '@plat-dev/pki/contents';
import { hasStrongKey, hasStrongSignature } from '@plat-dev/pki/strength';

export interface ClientCertificate {
  readonly certificate: X509Certificate;
  /** Why it is not accepted; undefined: OpenSSL verified a chain to one of the CAs. */
  readonly refusal: string | undefined;
  /** What the client sent with it. */
  readonly sent: readonly X509Certificate[];
  /** The CAs of the server at the time of the handshake. */
  readonly authorities: readonly X509Certificate[];
}

/** Certificates that a client may send with its own; with more it is refused. A chain is seldom longer than four. */
export const MAX_SENT = 16;

/**
 * To be called once for a connection, when its handshake ends: Node forgets what was sent. `isWeak`: the security level of the
 * connection accepts certificates that OpenSSL refuses by default. Undefined: the client has no certificate.
 */
export function clientCertificateOf(
  socket: TLSSocket,
  authorities: readonly X509Certificate[],
  isWeak = false,
): ClientCertificate | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const issuers: X509Certificate[] = [];
  for (let next = certificate.issuerCertificate; next !== undefined && issuers.length <= MAX_SENT; next = next.issuerCertificate)
    issuers.push(next);
  const refusal = issuers.length > MAX_SENT ? `it came with more than ${MAX_SENT} others` : refusalOf(socket);
  const clientCertificate: ClientCertificate = { certificate, refusal, sent: issuers, authorities };
  if (clientCertificate.refusal !== undefined || !isWeak || isStrong(pathsOf(clientCertificate))) return clientCertificate;
  return { ...clientCertificate, refusal: 'a key or a signature is too weak' };
}

function refusalOf(socket: TLSSocket): string | undefined {
  // A resumed session was verified earlier, perhaps against other CAs. The server resumes none (tls.ts).
  if (socket.isSessionReused()) return 'the session was resumed';
  // Node has the code of the error here.
  return socket.authorized ? undefined : String(socket.authorizationError ?? 'not verified');
}

/** The certificates of all chains that OpenSSL may have verified. */
export interface Paths {
  readonly certificates: readonly X509Certificate[];
  /** The CAs in which they end. */
  readonly roots: readonly X509Certificate[];
  /** False: certificates between the client's and the roots were not found, so that each root is possible. Node 24 hides those sent. */
  readonly isComplete: boolean;
  /** When the first of the certificates expires, in milliseconds since 1970. */
  readonly until: number;
}

/** OpenSSL finds issuers by names and key identifiers, as `checkIssued` does, and uses none that is not valid at the time. */
export function pathsOf({ certificate, sent, authorities }: ClientCertificate, now?: number): Paths {
  const isUsable = (one: X509Certificate): boolean => now === undefined || isValidAt(one, now);
  const isItself = (one: X509Certificate): boolean => one.fingerprint256 === certificate.fingerprint256 && one.subject === one.issuer;
  const candidates = [...authorities, ...sent].filter(isUsable);
  const certificates = [certificate, ...authorities.filter(isItself)].filter(isUsable);
  for (const one of certificates) {
    // A chain ends with a self-signed certificate.
    if (one.checkIssued(one)) continue;
    for (const issuer of candidates) if (!certificates.includes(issuer) && one.checkIssued(issuer)) certificates.push(issuer);
  }
  const roots = authorities.filter((one) => isUsable(one) && (one.checkIssued(one) || isItself(one)));
  const reachedRoots = roots.filter((root) => certificates.includes(root));
  return {
    certificates,
    roots: reachedRoots.length > 0 || certificates.length === 0 ? reachedRoots : roots,
    isComplete: reachedRoots.length > 0,
    until: Math.min(...certificates.map(notAfterOf)),
  };
}

/** Whether keys and signatures are what OpenSSL requires by default, or better. A root need not be signed. */
function isStrong({ certificates, roots, isComplete }: Paths): boolean {
  try {
    return isComplete && certificates.every((one) => hasStrongKey(one) && (roots.includes(one) || hasStrongSignature(one)));
  } catch {
    // The bytes of one of them cannot be read, or its key.
    return false;
  }
}

/** Whether a certificate chain leads to a trusted root, is within its validity period and has the required usage. */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { extendedUsageOids } from './certificate.ts';
import { canBeRoot, extensionsOf, notAfterOf } from './contents.ts';
import { read, Tag } from './der.ts';
import { extensionOids } from './subject-names.ts';

/** The peer certificates of a connection, its own first. A resumed session has only that one. */
export function peerChain(socket: Pick<TLSSocket, 'getPeerX509Certificate'>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next = socket.getPeerX509Certificate();
  while (next !== undefined && chain.length < maxDepth && !chain.some((seen) => seen.fingerprint256 === next?.fingerprint256)) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

export type Purpose = 'clientAuth' | 'serverAuth' | 'any';

/** Why a chain was not accepted; the text names no secret. */
export class ChainError extends Error {}

/** Chains are seldom longer than four; a longer one, or a maze of cross-signed ones, is refused. */
const maxDepth = 8;
const maxSignatureChecks = 32;

const known = new Set<string>(Object.values(extensionOids));

function pathLengthOf(certificate: X509Certificate): number | undefined {
  const constraints = extensionsOf(certificate).find(({ oid }) => oid === extensionOids.basicConstraints);
  const limit =
    constraints &&
    read(constraints.value)
      .children()
      .find(({ tag }) => tag === Tag.integer);
  return limit?.content.length === 1 ? limit.content[0] : undefined;
}

function checkOne(certificate: X509Certificate, now: number, purpose: Purpose): void {
  const extensions = extensionsOf(certificate);
  if (!(now >= Date.parse(certificate.validFrom))) throw new ChainError('certificate is not yet valid');
  if (!(now <= notAfterOf(certificate))) throw new ChainError('certificate has expired');
  if (extensions.some((extension) => extension.critical && !known.has(extension.oid))) {
    throw new ChainError('certificate has a critical extension that is not understood');
  }
  if (purpose === 'any') return;
  const uses = certificate.keyUsage as readonly string[] | undefined;
  if (uses !== undefined && !uses.includes(extendedUsageOids[purpose]) && !uses.includes(extendedUsageOids.any)) {
    throw new ChainError('certificate specifies an incompatible key usage');
  }
}

/**
 * Verifies the first of `chain` (the others are intermediates, in any order) up to one of `roots`. Returns the path,
 * its root last; throws ChainError if there is none. The validity and usage of every certificate on the path are checked.
 */
export function verifyChain(
  chain: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  now: number,
  purpose: Purpose,
): X509Certificate[] {
  const leaf = chain[0];
  if (leaf === undefined) throw new ChainError('no certificate');
  checkOne(leaf, now, purpose);
  const trusted = roots.find((root) => root.raw.equals(leaf.raw));
  if (trusted !== undefined) return [leaf];
  const intermediates = chain.slice(1);
  let checks = 0;
  let problem: ChainError | undefined;

  const signedBy = (certificate: X509Certificate, issuer: X509Certificate, isRoot: boolean): boolean => {
    if (!(isRoot ? canBeRoot(issuer) : issuer.ca) || !certificate.checkIssued(issuer)) return false;
    checks++;
    if (checks > maxSignatureChecks) throw new ChainError('certificate chain is too tangled');
    return certificate.verify(issuer.publicKey);
  };
  const usable = (issuer: X509Certificate, below: number): boolean => {
    const pathLength = pathLengthOf(issuer);
    if (pathLength !== undefined && below > pathLength) return false;
    try {
      checkOne(issuer, now, purpose);
      return true;
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      problem = error;
      return false;
    }
  };
  const up = (path: readonly X509Certificate[]): X509Certificate[] | undefined => {
    const top = path[path.length - 1] as X509Certificate;
    for (const root of roots) if (signedBy(top, root, true) && usable(root, path.length - 1)) return [...path, root];
    if (path.length >= maxDepth) return undefined;
    for (const next of intermediates) {
      if (path.some((seen) => seen.raw.equals(next.raw)) || !signedBy(top, next, false) || !usable(next, path.length - 1)) continue;
      const found = up([...path, next]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const path = up([leaf]);
  if (path === undefined) throw problem ?? new ChainError('certificate signed by unknown authority');
  return path;
}

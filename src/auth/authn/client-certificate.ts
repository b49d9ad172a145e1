/** The client certificate of the connection: its common name is the user, its organizations are the groups. */
import type { X509Certificate } from 'node:crypto';
import { ChainError, notAfterOf, type Revoked, subjectOf, verifyChain } from '../../lib/pki.ts';
import { unauthorized } from '../../meta/errors.ts';
import type { Authenticator, AuthRequest, User } from '../types.ts';
import { authenticated } from './users.ts';

/** Trusted roots; a new array when the file was reloaded. */
export type Roots = () => readonly X509Certificate[];
/** Revoked certificates; a new value when the file was reloaded. */
export type RevokedNow = () => Revoked | undefined;

/** Intermediates kept for resumed sessions, in which a client sends only its own certificate. */
const maxIntermediates = 64;

/** How long a failed verification is cached: a chain costs signature checks, and a client may retry often. */
const refusalMillis = 10_000;

interface Verified {
  readonly roots: readonly X509Certificate[];
  readonly revoked: Revoked | undefined;
  /** Absent if the client sent none, or one that is not trusted. */
  readonly leaf?: X509Certificate;
  readonly failure?: unknown;
  /** Valid until the first certificate of the path expires. */
  readonly until: number;
}

/** Verifies client certificates against roots, once per connection. Returns the client's certificate, or throws. */
export class ClientVerifier {
  private readonly roots: Roots;
  private readonly now: () => number;
  private readonly revoked: RevokedNow;
  private readonly connections = new WeakMap<object, Verified>();
  private intermediates: X509Certificate[] = [];

  constructor(roots: Roots, now: () => number, revoked: RevokedNow = () => undefined) {
    this.roots = roots;
    this.now = now;
    this.revoked = revoked;
  }

  /** Undefined if the client sent none. */
  verify(request: AuthRequest): X509Certificate | undefined {
    if (request.peerCertificate === undefined) return undefined;
    const roots = this.roots();
    const revoked = this.revoked();
    const { socketKey } = request;
    let verified = socketKey === undefined ? undefined : this.connections.get(socketKey);
    if (verified === undefined || verified.roots !== roots || verified.revoked !== revoked || this.isOver(verified)) {
      verified = this.check(request.peerCertificate(), roots, revoked, this.now());
      if (socketKey !== undefined) this.connections.set(socketKey, verified);
    }
    if (verified.failure !== undefined) throw verified.failure;
    return verified.leaf;
  }

  private isOver({ until }: Verified): boolean {
    return until !== Number.POSITIVE_INFINITY && this.now() >= until;
  }

  private check(chain: readonly X509Certificate[], roots: readonly X509Certificate[], revoked: Revoked | undefined, now: number): Verified {
    const leaf = chain[0];
    if (leaf === undefined) return { roots, revoked, until: Number.POSITIVE_INFINITY };
    try {
      const path = verifyChain([...chain, ...this.intermediates], roots, now, 'clientAuth');
      if (revoked !== undefined && path.some((one) => revoked.has(one))) throw new ChainError('certificate is revoked');
      this.remember(path.slice(1, -1));
      return { roots, revoked, leaf, until: Math.min(...path.map(notAfterOf)) };
    } catch (failure) {
      return { roots, revoked, failure, until: now + refusalMillis };
    }
  }

  private remember(path: readonly X509Certificate[]): void {
    for (const one of path) {
      if (!this.intermediates.some((seen) => seen.raw.equals(one.raw))) {
        this.intermediates = [one, ...this.intermediates].slice(0, maxIntermediates);
      }
    }
  }
}

export function clientCertificate(roots: Roots, now: () => number, revoked?: RevokedNow): Authenticator {
  const verifier = new ClientVerifier(roots, now, revoked);
  const users = new WeakMap<X509Certificate, User>();
  return {
    name: 'client-certificate',
    authenticate(request) {
      let leaf: X509Certificate | undefined;
      try {
        leaf = verifier.verify(request);
      } catch {
        throw unauthorized();
      }
      if (leaf === undefined) return undefined;
      let user = users.get(leaf);
      if (user === undefined) {
        const { commonName, organizations } = subjectOf(leaf);
        // A certificate without a common name identifies no user.
        if (commonName === '') return undefined;
        user = authenticated({ name: commonName, groups: organizations });
        users.set(leaf, user);
      }
      return user;
    },
  };
}

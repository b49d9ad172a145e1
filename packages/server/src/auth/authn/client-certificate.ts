/** The client certificate of the connection: its common name is the user, its organizations are the groups. */
import { createHash, type X509Certificate } from 'node:crypto';
import { unauthorized } from '@plat-dev/meta/errors';
import { DerError, type Revoked, type Subject, subjectOf } from '@plat-dev/pki';
import { type ClientCertificate, pathsOf } from '../../connections/client-certificates.ts';
import type { Authenticator, AuthRequest, User } from '../types.ts';
import { authenticated } from './users.ts';

export interface CertificateTrust {
  /** The CAs whose certificates are accepted; a new array when the file was reloaded. */
  readonly authorities: () => readonly X509Certificate[];
  readonly now: () => number;
  /** Revoked certificates; a new value when the file was reloaded. */
  readonly revoked?: (() => Revoked | undefined) | undefined;
  /** Gets the reason of each refusal, once for a connection and state of the files. */
  readonly refused?: ((certificate: X509Certificate, reason: string) => void) | undefined;
}

interface Verdict {
  readonly authorities: readonly X509Certificate[];
  readonly revoked: Revoked | undefined;
  /** Undefined: it is refused. */
  readonly subject: Subject | undefined;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Finds client certificates of a bundle of CAs, once for each connection and state of the files. */
export class ClientVerifier {
  private readonly trust: CertificateTrust;
  private readonly verdicts = new WeakMap<ClientCertificate, Verdict>();

  constructor(trust: CertificateTrust) {
    this.trust = trust;
  }

  /** The subject of the client's certificate; undefined if it has none. Throws if the certificate is not accepted. */
  verify({ clientCertificate }: AuthRequest): Subject | undefined {
    if (clientCertificate === undefined) return undefined;
    const authorities = this.trust.authorities();
    const revoked = this.trust.revoked?.();
    let verdict = this.verdicts.get(clientCertificate);
    if (verdict === undefined || verdict.authorities !== authorities || verdict.revoked !== revoked || this.trust.now() >= verdict.until) {
      verdict = this.decide(clientCertificate, authorities, revoked);
      this.verdicts.set(clientCertificate, verdict);
    }
    if (verdict.subject === undefined) throw unauthorized();
    return verdict.subject;
  }

  private decide(clientCertificate: ClientCertificate, authorities: readonly X509Certificate[], revoked: Revoked | undefined): Verdict {
    try {
      return { authorities, revoked, ...acceptedBy(clientCertificate, authorities, revoked, this.trust.now()) };
    } catch (error) {
      if (!(error instanceof Refused || error instanceof DerError)) throw error;
      this.trust.refused?.(clientCertificate.certificate, error.message);
      return { authorities, revoked, subject: undefined, until: Number.POSITIVE_INFINITY };
    }
  }
}

class Refused extends Error {}

/** Throws Refused, or DerError if the certificate cannot be read. */
function acceptedBy(
  clientCertificate: ClientCertificate,
  authorities: readonly X509Certificate[],
  revoked: Revoked | undefined,
  now: number,
): Pick<Verdict, 'subject' | 'until'> {
  if (clientCertificate.refusal !== undefined) throw new Refused(clientCertificate.refusal);
  const { certificates, roots, isComplete, until } = pathsOf(clientCertificate, now);
  if (roots.length === 0) throw new Refused('it, or its CA, has expired or is not yet valid');
  const fingerprints = new Set(authorities.map(({ fingerprint256 }) => fingerprint256));
  if (!roots.every(({ fingerprint256 }) => fingerprints.has(fingerprint256))) throw new Refused('its CA is another one');
  if (revoked !== undefined && certificates.some((one) => revoked.has(one))) throw new Refused('it, or its CA, is revoked');
  if (revoked !== undefined && !isComplete) throw new Refused('its CA may be revoked, and is not in the file of CAs');
  return { subject: subjectOf(clientCertificate.certificate), until };
}

export interface CertificateUsers {
  /** The key in a user's extra fields for what identifies the certificate; absent: users do not have it. */
  readonly credentialKey?: string | undefined;
  /** Whether the uid in the subject is the user's. */
  readonly uids: boolean;
}

/** Throws where the subject has several uids, or an empty one. */
function userOf({ commonName, organizations, uids = [] }: Subject, certificate: X509Certificate, users: CertificateUsers): User {
  const [uid] = users.uids ? uids : [];
  if (users.uids && (uids.length > 1 || uid === '')) throw unauthorized();
  const { credentialKey } = users;
  return authenticated({
    name: commonName,
    ...(uid !== undefined && { uid }),
    groups: organizations,
    ...(credentialKey !== undefined && { extra: { [credentialKey]: [`X509SHA256=${sha256(certificate.raw)}`] } }),
  });
}
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export function clientCertificate(trust: CertificateTrust, options: CertificateUsers = { uids: false }): Authenticator {
  const verifier = new ClientVerifier(trust);
  const users = new WeakMap<Subject, User>();
  return {
    name: 'client-certificate',
    authenticate(request) {
      const subject = verifier.verify(request);
      // A certificate without a common name identifies no user.
      if (subject === undefined || subject.commonName === '') return undefined;
      let user = users.get(subject);
      if (user === undefined) {
        user = userOf(subject, (request.clientCertificate as ClientCertificate).certificate, options);
        users.set(subject, user);
      }
      return user;
    },
  };
}

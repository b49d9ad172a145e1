/** The claims of service account tokens of both kinds: bound tokens made on request, and tokens in a Secret. */

import type { KeyObject } from 'node:crypto';
import { own } from '@plat-dev/lib/own';
import { domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { type Claims, signJwt } from '@plat-dev/pki/jwt';
import { serviceAccountName } from '../authn/users.ts';

export interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

interface NodeReference {
  readonly name: string;
  readonly uid?: string;
}

/** The private claim of a bound token, under the identity's domain. */
export interface BoundClaims {
  readonly namespace: string;
  readonly serviceaccount: NamedObject;
  readonly pod?: NamedObject;
  readonly secret?: NamedObject;
  /** Of a pod's token the node on which it runs, which may be gone; else the node to which the token is bound. */
  readonly node?: NodeReference;
  /** Seconds; after this the token is valid only because its expiry was extended. */
  readonly warnafter?: number;
}

const namedObjectOf = (value: unknown): NamedObject | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, uid } = value as Record<string, unknown>;
  return typeof name === 'string' && typeof uid === 'string' && name !== '' && uid !== '' ? { name, uid } : undefined;
};

function nodeReferenceOf(value: unknown): NodeReference | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, uid } = value as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') return undefined;
  return typeof uid === 'string' && uid !== '' ? { name, uid } : { name };
}

/** Undefined if the token is not a bound one, or lacks required claims. */
export function readBound(identity: Identity, claims: Claims): BoundClaims | undefined {
  const boundClaims = own(claims, identity.domain);
  if (typeof boundClaims !== 'object' || boundClaims === null) return undefined;
  const { namespace, serviceaccount, pod, secret, node, warnafter } = boundClaims as Record<string, unknown>;
  const account = namedObjectOf(serviceaccount);
  if (typeof namespace !== 'string' || namespace === '' || account === undefined) return undefined;
  // A reference to an object without all its fields would not be checked.
  if ((pod !== undefined && namedObjectOf(pod) === undefined) || (secret !== undefined && namedObjectOf(secret) === undefined))
    return undefined;
  const nodeReference = node === undefined ? undefined : nodeReferenceOf(node);
  const isNodeBound = node !== undefined && pod === undefined && secret === undefined;
  if ((node !== undefined && nodeReference === undefined) || (isNodeBound && nodeReference?.uid === undefined)) return undefined;
  return {
    namespace,
    serviceaccount: account,
    ...(pod !== undefined && { pod: namedObjectOf(pod) as NamedObject }),
    ...(secret !== undefined && { secret: namedObjectOf(secret) as NamedObject }),
    ...(nodeReference !== undefined && { node: nodeReference }),
    ...(typeof warnafter === 'number' && { warnafter }),
  };
}

export interface BoundToken {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The identifier of the token. */
  readonly id?: string | undefined;
  readonly bound: BoundClaims;
}

export function signBound(identity: Identity, key: KeyObject, token: BoundToken): Promise<string> {
  const { bound, issuedAt } = token;
  const claims: Record<string, unknown> = {
    aud: token.audiences,
    exp: token.expiresAt,
    iat: issuedAt,
    iss: token.issuer,
    ...(token.id !== undefined && { jti: token.id }),
    [identity.domain]: {
      namespace: bound.namespace,
      ...(bound.node && { node: bound.node }),
      ...(bound.pod && { pod: bound.pod }),
      ...(bound.secret && { secret: bound.secret }),
      serviceaccount: bound.serviceaccount,
      ...(bound.warnafter !== undefined && { warnafter: bound.warnafter }),
    },
    nbf: issuedAt,
    sub: serviceAccountName(bound.namespace, bound.serviceaccount.name),
  };
  return signJwt(Object.fromEntries(Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1))), key);
}

/** The issuer of tokens in Secrets, regardless of the server's own issuer. */
export const legacyIssuer = (identity: Identity): string => `${identity.word}/serviceaccount`;

export interface LegacyClaims {
  readonly namespace: string;
  readonly secretName: string;
  readonly account: NamedObject;
}
const legacyClaim = (identity: Identity, name: string): QualifiedName => domainName(identity, `serviceaccount/${name}`);

export function readLegacy(identity: Identity, claims: Claims): LegacyClaims | undefined {
  const text = (name: string): string => {
    const value = claims[legacyClaim(identity, name)];
    return typeof value === 'string' ? value : '';
  };
  const namespace = text('namespace');
  const secretName = text('secret.name');
  const account = namedObjectOf({ name: text('service-account.name'), uid: text('service-account.uid') });
  return namespace === '' || secretName === '' || account === undefined ? undefined : { namespace, secretName, account };
}

/** A token for a Secret. It does not expire; it is valid while the Secret and the account exist. */
export function signLegacy(identity: Identity, key: KeyObject, { namespace, secretName, account }: LegacyClaims): Promise<string> {
  return signJwt(
    {
      iss: legacyIssuer(identity),
      [legacyClaim(identity, 'namespace')]: namespace,
      [legacyClaim(identity, 'secret.name')]: secretName,
      [legacyClaim(identity, 'service-account.name')]: account.name,
      [legacyClaim(identity, 'service-account.uid')]: account.uid,
      sub: serviceAccountName(namespace, account.name),
    },
    key,
  );
}

/** Makes a bound token on request, as the `token` subresource of a service account does. */

import type { KeyObject } from 'node:crypto';
import type { TokenRequestSpec } from '@plat-dev/kinds/authentication/schema/v1';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import type { Integer } from '@plat-dev/lib/integers';
import { groupOfApiVersion, slashedApiVersion } from '@plat-dev/meta/api-version';
import { badRequest, conflict, invalid, notFound } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { type NamedObject, signBound } from './claims.ts';

export interface TokenIssuer {
  readonly identity: Identity;
  readonly issuer: string;
  readonly key: KeyObject;
  /** Default audiences of a token. */
  readonly audiences: readonly string[];
  readonly live: LiveSource;
  readonly now: () => number;
  /** Maximum lifetime. */
  readonly maxSeconds?: number;
  /** Whether tokens of pods are extended beyond the requested expiry, with a warning, so that old clients do not break. */
  readonly extend: boolean;
}

export type RequestedToken = Partial<Part<TokenRequestSpec>>;

export interface IssuedToken {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly token: string;
  /** RFC 3339. */
  readonly expirationTimestamp: string;
}

const minSeconds = 10 * 60;
const maxAskable = 2 ** 32;
const usualSeconds = 3600;
/** The lifetime that mounted tokens are requested with: an hour, and seven seconds to recognize them by. */
const mountedSeconds = 3607;
const stretchedSeconds = 365 * 24 * 3600;

type PodObject = Wire<Pod>;

function boundObject(issuer: TokenIssuer, namespace: string, account: string, ref: NonNullable<RequestedToken['boundObjectRef']>) {
  const { kind = '', apiVersion = '', name = '', uid = '' } = ref;
  // Any version of the core group will do.
  if (groupOfApiVersion(apiVersion) !== '' || (kind !== 'Pod' && kind !== 'Secret')) {
    throw badRequest(`cannot bind token to object of type ${slashedApiVersion(apiVersion)}, Kind=${kind}`);
  }
  if (name === '') throw badRequest('Name parameter required.');
  const resource = kind === 'Pod' ? 'pods' : 'secrets';
  const boundTo = issuer.live<PodObject>('', resource).get(namespace, name);
  if (boundTo === undefined) throw notFound({ group: '', resource }, name);
  if (kind === 'Pod' && boundTo.spec?.serviceAccountName !== account) {
    throw badRequest(`cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`);
  }
  const actual = boundTo.metadata.uid ?? '';
  if (uid !== '' && uid !== actual) {
    throw conflict(
      { group: '', resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  const object: NamedObject = { name, uid: actual };
  return kind === 'Pod' ? { pod: object } : { secret: object };
}

function checkSeconds(issuer: TokenIssuer, seconds: Integer): void {
  const errors = new FieldErrors();
  const path = Path.of('spec', 'expirationSeconds');
  if (seconds < minSeconds) errors.invalid(path, seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > maxAskable) errors.invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds');
  if (!errors.empty) throw invalid({ group: groupName(issuer.identity, 'authentication'), resource: 'TokenRequest' }, '', errors.list);
}

/** Throws an ApiError for an unknown account, an invalid lifetime or an invalid bound object. */
export async function issueToken(issuer: TokenIssuer, namespace: string, name: string, spec: RequestedToken): Promise<IssuedToken> {
  const account = issuer.live('', 'serviceaccounts').get(namespace, name);
  if (account === undefined) throw notFound({ group: '', resource: 'serviceaccounts' }, name);
  const requestedLifetime = spec.expirationSeconds ?? usualSeconds;
  checkSeconds(issuer, requestedLifetime);
  const requestedSeconds = Number(requestedLifetime);
  const audiences =
    spec.audiences === undefined || spec.audiences === null || spec.audiences.length === 0 ? issuer.audiences : spec.audiences;
  const object = spec.boundObjectRef == null ? {} : boundObject(issuer, namespace, name, spec.boundObjectRef);
  const seconds = issuer.maxSeconds === undefined ? requestedSeconds : Math.min(requestedSeconds, issuer.maxSeconds);
  const forThisServer = audiences.every((audience) => issuer.audiences.includes(audience));
  const stretch = issuer.extend && 'pod' in object && requestedSeconds === mountedSeconds && forThisServer;
  const issuedAt = Math.floor(issuer.now() / 1000);
  const token = await signBound(issuer.identity, issuer.key, {
    issuer: issuer.issuer,
    audiences,
    issuedAt,
    expiresAt: issuedAt + (stretch ? stretchedSeconds : seconds),
    bound: {
      namespace,
      serviceaccount: { name, uid: account.metadata.uid ?? '' },
      ...object,
      ...(stretch && { warnafter: issuedAt + requestedSeconds }),
    },
  });
  const expirationTimestamp = new Date((issuedAt + seconds) * 1000).toISOString().replace('.000Z', 'Z');
  return { audiences, expirationSeconds: seconds, token, expirationTimestamp };
}

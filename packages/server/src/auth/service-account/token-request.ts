/** Makes a bound token on request, as the `token` subresource of a service account does. */

import type { KeyObject } from 'node:crypto';
import type { TokenRequestSpec } from '@plat-dev/kinds/authentication/schema/v1';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import type { Integer } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { groupOfApiVersion, slashedApiVersion } from '@plat-dev/meta/api-version';
import { badRequest, conflict, invalid, notFound } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { type BoundClaims, type NamedObject, signBound } from './claims.ts';
import type { TokenFeatures } from './token-features.ts';

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
  readonly features: TokenFeatures;
  /** A new identifier of a token. */
  readonly newId: () => string;
}

export type RequestedToken = Partial<Part<TokenRequestSpec>>;

export interface IssuedToken {
  /** Its identifier, where it has one. */
  readonly id: string | undefined;
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

type Reference = NonNullable<RequestedToken['boundObjectRef']>;
type BoundTo = Pick<BoundClaims, 'pod' | 'secret' | 'node'>;

const resources: Readonly<Record<string, string>> = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' };

async function boundObject(issuer: TokenIssuer, namespace: string, account: string, ref: Reference): Promise<BoundTo> {
  const { kind = '', apiVersion = '', name = '', uid = '' } = ref;
  const resource = own(resources, kind);
  // Any version of the core group will do.
  if (groupOfApiVersion(apiVersion) !== '' || resource === undefined)
    throw badRequest(`cannot bind token to object of type ${slashedApiVersion(apiVersion)}, Kind=${kind}`);
  if (kind === 'Node' && !issuer.features.nodeBinding)
    throw badRequest('cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled');
  if (name === '') throw badRequest('Name parameter required.');
  const boundTo = await current(issuer.live<PodObject>('', resource), kind === 'Node' ? '' : namespace, name);
  if (boundTo === undefined) throw notFound({ group: '', resource }, name);
  if (kind === 'Pod' && boundTo.spec?.serviceAccountName !== account)
    throw badRequest(`cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`);
  const actual = boundTo.metadata.uid ?? '';
  if (uid !== '' && uid !== actual) {
    throw conflict(
      { group: '', resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  const object: NamedObject = { name, uid: actual };
  if (kind === 'Secret') return { secret: object };
  if (kind === 'Node') return { node: object };
  const nodeName = issuer.features.podNodes ? (boundTo.spec?.nodeName ?? '') : '';
  return { pod: object, ...(nodeName !== '' && { node: await nodeOf(issuer, nodeName) }) };
}

async function current<T extends ApiObject>(view: LiveView<T>, namespace: string, name: string): Promise<T | undefined> {
  await view.look(namespace, name);
  return view.get(namespace, name);
}

/** A node that is gone is named all the same. */
async function nodeOf({ live }: TokenIssuer, name: string): Promise<BoundClaims['node']> {
  const uid = (await current(live('', 'nodes'), '', name))?.metadata.uid;
  return { name, ...(uid !== undefined && { uid }) };
}

/** Characters of all audiences: with more of them the token would be longer than any that is looked at (`MAX_TOKEN`). */
export const MAX_AUDIENCE_CHARACTERS = 32 * 1024;

function check(issuer: TokenIssuer, seconds: Integer, audiences: readonly string[]): void {
  const errors = new FieldErrors();
  const characters = audiences.reduce((sum, { length }) => sum + length, 0);
  if (characters > MAX_AUDIENCE_CHARACTERS) errors.tooLong(Path.of('spec', 'audiences'), MAX_AUDIENCE_CHARACTERS);
  const path = Path.of('spec', 'expirationSeconds');
  if (seconds < minSeconds) errors.invalid(path, seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > maxAskable) errors.invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds');
  if (!errors.empty) throw invalid({ group: groupName(issuer.identity, 'authentication'), resource: 'TokenRequest' }, '', errors.list);
}

interface AccountName {
  readonly namespace: string;
  readonly name: string;
  /** Of the account, if the request names it. */
  readonly uid?: string | undefined;
}

/** Throws an ApiError for an unknown account, an invalid lifetime or an invalid bound object. */
export async function issueToken(
  issuer: TokenIssuer,
  { namespace, name, uid = '' }: AccountName,
  spec: RequestedToken,
): Promise<IssuedToken> {
  const account = issuer.live('', 'serviceaccounts').get(namespace, name);
  if (account === undefined) throw notFound({ group: '', resource: 'serviceaccounts' }, name);
  const accountUid = account.metadata.uid ?? '';
  if (issuer.features.accountUid && uid !== '' && uid !== accountUid) {
    throw conflict(
      { group: groupName(issuer.identity, 'authentication'), resource: 'TokenRequest' },
      name,
      `the UID in the token request (${uid}) does not match the UID of the service account (${accountUid})`,
    );
  }
  const requestedLifetime = spec.expirationSeconds ?? usualSeconds;
  check(issuer, requestedLifetime, spec.audiences ?? []);
  const requestedSeconds = Number(requestedLifetime);
  const audiences =
    spec.audiences === undefined || spec.audiences === null || spec.audiences.length === 0 ? issuer.audiences : spec.audiences;
  const object = spec.boundObjectRef == null ? {} : await boundObject(issuer, namespace, name, spec.boundObjectRef);
  const seconds = issuer.maxSeconds === undefined ? requestedSeconds : Math.min(requestedSeconds, issuer.maxSeconds);
  const forThisServer = audiences.every((audience) => issuer.audiences.includes(audience));
  const stretch = issuer.extend && 'pod' in object && requestedSeconds === mountedSeconds && forThisServer;
  const issuedAt = Math.floor(issuer.now() / 1000);
  const id = issuer.features.identifiers ? issuer.newId() : undefined;
  const token = await signBound(issuer.identity, issuer.key, {
    issuer: issuer.issuer,
    audiences,
    issuedAt,
    id,
    expiresAt: issuedAt + (stretch ? stretchedSeconds : seconds),
    bound: {
      namespace,
      serviceaccount: { name, uid: accountUid },
      ...object,
      ...(stretch && { warnafter: issuedAt + requestedSeconds }),
    },
  });
  const expirationTimestamp = new Date((issuedAt + seconds) * 1000).toISOString().replace('.000Z', 'Z');
  return { id, audiences, expirationSeconds: seconds, token, expirationTimestamp };
}

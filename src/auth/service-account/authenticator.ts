/**
 * Service account tokens. The signature of a token is verified once and cached; whether its account, and the pod
 * or secret that it is bound to, still exist is looked up on every request, so that a token ends with them.
 */

import type { KeyObject } from 'node:crypto';
import type { Secret } from '../../kinds/core/schema/config.ts';
import type { Live, LiveSource } from '../../kinds/live.ts';
import type { Wire } from '../../kinds/wire.ts';
import { ExpiringCache } from '../../lib/expiring-cache.ts';
import { audienceClaim, type Claims, isSignedBy, type Jwt, parseJwt, timeClaim } from '../../lib/jwt.ts';
import { domainName, type Identity } from '../../meta/identity.ts';
import { serviceAccountGroups, serviceAccountName } from '../authn/users.ts';
import { sameSecret } from '../secret.ts';
import { type BearerToken, type TokenAuthenticator, TokenRejected, type TokenResult, type User } from '../types.ts';
import { legacyIssuer, type NamedObject, readBound, readLegacy } from './claims.ts';

export interface ServiceAccountTokenOptions {
  readonly identity: Identity;
  /** Accepted issuers, first the one of new tokens. */
  readonly issuers: readonly string[];
  /** Keys to verify with; a new array when the files were reloaded. */
  readonly keys: () => readonly KeyObject[];
  /** Audiences of this server: those of a token in a Secret, and the required ones if the caller names none. */
  readonly audiences: readonly string[];
  readonly live: LiveSource;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type SecretObject = Wire<Secret>;

/** The verified claims; `alive` is called on every request. */
interface Need {
  readonly live: Pick<Live, 'look'>;
  readonly namespace: string;
  readonly name: string;
}

/** Reads those objects whose kinds are still being loaded; undefined if there are none. */
function looked(needs: readonly Need[]): Promise<unknown> | undefined {
  let waiting: Promise<void>[] | undefined;
  for (const { live, namespace, name } of needs) {
    if (live.look === undefined) continue;
    waiting ??= [];
    waiting.push(live.look(namespace, name));
  }
  return waiting && Promise.all(waiting);
}

interface Proved {
  readonly keys: readonly KeyObject[];
  readonly audiences: readonly string[];
  readonly notBefore: number;
  readonly expires: number;
  readonly user: User;
  readonly alive: () => boolean;
  /** The objects that `alive` looks up. */
  readonly needs: readonly Need[];
  /** The last result, so that the same question gets the same object. */
  last?: { readonly asked: readonly string[]; readonly result: TokenResult };
}

const algorithmsAllowed = ['RS256', 'ES256', 'ES384', 'ES512'];
const cacheSize = 4096;
const cacheMillis = 10 * 60 * 1000;
/** Clocks of servers that sign may be ahead of ours. */
const leewaySeconds = 60;
/** How long a terminating object still counts: its pods may be finishing their work. */
const deletionGraceMillis = 60_000;

export function serviceAccountTokens(options: ServiceAccountTokenOptions): TokenAuthenticator {
  const { identity, now } = options;
  const accounts = options.live('', 'serviceaccounts');
  const pods = options.live('', 'pods');
  const secrets = options.live<SecretObject>('', 'secrets');
  const proved = new ExpiringCache<Proved>(cacheSize, now);
  const legacy = legacyIssuer(identity);

  const lives = (collection: Live, namespace: string, object: NamedObject): boolean => {
    const found = collection.get(namespace, object.name);
    if (found === undefined || found.metadata.uid !== object.uid) return false;
    const deleted = found.metadata.deletionTimestamp;
    return deleted === undefined || deleted === null || now() < Date.parse(deleted) + deletionGraceMillis;
  };

  const bound = (claims: Claims): Pick<Proved, 'user' | 'alive' | 'needs'> => {
    const found = readBound(identity, claims);
    if (found === undefined) throw new TokenRejected('service account token has incomplete claims');
    const { namespace, serviceaccount, pod, secret } = found;
    const name = serviceAccountName(namespace, serviceaccount.name);
    if (claims.sub !== name) throw new TokenRejected('service account token has contradictory claims');
    const extra = pod && {
      [domainName(identity, 'pod-name', 'authentication')]: [pod.name],
      [domainName(identity, 'pod-uid', 'authentication')]: [pod.uid],
    };
    return {
      user: { name, uid: serviceaccount.uid, groups: serviceAccountGroups(namespace), ...(extra && { extra }) },
      alive: () =>
        lives(accounts, namespace, serviceaccount) &&
        (pod === undefined || lives(pods, namespace, pod)) &&
        (secret === undefined || lives(secrets as unknown as Live, namespace, secret)),
      needs: [
        { live: accounts, namespace, name: serviceaccount.name },
        ...(pod === undefined ? [] : [{ live: pods, namespace, name: pod.name }]),
        ...(secret === undefined ? [] : [{ live: secrets, namespace, name: secret.name }]),
      ],
    };
  };

  const kept = (claims: Claims, token: string): Pick<Proved, 'user' | 'alive' | 'needs'> => {
    const found = readLegacy(identity, claims);
    if (found === undefined) throw new TokenRejected('service account token has incomplete claims');
    const { namespace, secretName, account } = found;
    const name = serviceAccountName(namespace, account.name);
    if (claims.sub !== name) throw new TokenRejected('service account token has contradictory claims');
    let compared: { object: SecretObject; same: boolean } | undefined;
    const sameCopy = (): boolean => {
      const object = secrets.get(namespace, secretName);
      if (object === undefined || object.metadata.deletionTimestamp != null) return false;
      if (compared?.object !== object) {
        const copy = Buffer.from(object.data?.token ?? '', 'base64').toString('utf8');
        compared = { object, same: sameSecret(copy, token) };
      }
      return compared.same;
    };
    return {
      user: { name, uid: account.uid, groups: serviceAccountGroups(namespace) },
      alive: () => lives(accounts, namespace, account) && sameCopy(),
      needs: [
        { live: accounts, namespace, name: account.name },
        { live: secrets, namespace, name: secretName },
      ],
    };
  };

  const prove = (jwt: Jwt, token: string, keys: readonly KeyObject[]): Proved => {
    if (!keys.some((key) => isSignedBy(jwt, key, algorithmsAllowed)))
      throw new TokenRejected('service account token has an invalid signature');
    const { claims } = jwt;
    const inSecret = claims.iss === legacy;
    const audiences = audienceClaim(claims);
    const expires = timeClaim(claims, 'exp');
    // Only a token in a Secret may have no expiry.
    if (!inSecret && expires === undefined) throw new TokenRejected('service account token has no expiration');
    return {
      keys,
      audiences: inSecret && audiences.length === 0 ? options.audiences : audiences,
      notBefore: timeClaim(claims, 'nbf') ?? Number.NEGATIVE_INFINITY,
      expires: expires ?? Number.POSITIVE_INFINITY,
      ...(inSecret ? kept(claims, token) : bound(claims)),
    };
  };

  const provedOnce = (token: BearerToken): Proved | undefined => {
    const keys = options.keys();
    const before = proved.get(token.key);
    if (before !== undefined && before.keys === keys) return before;
    const jwt = parseJwt(token.value);
    const issuer = jwt?.claims.iss;
    if (jwt === undefined || typeof issuer !== 'string') return undefined;
    if (issuer !== legacy && !options.issuers.includes(issuer)) return undefined;
    const result = prove(jwt, token.value, keys);
    proved.set(token.key, result, cacheMillis);
    return result;
  };

  const authenticate = (
    token: BearerToken,
    audiences: readonly string[],
    isLooked: boolean,
  ): ReturnType<TokenAuthenticator['authenticateToken']> => {
    const found = provedOnce(token);
    if (found === undefined) return undefined;
    const waiting = isLooked ? undefined : looked(found.needs);
    if (waiting !== undefined) return waiting.then(() => authenticate(token, audiences, true));
    const seconds = now() / 1000;
    if (seconds >= found.expires) throw new TokenRejected('service account token has expired');
    if (seconds < found.notBefore - leewaySeconds) throw new TokenRejected('service account token is not valid yet');
    if (!found.alive()) throw new TokenRejected('service account token has been invalidated');
    if (found.last?.asked === audiences) return found.last.result;
    const asked = audiences.length === 0 ? options.audiences : audiences;
    const good = asked.filter((audience) => found.audiences.includes(audience));
    if (asked.length > 0 && good.length === 0) {
      const list = (names: readonly string[]) => `[${names.map((name) => JSON.stringify(name)).join(' ')}]`;
      throw new TokenRejected(`token audiences ${list(found.audiences)} is invalid for the target audiences ${list(asked)}`);
    }
    const result: TokenResult = { user: found.user, audiences: good };
    found.last = { asked: audiences, result };
    return result;
  };
  return { name: 'service-account-token', authenticateToken: (token, audiences) => authenticate(token, audiences, false) };
}

/**
 * Service account tokens. The signature of a token is verified once and cached; whether its account, and the pod
 * or secret that it is bound to, still exist is looked up on every request, so that a token ends with them.
 */

import type { KeyObject } from 'node:crypto';
import { invalidSinceLabel } from '@plat-dev/kinds/core/legacy-tokens';
import type { Secret, ServiceAccount } from '@plat-dev/kinds/core/schema/config';
import type { LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import type { Wire } from '@plat-dev/kinds/wire';
import { own } from '@plat-dev/lib/own';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import { audienceClaim, type Claims, isSignedBy, type Jwt, parseJwt, timeClaim } from '@plat-dev/pki/jwt';
import { ExpiringCache } from '../../expiring-cache.ts';
import { serviceAccountGroups, serviceAccountName } from '../authn/users.ts';
import { sameSecret } from '../secret.ts';
import { type BearerToken, type TokenAuthenticator, type TokenNotes, TokenRejected, type TokenResult, type User } from '../types.ts';
import { type BoundClaims, legacyIssuer, type NamedObject, readBound, readLegacy } from './claims.ts';
import type { TokenFeatures } from './token-features.ts';

export interface ServiceAccountTokenOptions {
  readonly identity: Identity;
  /** Accepted issuers, first the one of new tokens. */
  readonly issuers: readonly string[];
  /** Keys to verify with; a new array when the files were reloaded. */
  readonly keys: () => readonly KeyObject[];
  /** Audiences of this server: those of a token in a Secret, and the required ones if the caller names none. */
  readonly audiences: readonly string[];
  readonly live: LiveSource;
  readonly features: TokenFeatures;
  /** Gets each Secret whose token is used, where the use is noted. */
  readonly secretUsed?: ((secret: UsedSecret) => void) | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type SecretObject = Wire<Secret>;

/** The verified claims; `alive` is called on every request. */
interface Need {
  readonly live: Pick<LiveView, 'look'>;
  readonly namespace: string;
  readonly name: string;
}

/** Reads those objects that cannot be looked up at once; undefined if there are none. */
function looked(needs: readonly Need[]): Promise<unknown> | undefined {
  const looks = needs.flatMap(({ live, namespace, name }) => live.look(namespace, name) ?? []);
  return looks.length === 0 ? undefined : Promise.all(looks);
}

interface ProvedToken {
  readonly keys: readonly KeyObject[];
  readonly audiences: readonly string[];
  readonly notBefore: number;
  readonly expires: number;
  readonly user: User;
  readonly alive: () => boolean;
  /** Of a token in a Secret: notes its use, and says what there is to say of it. Throws where it is marked invalid. */
  readonly used?: (() => TokenNotes | undefined) | undefined;
  /** The objects that `alive` looks up. */
  readonly needs: readonly Need[];
  /** The last result, so that the same question gets the same object. */
  last?: { readonly audiences: readonly string[]; readonly result: TokenResult };
}

const algorithmsAllowed = ['RS256', 'ES256', 'ES384', 'ES512'];
const cacheSize = 4096;
const cacheMillis = 10 * 60 * 1000;
/** Clocks of servers that sign may be ahead of ours. */
const leewaySeconds = 60;
/** How long a terminating object still counts: its pods may be finishing their work. */
const deletionGraceMillis = 60_000;

const generatedWarning =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.';
const sameNotes = (a: TokenNotes | undefined, b: TokenNotes | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.warning === b.warning && a.annotation.join() === b.annotation.join());

/** A Secret whose token is used. */
interface UsedSecret {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
}

export function serviceAccountTokens(options: ServiceAccountTokenOptions): TokenAuthenticator {
  const tokens = new ServiceAccountTokens(options);
  return { name: 'service-account-token', authenticateToken: (token, audiences) => tokens.authenticate(token, audiences, false) };
}

class ServiceAccountTokens {
  private readonly options: ServiceAccountTokenOptions;
  private readonly accounts: LiveView;
  private readonly pods: LiveView;
  private readonly nodes: LiveView;
  private readonly secrets: LiveView<SecretObject>;
  private readonly proved: ExpiringCache<ProvedToken>;
  private readonly legacyIssuer: string;

  constructor(options: ServiceAccountTokenOptions) {
    const { identity, now } = options;
    this.options = options;
    this.accounts = options.live('', 'serviceaccounts');
    this.pods = options.live('', 'pods');
    this.nodes = options.live('', 'nodes');
    this.secrets = options.live<SecretObject>('', 'secrets');
    this.proved = new ExpiringCache<ProvedToken>(cacheSize, now);
    this.legacyIssuer = legacyIssuer(identity);
  }

  authenticate(token: BearerToken, audiences: readonly string[], isLooked: boolean): ReturnType<TokenAuthenticator['authenticateToken']> {
    const proof = this.proofOf(token);
    if (proof === undefined) return undefined;
    const waiting = isLooked ? undefined : looked(proof.needs);
    if (waiting !== undefined) return waiting.then(() => this.authenticate(token, audiences, true));
    const seconds = this.options.now() / 1000;
    if (seconds >= proof.expires) throw new TokenRejected('service account token has expired');
    if (seconds < proof.notBefore - leewaySeconds) throw new TokenRejected('service account token is not valid yet');
    if (!proof.alive()) throw new TokenRejected('service account token has been invalidated');
    const notes = proof.used?.();
    if (proof.last?.audiences === audiences && sameNotes(proof.last.result.notes, notes)) return proof.last.result;
    const result: TokenResult = { user: proof.user, audiences: this.sharedAudiences(proof, audiences), ...(notes && { notes }) };
    proof.last = { audiences: audiences, result };
    return result;
  }

  /** Those of the token that were asked for. Throws where there are none. */
  private sharedAudiences({ audiences }: ProvedToken, wantedAudiences: readonly string[]): string[] {
    const checkedAudiences = wantedAudiences.length === 0 ? this.options.audiences : wantedAudiences;
    const shared = checkedAudiences.filter((audience) => audiences.includes(audience));
    if (checkedAudiences.length > 0 && shared.length === 0) {
      const list = (names: readonly string[]) => `[${names.map((name) => JSON.stringify(name)).join(' ')}]`;
      throw new TokenRejected(`token audiences ${list(audiences)} is invalid for the target audiences ${list(checkedAudiences)}`);
    }
    return shared;
  }

  /** What a token proves; undefined for one of another issuer. */
  private proofOf(token: BearerToken): ProvedToken | undefined {
    const { options } = this;
    const keys = options.keys();
    const cachedProof = this.proved.get(token.key);
    if (cachedProof !== undefined && cachedProof.keys === keys) return cachedProof;
    const jwt = parseJwt(token.value);
    const issuer = jwt?.claims.iss;
    if (jwt === undefined || typeof issuer !== 'string') return undefined;
    if (issuer !== this.legacyIssuer && !options.issuers.includes(issuer)) return undefined;
    const proof = this.prove(jwt, token.value, keys);
    this.proved.set(token.key, proof, cacheMillis);
    return proof;
  }

  private prove(jwt: Jwt, token: string, keys: readonly KeyObject[]): ProvedToken {
    if (!keys.some((key) => isSignedBy(jwt, key, algorithmsAllowed)))
      throw new TokenRejected('service account token has an invalid signature');
    const { claims } = jwt;
    const inSecret = claims.iss === this.legacyIssuer;
    const audiences = audienceClaim(claims);
    const expires = timeClaim(claims, 'exp');
    // Only a token in a Secret may have no expiry.
    if (!inSecret && expires === undefined) throw new TokenRejected('service account token has no expiration');
    return {
      keys,
      audiences: inSecret && audiences.length === 0 ? this.options.audiences : audiences,
      notBefore: timeClaim(claims, 'nbf') ?? Number.NEGATIVE_INFINITY,
      expires: expires ?? Number.POSITIVE_INFINITY,
      ...(inSecret ? this.proveSecret(claims, token) : this.proveBound(claims)),
    };
  }

  /** A token that is bound to an account, and perhaps to a pod or a Secret: it ends with them. */
  private proveBound(claims: Claims): Pick<ProvedToken, 'user' | 'alive' | 'needs'> {
    const { accounts, pods, secrets } = this;
    const { identity } = this.options;
    const binding = readBound(identity, claims);
    if (binding === undefined) throw new TokenRejected('service account token has incomplete claims');
    const { namespace, serviceaccount, pod, secret, node } = binding;
    const name = serviceAccountName(namespace, serviceaccount.name);
    if (claims.sub !== name) throw new TokenRejected('service account token has contradictory claims');
    const extra = this.extraOf(binding, claims);
    // The node of a pod may be gone: the token is the pod's.
    const nodeItself = pod === undefined && secret === undefined ? (node as NamedObject | undefined) : undefined;
    if (nodeItself !== undefined && !this.options.features.nodeBinding)
      throw new TokenRejected('service account token is bound to a node, which this server does not check');
    return {
      user: { name, uid: serviceaccount.uid, groups: serviceAccountGroups(namespace), ...(extra && { extra }) },
      alive: () =>
        this.lives(accounts, namespace, serviceaccount) &&
        (pod === undefined || this.lives(pods, namespace, pod)) &&
        (secret === undefined || this.lives(secrets as unknown as LiveView, namespace, secret)) &&
        (nodeItself === undefined || this.lives(this.nodes, '', nodeItself)),
      needs: [
        { live: accounts, namespace, name: serviceaccount.name },
        ...(pod === undefined ? [] : [{ live: pods, namespace, name: pod.name }]),
        ...(secret === undefined ? [] : [{ live: secrets, namespace, name: secret.name }]),
        ...(nodeItself === undefined ? [] : [{ live: this.nodes, namespace: '', name: nodeItself.name }]),
      ],
    };
  }

  /** What users learn of the token, and of what it is bound to. */
  private extraOf({ pod, node }: BoundClaims, { jti }: Claims): User['extra'] {
    const { identity, features } = this.options;
    const extra: Record<string, readonly string[]> = {};
    const note = (name: string, value: string): void => {
      extra[domainName(identity, name, 'authentication')] = [value];
    };
    if (features.identifiers && typeof jti === 'string' && jti !== '') note('credential-id', `JTI=${jti}`);
    if (pod !== undefined) {
      note('pod-name', pod.name);
      note('pod-uid', pod.uid);
    }
    if (node !== undefined && features.podNodes) {
      note('node-name', node.name);
      if (node.uid !== undefined) note('node-uid', node.uid);
    }
    return Object.keys(extra).length === 0 ? undefined : extra;
  }

  /** A token that is kept in a Secret: it ends with its account, and when the Secret goes or holds another. */
  private proveSecret(claims: Claims, token: string): Pick<ProvedToken, 'user' | 'alive' | 'needs' | 'used'> {
    const { accounts, secrets } = this;
    const binding = readLegacy(this.options.identity, claims);
    if (binding === undefined) throw new TokenRejected('service account token has incomplete claims');
    const { namespace, secretName, account } = binding;
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
      alive: () => this.lives(accounts, namespace, account) && sameCopy(),
      used: this.options.features.legacyTracking ? () => this.useSecret(namespace, secretName, account.name) : undefined,
      needs: [
        { live: accounts, namespace, name: account.name },
        { live: secrets, namespace, name: secretName },
      ],
    };
  }

  private useSecret(namespace: string, name: string, account: string): TokenNotes {
    const { identity, features, secretUsed } = this.options;
    const labels = this.secrets.get(namespace, name)?.metadata.labels;
    if (own(labels, invalidSinceLabel(identity)) !== undefined)
      throw new TokenRejected(
        `the token in secret ${namespace}/${name} for service account ${namespace}/${account} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSinceLabel(identity)}' label from the secret to temporarily allow use of this token`,
      );
    secretUsed?.({ namespace, name, labels });
    const { secrets = [] } = (this.accounts.get(namespace, account) ?? {}) as Wire<ServiceAccount>;
    const isGenerated = secrets.some((reference) => reference.name === name);
    const kind = isGenerated ? 'legacy-token-autogenerated-secret' : 'legacy-token-manual-secret';
    return {
      ...(isGenerated && features.legacyWarnings && { warning: generatedWarning }),
      annotation: [`${groupName(identity, 'authentication')}/${kind}`, `${namespace}/${name}`],
    };
  }

  private lives(collection: LiveView, namespace: string, object: NamedObject): boolean {
    const current = collection.get(namespace, object.name);
    if (current === undefined || current.metadata.uid !== object.uid) return false;
    const deleted = current.metadata.deletionTimestamp;
    return deleted === undefined || deleted === null || this.options.now() < Date.parse(deleted) + deletionGraceMillis;
  }
}

/** ID tokens of an OpenID provider. Verified here with the provider's published keys; the provider is not called per request. */

import type { Clock } from '@plat-dev/lib/clock';
import { own } from '@plat-dev/lib/own';
import { algorithms, audienceClaim, type Claims, isSignedBy, type Jwt, parseJwt, timeClaim } from '@plat-dev/pki/jwt';
import { ExpiringCache } from '../../expiring-cache.ts';
import type { OutboundLimits } from '../../http-client/outbound.ts';
import { type BearerToken, type TokenAuthenticator, TokenRejected, type TokenResult, type User } from '../types.ts';
import { type ProviderKey, ProviderKeys, type ProviderOptions } from './keys.ts';

/** A provider, and what its tokens are to the server. */
export interface JwtOptions extends ProviderOptions {
  /** Of which a token must have one. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  /** Throws TokenRejected if the claims are not acceptable. */
  userOf(claims: Claims): User;
}

export interface OidcOptions {
  /** https only, as the tokens name it. */
  readonly issuerURL: string;
  readonly clientID: string;
  /** Default: `sub`. */
  readonly usernameClaim?: string;
  /** Unset: the issuer and `#`, except for `email`. `-`: none. */
  readonly usernamePrefix?: string;
  readonly groupsClaim?: string;
  readonly groupsPrefix?: string;
  readonly requiredClaims?: Readonly<Record<string, string>>;
  readonly signingAlgs?: readonly string[];
  /** PEM. Absent: the roots of the host. */
  readonly ca?: string;
  readonly clock: Clock;
  /** Limits of calls to the provider, if not the defaults. */
  readonly limits?: Partial<OutboundLimits>;
}

export interface OidcTokens extends TokenAuthenticator {
  /** Reads the provider's keys before the first token needs them. A failure is retried when one does. */
  start(): Promise<void>;
  close(): void;
}

/** Errors of invalid options, by flag. */
export function checkOidcOptions(options: Pick<OidcOptions, 'issuerURL' | 'clientID' | 'signingAlgs'>): string | undefined {
  if (!URL.canParse(options.issuerURL)) return 'oidc-issuer-url is not a URL';
  const url = new URL(options.issuerURL);
  if (url.protocol !== 'https:') return `oidc-issuer-url must begin with https://, not ${url.protocol}//`;
  if (options.clientID === '') return 'oidc-client-id is required where oidc-issuer-url is set';
  const unknown = options.signingAlgs?.find((name) => own(algorithms, name) === undefined);
  return unknown === undefined ? undefined : `oidc-signing-algs: ${unknown} is not one of ${Object.keys(algorithms).join(', ')}`;
}

interface ProvedToken {
  readonly keys: readonly ProviderKey[];
  readonly expires: number;
  readonly result: TokenResult;
}

const cacheSize = 4096;
const cacheMillis = 10 * 60 * 1000;
const leewaySeconds = 60;

const reject = (why: string): never => {
  throw new TokenRejected(`oidc: ${why}`);
};

function prefixOf(options: OidcOptions, claim: string): string {
  const givenPrefix = options.usernamePrefix ?? '';
  if (givenPrefix === '-') return '';
  if (givenPrefix !== '') return givenPrefix;
  return claim === 'email' ? '' : `${options.issuerURL}#`;
}

/** Makes a user of claims; throws if they are not acceptable. */
function userReader(options: OidcOptions): (claims: Claims) => User {
  const usernameClaim = options.usernameClaim ?? 'sub';
  const prefix = prefixOf(options, usernameClaim);
  const required = Object.entries(options.requiredClaims ?? {});
  return (claims) => {
    const name = own(claims, usernameClaim);
    if (typeof name !== 'string' || name === '') return reject(`claim ${usernameClaim} is not a text`);
    if (usernameClaim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true) {
      return reject('email not verified');
    }
    for (const [claim, value] of required) {
      if (own(claims, claim) !== value) return reject(`required claim ${claim} has another value`);
    }
    return { name: prefix + name, groups: groupsOf(options, claims) };
  };
}

function groupsOf(options: OidcOptions, claims: Claims): string[] {
  const claim = options.groupsClaim ?? '';
  const groups = claim === '' ? undefined : own(claims, claim);
  if (groups === undefined || groups === null) return [];
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string')) return reject(`claim ${claim} is not a list of texts`);
  return groups.map((group: string) => `${options.groupsPrefix ?? ''}${group}`);
}

export function oidcTokens(options: OidcOptions): OidcTokens {
  const problem = checkOidcOptions(options);
  if (problem !== undefined) throw new Error(problem);
  const { issuerURL, ca, clock, limits, clientID, signingAlgs: signatures = ['RS256'] } = options;
  return jwtTokens({ issuerURL, ca, clock, limits, audiences: [clientID], algorithms: signatures, userOf: userReader(options) });
}

export function jwtTokens(options: JwtOptions): OidcTokens {
  const { clock, issuerURL, audiences, algorithms: allowed } = options;
  const now = (): number => clock.now();
  const provider = new ProviderKeys(options);
  const proved = new ExpiringCache<ProvedToken>(cacheSize, now);

  const isSigned = (jwt: Jwt, keys: readonly ProviderKey[]): boolean =>
    keys.some(({ id, key }) => (jwt.keyId === undefined || id === undefined || id === jwt.keyId) && isSignedBy(jwt, key, allowed));

  /** The signature is valid; the claims are checked now. */
  const accept = (token: BearerToken, jwt: Jwt, keys: readonly ProviderKey[]): TokenResult => {
    const { claims } = jwt;
    if (!audienceClaim(claims).some((audience) => audiences.includes(audience))) reject('token is for another client');
    const expires = timeClaim(claims, 'exp') ?? reject('token has no expiration');
    const seconds = now() / 1000;
    if (seconds >= expires) reject('token has expired');
    if (seconds < (timeClaim(claims, 'nbf') ?? Number.NEGATIVE_INFINITY) - leewaySeconds) reject('token is not valid yet');
    const result: TokenResult = { user: options.userOf(claims) };
    proved.set(token.key, { keys, expires, result }, cacheMillis);
    return result;
  };

  const afterAnswer = async (token: BearerToken, jwt: Jwt, pendingAnswer: Promise<void>): Promise<TokenResult> => {
    await pendingAnswer.catch(() => {});
    const keys = provider.current();
    if (keys === undefined) return reject('authenticator not initialized');
    return isSigned(jwt, keys) ? accept(token, jwt, keys) : reject('failed to verify signature');
  };

  return {
    name: 'oidc',
    start: () => provider.read(),
    close: () => provider.close(),
    authenticateToken(token) {
      const keys = provider.current();
      const previousProof = proved.get(token.key);
      if (previousProof !== undefined && previousProof.keys === keys) {
        return now() / 1000 < previousProof.expires ? previousProof.result : reject('token has expired');
      }
      const jwt = parseJwt(token.value);
      if (jwt === undefined || jwt.claims.iss !== issuerURL) return undefined;
      if (!allowed.includes(jwt.algorithm)) return reject('token is signed by an algorithm that is not allowed');
      if (keys !== undefined && isSigned(jwt, keys)) return accept(token, jwt, keys);
      const pendingAnswer = provider.ask();
      if (pendingAnswer !== undefined) return afterAnswer(token, jwt, pendingAnswer);
      return reject(keys === undefined ? 'authenticator not initialized' : 'failed to verify signature');
    },
  };
}

/** Authenticates tokens by a webhook. Its answers are cached for a time, by the token's hash. */

import type { Clock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import type { Random } from '@plat-dev/lib/random';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { ExpiringCache } from '../../expiring-cache.ts';
import type { Remote } from '../../http-client/outbound.ts';
import { type BearerToken, type TokenAuthenticator, TokenRejected, type TokenResult, TokenUnchecked, type User } from '../types.ts';
import { type RetryOptions, ReviewClient, shortText, texts } from './call.ts';

export interface TokenWebhookOptions {
  readonly identity: Identity;
  readonly remote: Remote;
  readonly version: 'v1' | 'v1beta1';
  readonly cacheMillis: number;
  /** Audiences of a token if the webhook names none. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly retry?: Partial<RetryOptions>;
}

/** Accepted and refused tokens are cached apart, so that a flood of bad tokens does not evict the good ones. */
const cacheSize = 4096;
/** Maximum characters of a user's name, groups and extra values: thousands of users are cached. */
const MOST_OF_USER = 64 * 1024;

/** The answer of the webhook about a token. */
type ReviewResult = { readonly user: User; readonly audiences: readonly string[] } | { readonly error: string };

function userOf(status: Record<string, unknown>): User {
  const info = (typeof status.user === 'object' && status.user !== null ? status.user : {}) as Record<string, unknown>;
  if (typeof info.username !== 'string' || info.username === '') throw new TokenRejected('the token webhook named no user');
  if (jsonText(info).length > MOST_OF_USER)
    throw new TokenRejected(`the token webhook named a user of more than ${MOST_OF_USER} characters`);
  const extra = Object.entries((info.extra ?? {}) as Record<string, unknown>).map(([key, values]) => [key, texts(values)] as const);
  return {
    name: info.username,
    ...(typeof info.uid === 'string' && info.uid !== '' && { uid: info.uid }),
    groups: texts(info.groups),
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) }),
  };
}

export interface TokenWebhook extends TokenAuthenticator {
  close(): void;
}

export function tokenWebhook(options: TokenWebhookOptions): TokenWebhook {
  const { identity, version, remote, clock, random, retry, cacheMillis } = options;
  const apiVersion = joinApiVersion(groupName(identity, 'authentication'), version);
  const client = new ReviewClient({ remote, apiVersion, kind: 'TokenReview', clock, random, retry });
  const now = (): number => clock.now();
  const good = new ExpiringCache<ReviewResult>(cacheSize, now);
  const bad = new ExpiringCache<ReviewResult>(cacheSize, now);
  const underWay = new Map<string, Promise<ReviewResult>>();

  const ask = async (token: BearerToken, audiences: readonly string[]): Promise<ReviewResult> => {
    const status = await client.ask({ token: token.value, ...(audiences.length > 0 && { audiences }) });
    if (status.authenticated !== true) return { error: shortText(status.error) };
    const namedAudiences = texts(status.audiences);
    return { user: userOf(status), audiences: namedAudiences.length > 0 ? namedAudiences : options.audiences };
  };

  /** Undefined: the webhook does not know the token, or not for these audiences. */
  const toResult = (review: ReviewResult, audiences: readonly string[]): TokenResult | undefined => {
    if ('error' in review) {
      // The webhook wrote this error for the client that sent the token.
      if (review.error !== '') throw new TokenRejected(review.error, true);
      return undefined;
    }
    const wantedAudiences = audiences.length === 0 ? options.audiences : audiences;
    const fit = wantedAudiences.filter((audience) => review.audiences.includes(audience));
    return wantedAudiences.length > 0 && fit.length === 0 ? undefined : { user: review.user, audiences: fit };
  };

  const askOnce = (key: string, token: BearerToken, audiences: readonly string[]): Promise<ReviewResult> => {
    let asking = underWay.get(key);
    if (asking === undefined) {
      asking = ask(token, audiences)
        .then((review) => {
          ('error' in review ? bad : good).set(key, review, cacheMillis);
          return review;
        })
        .finally(() => underWay.delete(key));
      underWay.set(key, asking);
    }
    return asking;
  };

  return {
    name: 'token-webhook',
    close: () => client.close(),
    authenticateToken(token, audiences) {
      const key = `${token.key} ${audiences.join(' ')}`;
      const cachedReview = good.get(key) ?? bad.get(key);
      if (cachedReview !== undefined) return toResult(cachedReview, audiences);
      return askOnce(key, token, audiences).then(
        (fresh) => toResult(fresh, audiences),
        (error: Error) => {
          throw error instanceof TokenRejected ? error : new TokenUnchecked(`the token webhook failed: ${error.message}`);
        },
      );
    },
  };
}

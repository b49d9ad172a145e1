/** Answers to token reviews: the user of a token. */

import type { TokenReviewSpec, TokenReviewStatus } from '@plat-dev/kinds/authentication/schema/v1';
import { badRequest, invalidReview } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { bearerToken, tokenOf } from '../authn/bearer.ts';
import { authenticated } from '../authn/users.ts';
import { type TokenAuthenticator, TokenRejected, type TokenResult, type User } from '../types.ts';

const unknown = 'invalid bearer token';
/** Maximum length of a token: none in a header is longer. */
export const MAX_TOKEN = 64 * 1024;
/** Maximum audiences of a review: authenticators look at each of them. */
export const MAX_AUDIENCES = 5_000;

/** Throws `invalid`. */
export function checkAudiences(identity: Identity, spec: Partial<TokenReviewSpec> | undefined): void {
  const count = spec?.audiences?.length ?? 0;
  if (count <= MAX_AUDIENCES) return;
  const errors = new FieldErrors();
  errors.tooMany(Path.of('spec', 'audiences'), count, MAX_AUDIENCES);
  throw invalidReview({ group: groupName(identity, 'authentication'), resource: 'TokenReview' }, errors.list);
}

/**
 * `serverAudiences` are used if the review names none. A token that is not accepted gives a result with the
 * reason; the token itself is never repeated in it.
 */
export async function reviewToken(
  tokens: TokenAuthenticator,
  serverAudiences: readonly string[],
  spec: Partial<TokenReviewSpec> | undefined,
): Promise<TokenReviewStatus> {
  const token = spec?.token ?? '';
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const wantedAudiences = spec?.audiences ?? [];
  const audiences = wantedAudiences.length === 0 ? serverAudiences : wantedAudiences;
  let result: TokenResult | undefined;
  let error = unknown;
  try {
    // A token is read as it would be from a header.
    const value = tokenOf(`Bearer ${token}`);
    if (value !== '' && value.length <= MAX_TOKEN) result = await tokens.authenticateToken(bearerToken(value), audiences);
  } catch (failure) {
    if (failure instanceof TokenRejected) error = failure.message;
  }
  const good = result?.audiences;
  if (result === undefined || (good !== undefined && audiences.length > 0 && good.length === 0)) return { user: {}, error };
  return {
    authenticated: true,
    user: userInfo(authenticated(result.user)),
    ...(good !== undefined && good.length > 0 && { audiences: [...good] }),
  };
}

/** A user as reviews show it. */
export const userInfo = ({ name, uid, groups, extra }: User): TokenReviewStatus['user'] => ({
  username: name,
  ...(uid !== undefined && { uid }),
  groups: [...groups],
  ...(extra !== undefined && { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
});

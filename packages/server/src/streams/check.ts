/** Whether a request would still be allowed: authentication, impersonation and authorization, once more. */

import { type MaybePromise, orElse, whenReady } from '@plat-dev/lib/when-ready';
import { ApiError } from '@plat-dev/meta/errors';
import type { Identity } from '@plat-dev/meta/identity';
import { impersonate, wantsImpersonation } from '../auth/impersonation.ts';
import { type Authenticator, type Authorizer, type Decision, TokenUnchecked, type User } from '../auth/types.ts';
import type { Context } from '../context.ts';
import { userGivenWith } from '../in-process.ts';
import { SocketRequest } from '../steps/authenticate.ts';
import { attributesOf } from '../steps/authorize.ts';
import type { Verdict } from './open-streams.ts';

export interface CheckDeps {
  readonly identity: Identity;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
}

/** Synchronous if nothing is remote. Never rejects. */
export function checkAgain({ identity, authenticator, authorizer }: CheckDeps): (ctx: Context) => MaybePromise<Verdict> {
  const may = (ctx: Context, user: User): MaybePromise<Verdict> => {
    return whenReady(authorizer.authorize({ ...attributesOf(ctx), user }), verdictOf);
  };
  const as = (ctx: Context, caller: User | undefined): MaybePromise<Verdict> => {
    if (caller === undefined) return 'ended';
    if (!wantsImpersonation(ctx.req.headers)) return may(ctx, caller);
    return impersonate(identity, ctx.req, caller, authorizer).then((user) => may(ctx, user ?? caller));
  };
  const verdict = (ctx: Context): MaybePromise<Verdict> =>
    whenReady(userGivenWith(ctx.req) ?? authenticator.authenticate(new SocketRequest(ctx)), (user) => as(ctx, user));
  return (ctx) => orElse(() => verdict(ctx), verdictOnError);
}

/** A decision with an error is not final: an authorizer failed. */
const verdictOf = ({ decision, error }: Decision): Verdict =>
  decision === 'allow' ? 'allowed' : decision === 'none' && error !== undefined ? 'unknown' : 'ended';

const verdictOnError = (error: unknown): Verdict =>
  error instanceof ApiError && !(error.cause instanceof TokenUnchecked) ? 'ended' : 'unknown';

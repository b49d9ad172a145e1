/** Whether a request would still be allowed: authentication, impersonation and authorization, once more. */

import { ApiError } from '@plat-dev/meta/errors';
import { type ImpersonationOptions, impersonate, wantsImpersonation } from '../auth/impersonation.ts';
import { type Authenticator, type Decision, TokenUnchecked } from '../auth/types.ts';
import type { Context } from '../context.ts';
import { userGivenWith } from '../in-process.ts';
import { SocketRequest } from '../steps/authenticate.ts';
import { attributesOf } from '../steps/authorize.ts';
import type { Verdict } from './open-streams.ts';

export interface CheckDeps {
  readonly authenticator: Authenticator;
  readonly impersonation: ImpersonationOptions;
}

/** Never rejects. */
export function checkAgain({ authenticator, impersonation }: CheckDeps): (ctx: Context) => Promise<Verdict> {
  const verdict = async (ctx: Context): Promise<Verdict> => {
    const { req } = ctx;
    const caller = userGivenWith(req) ?? (await (req.caller?.() ?? authenticator.authenticate(new SocketRequest(ctx))));
    if (caller === undefined) return 'ended';
    const asCaller = { ...attributesOf(ctx), user: caller };
    const impersonated = wantsImpersonation(req.headers) ? await impersonate(impersonation, req, asCaller) : undefined;
    return verdictOf(await impersonation.authorizer.authorize({ ...asCaller, user: impersonated?.user ?? caller }));
  };
  return (ctx) => verdict(ctx).catch(verdictOnError);
}

/** A decision with an error is not final: an authorizer failed. */
const verdictOf = ({ decision, error }: Decision): Verdict =>
  decision === 'allow' ? 'allowed' : decision === 'none' && error !== undefined ? 'unknown' : 'ended';

const verdictOnError = (error: unknown): Verdict =>
  error instanceof ApiError && !(error.cause instanceof TokenUnchecked) ? 'ended' : 'unknown';

/** Replaces the user of the request by the impersonated one, if requested and allowed. */

import type { Identity } from '@plat-dev/meta/identity';
import { impersonate as impersonated } from '../auth/impersonation.ts';
import type { Authorizer } from '../auth/types.ts';
import type { Step } from '../pipeline.ts';

export function impersonate(identity: Identity, authorizer: Authorizer): Step {
  return (ctx) => {
    if (!ctx.head.impersonates) return;
    return impersonated(identity, ctx.req, ctx.user, authorizer).then((user) => {
      if (user === undefined) return;
      ctx.impersonator = ctx.user;
      ctx.user = user;
    });
  };
}

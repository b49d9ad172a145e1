/** Replaces the user of the request by the impersonated one, if requested and allowed. */

import { type ImpersonationOptions, impersonate as impersonated } from '../auth/impersonation.ts';
import type { Step } from '../pipeline.ts';
import { attributesOf } from './authorize.ts';

export function impersonate(options: ImpersonationOptions): Step {
  return (ctx) => {
    if (!ctx.head.impersonates) return;
    return impersonated(options, ctx.req, attributesOf(ctx)).then((result) => {
      if (result === undefined) return;
      ctx.impersonator = ctx.user;
      ctx.impersonationConstraint = result.constraint;
      ctx.user = result.user;
    });
  };
}

/** Authorization. */
import { forbiddenError } from '../../auth/authz/refusal.ts';
import type { Attributes, Authorizer, Decision } from '../../auth/types.ts';
import type { Context } from '../context.ts';
import type { Step } from '../pipeline.ts';

export function authorize(authorizer: Authorizer): Step {
  return (ctx) => {
    const asked = attributesOf(ctx);
    const decision = authorizer.authorize(asked);
    if (decision instanceof Promise) return decision.then((d) => enforce(ctx, asked, d));
    enforce(ctx, asked, decision);
  };
}

function enforce(ctx: Context, asked: Attributes, { decision, reason }: Decision): void {
  if (ctx.audit !== undefined) ctx.audit.decided(decision === 'allow' ? 'allow' : 'forbid', reason);
  if (decision !== 'allow') throw withNosniff(forbiddenError(asked, reason));
}
function withNosniff(error: ReturnType<typeof forbiddenError>): typeof error {
  error.headers = { ...error.headers, 'X-Content-Type-Options': 'nosniff' };
  return error;
}

export function attributesOf(ctx: Context): Attributes {
  const { info, user } = ctx;
  return {
    user,
    verb: info.verb,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    name: info.name,
    namespace: info.namespace,
    path: info.path,
    resourceRequest: info.resourceRequest,
  };
}

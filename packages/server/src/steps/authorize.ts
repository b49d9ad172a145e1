/** Authorization. */
import { isPending } from '@plat-dev/lib/when-ready';
import { forbiddenError } from '../auth/authz/refusal.ts';
import type { Attributes, Authorizer, Decision } from '../auth/types.ts';
import type { Context } from '../context.ts';
import type { Step } from '../pipeline.ts';
import { attributesOf as attributesFor } from '../request/route.ts';

/** `refused` is called before a request is refused. */
export function authorize(authorizer: Authorizer, refused: (ctx: Context, attributes: Attributes) => void = () => {}): Step {
  const enforce = enforcement(refused);
  return (ctx) => {
    const routeOfUser = ctx.route.of(ctx.user);
    const allowed = routeOfUser.stillAllowed();
    if (allowed !== undefined) return enforce(ctx, routeOfUser.attributes, allowed);
    const { attributes } = routeOfUser;
    const decision = authorizer.authorize(attributes);
    if (isPending(decision)) return decision.then((d) => enforce(ctx, attributes, d));
    routeOfUser.note(authorizer, decision);
    enforce(ctx, attributes, decision);
  };
}

function enforcement(refused: (ctx: Context, attributes: Attributes) => void) {
  return (ctx: Context, attributes: Attributes, { decision, reason }: Decision): void => {
    if (ctx.audit !== undefined) ctx.audit.decided(decision === 'allow' ? 'allow' : 'forbid', reason);
    if (decision === 'allow') return;
    refused(ctx, attributes);
    throw withNosniff(forbiddenError(attributes, reason));
  };
}
function withNosniff(error: ReturnType<typeof forbiddenError>): typeof error {
  error.headers = { ...error.headers, 'X-Content-Type-Options': 'nosniff' };
  return error;
}

export const attributesOf = ({ user, info }: Context): Attributes => attributesFor(user, info);

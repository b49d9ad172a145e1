/**
 * `X-Plat-Explain: true`: the client requests a report of what admission did. It reveals the
 * plug-ins and webhooks, so that it needs a permission of its own: the verb `explain` on the resource.
 */
import { Explanation } from '../admission/explanation.ts';
import { forbiddenError } from '../auth/authz/refusal.ts';
import type { Authorizer } from '../auth/types.ts';
import type { Context } from '../context.ts';
import type { Step } from '../pipeline.ts';
import { attributesOf } from './authorize.ts';

export const EXPLAIN_HEADER = 'X-Plat-Explain';
const requestHeader = EXPLAIN_HEADER.toLowerCase();

export function explain(authorizer: Authorizer): Step {
  return (ctx) => {
    // Reads pass no admission: there is nothing to report.
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
    if (ctx.header(requestHeader) !== 'true' || !ctx.info.resourceRequest) return;
    return grant(authorizer, ctx);
  };
}

async function grant(authorizer: Authorizer, ctx: Context): Promise<void> {
  const attributes = { ...attributesOf(ctx), verb: 'explain' };
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbiddenError(attributes, reason);
  ctx.explanation = new Explanation();
}

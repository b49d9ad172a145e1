/**
 * `X-Plat-Explain: true`: the client requests a report of what admission did; `patch`: with the values that it set. It reveals the
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
    const form = ctx.header(requestHeader);
    if ((form !== 'true' && form !== 'patch') || !ctx.info.resourceRequest) return;
    return grant(authorizer, ctx, form);
  };
}

async function grant(authorizer: Authorizer, ctx: Context, form: 'true' | 'patch'): Promise<void> {
  const attributes = { ...attributesOf(ctx), verb: 'explain' };
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbiddenError(attributes, reason);
  // Who may write a secret may not read it for that.
  const isSecret = attributes.group === '' && attributes.resource === 'secrets';
  ctx.explanation = new Explanation({ withValues: form === 'patch' && !isSecret });
}

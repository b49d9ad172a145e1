/** Who may see the past of objects: those with the verb `history` on them, besides `get` or `list`. */
import { explainGroup } from '@plat-dev/kinds/explain-kinds';
import { forbiddenError } from '../auth/authz/refusal.ts';
import type { Context } from '../context.ts';
import type { Catalog } from '../registry/catalog.ts';
import type { Services } from '../services.ts';
import { attributesOf } from '../steps/authorize.ts';

/** History is served where the kinds of `explain` are: a stock server ignores its parameters. */
export const servesHistory = (catalog: Catalog): boolean => catalog.serves(explainGroup, 'accessexplanations');

export async function mayReadHistory({ authorizer }: Services, ctx: Context): Promise<boolean> {
  return (await authorizer.authorize({ ...attributesOf(ctx), verb: 'history' })).decision === 'allow';
}

/** Throws 403 unless the user of a request may see the past of what it names. */
export async function checkMayReadHistory({ authorizer }: Services, ctx: Context): Promise<void> {
  const attributes = { ...attributesOf(ctx), verb: 'history' };
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbiddenError(attributes, reason);
}

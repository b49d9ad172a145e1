/** A page of history holds many versions of objects while it is made: a server makes few at a time. Users take turns. */
import { RequestEnded } from '@plat-dev/lib/slices';
import type { Context } from '../context.ts';
import { ByteBudget } from '../fairness/byte-budget.ts';

/** Pages that are made at a time; others wait. */
export const MOST_PAGES = 4;

/** The budget counts pages instead of bytes; it belongs to the server of that store. */
const budgets = new WeakMap<object, ByteBudget>();

/** Throws RequestEnded if nobody waits for the page any more when its turn comes. */
export async function inPageTurn<T>(server: object, ctx: Pick<Context, 'ended' | 'owner'>, make: () => Promise<T>): Promise<T> {
  const pages = budgets.get(server) ?? new ByteBudget(MOST_PAGES);
  budgets.set(server, pages);
  await pages.enter(1, ctx.owner);
  try {
    if (ctx.ended) throw new RequestEnded();
    return await make();
  } finally {
    pages.leave(1);
  }
}

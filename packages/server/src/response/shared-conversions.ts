/**
 * Objects in other forms than their stored bytes, made once for all concurrent requests. Values and text of an
 * object take many times its bytes while it is converted: the number of large ones that are converted at once is limited.
 */

import { nextTurn } from '@plat-dev/lib/next-turn';
import { RequestEnded, SLICED_FROM } from '@plat-dev/lib/slices';
import type { Item } from '@plat-dev/storage/item';
import type { Context } from '../context.ts';
import { ByteBudget } from '../fairness/byte-budget.ts';
import type { Resource } from '../registry/catalog.ts';
import { SharedPieces } from './list-piece-cache.ts';

/** Maximum stored bytes of large objects that are converted at once: one of the largest, or some smaller ones. */
export const CONVERTED_AT_ONCE: number = 2 * 1024 * 1024;

/** The conversions of one server: shared pieces, and the bytes in progress. */
class ServerConversions {
  readonly shared = new SharedPieces();
  readonly budget = new ByteBudget(CONVERTED_AT_ONCE);
}
/** They belong to the server of those recent objects. */
const byServer = new WeakMap<Resource['versions']['recent'], ServerConversions>();
function conversionsFor({ versions: { recent } }: Resource): ServerConversions {
  let conversions = byServer.get(recent);
  if (conversions === undefined) {
    conversions = new ServerConversions();
    byServer.set(recent, conversions);
  }
  return conversions;
}

/**
 * Bytes of some items in a form, several small ones or one large. `form` names everything that they depend on except the
 * items. Throws RequestEnded.
 */
export function convertedOnce(
  ctx: Context,
  resource: Resource,
  form: string,
  items: readonly Item[],
  make: () => Promise<Buffer>,
): Promise<Buffer> {
  const { shared, budget } = conversionsFor(resource);
  const { length } = (items[0] as Item).bytes;
  const makeUnlessGone = (): Promise<Buffer> => {
    // The head of a list is sent before its last objects are converted: that is not its end.
    if (ctx.res.destroyed) throw new RequestEnded();
    return make();
  };
  const making = length <= SLICED_FROM ? make : (): Promise<Buffer> => inTurn(budget, length, ctx.owner, makeUnlessGone);
  return shared.piece(resource, form, items, making, () => nextTurn(ctx.owner));
}

/** The bytes of a large object that watches share. */
export const convertedInTurn = (resource: Resource, { bytes }: Item, make: () => Promise<Buffer>): Promise<Buffer> =>
  inTurn(conversionsFor(resource).budget, bytes.length, undefined, make);

async function inTurn(budget: ByteBudget, bytes: number, owner: object | undefined, make: () => Promise<Buffer>): Promise<Buffer> {
  await budget.enter(bytes, owner);
  try {
    return await make();
  } finally {
    budget.leave(bytes);
  }
}

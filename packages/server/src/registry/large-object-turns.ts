/**
 * Writes of one large object take turns. Each works on the object in many turns of the event loop: of those that begin together only
 * the first could be stored, and all others would do the same work again, each with the whole object in memory.
 */
import { SLICED_FROM } from '@plat-dev/lib/slices';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { tooManyRequests } from '@plat-dev/meta/errors';
import { NamedLocks } from '../named-locks.ts';
import { storeKey } from './commit.ts';
import { keyOf, type RegistryDeps, type WriteContext } from './context.ts';

/** Maximum requests that wait for one object. */
const MAX_WAITING = 1000;

/** By the cache of a store. */
const turnsByCache = new WeakMap<RegistryDeps['cache'], NamedLocks>();

/** `write` ends its turn where it is `outOfTurn`. Throws 429 when too many wait. */
export function inTurn<T>(deps: RegistryDeps, ctx: WriteContext, write: (endTurn: () => void) => Promise<T>): Promise<T> {
  const item = ctx.resource.collection?.items.get(keyOf(ctx));
  return item === undefined || item.bytes.length <= SLICED_FROM || ctx.request === undefined
    ? write(noTurn)
    : inTurnOf(deps, storeKey(ctx), write);
}
const noTurn = (): void => {};

async function inTurnOf<T>({ cache }: RegistryDeps, key: string, write: (endTurn: () => void) => Promise<T>): Promise<T> {
  const turns = turnsByCache.get(cache) ?? new NamedLocks(MAX_WAITING);
  turnsByCache.set(cache, turns);
  const turn = turns.take(key);
  if (turn === undefined) throw tooManyRequests('too many requests wait to write the object', 1);
  let release: (() => void) | undefined = await turn;
  const endTurn = (): void => {
    release?.();
    release = undefined;
  };
  try {
    return await write(endTurn);
  } finally {
    endTurn();
  }
}

/** Ends the turn where admission takes time: it may have called a webhook that writes the object. */
export function outOfTurn(admission: MaybePromise<void>, endTurn: () => void): MaybePromise<void> {
  if (admission instanceof Promise) endTurn();
  return admission;
}

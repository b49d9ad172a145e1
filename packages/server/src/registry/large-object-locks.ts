/**
 * Writes of one large object hold its lock, one after the other. Each works on the object in many turns of the event loop: of those that
 * begin together only the first could be stored, and all others would do the same work again, each with the whole object in memory.
 */
import { SLICED_FROM } from '@plat-dev/lib/slices';
import { isPending, type MaybePromise } from '@plat-dev/lib/when-ready';
import { tooManyRequests } from '@plat-dev/meta/errors';
import { NamedLocks } from '../named-locks.ts';
import { storeKey } from './commit.ts';
import { keyOf, type RegistryDeps, type WriteContext } from './context.ts';

/** Maximum requests that wait for one object. */
export const MAX_WAITING_WRITES = 1000;

/** Those of a registry. */
export const newLargeObjectLocks = (): NamedLocks => new NamedLocks(MAX_WAITING_WRITES);

/** Writes with the lock, if the object is large; `release` gives it back early. Throws 429 when too many wait for it. */
export function withLock<T>(deps: RegistryDeps, ctx: WriteContext, write: (release: () => void) => Promise<T>): Promise<T> {
  const item = ctx.resource.collection?.items.get(keyOf(ctx));
  return item === undefined || item.bytes.length <= SLICED_FROM || ctx.request === undefined
    ? write(noLock)
    : withLockOf(deps, storeKey(ctx), write);
}
const noLock = (): void => {};

async function withLockOf<T>({ largeObjectLocks }: RegistryDeps, key: string, write: (release: () => void) => Promise<T>): Promise<T> {
  const lock = largeObjectLocks.take(key);
  if (lock === undefined) throw tooManyRequests('too many requests wait to write the object', 1);
  let unlock: (() => void) | undefined = await lock;
  const release = (): void => {
    unlock?.();
    unlock = undefined;
  };
  try {
    return await write(release);
  } finally {
    release();
  }
}

/** Gives the lock back where admission takes time: it may have called a webhook that writes the object. */
export function releasedForAdmission(admission: MaybePromise<void>, release: () => void): MaybePromise<void> {
  if (isPending(admission)) release();
  return admission;
}

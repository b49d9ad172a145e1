/**
 * A value that mostly is there at once, and sometimes only after a call or a pause. For callbacks that may wait, and for the path of
 * small requests, where a turn of the promise queue for each step would be felt (docs/decisions/028-one-conversion-story.md);
 * everything else is plainly async.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Continues synchronously with a value, and asynchronously with a promise: nothing waits without need. */
export function whenReady<T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

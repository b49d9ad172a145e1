/**
 * A value that mostly is there at once, and sometimes only after a call or a pause. For callbacks that may wait, and for the path of
 * small requests, where a turn of the promise queue for each step would be felt (docs/decisions/028-one-conversion-story.md);
 * everything else is plainly async.
 */
export type MaybePromise<T> = T | Promise<T>;

/** For loops that go on at once with a value, and later with a promise; everything else uses `whenReady` and `orElse`. */
export const isPending = <T>(value: MaybePromise<T>): value is Promise<T> => value instanceof Promise;

/** Continues synchronously with a value, and asynchronously with a promise: nothing waits without need. */
export function whenReady<T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** The result of a call; where it throws or rejects, what `recover` makes of the error. */
export function orElse<T>(call: () => MaybePromise<T>, recover: (error: unknown) => MaybePromise<T>): MaybePromise<T> {
  try {
    const value = call();
    return value instanceof Promise ? value.catch(recover) : value;
  } catch (error) {
    return recover(error);
  }
}

/** Goes on with a value at once where it is there already, and by a promise where it is not: nothing waits that need not. */
export function whenReady<T, R>(value: T | Promise<T>, use: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

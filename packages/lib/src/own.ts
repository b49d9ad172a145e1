/** Keys from outside on plain objects: `constructor` and `__proto__` are keys like any other. */
const inherited = Object.prototype;

/** The object's own value of a key. */
export function own<T>(object: { readonly [key: string]: T } | undefined, key: string): T | undefined {
  const value = object?.[key];
  // Plain data holds no functions, so that the second check is needed only for inherited values.
  if (typeof value === 'function' || value === inherited) return Object.hasOwn(object as object, key) ? value : undefined;
  return value;
}

/** A copy of the object without a key. */
export function without<T>(object: { readonly [key: string]: T }, key: string): { [key: string]: T } {
  const copy = { ...object };
  delete copy[key];
  return copy;
}

/** Sets the object's own value of a key, never its prototype. */
export function setOwn<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

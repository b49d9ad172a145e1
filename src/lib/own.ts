const inherited = Object.prototype;

/** The object's own value of an external key: `constructor` and `__proto__` are keys like any other. */
export function own(object: { readonly [key: string]: unknown }, key: string): unknown {
  const value = object[key];
  // Plain data holds no functions, so that the second check is needed only for inherited values.
  if (typeof value === 'function' || value === inherited) return Object.hasOwn(object, key) ? value : undefined;
  return value;
}

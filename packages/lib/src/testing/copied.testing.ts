/** structuredClone for plain data, many times faster: property tests copy whole objects for every run. */
export function copied<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copied) as T;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value);
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    // An assignment to this name would change the prototype instead.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: copied(member), enumerable: true, configurable: true, writable: true });
    else copy[key] = copied(member);
  }
  return copy as T;
}

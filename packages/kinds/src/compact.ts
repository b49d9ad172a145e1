/** The same object without undefined fields. */
export function compact<T extends object>(object: T): T {
  for (const key in object) if (object[key] === undefined) delete object[key];
  return object;
}

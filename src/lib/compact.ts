/** The same object without the fields that are undefined, which are then absent rather than empty. */
export function compact<T extends object>(object: T): T {
  for (const key in object) if (object[key] === undefined) delete object[key];
  return object;
}

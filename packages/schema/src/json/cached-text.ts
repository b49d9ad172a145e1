/** Texts of values that do not change: sets of owned fields, which many objects share. */
const texts = new WeakMap<object, Uint8Array | null>();

/** Marks a `fieldsV1` value as immutable and often written: its text is cached. */
export function cacheText(value: object): void {
  if (!texts.has(value)) texts.set(value, null);
}
/** The cached text of a value; null if it is not made yet, undefined if it is not cached. */
export const cachedText = (value: object): Uint8Array | null | undefined => texts.get(value);

export function setCachedText(value: object, text: Uint8Array): void {
  texts.set(value, text);
}

// Shapes that the cases of bench/worst.mjs are made of.

export const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));
export const mapOf = (count, key, value) => Object.fromEntries(times(count, (i) => [key(i), value(i)]));
/** A schema of so many properties. */
export const wideSchema = (count) => ({
  type: 'object',
  properties: mapOf(
    count,
    (i) => `p${i}`,
    () => ({ type: 'string', maxLength: 9 }),
  ),
});

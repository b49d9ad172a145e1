/** Validation of storage keys, for every engine. */

/** Maximum length of a key, in characters. Fits the limit of every engine with its own additions. */
export const LONGEST_KEY = 1_024;
const KEY = /^[\x20-\x7e]+$/;

/** Also for a part of a key, with the remaining length. */
export const isKey = (key: string, longest = LONGEST_KEY): boolean => key.length <= longest && KEY.test(key);

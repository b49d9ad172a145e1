/** What every engine can keep an object under. */

/** Longest key, in characters. Fits the limit of every engine with its own additions. */
export const LONGEST_KEY = 1_024;
const KEY = /^[\x20-\x7e]+$/;

/** Also for a part of a key, with what is left for it. */
export const isKey = (key: string, longest = LONGEST_KEY): boolean => key.length <= longest && KEY.test(key);

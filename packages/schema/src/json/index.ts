/** JSON codecs by schema. One place to import from. */

import type { Infer, Type } from '../types.ts';
import { decodeValue } from './decode.ts';

export { DecodeError } from '../errors.ts';
export { applyDefaults } from '../fields/defaults.ts';
export { cacheText } from './cached-text.ts';
export { decodedValue } from './decode-large.ts';
export { encode, encodeBytes, encodedBytes, encodeWithEmptyLists } from './encode.ts';
export { cloneJson } from './plain.ts';
export { toJson } from './to-json.ts';
export { TextTooLong } from './writer.ts';

/** Decodes a parsed JSON value by the type into the normal form; null becomes the zero value. Throws DecodeError. */
export function decode<T extends Type>(type: T, value: unknown): Infer<T> {
  return decodeValue(type, value) as Infer<T>;
}

/** JSON codecs by schema. One place to import from. */
import { decodeValue } from './json-decode.ts';
import type { Infer, Type } from './types.ts';

export { applyDefaults } from './defaults.ts';
export { DecodeError } from './errors.ts';
export { decodeLarge } from './json-decode-large.ts';
export { encode, encodeBytes, encodeLarge, encodeSaid, keepText, TextTooLong } from './json-encode.ts';
export { toJson } from './json-value.ts';
export { cloneJson } from './plain.ts';

/** Decodes a parsed JSON value by the type into the normal form; null becomes the zero value. Throws DecodeError. */
export function decode<T extends Type>(type: T, value: unknown): Infer<T> {
  return decodeValue(type, value) as Infer<T>;
}

/** JSON on the schema. One place to import from; the parts stand in files of their own. */
import type { Problem } from './errors.ts';
import { decodeValue } from './json-decode.ts';
import type { Infer, Type } from './types.ts';
import { reportUnknownFields } from './unknown.ts';

export { applyDefaults } from './defaults.ts';
export { DecodeError, type Problem } from './errors.ts';
export { encode, encodeBytes, encodeSaid, keepText, TextTooLong } from './json-encode.ts';
export { encodeSteps } from './json-encode-steps.ts';
export { toJson } from './json-value.ts';
export { cloneJson, setKey } from './plain.ts';

export interface DecodeOptions {
  /** Called for every field that the schema does not know. */
  readonly report?: ((problem: Problem) => void) | undefined;
}

/** Reads a parsed JSON value as the type says, into the normal form; null is the zero value. Throws DecodeError. */
export function decode<T extends Type>(type: T, value: unknown, options?: DecodeOptions): Infer<T> {
  if (options?.report !== undefined) reportUnknownFields(type, value, options.report);
  return decodeValue(type, value) as Infer<T>;
}

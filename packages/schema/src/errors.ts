/** Errors of decoding. */

/**
 * A body that cannot be decoded as its type. `message` is that of a stock server without the beginning
 * (`ConfigMap in version "v1" cannot be handled as a ConfigMap: …`), which the caller adds.
 */
export class DecodeError extends Error {
  /** The path: `spec.containers[0].name`; empty for the whole value. */
  readonly path: string;
  /** The expected type, as a stock server names it: `string`, `[]v1.Container`, `v1.ObjectMeta`. */
  readonly expected: string | undefined;
  /** The JSON type that was found: `string`, `number 2.5`, `object`. */
  readonly actual: string | undefined;

  constructor(message: string, details: { path?: string; expected?: string; actual?: string } = {}) {
    super(message);
    this.name = 'DecodeError';
    this.path = details.path ?? '';
    this.expected = details.expected;
    this.actual = details.actual;
  }
}

/** The decoded body would be too large or have too many parts. The message names the limit. */
export class TooLargeError extends DecodeError {
  constructor(message: string) {
    super(message);
    this.name = 'TooLargeError';
  }
}

/** The error for a number that no float can represent. */
export function numberOutOfRange(digits: string): DecodeError {
  return new DecodeError(`number ${shownDigits(digits)} is out of range; the largest is ${Number.MAX_VALUE}`);
}
const shownDigits = (digits: string): string => (digits.length > 64 ? `${digits.slice(0, 64)}...` : digits);

/** The bound on nested values: deeper text is refused before anything recurses into it. */
export const maxDepth = 1_000;
/** The bound on what a text may grow to by aliases, in characters: that on bodies. */
export const maxExpanded = 3 * 1024 * 1024;
/**
 * The bound on the objects and lists of one body, and that on the keys of its objects: each costs some hundred bytes of memory
 * and some microseconds on its way into the store. The largest objects that are known in practice have a few ten thousand.
 */
export const maxContainers = 100_000;
export const maxKeys = 100_000;
export const tooManyContainers = (): TooLargeError => new TooLargeError(`the body holds more than ${maxContainers} objects and lists`);
export const tooManyKeys = (): TooLargeError => new TooLargeError(`the objects of the body have more than ${maxKeys} keys`);
export const tooLargeExpanded = (): TooLargeError => new TooLargeError(`the aliases of the body expand to more than ${maxExpanded} bytes`);

/** What goes wrong when bytes become objects. */

/**
 * A body that cannot be read as its type says. `message` is worded as clients know it from a stock server and leaves out
 * the beginning (`ConfigMap in version "v1" cannot be handled as a ConfigMap: …`), which the caller knows.
 */
export class DecodeError extends Error {
  /** Where: `spec.containers[0].name`; empty for the whole value. */
  readonly path: string;
  /** The type that was wanted, as a stock server names it: `string`, `[]v1.Container`, `v1.ObjectMeta`. */
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

/** A fault that does not keep a body from being read; field validation may refuse it or warn of it. */
export interface Problem {
  readonly type: 'unknown' | 'duplicate';
  /** `spec.containers[0].foo` */
  readonly path: string;
}

/** The bound on nested values: deeper text is refused before anything recurses into it. */
export const maxDepth = 1_000;

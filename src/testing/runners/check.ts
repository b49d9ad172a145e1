/** What an assertion is about, where `actual` is a part of it alone: found by that part, which is what runners keep. */
export const subjectOf: WeakMap<object, unknown> = new WeakMap();

/** The answer to a question of a test, in the form that `expect.extend` of vitest and Jest takes. */
export interface Check {
  readonly pass: boolean;
  /** Why the assertion failed: why it does not hold, or, under `not`, that it does. */
  readonly message: () => string;
  readonly actual: unknown;
  readonly expected: unknown;
}

export const checked = (pass: boolean, fails: () => string, holds: () => string, actual: unknown, expected: unknown): Check => ({
  pass,
  message: pass ? holds : fails,
  actual,
  expected,
});

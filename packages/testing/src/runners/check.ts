/** The object of an assertion by its `actual` value, if that is only a part of the object: runners keep nothing else. */
export const subjectOf: WeakMap<object, unknown> = new WeakMap();

/** The result of a check, in the form that `expect.extend` of vitest and Jest takes. */
export interface Check {
  readonly pass: boolean;
  /** Why the assertion failed, under `not` as well. */
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

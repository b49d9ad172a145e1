/**
 * `expect(value).toEqual(wanted)` for tests that compare very often. The strictest comparison is the fastest; a difference is
 * compared again, for a message that shows it.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

export function expectEqual(value: unknown, wanted: unknown, message?: string): void {
  if (!isDeepStrictEqual(value, wanted)) expect(value, message).toEqual(wanted);
}

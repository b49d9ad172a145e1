import { beforeEach, vi } from 'vitest';

/** The time that work takes in the tests of a file: none, however busy the machine is, unless a test says so. */
export function heldWorkTime(): { pass(millis: number): void } {
  let at = 0;
  beforeEach(() => {
    vi.spyOn(performance, 'now').mockImplementation(() => at);
  });
  return {
    pass: (millis) => {
      at += millis;
    },
  };
}

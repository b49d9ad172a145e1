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

/** How many turns of the event loop work takes where a slice is over after a few questions for the time. */
export async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let now = 0;
  const held = vi.spyOn(performance, 'now').mockImplementation(() => now++);
  let turns = 0;
  let immediate = setImmediate(function count() {
    turns++;
    immediate = setImmediate(count);
  });
  try {
    await work();
    return turns;
  } finally {
    clearImmediate(immediate);
    held.mockRestore();
  }
}

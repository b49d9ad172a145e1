/**
 * Handles a lack of file descriptors in the process or the machine: waits until some are free, and retries, for a
 * bounded time. Closed connections free theirs.
 */

import type { Clock } from '@plat-dev/lib/clock';

/** How long to wait for descriptors, and the delay between two attempts. */
export const DESCRIPTORS_WAIT_MS = 30_000;
const PAUSE_MS = 200;

export const isExhausted = (error: unknown): boolean => {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code === 'EMFILE' || code === 'ENFILE') return true;
    if (/too many open files/i.test(at.message)) return true;
  }
  return false;
};

/** Runs a function that needs descriptors, with retries while there are none; throws the last error, with advice. */
export async function withDescriptors<T>(run: () => Promise<T>, notice: ((error: unknown) => void) | undefined, clock: Clock): Promise<T> {
  const until = clock.monotonic() + DESCRIPTORS_WAIT_MS;
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isExhausted(error)) throw error;
      if (attempt === 0) notice?.(error);
      if (clock.monotonic() >= until) {
        throw new Error(
          `no file descriptors were free for ${DESCRIPTORS_WAIT_MS / 1000} seconds (${(error as Error).message}); raise the limit (ulimit -n)`,
          { cause: error },
        );
      }
      await clock.sleep(PAUSE_MS);
    }
  }
}

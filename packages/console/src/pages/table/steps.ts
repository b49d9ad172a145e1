/** Work that can pause: the steps of a generator, at once or in slices between which the page can be drawn. */
import type { Clock } from '@plat-dev/lib/clock';

export type Steps<T> = Generator<void, T>;

/** Shorter than half a frame, so that scrolling stays smooth. */
const SLICE_MILLIS = 6;

/** Undefined: the signal was aborted before the end. */
export async function runInSlices<T>(
  steps: Steps<T>,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  signal: AbortSignal,
): Promise<T | undefined> {
  for (let startedAt = clock.monotonic(); ; ) {
    const { done, value } = steps.next();
    if (done) return value as T;
    if (clock.monotonic() - startedAt < SLICE_MILLIS) continue;
    await clock.sleep(0);
    if (signal.aborted) return undefined;
    startedAt = clock.monotonic();
  }
}

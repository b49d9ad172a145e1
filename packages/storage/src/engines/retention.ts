import type { Clock } from '@plat-dev/lib/clock';
import { Ticker } from '@plat-dev/lib/ticker';

/** How long superseded versions stay readable, by default. */
export const DEFAULT_RETENTION_MS = 5 * 60_000;
/** History is kept up to this fraction longer than requested, so that it is compacted in batches. */
const FRACTION = 64;
const SHORTEST_INTERVAL_MS = 100;
const LONGEST_INTERVAL_MS = 60_000;

/**
 * Calls at intervals with the time before which history may be compacted, while there is history. A call that is due while the last
 * one is in progress is made after it. `forget` handles its own errors. The ticker is to be started when something was written.
 */
export function everyRetentionInterval(
  clock: Clock,
  retentionMs: number,
  forget: (revision: number) => Promise<void>,
  hasHistory: () => boolean,
): Ticker {
  const interval = Math.min(LONGEST_INTERVAL_MS, Math.max(SHORTEST_INTERVAL_MS, retentionMs / FRACTION));
  let running = false;
  let isDue = false;
  const forgetDue = async (): Promise<void> => {
    running = true;
    try {
      while (isDue) {
        isDue = false;
        await forget(clock.now() - retentionMs);
      }
    } finally {
      running = false;
    }
  };
  const ticker = new Ticker(clock, interval, () => {
    isDue = true;
    if (running) return true;
    void forgetDue();
    return hasHistory();
  });
  ticker.start();
  return ticker;
}

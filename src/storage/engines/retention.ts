import type { Clock } from '../../lib/clock.ts';

/** How long superseded versions stay readable, by default. */
export const DEFAULT_RETENTION_MS = 5 * 60_000;
/** History is kept up to this fraction longer than requested, so that it is compacted in batches. */
const FRACTION = 64;
const SHORTEST_INTERVAL_MS = 100;
const LONGEST_INTERVAL_MS = 60_000;

/**
 * Calls at intervals with the time before which history may be compacted; never while the last call is in progress.
 * `forget` handles its own errors. Returns how to stop it.
 */
export function everyRetentionInterval(clock: Clock, retentionMs: number, forget: (before: number) => Promise<void>): () => void {
  const interval = Math.min(LONGEST_INTERVAL_MS, Math.max(SHORTEST_INTERVAL_MS, retentionMs / FRACTION));
  let running = false;
  let cancel: () => void;
  const wait = () => {
    cancel = clock.after(interval, () => {
      wait();
      if (running) return;
      running = true;
      void forget(clock.now() - retentionMs).finally(() => {
        running = false;
      });
    });
  };
  wait();
  return () => cancel();
}

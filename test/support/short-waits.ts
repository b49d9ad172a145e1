/**
 * The machine's clock, on which waits of the named lengths are short. A server that looks at a file every other second does so many
 * times a second, so that a test which waits for what follows does not wait for time:
 *
 *   startTestServer({ clock: shortWaits({ every: [RELOAD_PERIOD_MS] }) })
 *
 * Lengths are named by the constants of the server: a wait whose length was changed there is still the one that is short here.
 */
import { type Clock, systemClock } from '../../packages/lib/src/clock.ts';
import { BOOKMARK_BEFORE_END_MS } from '../../packages/server/src/verbs/watch.ts';

export interface ShortWaits {
  /** Periods of what is done again and again. */
  readonly every?: readonly number[];
  /** Waits for what is done once. */
  readonly after?: readonly number[];
}

const SHORT_MS = 25;

export function shortWaits({ every = [], after = [] }: ShortWaits): Clock {
  const once = (millis: number): number => (after.includes(millis) ? SHORT_MS : millis);
  return {
    ...systemClock,
    after: (millis, call, keepAlive) => systemClock.after(once(millis), call, keepAlive),
    every: (millis, call) => systemClock.every(every.includes(millis) ? SHORT_MS : millis, call),
    sleep: (millis, signal) => systemClock.sleep(once(millis), signal),
  };
}

const WATCH_SECONDS = 3_601;
/** A bookmark comes some time before the end of a watch. That of a watch with this query comes soon, on a server with this clock. */
export const soonBookmark: { readonly query: string; readonly clock: Clock } = {
  query: `timeoutSeconds=${WATCH_SECONDS}`,
  clock: shortWaits({ after: [WATCH_SECONDS * 1000 - BOOKMARK_BEFORE_END_MS] }),
};

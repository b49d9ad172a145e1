import { expect, test } from 'vitest';
import { Activity } from './activity.ts';

/** A server whose controller repeats its work `left` times, each after a few milliseconds. */
function retrying(timePasses: boolean) {
  const activity = new Activity();
  const state = { left: 100 };
  activity.watch({
    revision: () => 1,
    timePasses,
    isBusy: (retryMs) => {
      if (state.left > 0) state.left--;
      return retryMs >= 5 && state.left > 0;
    },
  });
  return { activity, state };
}

test('where time passes by itself, retries that are due soon are waited for', async () => {
  const { activity, state } = retrying(true);
  await activity.settled();
  expect(state.left).toBe(0);
});

test('where a test moves the clock, they are not: they wait for it', async () => {
  const { activity, state } = retrying(false);
  await activity.settled();
  expect(state.left).toBeGreaterThan(80);
});

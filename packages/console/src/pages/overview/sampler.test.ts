import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { ApiError } from '../../api/api-error.ts';
import { KEPT_MILLIS, SAMPLE_MILLIS, Sampler } from './sampler.ts';

function world(answer: () => string = () => 'process_cpu_seconds_total 1\n') {
  const clock = new FakeClock();
  const stored = new Map<string, string>();
  const state = { requests: 0, isVisible: true };
  const api = {
    text: async () => {
      state.requests++;
      return answer();
    },
  };
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
  const start = (user = 'alice') => new Sampler({ api, clock, storage, isVisible: () => state.isVisible, user });
  return { clock, stored, state, start };
}

test('it asks every ten seconds while the page is visible', async () => {
  const { clock, state, start } = world();
  const sampler = start();
  await clock.advance(1);
  await clock.advance(2 * SAMPLE_MILLIS);
  expect([state.requests, sampler.points.value.length]).toEqual([3, 3]);
  state.isVisible = false;
  await clock.advance(5 * SAMPLE_MILLIS);
  expect(state.requests).toBe(3);
  state.isVisible = true;
  await clock.advance(SAMPLE_MILLIS);
  expect(state.requests).toBe(4);
  sampler.close();
  await clock.advance(SAMPLE_MILLIS);
  expect(state.requests).toBe(4);
});

test('points of the last hour are there again after a reload, for the same user', async () => {
  const { clock, start } = world();
  const first = start();
  await clock.advance(KEPT_MILLIS + 10 * SAMPLE_MILLIS);
  expect(first.points.value.length).toBe(KEPT_MILLIS / SAMPLE_MILLIS);
  first.close();
  expect(start().points.value.length).toBe(KEPT_MILLIS / SAMPLE_MILLIS);
  expect(start('bob').points.value.length).toBe(0);
});

test('a time without samples is a gap', async () => {
  const { clock, state, start } = world();
  const sampler = start();
  await clock.advance(1);
  await clock.advance(SAMPLE_MILLIS);
  state.isVisible = false;
  await clock.advance(12 * SAMPLE_MILLIS);
  state.isVisible = true;
  await clock.advance(SAMPLE_MILLIS);
  expect(sampler.points.value.map(({ memoryBytes }) => memoryBytes)).toEqual([0, 0, null, 0]);
});

test('a user without the right is asked once and told why', async () => {
  const { clock, state, start } = world(() => {
    throw new ApiError({ code: 403, message: 'no' });
  });
  const sampler = start();
  await clock.advance(10 * SAMPLE_MILLIS);
  expect([state.requests, sampler.error.value?.code]).toEqual([1, 403]);
});

test('a server that does not answer for a while is asked again; broken storage is no error', async () => {
  let isDown = true;
  const { clock, stored, start } = world(() => {
    if (isDown) throw new ApiError({}, 0);
    return 'process_cpu_seconds_total 1\n';
  });
  stored.set('plat-console-metrics', '{broken');
  const sampler = start();
  await clock.advance(SAMPLE_MILLIS);
  expect(sampler.error.value?.code).toBe(0);
  isDown = false;
  await clock.advance(SAMPLE_MILLIS);
  expect([sampler.error.value, sampler.points.value.length]).toEqual([undefined, 1]);
});

import { FakeClock } from '@plat-dev/lib/clock';
import { seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { beforeEach, expect, test } from 'vitest';
import { Cause } from './cause.ts';
import { Heap } from './heap.ts';
import type { PodClass } from './state.ts';
import { PodState } from './state.ts';
import { backoffOf, WaitingPods } from './waiting-pods.ts';
import { testPod } from './world.testing.ts';

let clock: FakeClock;
let waiting: WaitingPods;
let ready: number;
beforeEach(() => {
  clock = new FakeClock();
  ready = 0;
  waiting = new WaitingPods({ clock, ready: () => void ready++ });
});
const pod = (name: string, priority = 0): PodState => new PodState(name, testPod(name), { priority } as PodClass);
const taken = (): string[] => {
  const names: string[] = [];
  for (let next = waiting.take(); next !== undefined; next = waiting.take()) names.push(next.key);
  return names;
};

test('the first of a heap is always the least', () => {
  const random = seededRandom(testSeed);
  const heap = new Heap<number>((a, b) => a < b);
  const all = Array.from({ length: 500 }, () => random.below(200));
  for (const one of all) heap.add(one);
  expect(Array.from({ length: 500 }, () => heap.take())).toEqual(all.sort((a, b) => a - b));
  expect(heap.take()).toBeUndefined();
});

test('pods are taken by priority, and those of one priority by time', async () => {
  waiting.add(pod('low', -5));
  waiting.add(pod('first'));
  await clock.advance(1);
  waiting.add(pod('second'));
  waiting.add(pod('third'));
  waiting.add(pod('high', 100));
  expect(taken()).toEqual(['high', 'first', 'second', 'third', 'low']);
  expect(ready).toBe(5);
});

test('a pod that was removed is not taken', () => {
  const a = pod('a');
  waiting.add(a);
  waiting.add(pod('b'));
  waiting.remove(a);
  expect(taken()).toEqual(['b']);
  expect(waiting.size).toEqual({ active: 0, backoff: 0, parked: 0 });
});

test('the delay between decisions grows from one second to ten', () => {
  expect([1, 2, 3, 4, 5, 6].map(backoffOf)).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('a parked pod is woken by what may help it, after its delay', async () => {
  const a = pod('a');
  waiting.add(a);
  taken();
  waiting.park(a, Cause.resources);
  waiting.wake(Cause.nodes | Cause.ports);
  expect([...waiting.social]).toEqual([]);
  expect(waiting.size).toEqual({ active: 0, backoff: 0, parked: 1 });
  waiting.wake(Cause.resources, () => false);
  expect(waiting.size.parked).toBe(1);
  waiting.wake(Cause.resources);
  expect(waiting.size).toEqual({ active: 0, backoff: 1, parked: 0 });
  await clock.advance(999);
  expect(taken()).toEqual([]);
  await clock.advance(1);
  expect(taken()).toEqual(['a']);
  // The second delay is two seconds, of which most have passed before the event.
  waiting.park(a, Cause.resources);
  await clock.advance(1500);
  waiting.wake(Cause.resources);
  await clock.advance(500);
  expect(taken()).toEqual(['a']);
});

test('a pod whose delay is over is taken at once when it is woken', async () => {
  const a = pod('a');
  waiting.add(a);
  taken();
  waiting.park(a, Cause.spread);
  await clock.advance(60_000);
  expect([...waiting.social]).toEqual([a]);
  waiting.retry(a);
  expect(taken()).toEqual(['a']);
});

test('a parked pod is taken after five minutes without an event', async () => {
  const [a, b] = [pod('a'), pod('b')];
  waiting.add(a);
  taken();
  waiting.park(a, Cause.nodes);
  await clock.advance(100_000);
  waiting.add(b);
  taken();
  waiting.park(b, Cause.nodes);
  await clock.advance(199_999);
  expect(taken()).toEqual([]);
  await clock.advance(1);
  expect(taken()).toEqual(['a']);
  await clock.advance(100_000);
  expect(taken()).toEqual(['b']);
});

test('a pod that goes while it waits for its delay is not taken afterwards', async () => {
  const a = pod('a');
  waiting.add(a);
  taken();
  waiting.retry(a);
  waiting.remove(a);
  await clock.advance(20_000);
  expect(taken()).toEqual([]);
  expect(clock.pending).toBe(0);
});

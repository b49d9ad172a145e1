import { expect, test } from 'vitest';
import { TimerQueue } from './timer-queue.ts';

test('calls come out by time, those of one time in the order in which they were added', () => {
  const queue = new TimerQueue();
  const story: string[] = [];
  const times = [5, 3, 5, 1, 4, 1, 3, 2, 5, 1];
  for (const [index, at] of times.entries()) queue.add(at, undefined, () => story.push(`${at}:${index}`));
  const ends = [1, 3, 4].map((at) => queue.add(at, undefined, () => story.push('cancelled')));
  for (const end of ends) end();
  expect(queue.size).toBe(times.length);
  while (queue.next < Number.POSITIVE_INFINITY) for (const { call } of queue.take(queue.next)) call();
  expect(story).toEqual(['1:3', '1:5', '1:9', '2:7', '3:1', '3:6', '4:4', '5:0', '5:2', '5:8']);
  expect([queue.size, queue.kept]).toEqual([0, 0]);
});

test('cancelled calls are counted out once, and do not pile up', () => {
  const queue = new TimerQueue();
  const often = queue.add(1, 10, () => {});
  for (let n = 0; n < 10_000; n++) {
    const cancel = queue.add(1_000_000, undefined, () => {});
    cancel();
    cancel();
  }
  expect(queue.size).toBe(1);
  expect(queue.kept).toBeLessThanOrEqual(2 + 64);
  const late = queue.add(1, undefined, () => {});
  expect(queue.take(1)).toHaveLength(2);
  late();
  expect([queue.size, queue.next]).toEqual([1, 11]);
  queue.delayTo(50);
  expect(queue.next).toBe(50);
  often();
  expect([queue.size, queue.next]).toEqual([0, Number.POSITIVE_INFINITY]);
});

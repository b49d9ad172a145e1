import { FakeClock } from '@plat-dev/lib/clock';
import { SLICE_MILLIS } from '@plat-dev/lib/slices';
import { heldWorkTime } from '@plat-dev/lib/slices.testing';
import { expect, test } from 'vitest';
import { type Outcome, type QueueOptions, WorkQueue } from './queue.ts';

function queueOf(work: (key: string) => Promise<Outcome> | Outcome, more: Partial<QueueOptions> = {}) {
  const clock = new FakeClock();
  const failed: string[] = [];
  const queue = new WorkQueue({
    name: 'test',
    clock,
    work: async (key) => work(key),
    report: (error, key) => void failed.push(`${key}: ${(error as Error).message}`),
    ...more,
  });
  queue.start();
  return { queue, clock, failed };
}

/** Work that a test ends by hand. */
function held() {
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (key: string): Promise<void> =>
    new Promise((resolve) => {
      running.push(key);
      ends.set(key, resolve);
    });
  return { running, work, end: (key: string) => ends.get(key)?.() };
}
const workTime = heldWorkTime();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a key that is added often is worked on once', async () => {
  const done: string[] = [];
  const { queue } = queueOf((key) => void done.push(key));
  for (const key of ['a', 'b', 'a', 'a', 'b']) queue.add(key);
  await queue.idle();
  expect(done).toEqual(['a', 'b']);
});

test('a key is never worked on twice at a time, and once more when it was added meanwhile', async () => {
  const { running, work, end } = held();
  const { queue } = queueOf(work);
  queue.add('a');
  await turn();
  queue.add('a');
  queue.add('a');
  await turn();
  expect(running).toEqual(['a']);
  end('a');
  await turn();
  await turn();
  expect(running).toEqual(['a', 'a']);
  end('a');
  await queue.idle();
  expect(running).toEqual(['a', 'a']);
});

test('no more keys run at a time than there are workers', async () => {
  const { running, work, end } = held();
  const { queue } = queueOf(work, { workers: 2 });
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await turn();
  expect(running).toEqual(['a', 'b']);
  end('a');
  await turn();
  expect(running).toEqual(['a', 'b', 'c']);
  end('b');
  end('c');
  await queue.idle();
});

test('keys that take long are worked on in turns of their own', async () => {
  const begun: string[] = [];
  const { queue } = queueOf(
    (key) => {
      begun.push(key);
      workTime.pass(SLICE_MILLIS);
    },
    { workers: 10 },
  );
  const seen: number[] = [];
  for (const key of ['a', 'b', 'c']) queue.add(key);
  while (!queue.isIdle) {
    await turn();
    seen.push(begun.length);
  }
  expect(begun).toEqual(['a', 'b', 'c']);
  expect(seen.filter((count, i) => count - (seen[i - 1] ?? 0) > 1)).toEqual([]);
});

test('what fails is retried, later each time, up to a longest wait', async () => {
  const at: number[] = [];
  const { queue, clock, failed } = queueOf(
    () => {
      at.push(clock.monotonic());
      throw new Error('no');
    },
    { firstRetryMs: 10, longestRetryMs: 50 },
  );
  queue.add('a');
  await queue.idle();
  await clock.advance(200);
  expect(at).toEqual([0, 10, 30, 70, 120, 170]);
  expect(failed[0]).toBe('a: no');
});

test('a success is the end of the waits', async () => {
  let fails = 2;
  const at: number[] = [];
  const { queue, clock } = queueOf(
    () => {
      at.push(clock.monotonic());
      if (fails-- > 0) throw new Error('no');
    },
    { firstRetryMs: 10 },
  );
  queue.add('a');
  await queue.idle();
  await clock.advance(1000);
  expect(at).toEqual([0, 10, 30]);
  fails = 1;
  queue.add('a');
  await queue.idle();
  await clock.advance(1000);
  expect(at).toEqual([0, 10, 30, 1000, 1010]);
});

test('work may ask for another look, and a sooner one takes its place', async () => {
  const at: number[] = [];
  const { queue, clock } = queueOf(() => {
    at.push(clock.monotonic());
    return at.length === 1 ? 100 : undefined;
  });
  queue.add('a');
  await queue.idle();
  queue.addAfter('a', 500);
  await clock.advance(50);
  queue.addAfter('a', 10);
  await clock.advance(1000);
  expect(at).toEqual([0, 60]);
});

test('beyond its bound keys are dropped, and that is reported when the queue has drained', async () => {
  const done: string[] = [];
  let told = 0;
  const { queue } = queueOf((key) => void done.push(key), { limit: 2, overflowed: () => told++ });
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
  await queue.idle();
  expect(done).toEqual(['a', 'b']);
  expect(told).toBe(1);
});

test('stopping waits for what runs and takes up nothing more', async () => {
  const { running, work, end } = held();
  const { queue, clock } = queueOf(work, { workers: 1 });
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 10);
  await turn();
  let stopped = false;
  const stopping = queue.stop().then(() => {
    stopped = true;
  });
  await turn();
  expect(stopped).toBe(false);
  queue.add('d');
  end('a');
  await stopping;
  await clock.advance(100);
  expect(running).toEqual(['a']);
  expect(clock.pending).toBe(0);
});

test('a key that failed counts as work when its retry is due soon; a key that is delayed does not', async () => {
  const { queue, clock } = queueOf((key) => {
    if (key === 'failing') throw new Error('conflict');
    return 5;
  });
  queue.add('delayed');
  await queue.idle();
  expect(queue.retriesWithin(1000)).toBe(false);
  queue.add('failing');
  await queue.idle();
  expect(queue.retriesWithin(5)).toBe(true);
  expect(queue.retriesWithin(4)).toBe(false);
  expect(queue.retriesWithin(0)).toBe(false);
  for (let wait = 5; wait < 100; wait *= 2) {
    expect(queue.retriesWithin(100)).toBe(true);
    await clock.advance(wait);
    await queue.idle();
  }
  expect(queue.retriesWithin(100)).toBe(false);
  await queue.stop();
});

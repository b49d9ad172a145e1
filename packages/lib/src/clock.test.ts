import { expect, test, vi } from 'vitest';
import { FakeClock, fasterClock, systemClock } from './clock.ts';

test('calls are made in the order of their time, at their time', async () => {
  const clock = new FakeClock(0);
  const story: string[] = [];
  clock.after(30, () => story.push(`c@${clock.now()}`));
  clock.after(10, () => story.push(`a@${clock.now()}`));
  clock.every(20, () => story.push(`tick@${clock.now()}`));
  await clock.advance(9);
  expect(story).toEqual([]);
  await clock.advance(41);
  expect(story).toEqual(['a@10', 'tick@20', 'c@30', 'tick@40']);
  expect(clock.now()).toBe(50);
});

test('a cancelled call is not made', async () => {
  const clock = new FakeClock();
  let calls = 0;
  const once = clock.after(10, () => calls++);
  const often = clock.every(10, () => calls++);
  once();
  await clock.advance(10);
  often();
  await clock.advance(100);
  expect(calls).toBe(1);
  expect(clock.pending).toBe(0);
});

test('what a call sets going within the time that passes is done too', async () => {
  const clock = new FakeClock(0);
  const story: number[] = [];
  const loop = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await clock.sleep(10);
      story.push(clock.now());
    }
  };
  const done = loop();
  await clock.advance(100);
  await done;
  expect(story).toEqual([10, 20, 30]);
});

test('a sleep ends early when its signal is aborted, and leaves no timer behind', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const sleep = clock.sleep(1000, stop.signal);
  stop.abort(new Error('enough'));
  await expect(sleep).rejects.toThrow('enough');
  expect(clock.pending).toBe(0);
  await expect(clock.sleep(1, stop.signal)).rejects.toThrow('enough');
  await expect(systemClock.sleep(1_000_000, stop.signal)).rejects.toThrow('enough');
});

test('the system clock waits', async () => {
  const before = systemClock.monotonic();
  const keepAlive = setInterval(() => {}, 1000);
  await systemClock.sleep(5);
  clearInterval(keepAlive);
  expect(systemClock.monotonic()).toBeGreaterThan(before);
});

test('calls that overlap move the clock one after the other, never back', async () => {
  const clock = new FakeClock(0);
  const story: number[] = [];
  clock.every(10, () => {
    story.push(clock.now());
  });
  const first = clock.advance(50);
  const second = clock.advance(10);
  const third = clock.jump(5);
  await Promise.all([first, second, third]);
  expect(clock.now()).toBe(65);
  expect(story).toEqual([10, 20, 30, 40, 50, 60]);
});

test('a call that fails does not keep the clock from being moved again', async () => {
  const clock = new FakeClock(0);
  clock.after(1, () => {
    throw new Error('broken');
  });
  const first = clock.advance(5);
  const second = clock.advance(5);
  await expect(first).rejects.toThrow('broken');
  await second;
  expect(clock.now()).toBe(6);
});

test('time passes forward only, and ends', async () => {
  const clock = new FakeClock(0);
  for (const wrong of [Number.POSITIVE_INFINITY, Number.NaN, -1])
    await expect(clock.advance(wrong)).rejects.toThrow('time goes forward only, and not for ever');
  expect(clock.now()).toBe(0);
});

test('what is waited for is waited for once for all calls of a time; one that is cancelled by another of that time is not made', async () => {
  const clock = new FakeClock(0);
  let settled = 0;
  clock.settling.add(async () => {
    settled++;
  });
  let calls = 0;
  for (let n = 0; n < 100; n++) clock.every(10, () => calls++);
  clock.after(10, () => cancel());
  const cancel = clock.after(10, () => {
    throw new Error('cancelled');
  });
  await clock.advance(35);
  expect(calls).toBe(300);
  // Three times, and the end.
  expect(settled).toBe(4);
});

test('long delays of the machine clock are whole seconds, so that few lists of timers stay behind', () => {
  const set = vi.spyOn(globalThis, 'setTimeout');
  try {
    for (const millis of [0, 1, 59_999.5, 60_000, 60_001, 1_800_000, 2_345_678.9, 2 ** 31, Number.POSITIVE_INFINITY])
      systemClock.after(millis, () => {})();
    expect(set.mock.calls.map(([, millis]) => millis)).toEqual([
      ...[0, 1, 59_999.5, 60_000, 61_000, 1_800_000, 2_346_000, 2 ** 31 - 1, 2 ** 31 - 1],
    ]);
  } finally {
    set.mockRestore();
  }
});

test('a faster clock begins with another one and passes time faster', async () => {
  const machine = new FakeClock(1_000_000);
  const clock = fasterClock(machine, 60);
  const calls: string[] = [];
  clock.after(60_000, () => calls.push(`after ${clock.now()}`));
  const stop = clock.every(120_000, () => calls.push(`every ${clock.monotonic()}`));
  const slept = clock.sleep(180_000).then(() => calls.push('slept'));
  await machine.advance(999);
  expect([calls, clock.now(), clock.monotonic()]).toEqual([[], 1_059_940, 59_940]);
  await machine.advance(1);
  await machine.advance(1000);
  await machine.advance(1000);
  await slept;
  stop();
  expect(calls).toEqual(['after 1060000', 'every 120000', 'slept']);
  expect(fasterClock(machine, 1)).toBe(machine);
});

import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { FakeClock } from '../lib/clock.ts';
import { collectWhenIdle } from './idle-collection.ts';

const MB = 2 ** 20;

function stand() {
  const clock = new FakeClock();
  let cpu = 0;
  let bytes = 50 * MB;
  let collections = 0;
  const end = collectWhenIdle(clock, {
    cpuMillis: () => cpu,
    bytes: () => bytes,
    collect: () => {
      collections++;
      bytes = 100 * MB;
    },
  });
  return {
    end,
    collections: () => collections,
    /** Time with a part of a core in use, at the end of which the process has so many bytes. */
    pass: async (seconds: number, share: number, megabytes?: number) => {
      for (let i = 0; i < seconds; i++) {
        cpu += share * 1000;
        await clock.advance(1000);
      }
      if (megabytes !== undefined) bytes = megabytes * MB;
    },
  };
}

test('a server that was busy and is idle collects its garbage, once', async () => {
  const { pass, collections, end } = stand();
  await pass(20, 1, 400);
  expect(collections()).toBe(0);
  await pass(8, 0.01);
  expect(collections()).toBe(1);
  await pass(600, 0.01, 400);
  expect(collections()).toBe(1);
  await pass(20, 1, 400);
  await pass(12, 0.01);
  expect(collections()).toBe(2);
  end();
});

test('it does not while there is work to do, where there was none, and where there is little to gain', async () => {
  const working = stand();
  await working.pass(20, 1, 400);
  await working.pass(600, 0.1);
  expect(working.collections()).toBe(0);
  const idle = stand();
  await idle.pass(600, 0.01, 400);
  expect(idle.collections()).toBe(0);
  const small = stand();
  await small.pass(20, 1, 60);
  await small.pass(60, 0.01);
  expect(small.collections()).toBe(0);
  working.end();
  await working.pass(60, 0);
  expect(working.collections()).toBe(0);
});

test('the collector of the engine is called, and its flag is set back', async () => {
  const garbage = new WeakRef({});
  const clock = new FakeClock();
  const cpu = process.cpuUsage.bind(process);
  let extra = 0;
  process.cpuUsage = (() => ({ ...cpu(), user: extra * 1000, system: 0 })) as typeof process.cpuUsage;
  const memory = process.memoryUsage;
  process.memoryUsage = Object.assign(() => ({ ...memory(), heapTotal: 500 * MB }), { rss: memory.rss });
  try {
    const end = collectWhenIdle(clock);
    extra += 4000;
    await clock.advance(4000);
    await clock.advance(8000);
    end();
    expect(garbage.deref()).toBeUndefined();
    expect(() => runInNewContext('gc')).toThrow('gc is not defined');
  } finally {
    process.cpuUsage = cpu;
    process.memoryUsage = memory;
  }
});

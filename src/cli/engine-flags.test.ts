import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { FakeClock } from '../lib/clock.ts';
import { flagsOf, optimizeOnceBusy } from './engine-flags.ts';

test('flags are set in the release of Node that they were measured with, and in no other', () => {
  expect(flagsOf('20.20.2').length).toBeGreaterThan(0);
  expect(flagsOf('22.1.0')).toEqual([]);
  expect(flagsOf('200.0.0')).toEqual([]);
});

test('the engine knows its flags', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  for (const flag of flagsOf(process.versions.node)) expect(known).toContain(`${flag.split('=')[0]} (`);
});

function stand() {
  const clock = new FakeClock();
  let cpu = 0;
  let set = 0;
  const end = optimizeOnceBusy(
    clock,
    () => cpu,
    () => set++,
  );
  return {
    end,
    set: () => set,
    /** Half seconds with a part of a core in use. */
    pass: async (intervals: number, share: number) => {
      for (let i = 0; i < intervals; i++) {
        cpu += share * 500;
        await clock.advance(500);
      }
    },
    clock,
  };
}

test('flags are set once, after two seconds of work', async () => {
  const { pass, set, clock } = stand();
  await pass(3, 1);
  await pass(2, 0.4);
  expect(set()).toBe(0);
  await pass(1, 1);
  expect(set()).toBe(1);
  expect(clock.pending).toBe(0);
});

test('a server that nobody asks for anything never gets there, and one that ends does not wait', async () => {
  const { pass, set, end, clock } = stand();
  await pass(200, 0.2);
  expect(set()).toBe(0);
  end();
  expect(clock.pending).toBe(0);
});

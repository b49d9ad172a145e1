import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { put } from '../engine.suite.tools.ts';
import { engineSuite } from '../engine.suite.ts';
import { Compacted } from '../engine.ts';
import { openMemoryEngine } from './memory.ts';

engineSuite('memory', async (options) => {
  const clock = new FakeClock();
  return { engine: openMemoryEngine({ ...options, clock }), advance: (milliseconds) => clock.advance(milliseconds) };
});

test('history is forgotten when it is older than the retention', async () => {
  const clock = new FakeClock();
  const engine = openMemoryEngine({ clock, historyRetentionMs: 60_000 });
  await engine.commit([put('a', '1')]);
  await engine.commit([put('a', '2')]);
  await clock.advance(30_000);
  await engine.commit([put('a', '3')]);
  expect(engine.compacted).toBe(0);
  await clock.advance(31_000);
  expect(engine.compacted).toBe(2);
  expect((await engine.get('a', 2))?.value.toString()).toBe('2');
  await engine.close();
});

test('history of more bytes than the bound is forgotten, oldest first, however young it is', async () => {
  const engine = openMemoryEngine({ clock: new FakeClock(), historyBytes: 1_000_000 });
  const value = 'x'.repeat(9_000);
  for (let i = 0; i < 1_000; i++) await engine.commit([put(`key${i % 10}`, `${value}${i}`)]);
  await engine.compact(0);
  const { kept_commits: kept, keys } = await engine.stats();
  expect(kept).toBeGreaterThan(80);
  expect(kept).toBeLessThan(110);
  expect(engine.compacted).toBeGreaterThan(880);
  await expect(engine.changes({ after: 800, prefix: '' })).rejects.toThrow(Compacted);
  // What is stored now is all there.
  expect(keys).toBe(10);
  expect((await engine.range({ prefix: '' })).entries.map(({ value }) => value.toString().slice(9_000))).toEqual(
    Array.from({ length: 10 }, (_, i) => String(990 + i)),
  );
  expect((await engine.changes({ after: engine.compacted, prefix: '' })).length).toBe(1_000 - engine.compacted);
  await engine.close();
});

test('what is held is not forgotten for its size; after that it is', async () => {
  const engine = openMemoryEngine({ clock: new FakeClock(), historyBytes: 100_000 });
  await engine.commit([put('a', 'first')]);
  const held = await engine.hold(60_000);
  for (let i = 0; i < 100; i++) await engine.commit([put('a', 'x'.repeat(10_000))]);
  expect((await engine.get('a', held.revision))?.value.toString()).toBe('first');
  await held.release();
  for (let i = 0; i < 10; i++) await engine.commit([put('a', 'x'.repeat(10_000))]);
  await expect(engine.get('a', held.revision)).rejects.toThrow(Compacted);
  await engine.close();
});

test('one change that is larger than the bound is kept until the next', async () => {
  const engine = openMemoryEngine({ clock: new FakeClock(), historyBytes: 1_000 });
  await engine.commit([put('a', '1')]);
  await engine.commit([put('a', 'x'.repeat(5_000))]);
  expect(engine.compacted).toBe(1);
  expect((await engine.changes({ after: 1, prefix: '' })).length).toBe(1);
  expect((await engine.get('a'))?.value.length).toBe(5_000);
  await engine.close();
});

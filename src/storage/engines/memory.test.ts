import { expect, test } from 'vitest';
import { put } from '../engine.suite.tools.ts';
import { engineSuite } from '../engine.suite.ts';
import { ManualClock } from './clock.ts';
import { openMemoryEngine } from './memory.ts';

engineSuite('memory', async () => {
  const clock = new ManualClock();
  return { engine: openMemoryEngine({ clock }), advance: (milliseconds) => clock.advance(milliseconds) };
});

test('history is forgotten when it is older than the retention', async () => {
  const clock = new ManualClock();
  const engine = openMemoryEngine({ clock, historyRetentionMs: 60_000 });
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000);
      await new Promise(setImmediate);
    }
  };
  await engine.commit([put('a', '1')]);
  await engine.commit([put('a', '2')]);
  await pass(30);
  await engine.commit([put('a', '3')]);
  expect(engine.compacted).toBe(0);
  await pass(31);
  expect(engine.compacted).toBe(2);
  expect((await engine.get('a', 2))?.value.toString()).toBe('2');
  await engine.close();
});

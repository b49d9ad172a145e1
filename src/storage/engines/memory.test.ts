import { expect, test } from 'vitest';
import { FakeClock } from '../../lib/clock.ts';
import { put } from '../engine.suite.tools.ts';
import { engineSuite } from '../engine.suite.ts';
import { openMemoryEngine } from './memory.ts';

engineSuite('memory', async () => {
  const clock = new FakeClock();
  return { engine: openMemoryEngine({ clock }), advance: (milliseconds) => clock.advance(milliseconds) };
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

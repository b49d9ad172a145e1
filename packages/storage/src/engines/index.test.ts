import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { put } from '../engine.suite.tools.ts';
import { openEngine } from './index.ts';

test.each(['memory', 'lmdb'] as const)('an engine is opened by its name, with the options that concern it: %s', async (store) => {
  const dataDir = temporaryDirectory('plat-engines');
  const clock = new FakeClock();
  const engine = await openEngine({ store, dataDir, clock, historyRetentionMs: 10_000, etcd: { servers: [], prefix: '' } });
  expect(engine.name).toBe(store);
  await engine.commit([put('a', '1')]);
  await engine.commit([put('a', '2')]);
  // What was written is where compaction looks once it was read.
  expect((await engine.get('a'))?.revision).toBe(2);
  await clock.advance(12_000);
  expect(engine.compacted).toBe(2);
  await engine.close();
});

test('etcd without a server to talk to is refused', async () => {
  await expect(openEngine({ store: 'etcd', dataDir: '', etcd: { servers: [] } })).rejects.toThrow(/etcd/);
});

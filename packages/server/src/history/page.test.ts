import { FakeClock } from '@plat-dev/lib/clock';
import { Slices } from '@plat-dev/lib/slices';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import { expect, test } from 'vitest';
import { historyPage } from './page.ts';
import type { HistoryQuery } from './query.ts';

const MEGABYTE = Buffer.alloc(2 ** 20, 'x');

test('a page holds a bounded number of bytes of replaced versions, and the next goes on', async () => {
  const rule = { retentionMs: 3_600_000, values: true, mostBytesPerKey: 2 ** 30 };
  const engine = openMemoryEngine({ clock: new FakeClock(), history: { id: 'all', ruleOf: () => rule, mostBytes: 2 ** 30 } });
  const keys = Array.from({ length: 100 }, (_, i) => `core/configmaps/a/${String(i).padStart(2, '0')}`);
  for (const key of keys) await engine.commit([{ type: 'put', key, value: MEGABYTE }]);
  for (const key of keys) await engine.commit([{ type: 'put', key, value: Buffer.from('{}') }]);

  const shown: string[] = [];
  const replacedBytes: number[] = [];
  let before: number | undefined;
  do {
    const query = { limit: 1000, full: false, ...(before !== undefined && { before }) } as HistoryQuery;
    // The pages of the small versions; the large ones that they replaced come after them.
    const page = await historyPage(engine.history, { prefix: 'core/configmaps/', exact: false, isOf: () => true }, query, new Slices());
    const updates = page.entries.filter(({ replaced }) => replaced !== undefined);
    shown.push(...updates.map(({ version }) => version.key));
    const outside = updates.filter(({ replaced }) => !page.entries.some(({ version }) => version === replaced));
    replacedBytes.push(outside.reduce((sum, { replaced }) => sum + (replaced?.value?.length ?? 0), 0));
    before = page.next;
  } while (before !== undefined);
  expect(shown).toEqual(keys.toReversed());
  expect(Math.max(...replacedBytes)).toBeLessThan(16 * 2 ** 20);
  await engine.close();
});

/** History of many keys in the store in memory: it is read in turns, and is complete all the same. */
import { FakeClock } from '@plat-dev/lib/clock';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { expect, test } from 'vitest';
import { put } from '../../engine.suite.tools.ts';
import { KEEP_ALL_HISTORY } from '../../history.ts';
import { type MemoryEngine, openMemoryEngine } from '../memory.ts';

/** More keys than are looked at in two turns. */
const KEYS = 5_000;
const names = Array.from({ length: KEYS }, (_, i) => `k/${i}`);

/** Each key is put; every second is deleted, every third is put again; all is compacted but the last of these. */
async function filledStore(): Promise<{ engine: MemoryEngine; writes: string[] }> {
  const engine = openMemoryEngine({ clock: new FakeClock(), history: KEEP_ALL_HISTORY });
  const writes: string[] = [];
  const write = async (type: 'put' | 'delete', key: string): Promise<void> => {
    const { revision } = await engine.commit([type === 'put' ? put(key, '1') : { type, key }]);
    writes.push(`${type} ${key} ${revision}`);
  };
  for (const key of names) await write('put', key);
  for (const [i, key] of names.entries()) if (i % 2 === 0) await write('delete', key);
  await engine.compact(engine.revision);
  for (const [i, key] of names.entries()) if (i % 3 === 0) await write('put', key);
  return { engine, writes };
}
const nextTurn = (): Promise<void> => new Promise(inNextTurn);

async function pagesOf(engine: MemoryEngine, limit: number, duringPage: () => Promise<unknown> = async () => {}): Promise<string[]> {
  const lines: string[] = [];
  let before: number | undefined;
  do {
    const page = engine.history.versions({ prefix: 'k/', limit, ...(before !== undefined && { before }) });
    await duringPage();
    const { versions, next } = await page;
    lines.push(...versions.map(({ type, key, revision }) => `${type} ${key} ${revision}`));
    before = next;
  } while (before !== undefined);
  return lines;
}

test('pages hold every version once, newest first, whether it is compacted or not', async () => {
  const { engine, writes } = await filledStore();
  expect(await pagesOf(engine, 700)).toEqual(writes.toReversed());
  await engine.close();
});

test('a list at a revision is in the order of keys, whether they are compacted or not', async () => {
  const { engine } = await filledStore();
  const { versions } = await engine.history.at({ prefix: 'k/', at: engine.revision, limit: KEYS });
  expect(versions.map(({ key }) => key)).toEqual(names.filter((_, i) => i % 2 === 1 || i % 3 === 0).sort());
  await engine.close();
});

test('other work runs while many keys are read', async () => {
  const { engine } = await filledStore();
  const { history } = engine;
  for (const read of [
    () => history.versions({ prefix: 'k/', limit: 1 }),
    () => history.at({ prefix: 'k/', at: engine.revision, limit: KEYS }),
    () => history.revisionAt(0),
  ]) {
    let isRead = false;
    const reading = read().then(() => {
      isRead = true;
    });
    await nextTurn();
    expect(isRead).toBe(false);
    await reading;
  }
  await engine.close();
});

test('what is written while a page is read is on none of its pages', async () => {
  const { engine, writes } = await filledStore();
  const [first, last] = [names.toSorted()[0] as string, names.toSorted().at(-1) as string];
  const lines = await pagesOf(engine, 700, async () => {
    await nextTurn();
    await engine.commit([put(first, '2')]);
    await engine.commit([put(last, '2')]);
  });
  expect(lines).toEqual(writes.toReversed());
  await engine.close();
});

test('a commit of many changes is never split between two pages', async () => {
  const engine = openMemoryEngine({ clock: new FakeClock(), history: KEEP_ALL_HISTORY });
  await engine.commit(names.slice(0, 100).map((key) => put(key, '1')));
  await engine.commit([put('k/0', '2')]);
  const page = await engine.history.versions({ prefix: 'k/', limit: 2 });
  expect(page.versions).toHaveLength(101);
  expect(page.next).toBeUndefined();
  await engine.close();
});

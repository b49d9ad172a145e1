/** Stores of the format before this one are brought into this one, at once or after a crash on the way. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { put } from '../../../engine.suite.tools.ts';
import type { Engine } from '../../../engine.ts';
import type { StoreOwner } from '../../../store-mark.ts';
import { openLmdbEngine } from '../../lmdb.ts';
import { openTables } from '../tables.ts';
import { migrateRows } from './migrate.ts';
import { writeOldStore } from './old-store.testing.ts';

let parent: string;
beforeEach(() => {
  parent = temporaryDirectory('plat-migrate');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

/** When the old store was made. */
const clock = (): FakeClock => new FakeClock(1_700_000_000_000);
const stateOf = async (engine: Engine) =>
  (await engine.range({ prefix: '', expiries: true })).entries.map(
    ({ key, value, revision, created, expires = 0, unreadable }) =>
      `${key}=${value.length > 10 ? value.length : value} ${revision} ${created}${expires > 0 ? ` ${expires - 1_700_000_000_000}` : ''}${unreadable ? ' !' : ''}`,
  );
const STATE = ['a=3 7 1', 'b=1 3 3', 'c=1 8 8', 'core/namespaces/kube-system=ns 1 1', 'event=2 8 5 7200000', 'large=3000 6 6'];
const HISTORY = ['put b 3', 'put gone 3', 'delete gone 4', 'put event 5', 'put large 6', 'put a 7', 'put c 8', 'put event 8'];

async function check(dataDir: string): Promise<void> {
  for (let start = 0; start < 2; start++) {
    const engine = await openLmdbEngine({ dataDir, clock: clock() });
    expect(engine.revision).toBe(8 + start);
    expect((await stateOf(engine)).filter((line) => !line.startsWith('new'))).toEqual(STATE);
    const changes = await engine.changes({ after: 2, prefix: '' });
    expect(changes.slice(0, HISTORY.length).map(({ type, key, revision }) => `${type} ${key} ${revision}`)).toEqual(HISTORY);
    expect((await engine.get('a', 3))?.value.toString()).toBe('2');
    await engine.commit([put(`new${start}`, '1', 0)]);
    await engine.close();
  }
}

test.each(['closed', 'crashed'] as const)('a store of the old format is migrated: %s', async (which) => {
  const dataDir = join(parent, 'data');
  writeOldStore(dataDir, which);
  await check(dataDir);
});

test.each(['closed', 'crashed'] as const)('a crash during migration is made good by the next start: %s', async (which) => {
  const made = join(parent, 'made');
  writeOldStore(made, which);
  const tables = await openTables(made);
  const crashes = [join(parent, 'begun')];
  cpSync(made, crashes[0] as string, { recursive: true });
  await migrateRows(tables, () => {
    const at = join(parent, `step${crashes.length}`);
    cpSync(made, at, { recursive: true });
    crashes.push(at);
  });
  await tables.close();
  expect(crashes.length).toBeGreaterThan(2);
  for (const crashed of crashes) await check(crashed);
});

test('damage in an old journal is refused as well', async () => {
  const dataDir = join(parent, 'data');
  writeOldStore(dataDir, 'crashed');
  const file = join(dataDir, 'store.journal-0');
  const bytes = readFileSync(file);
  const second = 16 + bytes.readUInt32BE(4);
  // The frame before the last: what comes after it is whole.
  let last = 0;
  for (let at = 0, before = 0; at + 16 <= bytes.length && bytes.readUInt32BE(at) === 0x504a0001; at += 16 + bytes.readUInt32BE(at + 4)) {
    last = before;
    before = at;
  }
  expect(last).toBeGreaterThanOrEqual(second);
  bytes[last + 40] = (bytes[last + 40] as number) ^ 1;
  writeFileSync(file, bytes);
  await expect(openLmdbEngine({ dataDir, clock: clock() })).rejects.toThrow(/is damaged at byte \d+: revision 7 is missing/);
});

test('an old store says by its objects whose it is', async () => {
  const dataDir = join(parent, 'data');
  writeOldStore(dataDir, 'closed');
  const owner = (identity: string): StoreOwner => ({
    identity,
    productVersion: '1',
    traces: [
      { identity: 'one', key: 'core/namespaces/one-system' },
      { identity: 'two', key: 'core/namespaces/kube-system' },
    ],
  });
  await expect(openLmdbEngine({ dataDir, owner: owner('one') })).rejects.toThrow(/was made under the identity "two".*--identity two/);
  await (await openLmdbEngine({ dataDir, clock: clock(), owner: owner('two') })).close();
  await expect(openLmdbEngine({ dataDir, owner: owner('one') })).rejects.toThrow(/was made under the identity "two"/);
});

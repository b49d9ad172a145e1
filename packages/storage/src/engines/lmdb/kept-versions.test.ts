/** History in the store file: formats, changed rules, restarts, damage and repair. What it does is in `engine.suite.kept.ts`. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { crc32 } from '../../crc32.ts';
import { bytes, put, remove } from '../../engine.suite.tools.ts';
import type { Engine, Operation } from '../../engine.ts';
import type { HistoryPolicy, HistoryRule } from '../../history.ts';
import { openLmdbEngine } from '../lmdb.ts';
import { encodeRecord } from './format.ts';
import { repairDirectory } from './repair/repair.ts';
import { verifyDirectory } from './repair/verify.ts';
import { openTables } from './tables.ts';

let dataDir: string;
const clock = new FakeClock();
beforeEach(() => {
  dataDir = temporaryDirectory('plat-kept');
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const RULE: HistoryRule = { retentionMs: 3_600_000, values: true, mostBytesPerKey: 1_000_000 };
const rules = (id: string | undefined, rule: Partial<HistoryRule> | undefined = {}): HistoryPolicy => ({
  ...(id !== undefined && { id }),
  ruleOf: () => (rule === undefined ? undefined : { ...RULE, ...rule }),
  mostBytes: 1_000_000,
});
const open = (history?: HistoryPolicy): Promise<Engine> => openLmdbEngine({ dataDir, clock, ...(history !== undefined && { history }) });
const by = (name: string, operation: Operation): Operation => ({ ...operation, note: bytes(name) }) as Operation;
const linesOf = async ({ history }: Engine): Promise<string[]> =>
  (await history.versions({ prefix: '', limit: 1_000 })).versions.map(
    ({ type, key, revision, note, value }) => `${revision} ${type} ${key} ${value ?? '-'} ${note ?? '-'}`,
  );
const historyBytes = async (engine: Engine): Promise<number> => (await engine.stats()).history_bytes as number;

/** a: three versions; b: created and deleted. */
async function write(engine: Engine): Promise<void> {
  await engine.commit([by('alice', put('a', '1')), by('alice', put('b', '1'))]);
  await engine.commit([by('bob', put('a', '2'))]);
  await engine.commit([by('bob', remove('b')), put('a', '3')]);
  await engine.compact(engine.revision);
}
const WRITTEN = ['3 put a 3 -', '3 delete b - bob', '2 put a 2 bob', '1 put b 1 alice', '1 put a 1 alice'];

test('rules that are the same keep what is kept, over restarts', async () => {
  let engine = await open(rules('one'));
  await write(engine);
  const size = await historyBytes(engine);
  expect(size).toBeGreaterThan(200);
  for (let restart = 0; restart < 2; restart++) {
    await engine.close();
    engine = await open(rules('one'));
    expect(await linesOf(engine)).toEqual(WRITTEN);
    expect(await historyBytes(engine)).toBe(size);
  }
  await engine.close();
  // A tool that knows no rules takes nothing away.
  engine = await open();
  expect(await linesOf(engine)).toEqual(WRITTEN);
  await engine.close();
  expect(await verifyDirectory(dataDir)).toEqual([]);
});

test('other rules hold for what was kept before: values go, times change, nothing is counted twice', async () => {
  let engine = await open(rules('one'));
  await write(engine);
  const size = await historyBytes(engine);
  await engine.close();
  engine = await open(rules('two'));
  await engine.compact(0);
  await expect.poll(() => historyBytes(engine)).toBe(size);
  await engine.close();
  engine = await open(rules('three', { values: false }));
  await expect.poll(() => linesOf(engine)).toEqual(WRITTEN.map((line) => line.replace(/^([12] put \w) \d/, '$1 -')));
  expect(await historyBytes(engine)).toBe(size - 3);
  await engine.close();
  engine = await open(rules('four', { retentionMs: 1_000 }));
  await clock.advance(10_000);
  await expect.poll(() => linesOf(engine)).toEqual(['3 put a 3 -']);
  expect(await historyBytes(engine)).toBe(0);
  await engine.close();
});

test('with rules that keep nothing any more, or have no name, all of it is looked at when the store is opened', async () => {
  let engine = await open(rules('one'));
  await write(engine);
  await engine.close();
  engine = await open({ ruleOf: () => undefined, mostBytes: 0 });
  await expect.poll(() => linesOf(engine)).toEqual(['3 put a 3 -']);
  expect((await engine.get('a'))?.value.toString()).toBe('3');
  await engine.close();
  expect(await verifyDirectory(dataDir)).toEqual([]);
});

test('versions of a backup go with changed rules as well', async () => {
  let engine = await open(rules('one'));
  await engine.skipTo(100);
  const version = { type: 'put', key: 'a', created: 10, time: clock.now(), note: bytes('alice'), value: bytes('1') } as const;
  await engine.history.add([
    { ...version, revision: 10 },
    { ...version, revision: 20 },
    { ...version, type: 'delete', value: undefined, revision: 30 },
  ]);
  await expect(engine.history.add([{ ...version, revision: 101 }])).rejects.toThrow(RangeError);
  await engine.commit([put('a', '2')]);
  const size = await historyBytes(engine);
  await engine.close();
  expect(await verifyDirectory(dataDir)).toEqual([]);
  engine = await open(rules('two'));
  await engine.compact(engine.revision);
  expect(await historyBytes(engine)).toBe(size);
  await engine.close();
  engine = await open(rules('three', { retentionMs: 1_000 }));
  await clock.advance(10_000);
  await expect.poll(() => linesOf(engine)).toEqual(['101 put a 2 -']);
  expect(await historyBytes(engine)).toBe(0);
  await engine.close();
});

/** The bytes of a record as format 2 had them. */
function withoutNoteLength(record: Buffer): Buffer {
  const old = Buffer.concat([record.subarray(0, 40), record.subarray(44)]);
  old[0] = 2;
  old.writeUInt32LE(crc32(old.subarray(0, -4)), old.length - 4);
  return old;
}

test('a file of the format before, whose records have no notes, is read as it is', async () => {
  const engine = await open();
  await engine.commit([put('a', 'one')]);
  await engine.commit([put('a', 'two')]);
  await engine.close();
  const tables = await openTables(dataDir);
  const record = (revision: number, previous: number, value: string): Buffer =>
    withoutNoteLength(
      encodeRecord(
        { deleted: false, key: 'a', created: 1, previous: { revision: previous, index: 0 }, time: 5, revision, index: 0 },
        bytes(value),
      ),
    );
  await tables.write(() => {
    tables.rawRecords.put({ revision: 1, index: 0 }, record(1, 0, 'one'));
    tables.rawRecords.put({ revision: 2, index: 0 }, record(2, 1, 'two'));
    tables.meta.put('format', Buffer.from('3'));
  });
  await tables.close();
  expect(await verifyDirectory(dataDir)).toEqual([]);
  const opened = await open(rules('one'));
  expect((await opened.get('a', 1))?.value.toString()).toBe('one');
  await opened.commit([by('alice', put('a', 'three'))]);
  await opened.compact(opened.revision);
  expect(await linesOf(opened)).toEqual(['3 put a three alice', '2 put a two -', '1 put a one -']);
  await opened.close();
  const raised = await openTables(dataDir);
  expect(raised.meta.get('format')).toBe('4');
  await raised.close();
});

test('a version that cannot be read is delivered in its place, and a repair keeps the others', async () => {
  const engine = await open(rules('one'));
  await engine.commit([by('alice', put('a', 'damage me please'))]);
  await engine.commit([by('bob', put('a', 'second value'))]);
  await engine.commit([by('carol', put('a', 'third value')), by('carol', put('b', '1'))]);
  await engine.commit([by('dave', remove('b'))]);
  await engine.compact(engine.revision);
  await engine.close();
  const file = join(dataDir, 'store.mdb');
  const content = readFileSync(file);
  for (let at = content.indexOf('damage me please'); at >= 0; at = content.indexOf('damage me please', at + 1)) content[at] = 0x21;
  writeFileSync(file, content);
  const damaged = await open(rules('one'));
  const { versions } = await damaged.history.versions({ prefix: 'a', exact: true, limit: 10 });
  expect(versions.map(({ revision, unreadable }) => [revision, unreadable?.reason])).toEqual([
    [3, undefined],
    [2, undefined],
    [1, 'its checksum is wrong'],
  ]);
  expect((await damaged.history.versions({ prefix: '', limit: 10 })).versions).toHaveLength(5);
  await damaged.close();
  expect(await verifyDirectory(dataDir)).toMatchObject([{ kind: 'record', key: 'a', revision: 1 }]);
  await repairDirectory(dataDir, { label: 'x' });
  expect(await verifyDirectory(dataDir)).toEqual([]);
  const repaired = await open(rules('one'));
  const whole = ['4 delete b - dave', '3 put b 1 carol', '3 put a third value carol', '2 put a second value bob'];
  expect((await linesOf(repaired)).sort()).toEqual([...whole].sort());
  await repaired.compact(0);
  expect((await linesOf(repaired)).sort()).toEqual([...whole].sort());
  expect((await repaired.get('a'))?.value.toString()).toBe('third value');
  expect(await repaired.get('b')).toBeUndefined();
  await repaired.close();
});

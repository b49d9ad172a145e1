/** Which starts look at all pages before they open a store, and which after. */

import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { crc32 } from '../../../crc32.ts';
import { put } from '../../../engine.suite.tools.ts';
import type { Engine } from '../../../engine.ts';
import { FILL_AFTER_MS, openLmdbEngine } from '../../lmdb.ts';
import { Pages } from '../pages/page-file.ts';
import { LOOK_AFTER_MS, type PageCheck, REST_MS } from '../pages/page-look.ts';
import { RECORD_AFTER_MS } from '../running-record.ts';
import { CLEAN_END_FILE, MOST_STARTS, RUNNING_FILE, readBoot, takeRecords } from './clean-end.ts';

let dataDir: string;
let clock: FakeClock;
let notices: string[];
const file = (): string => join(dataDir, 'store.mdb');
const record = (): string => join(dataDir, CLEAN_END_FILE);
let checks: PageCheck[];
const BOOT = 'the first start of the machine';
const take = (boot = BOOT): number | undefined => takeRecords(dataDir, boot);
const open = (): Promise<Engine> =>
  openLmdbEngine({ dataDir, clock, boot: BOOT, notice: (message) => notices.push(message), checked: (result) => checks.push(result) });

beforeEach(async () => {
  dataDir = join(temporaryDirectory('plat-clean-end'), 'data');
  clock = new FakeClock();
  notices = [];
  checks = [];
  const engine = await open();
  for (let i = 0; i < 60; i++) await engine.commit([put(`k${i}`, 'x'.repeat(i % 2 === 0 ? 300 : 3_000))]);
  await engine.close();
});

/** Root of the tree whose rows are the tables, in bytes from the beginning of the file. */
function mainRoot(): number {
  const descriptor = openSync(file(), 'r');
  const pages = new Pages(descriptor);
  pages.readMeta(() => {});
  closeSync(descriptor);
  return (pages.trees[1]?.root ?? 0) * 4096;
}
/** Page numbers of heads of large values. */
function heads(): number[] {
  const bytes = readFileSync(file());
  const found: number[] = [];
  for (let at = 8192; at < bytes.length; at += 4096)
    if (bytes.readUInt16LE(at + 18) === 4 && bytes.readUInt32LE(at) * 4096 === at) found.push(at);
  return found;
}
function write(at: number, byte: number): void {
  const descriptor = openSync(file(), 'r+');
  writeSync(descriptor, Buffer.from([byte]), 0, 1, at);
  closeSync(descriptor);
}
/** As a disk does that loses a bit: the file is damaged, and what is recorded of it is as if it were not. */
function damageWithoutTrace(at: number): void {
  const byte = readFileSync(file())[at] as number;
  write(at, byte ^ 4);
  const { mtimeNs, ctimeNs } = statSync(file(), { bigint: true });
  const [json] = /\{.*\}/.exec(readFileSync(record(), 'latin1')) ?? ['{}'];
  const state = { ...JSON.parse(json), modified: String(mtimeNs), changed: String(ctimeNs) };
  rewriteRecord(jsonText(state), ctimeNs);
}
function rewriteRecord(json: string, after: bigint): void {
  // The time of the record must be later, and times are no finer than a few milliseconds.
  do writeFileSync(record(), json + sum(json));
  while (statSync(record(), { bigint: true }).mtimeNs <= after);
}
const sum = (text: string): string => crc32(Buffer.from(text)).toString(16).padStart(8, '0');

test('a store that was left in order is opened at once, and its record is gone while it is open', async () => {
  expect(existsSync(record())).toBe(true);
  const engine = await open();
  expect(existsSync(record())).toBe(false);
  expect(clock.pending).toBeGreaterThan(0);
  expect((await engine.range({ prefix: 'k' })).count).toBe(60);
  await engine.close();
  expect(take()).toBe(1);
});

test('a byte of the file that was written anew, even with the same value, makes the record void', () => {
  const at = mainRoot();
  write(at, readFileSync(file())[at] as number);
  expect(take()).toBeUndefined();
  expect(existsSync(record())).toBe(false);
});

test('so does a copy of the file in its place', () => {
  copyFileSync(file(), join(dataDir, 'copy'));
  renameSync(join(dataDir, 'copy'), file());
  expect(take()).toBeUndefined();
});

describe('a server that is killed', () => {
  let engine: Engine;
  const running = (): string => join(dataDir, RUNNING_FILE);
  /** A server that checks all pages before it opens the file; or does not. Its last write is in the file. */
  async function started(checksPages: boolean): Promise<void> {
    if (checksPages) rmSync(record());
    engine = await open();
    await engine.commit([put('a', '1')]);
    // A read writes the changes to the tables before.
    await engine.get('a');
    await recorded();
  }
  /** Times of files are no finer than a few milliseconds, and the record counts only if it is later than the file. */
  async function recorded(): Promise<void> {
    const { ctimeNs } = statSync(file(), { bigint: true });
    const other = join(dataDir, 'other');
    do writeFileSync(other, '');
    while (statSync(other, { bigint: true }).mtimeNs <= ctimeNs);
    rmSync(other);
    await clock.advance(RECORD_AFTER_MS);
    await written();
  }
  /** A record is written on another thread. */
  async function written(): Promise<void> {
    while (existsSync(running()) && statSync(running()).size === 0) await nextTurn();
  }
  afterEach(() => engine.close());

  test('leaves a record if it has checked all pages', async () => {
    await started(true);
    expect(statSync(running()).mode & 0o777).toBe(0o600);
    expect(take()).toBe(0);
    expect(existsSync(running())).toBe(false);
  });
  test('leaves none if it has not: the library may have crashed on a page', async () => {
    await started(false);
    expect(existsSync(running())).toBe(false);
    expect(take()).toBeUndefined();
  });
  test('leaves one when it has checked them while it ran', async () => {
    await started(false);
    await lookedAt(() => checks.length > 0);
    for (let turns = 0; turns < 300 && !existsSync(running()); turns++) {
      await nextTurn();
      await clock.advance(RECORD_AFTER_MS);
    }
    await written();
    expect(take()).toBe(0);
  });
  test('leaves none when damage was found while it ran', async () => {
    const [head = 0] = heads();
    damageWithoutTrace(head + 20);
    await started(false);
    await lookedAt(() => notices.length > 0);
    await clock.advance(RECORD_AFTER_MS);
    expect(notices).toHaveLength(1);
    expect(existsSync(running())).toBe(false);
  });
  test.each<[string, () => number | undefined]>([
    ['the machine was started since', () => take('another start')],
    ['the system does not say which start this is', () => takeRecords(dataDir, undefined)],
  ])('leaves one that says nothing if %s', async (_, taken) => {
    await started(true);
    expect(taken()).toBeUndefined();
    expect(existsSync(running())).toBe(false);
  });
  test('leaves one that says nothing if something has written to the file since', async () => {
    await started(true);
    const at = mainRoot();
    write(at, readFileSync(file())[at] as number);
    expect(take()).toBeUndefined();
  });
  test('leaves one that says nothing if it was about to write another', async () => {
    await started(true);
    await engine.commit([put('b', '1')]);
    await engine.get('b');
    expect(take()).toBeUndefined();
  });
});

test('a name of the start of the machine is read from the system', () => {
  expect(readBoot()).toMatch(/^[0-9a-f-]{36}$/);
});

test.each([
  ['cut short', (text: string) => text.slice(0, 30)],
  ['with a flipped bit', (text: string) => text.replace('"starts":0', '"starts":1')],
  ['empty', () => ''],
])('a record that is %s says nothing', (_, change) => {
  writeFileSync(record(), change(readFileSync(record(), 'latin1')));
  expect(take()).toBeUndefined();
});

test('a record that is not later than the last change of the file says nothing', () => {
  // A whole second before: a Date has no part of a millisecond, and would be rounded to before or behind.
  const before = new Date(statSync(file()).ctimeMs - 1000);
  utimesSync(record(), before, before);
  expect(take()).toBeUndefined();
});

test('a damaged page is found before the file is opened when somebody wrote to it', async () => {
  write(mainRoot(), 0xff);
  await expect(open()).rejects.toThrow(/is damaged: page \d+.*plat store verify/);
});

test('after so many starts in a row nobody has looked, and the next start does', async () => {
  for (let starts = 1; starts <= MOST_STARTS; starts++) {
    const engine = await open();
    expect(clock.pending).toBeGreaterThan(0);
    await engine.close();
  }
  expect(take()).toBeUndefined();
});

async function lookedAt(done: () => boolean): Promise<void> {
  await clock.advance(LOOK_AFTER_MS);
  for (let turns = 0; turns < 300 && !done(); turns++) await nextTurn();
}

test('pages that were not looked at before are looked at while the store is written to', async () => {
  const engine = await open();
  const looking = lookedAt(() => false);
  for (let i = 0; i < 40; i++) await engine.commit([put(`k${i}`, 'y'.repeat(2_500))]);
  await engine.compact(engine.revision);
  await looking;
  expect(notices).toEqual([]);
  expect(checks).toEqual([{ bytes: expect.any(Number), damagedPages: 0, seconds: 0 }]);
  expect(await engine.stats()).toMatchObject({ unchecked_starts: 0, damaged_pages: 0 });
  await engine.ping();
  await engine.close();
  expect(take()).toBe(0);
});

test('damage that only that look finds ends all writing, is reported, and makes the next start refuse', async () => {
  const [head = 0] = heads();
  expect(head).toBeGreaterThan(0);
  damageWithoutTrace(head + 20);
  const engine = await open();
  await engine.commit([put('before', '1')]);
  expect((await engine.range({ prefix: 'before' })).count).toBe(1);
  await lookedAt(() => notices.length > 0);
  expect(notices).toEqual([expect.stringMatching(/is damaged: page \d+ of the table records: its head .*Nothing is written any more\./)]);
  expect(checks).toEqual([{ bytes: expect.any(Number), damagedPages: 1, seconds: 0 }]);
  expect(await engine.stats()).toMatchObject({ unchecked_starts: 1, damaged_pages: 1 });
  await expect(engine.ping()).rejects.toThrow('is damaged: page');
  await expect(engine.commit([put('after', '1')])).rejects.toThrow('is damaged: page');
  expect((await engine.range({ prefix: 'k' })).count).toBe(60);
  await engine.close();
  expect(existsSync(record())).toBe(false);
  await expect(open()).rejects.toThrow('is damaged: page');
});

/** Changes the row of a key in the index, in every page of the file that has it. */
function damageRow(key: string): void {
  const bytes = readFileSync(file());
  const name = Buffer.from(`${key}\u0000\u{ff}\u{ff}\u{ff}\u{ff}`, 'latin1');
  let found = 0;
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1), found++) damageWithoutTrace(at + key.length + 9 + 10);
  expect(found).toBeGreaterThan(0);
}

test.each([
  ['the keys are read', async () => void (await clock.advance(FILL_AFTER_MS))],
  ['its key is written', async (engine: Engine) => expect(engine.commit([put('k7', '1', 0)])).rejects.toThrow('k7')],
  ['its range is read', async (engine: Engine) => expect(engine.range({ prefix: '' })).rejects.toThrow('k7')],
])('a damaged row of the index is found when %s: writing ends, and the next start refuses', async (_, find) => {
  damageRow('k7');
  const engine = await open();
  await engine.commit([put('before', '1')]);
  await find(engine);
  for (let turns = 0; turns < 300 && notices.length === 0; turns++) await nextTurn();
  expect(notices).toEqual([expect.stringMatching(/is damaged: its index is damaged at the key "k7" .*Nothing is written any more\./)]);
  await expect(engine.ping()).rejects.toThrow('its index is damaged at the key "k7"');
  await expect(engine.commit([put('after', '1')])).rejects.toThrow('its index is damaged');
  await engine.close();
  expect(existsSync(record())).toBe(false);
  await expect(open()).rejects.toThrow(/its index is damaged at the key "k7".*plat store verify/);
});

test('expectations are checked against keys that are not read yet', async () => {
  const engine = await open();
  await expect(engine.commit([put('k7', '1', 0)])).rejects.toThrow('k7');
  const { revision = 0 } = (await engine.get('k7')) ?? {};
  await engine.commit([{ type: 'delete', key: 'k7', expect: revision }]);
  await engine.commit([{ type: 'check', key: 'k7', expect: 0 }]);
  await expect(engine.commit([{ type: 'check', key: 'k8', expect: 0 }])).rejects.toThrow('k8');
  await engine.commit([put('k7', '2', 0)]);
  await engine.commit([{ type: 'delete', key: 'k9' }]);
  await clock.advance(FILL_AFTER_MS);
  for (let turns = 0; turns < 20; turns++) await nextTurn();
  await engine.commit([put('k9', '2', 0)]);
  await expect(engine.commit([put('k7', '3', 0)])).rejects.toThrow('k7');
  await expect(engine.commit([put('k10', '3', 0)])).rejects.toThrow('k10');
  expect((await engine.range({ prefix: 'k' })).count).toBe(60);
  await engine.close();
});

test('a store is closed while its pages are looked at', async () => {
  const engine = await open();
  const looking = clock.advance(LOOK_AFTER_MS);
  await engine.close();
  await looking;
  expect(take()).toBe(1);
});

test('the look at a large file rests again and again, and a store is closed in the middle of it', async () => {
  let engine = await open();
  for (let i = 0; i < 30; i++) await engine.commit(Array.from({ length: 200 }, (_, n) => put(`large-${i}-${n}`, 'z'.repeat(5_000))));
  await engine.close();
  engine = await open();
  await lookedAt(() => checks.length > 0);
  expect(checks).toEqual([]);
  let rests = 0;
  for (; checks.length === 0 && rests < 100; rests++) {
    await clock.advance(REST_MS);
    for (let turns = 0; turns < 100 && checks.length === 0; turns++) await nextTurn();
  }
  expect(rests).toBeGreaterThan(1);
  expect(checks).toEqual([{ bytes: expect.any(Number), damagedPages: 0, seconds: (rests * REST_MS) / 1000 }]);
  await engine.close();
  engine = await open();
  await lookedAt(() => checks.length > 1);
  expect(checks).toHaveLength(1);
  await engine.close();
  expect(take()).toBe(1);
});

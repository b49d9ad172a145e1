import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { beforeEach, expect, test } from 'vitest';
import type { AuditEvent } from './event.ts';
import { LogFile, type LogFileOptions } from './log-file.ts';

let directory: string;
let time: number;
let failures: { error: Error; events: number }[];
beforeEach(() => {
  directory = temporaryDirectory('plat-audit');
  time = Date.parse('2024-05-06T07:08:09.123Z');
  failures = [];
});

const open = (changes: Partial<LogFileOptions> = {}): Promise<LogFile> =>
  LogFile.open({
    path: join(directory, 'logs', 'audit.log'),
    format: 'json',
    maxBytes: 0,
    maxBackups: 0,
    maxAgeMs: 0,
    compress: false,
    now: () => time,
    failed: (error, events) => failures.push({ error, events }),
    ...changes,
  });
const files = (): string[] => readdirSync(join(directory, 'logs')).sort();
const text = (file = 'audit.log'): string => readFileSync(join(directory, 'logs', file), 'utf8');
const event = (json: string) => ({ json, event: {} as AuditEvent });
/** Puts lines so that each is written by itself. */
async function each(log: LogFile, ...lines: string[]): Promise<void> {
  for (const line of lines) {
    log.put(event(line));
    await log.settled();
    time += 1000;
  }
}

test('every event is a line, in order, appended to what is there, for its owner alone', async () => {
  const first = await open();
  for (let i = 0; i < 1000; i++) first.put(event(`{"n":${i}}`));
  await first.close();
  const second = await open();
  second.put(event('{"n":1000}'));
  await second.close();
  const lines = text().split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 1001 }, (_, i) => i));
  expect(statSync(join(directory, 'logs', 'audit.log')).mode & 0o777).toBe(0o600);
  expect(failures).toEqual([]);
});

test('a file that is full becomes an old one', async () => {
  const log = await open({ maxBytes: 20 });
  await each(log, 'a'.repeat(11), 'b'.repeat(11), 'c'.repeat(30), 'd');
  await log.close();
  const old = files().filter((file) => file !== 'audit.log');
  expect(old).toHaveLength(3);
  expect(old.every((file) => /^audit-2024-05-06T07-08-1\d\.123\.log$/.test(file))).toBe(true);
  expect(old.map((file) => text(file)[0])).toEqual(['a', 'b', 'c']);
  expect(text()).toBe('d\n');
});

test('old files of the same moment do not replace each other', async () => {
  const log = await open({ maxBytes: 1, now: () => 0 });
  await each(log, 'a', 'b', 'c');
  await log.close();
  expect(files()).toHaveLength(3);
});

test('old files go by number and by age; other files are left alone', async () => {
  const log = await open({ maxBytes: 1, maxBackups: 2 });
  writeFileSync(join(directory, 'logs', 'audit-notes.log'), '');
  writeFileSync(join(directory, 'logs', 'other-2001-01-01T00-00-00.000.log'), '');
  await each(log, 'a', 'b', 'c', 'd', 'e');
  await log.close();
  expect(files().map((file) => text(file)[0] ?? '')).toEqual(['c', 'd', '', 'e', '']);
  const aged = await open({ maxBytes: 1, maxAgeMs: 3_600_000 });
  time += 2 * 3_600_000;
  await each(aged, 'f', 'g');
  await aged.close();
  expect(
    files()
      .filter((file) => /audit-2024.*\.log$/.test(file))
      .map((file) => text(file)[0]),
  ).toEqual(['e', 'f']);
});

test('old files can be packed', async () => {
  const log = await open({ maxBytes: 1, compress: true, maxBackups: 1 });
  await each(log, 'a', 'b', 'c');
  await log.close();
  const [packed, current] = files();
  expect(files()).toHaveLength(2);
  expect(current).toBe('audit.log');
  expect(gunzipSync(readFileSync(join(directory, 'logs', packed as string))).toString()).toBe('b\n');
});

test('when the disk does not keep up, requests wait, and nothing is lost', async () => {
  const log = await open();
  const line = 'x'.repeat(1 << 20);
  const answers = Array.from({ length: 20 }, () => log.put(event(line)));
  expect(answers.filter((answer) => answer === undefined).length).toBeLessThan(10);
  expect(await Promise.all(answers)).toEqual(answers.map((answer) => (answer === undefined ? undefined : true)));
  await log.close();
  expect(text().length).toBe(20 * (line.length + 1));
});

test('a failed write is logged, and writing goes on', async () => {
  const log = await open({ maxBytes: 1 });
  await each(log, 'a');
  // Root may write anywhere: then there is nothing to see.
  const path = join(directory, 'logs');
  rmSync(path, { recursive: true });
  await each(log, 'b');
  expect(failures).toMatchObject([{ events: 1, error: { code: 'ENOENT' } }]);
  writeFileSync(join(directory, 'x'), '');
  await log.close();
});

test('a path that cannot be written is an error at once', async () => {
  writeFileSync(join(directory, 'file'), '');
  chmodSync(directory, 0o700);
  await expect(open({ path: join(directory, 'file', 'audit.log') })).rejects.toThrow();
});

import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { backgroundLogWriter, LOG_VARIABLE, previousLog } from './log-file.ts';

let path: string;
let fd: number;
beforeEach(() => {
  path = join(temporaryDirectory('plat-log'), 'server.log');
  fd = openSync(path, 'a', 0o600);
});
afterEach(() => closeSync(fd));
const writer = (maxBytes: number) => backgroundLogWriter({ env: { [LOG_VARIABLE]: path } }, fd, maxBytes);
const text = (file: string): string => readFileSync(file, 'utf8');

test('a log that reaches its bound begins anew, and what was in it is kept once', () => {
  const write = writer(20);
  for (const line of ['first line\n', 'second\n', 'third line\n', 'fourth\n', 'fifth line\n']) write?.(line);
  expect(text(path)).toBe('fifth line\n');
  expect(text(previousLog(path))).toBe('third line\nfourth\n');
  expect(statSync(previousLog(path)).mode & 0o777).toBe(0o600);
  // What the process writes past the log comes after it, also in a file that was emptied.
  writeFileSync(fd, 'trace\n');
  expect(text(path)).toBe('fifth line\ntrace\n');
});

test('what was written past the log counts, and a line that is longer than the bound is written', () => {
  const write = writer(20);
  writeFileSync(fd, 'x'.repeat(18));
  write?.('one\n');
  expect(text(path)).toBe('one\n');
  write?.('y'.repeat(30));
  expect(text(path)).toBe('y'.repeat(30));
});

test('a process whose output is another file, or none that was named, has the usual log', () => {
  expect(backgroundLogWriter({ env: {} }, fd)).toBeUndefined();
  expect(backgroundLogWriter({ env: { [LOG_VARIABLE]: `${path}.other` } }, fd)).toBeUndefined();
  writeFileSync(`${path}.other`, '');
  expect(backgroundLogWriter({ env: { [LOG_VARIABLE]: `${path}.other` } }, fd)).toBeUndefined();
});

test('a log whose file was removed goes on, and leaves the place as it is', () => {
  const write = writer(20);
  rmSync(path);
  for (let i = 0; i < 3; i++) write?.('a line of text\n');
  expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  expect(statSync(previousLog(path), { throwIfNoEntry: false })).toBeUndefined();
});

/** What the executable unpacks and runs is its own: other users, links and files that were there before change nothing. */
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { privateCopy } from './private-copy.ts';

const content = Buffer.from('native code');
const sha256 = createHash('sha256').update(content).digest('hex');
const copyTo = (directory: string, user?: number): string => privateCopy({ directory, name: 'store.node', sha256, content }, user);

test('a copy is in a directory of the user alone, and is written once', () => {
  const directory = join(temporaryDirectory('plat-copy'), 'cache', 'native');
  const file = copyTo(directory);
  expect(readFileSync(file)).toEqual(content);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  const { ino } = statSync(file);
  expect(copyTo(directory)).toBe(file);
  expect(statSync(file).ino).toBe(ino);
  expect(readdirSync(directory)).toEqual(['store.node']);
});

test('a file with other content is replaced, and so is a link, whose target stays as it is', () => {
  const parent = temporaryDirectory('plat-copy');
  const directory = join(parent, 'native');
  mkdirSync(directory, { mode: 0o700 });
  const file = join(directory, 'store.node');
  writeFileSync(file, 'native c0de');
  expect(readFileSync(copyTo(directory))).toEqual(content);

  const other = join(parent, 'other');
  writeFileSync(other, content);
  const linked = join(parent, 'linked');
  mkdirSync(linked, { mode: 0o700 });
  symlinkSync(other, join(linked, 'store.node'));
  expect(lstatSync(copyTo(linked)).isSymbolicLink()).toBe(false);
  writeFileSync(other, 'changed later');
  expect(readFileSync(join(linked, 'store.node'))).toEqual(content);
});

test('content that is not the expected one is refused', () => {
  const directory = join(temporaryDirectory('plat-copy'), 'native');
  expect(() => privateCopy({ directory, name: 'store.node', sha256: '00', content })).toThrow('does not hold what was written to it');
});

test.skipIf(process.platform === 'win32')('a directory that others can open is closed to them', () => {
  const directory = join(temporaryDirectory('plat-copy'), 'native');
  mkdirSync(directory);
  chmodSync(directory, 0o777);
  copyTo(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test.skipIf(process.platform === 'win32')('a place that another user may change is refused', () => {
  const parent = temporaryDirectory('plat-copy');
  const someone = (process.getuid?.() as number) + 1;
  const foreign = join(parent, 'foreign');
  expect(() => copyTo(foreign, someone)).toThrow(`${foreign} belongs to another user`);

  symlinkSync(foreign, join(parent, 'link'));
  expect(() => copyTo(join(parent, 'link'))).toThrow('link is not a directory');

  const shared = join(parent, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  expect(() => copyTo(join(shared, 'native'))).toThrow(`${shared} can be written by everybody`);
  chmodSync(shared, 0o1777);
  expect(readFileSync(copyTo(join(shared, 'native')))).toEqual(content);
});

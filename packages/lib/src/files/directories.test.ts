import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../testing/temporary.testing.ts';
import { makeDirectory } from './directories.ts';

const root = temporaryDirectory('plat-directories');
const errorOf = (path: string): string | undefined => {
  try {
    makeDirectory(path);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};

test('a directory and those above it are made, with the mode that is asked for', () => {
  const deep = join(root, 'a', 'b', 'c');
  makeDirectory(deep, 0o700);
  for (const path of [deep, join(root, 'a', 'b'), join(root, 'a')]) expect(statSync(path).mode & 0o777).toBe(0o700);
});

test('one that is there stays as it is, also behind a link', () => {
  const here = join(root, 'here');
  mkdirSync(here, { mode: 0o750 });
  makeDirectory(here, 0o700);
  expect(statSync(here).mode & 0o777).toBe(0o750);
  symlinkSync(here, join(root, 'link'));
  makeDirectory(join(root, 'link'));
  makeDirectory(join(root, 'link', 'below'));
  expect(existsSync(join(here, 'below'))).toBe(true);
});

test('a file in the way is an error', () => {
  writeFileSync(join(root, 'file'), '');
  expect(errorOf(join(root, 'file'))).toBe('EEXIST');
  expect(errorOf(join(root, 'file', 'below'))).toBe('ENOTDIR');
  symlinkSync(join(root, 'nowhere'), join(root, 'broken'));
  expect(errorOf(join(root, 'broken'))).toBe('EEXIST');
});

// A file system of the kernel that takes no new directories; elsewhere there is none to try this on.
test.skipIf(!existsSync('/proc/self'))('where no directory can be made the error comes at once', () => {
  expect(errorOf('/proc/plat-data')).toBe('ENOENT');
  expect(errorOf('/proc/plat-data/below/it')).toBe('ENOENT');
});

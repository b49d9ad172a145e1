import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../testing/temporary.testing.ts';
import { replaceFile } from './replace-file.ts';

test('the file is replaced, private, and nothing else is left', () => {
  const path = join(temporaryDirectory('plat-replace'), 'a', 'file.json');
  replaceFile(path, 'one');
  replaceFile(path, 'two');
  expect(readFileSync(path, 'utf8')).toBe('two');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(path, '..'))).toEqual(['file.json']);
});

test('a failure leaves no part of the file', () => {
  const directory = temporaryDirectory('plat-replace');
  mkdirSync(join(directory, 'file.json', 'below'), { recursive: true });
  expect(() => replaceFile(join(directory, 'file.json'), 'x')).toThrow();
  expect(readdirSync(directory)).toEqual(['file.json']);
});

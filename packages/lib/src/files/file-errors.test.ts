import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../testing/temporary.testing.ts';
import { fileErrorText } from './file-errors.ts';

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('errors of the file system name the file and say what is wrong', () => {
  const directory = temporaryDirectory('plat-file-errors');
  const missing = join(directory, 'missing');
  expect(fileErrorText(thrown(() => readFileSync(missing)))).toBe(`there is no file or directory ${missing}`);
  // Reading a directory fails without its name.
  const error = thrown(() => readFileSync(directory));
  expect(fileErrorText(error, directory)).toBe(`${directory} is a directory, not a file`);
  const below = join(import.meta.filename, 'below');
  expect(fileErrorText(thrown(() => readdirSync(below)))).toContain('not a directory');
});

test('other errors keep their own text', () => {
  expect(fileErrorText(new Error('full'), '/x')).toBeUndefined();
  expect(fileErrorText(Object.assign(new Error('reset'), { code: 'ECONNRESET' }), '/x')).toBeUndefined();
});

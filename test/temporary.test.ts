import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../packages/lib/src/testing/temporary.testing.ts';

test('temporary files of a test, and of programs that it starts, lie in a directory that goes with the test file', () => {
  expect(basename(tmpdir())).toMatch(/^file-/);
  expect(basename(dirname(tmpdir()))).toMatch(/^plat-tests-/);
  expect(dirname(temporaryDirectory('mine'))).toBe(tmpdir());
  expect(execFileSync(process.execPath, ['-p', 'os.tmpdir()'], { encoding: 'utf8' }).trim()).toBe(tmpdir());
});

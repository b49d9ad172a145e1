import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { outputFailure } from './output-failure.ts';

test('a reader that has enough is no failure, a full disk is one', () => {
  expect(outputFailure(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }), 0)).toEqual({ code: 0, message: '' });
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  expect(outputFailure(full, 0)).toMatchObject({ code: 1, message: expect.stringContaining('the output could not be written') });
  expect(outputFailure(full, 2).code).toBe(2);
});

test.runIf(process.platform === 'linux')('the error of the system for a full device is recognized', () => {
  let error: unknown;
  try {
    writeFileSync('/dev/full', 'x');
  } catch (caught) {
    error = caught;
  }
  expect(outputFailure(error as NodeJS.ErrnoException, 0).message).toMatch(/no space|full/);
});

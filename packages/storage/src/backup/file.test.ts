import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { writePrivateFile } from './file.ts';

test('a disk that is full is named by the file, and no part of it stays', async () => {
  const directory = temporaryDirectory('plat-backup-file');
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.from('a part');
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  }
  const path = join(directory, 'a.backup');
  await expect(writePrivateFile(path, chunks())).rejects.toThrow(`no space is left on the disk of ${path}`);
  expect(readdirSync(directory)).toEqual([]);
});

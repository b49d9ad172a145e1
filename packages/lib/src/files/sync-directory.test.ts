import { expect, test } from 'vitest';
import { syncDirectory } from './sync-directory.ts';

test('directories are not synced on Windows, which refuses it', () => {
  expect(() => syncDirectory('/nonexistent', 'linux')).toThrow('ENOENT');
  syncDirectory('/nonexistent', 'win32');
});

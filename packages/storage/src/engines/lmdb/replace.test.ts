import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { finishReplacing, REPLACING, removePartialStores } from './replace.ts';

test('the store that a replacement has begun to move is kept until that is finished; other parts go', () => {
  const directory = temporaryDirectory('plat-replace');
  for (const name of ['store.restoring-1', 'store.restoring-2']) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'store.mdb'), name);
  }
  writeFileSync(join(directory, REPLACING), JSON.stringify({ from: 'store.restoring-1', to: 'store.replaced-x', old: [] }));
  removePartialStores(directory);
  expect(existsSync(join(directory, 'store.restoring-1'))).toBe(true);
  expect(existsSync(join(directory, 'store.restoring-2'))).toBe(false);
  expect(finishReplacing(directory)).toContain('this was finished');
  expect([existsSync(join(directory, 'store.mdb')), existsSync(join(directory, REPLACING))]).toEqual([true, false]);
});

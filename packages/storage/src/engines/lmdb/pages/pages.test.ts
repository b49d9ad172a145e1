import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterAll, expect, test } from 'vitest';
import { put } from '../../../engine.suite.tools.ts';
import { openLmdbEngine } from '../../lmdb.ts';
import { walkPages } from './pages.ts';

const parent = temporaryDirectory('plat-pages');
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test('a file of several levels with large values is walked whole, and has the rows it should have', async () => {
  const dataDir = join(parent, 'data');
  const engine = await openLmdbEngine({ dataDir });
  for (let round = 0; round < 20; round++)
    await engine.commit(Array.from({ length: 100 }, (_, i) => put(`core/pods/default/web-${round}-${i}`, 'v'.repeat(i * 50))));
  await engine.get('x');
  await engine.close();
  const sizes: number[] = [];
  const { problems, rows } = walkPages(join(dataDir, 'store.mdb'), {
    visit: (table, _, value) => {
      if (table === 'records') sizes.push(value.length);
    },
  });
  expect(problems).toEqual([]);
  expect(rows.get('records')).toBe(2000);
  expect(rows.get('versions')).toBe(2000);
  expect(sizes).toHaveLength(2000);
  expect(Math.max(...sizes)).toBeGreaterThan(4950);
});

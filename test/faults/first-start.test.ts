/** A first start that ends at any call to the store's files, by a kill or a power loss, leaves what the next start can use. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../../packages/lib/src/random.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import { bundleChild, startChild } from '../support/child.ts';
import { afterPowerLoss, losses, readImage, writeImage } from './disk/replay.ts';
import { buildShim, shimEnvironment } from './disk/shim.ts';

const { path: shim, missing } = buildShim(temporaryDirectory('plat-shim'));

/** The keys that the next start finds. */
async function keysIn(dataDir: string): Promise<string[]> {
  const engine = await openLmdbEngine({ dataDir });
  const { entries } = await engine.range({ prefix: '' });
  await engine.close();
  return entries.map(({ key }) => key);
}

const title = `a first start can end anywhere${missing === undefined ? '' : ` (skipped: ${missing})`}`;
test.skipIf(missing !== undefined)(title, { timeout: 120_000 }, async () => {
  const program = await bundleChild(join(import.meta.dirname, 'lmdb-durable-child.ts'));
  const work = temporaryDirectory('plat-first');
  const [dataDir, copy, log] = ['data', 'copy', 'calls'].map((name) => join(work, name)) as [string, string, string];
  for (const count of [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25]) {
    rmSync(dataDir, { recursive: true, force: true });
    rmSync(log, { force: true });
    mkdirSync(dataDir, { mode: 0o700 });
    const env = shimEnvironment(shim as string, { directory: dataDir, log, killAt: { count, file: 'store.', half: count % 2 === 0 } });
    const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const child = startChild('env', [...assignments, process.execPath, program, dataDir]);
    await child.ended;
    expect(child.errors()).toBe('');
    const answered = child.lines.filter((line) => line.startsWith('answered')).map((line) => `k${line.split(' ')[1]}`);
    for (const loss of losses) {
      const { files } = afterPowerLoss(new Map(), readFileSync(log), { loss, random: seededRandom(count) });
      writeImage(copy, new Map([...files].map(([path, bytes]) => [path.replace(dataDir, copy), bytes])));
      expect(await keysIn(copy), `after ${count} calls, ${loss}`).toEqual(expect.arrayContaining(answered));
    }
    expect(await keysIn(dataDir), `killed after ${count} calls`).toEqual(expect.arrayContaining(answered));
  }
  expect(readImage(copy).size).toBeGreaterThan(0);
});

/** A restore that is killed leaves an empty directory, or the store from before, and can be begun again. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { backupOf } from '../../packages/storage/src/backup/backup.testing.ts';
import { put } from '../../packages/storage/src/engine.suite.tools.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import { openMemoryEngine } from '../../packages/storage/src/engines/memory.ts';
import { startChild } from '../support/child.ts';
import { programDirectory, programMissing, runPlat } from '../support/program.ts';

const ENTRIES = 20_000;

test.skipIf(programMissing !== undefined)(
  `killed in the middle${programMissing === undefined ? '' : ` (skipped: ${programMissing})`}`,
  async () => {
    const source = openMemoryEngine();
    for (let index = 0; index < ENTRIES; index += 100) {
      await source.commit(Array.from({ length: 100 }, (_, step) => put(`k${index + step}`, Buffer.alloc(500, 1))));
    }
    const file = join(temporaryDirectory('plat-kill'), 'a.backup');
    writeFileSync(file, await backupOf(source));
    const dataDir = temporaryDirectory('plat-kill');
    const old = await openLmdbEngine({ dataDir });
    await old.commit([put('old', '1')]);
    await old.close();
    const target = temporaryDirectory('plat-kill');
    for (const [directory, flags] of [
      [target, []],
      [dataDir, ['--force']],
    ] as const) {
      const args = ['store', 'restore', '--from', file, '--data-dir', directory, ...flags];
      const child = startChild(process.execPath, [join(programDirectory, 'plat.js'), ...args]);
      // The new store is being made: it has its file, and not its name.
      const making = (): boolean =>
        readdirSync(directory).some((name) => name.startsWith('store.restoring-') && existsSync(join(directory, name, 'store.mdb')));
      while (!making() && child.process.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 1));
      child.process.kill('SIGKILL');
      await child.ended;
      expect(child.process.signalCode).toBe('SIGKILL');
    }
    expect(existsSync(join(target, 'store.mdb'))).toBe(false);
    const kept = await openLmdbEngine({ dataDir });
    expect((await kept.get('old'))?.value.toString()).toBe('1');
    await kept.close();
    const again = await runPlat('store', 'restore', '--from', file, '--data-dir', target, '-o', 'json');
    expect(JSON.parse(again.stdout)).toMatchObject({ entries: ENTRIES });
    expect(readdirSync(target).filter((name) => name.startsWith('store.restoring'))).toEqual([]);
  },
);

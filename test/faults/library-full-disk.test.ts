/**
 * The database library itself runs into a full disk, as it does when others take the room between the look at it and the
 * write: a small file system in memory, which only root may mount, and an engine that is told of more room than there is.
 */
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nextTurn } from '../../packages/lib/src/next-turn.ts';
import { put } from '../../packages/storage/src/engine.suite.tools.ts';
import { verifyDirectory } from '../../packages/storage/src/engines/lmdb/repair/verify.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const { place, mounted, grow, why } = mountSmallDisk('plat-library-full', 24);

/** Less than this is seen to be no room. A transaction of the test needs more, so that the library finds out. */
const NONE = 20_000;
const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize < NONE ? bavail * bsize : 2 ** 40;
};

test.skipIf(!mounted)(
  `writes are taken again when there is room, without a restart, and nothing that was answered is lost${why}`,
  { timeout: 120_000 },
  async () => {
    const dataDir = join(place, 'data');
    let engine = await openLmdbEngine({ dataDir, freeBytes });
    const value = (i: number): Buffer => Buffer.alloc(300_000, i % 250);
    const kept: number[] = [];
    let refused = 0;
    const causes = new Set<unknown>();
    for (let i = 0; refused < 3 && i < 400; i++) {
      await engine.commit([put(`k${i}`, value(i))]).then(
        () => void kept.push(i),
        (error: Error) => {
          expect(error).toMatchObject({ name: 'StoreFull', message: expect.stringMatching(/the disk of .* is full/) });
          refused++;
        },
      );
      // The tables are to take in what is there, so that they are what finds no room.
      await engine.range({ prefix: '', limit: 1 }).catch((error: Error) => {
        expect(error.name).toBe('StoreFull');
        causes.add((error.cause as { code?: unknown } | undefined)?.code);
      });
    }
    // Numbers are those of the library.
    expect([...causes].some((code) => code === 5 || code === 28)).toBe(true);
    expect(refused).toBe(3);
    expect(kept.length).toBeGreaterThan(10);
    await engine.ping();
    expect(engine.refusing).toMatch(/is full/);

    expect(grow(300)).toBe(true);
    expect(engine.refusing).toBeUndefined();
    await engine.commit([put('after', 'there is room')]);
    /** A read while the file is opened again is refused, and can be retried at once. */
    const whenOpened = async <T>(read: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await read();
        } catch (error) {
          if (!/opened again/.test((error as Error).message)) throw error;
          await nextTurn();
        }
      }
    };
    const check = async (): Promise<void> => {
      const { entries } = await whenOpened(() => engine.range({ prefix: '' }));
      const names = ['after', ...kept.map((i) => `k${i}`)].sort();
      expect(entries.map(({ key }) => key)).toEqual(names);
      for (const i of kept) expect((await engine.get(`k${i}`))?.value.equals(value(i))).toBe(true);
    };
    await check();
    await engine.close();
    expect(await verifyDirectory(dataDir)).toEqual([]);
    engine = await openLmdbEngine({ dataDir, freeBytes });
    await check();
    await engine.close();
  },
);

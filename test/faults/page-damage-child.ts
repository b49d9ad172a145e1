/**
 * Opens copies of a store in each of which one bit is flipped, writes to those that open, and repairs the damaged ones. It
 * says which copy comes next before it touches it, because the database library may end the process.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { repairDirectory } from '../../packages/storage/src/engines/lmdb/repair/repair.ts';
import { verifyDirectory } from '../../packages/storage/src/engines/lmdb/repair/verify.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import { digest } from './page-damage-digest.ts';

const [made, work, flips] = process.argv.slice(2) as [string, string, string];
const whole = readFileSync(join(made, 'store.mdb'));

for (const [at, mask] of JSON.parse(flips) as [number, number][]) {
  console.log(`next ${at} ${mask}`);
  const bytes = Buffer.from(whole);
  bytes[at] = (bytes[at] as number) ^ mask;
  const copy = (name: string): string => {
    const directory = join(work, name);
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(join(directory, 'store.mdb'), bytes);
    return directory;
  };
  const used = copy('used');
  const findings = await verifyDirectory(used);
  const opened = await openLmdbEngine({ dataDir: used, unsafeNoSync: true }).catch((error: Error) => error);
  const seen = opened instanceof Error ? { refused: opened.message } : await use(opened, used);
  const repaired = findings.length > 0 ? await repair(copy('repaired')) : undefined;
  console.log(`${jsonText({ at, findings, ...seen, repaired })}`);
}

type Engine = Awaited<ReturnType<typeof openLmdbEngine>>;

async function contents(engine: Engine): Promise<[string, string | null][]> {
  const { entries } = await engine.range({ prefix: 'core/' });
  return entries.map(({ key, value, unreadable }) => [key, unreadable === undefined ? digest(value) : null]);
}

/** Pages that are free are written over, values are superseded and forgotten; then the file is looked at once more. */
async function use(engine: Engine, directory: string): Promise<object> {
  const before = await contents(engine);
  let failure: string | undefined;
  try {
    for (let round = 0; round < 6; round++) {
      await engine.commit(
        Array.from({ length: 12 }, (_, i) => ({ type: 'put' as const, key: `x/${i}`, value: Buffer.alloc(i * 600, `${round}`) })),
      );
      await engine.compact(engine.revision);
    }
  } catch (error) {
    failure = (error as Error).message;
  }
  const after = await contents(engine);
  await engine.close();
  return { before, after, failure, later: await verifyDirectory(directory) };
}

async function repair(directory: string): Promise<object> {
  try {
    const { lost, keptObjects, revision } = await repairDirectory(directory, { label: 'x' });
    const engine = await openLmdbEngine({ dataDir: directory, unsafeNoSync: true });
    const kept = await contents(engine);
    await engine.close();
    return { kept, lost: lost.map(({ key }) => key), keptObjects, revision, left: await verifyDirectory(directory) };
  } catch (error) {
    return { refused: (error as Error).message };
  }
}

/** A server that is killed at any moment, also while it compacts and removes kept versions, has lost nothing of the history that it must keep. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../../packages/lib/src/random.ts';
import { rounds, testSeed } from '../../packages/lib/src/testing/seed.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import type { Engine } from '../../packages/storage/src/engine.ts';
import { verifyDirectory } from '../../packages/storage/src/engines/lmdb/repair/verify.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import type { KeptVersion } from '../../packages/storage/src/history.ts';
import { bundleChild, startChild } from '../support/child.ts';
import { crashRules } from './lmdb-crash-history-rules.ts';

const ROUNDS = rounds(8);
/** A kill comes when fewer commits than this were acknowledged, at whatever the process does then. */
const LATEST_KILL = 400;

test('kept versions, their notes and their bytes survive when the server is killed', { timeout: 600_000 }, async () => {
  console.log(`TEST_SEED=${testSeed}`);
  const random = seededRandom(testSeed);
  const program = await bundleChild(join(import.meta.dirname, 'lmdb-crash-history-child.ts'));
  const dataDir = temporaryDirectory('plat-crash-history');
  /** `revision key` → value and note. */
  const acknowledged = new Map<string, { readonly value: string; readonly note: string }>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const line of await runAndKill(program, dataDir, round, random.below(LATEST_KILL))) {
      const [, revision, key, value, note] = /^(\d+) ([^=]+)=(\S+) (\S+)$/.exec(line) as unknown as string[];
      acknowledged.set(`${revision} ${key}`, { value: value as string, note: note as string });
    }
    const engine = await openLmdbEngine({ dataDir, history: crashRules('one') });
    await checkVersions(await allVersions(engine), acknowledged);
    await engine.close();
    expect(await verifyDirectory(dataDir)).toEqual([]);
  }
  expect(acknowledged.size).toBeGreaterThan(ROUNDS * 20);
  await checkCount(dataDir);
});

async function runAndKill(program: string, dataDir: string, round: number, commits: number): Promise<string[]> {
  const child = startChild(process.execPath, [program, dataDir, `${round}`]);
  let acknowledged = 0;
  await child.line((line) => !line.startsWith('open') && acknowledged++ >= commits);
  child.process.kill('SIGKILL');
  await child.ended;
  expect(child.errors()).toBe('');
  return child.lines.filter((line) => !line.startsWith('open'));
}

async function allVersions({ history }: Engine): Promise<Map<string, KeptVersion>> {
  const versions = new Map<string, KeptVersion>();
  for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
    const page: Awaited<ReturnType<Engine['history']['versions']>> = await history.versions({ prefix: '', before, limit: 500 });
    for (const version of page.versions) versions.set(`${version.revision} ${version.key}`, version);
    before = page.next;
  }
  return versions;
}

/** Every acknowledged version that must be kept is there, and every one that is there has its own value and note. */
async function checkVersions(
  versions: ReadonlyMap<string, KeptVersion>,
  acknowledged: ReadonlyMap<string, { readonly value: string; readonly note: string }>,
): Promise<void> {
  const wrong: string[] = [];
  for (const [place, { value, note }] of acknowledged) {
    const version = versions.get(place);
    const [, kind] = /^\d+ (\w+)\//.exec(place) as unknown as [string, string];
    if (version === undefined) {
      if (kind === 'whole' || kind === 'noted') wrong.push(`${place} is lost`);
      continue;
    }
    if (version.note?.toString() !== note) wrong.push(`${place} has the note of another`);
    if (version.type !== (value === '-' ? 'delete' : 'put')) wrong.push(`${place} is of another type`);
    const isDropped = kind === 'noted' && version.value === undefined;
    if (version.type === 'put' && !isDropped && version.value?.toString() !== value) wrong.push(`${place} has another value`);
  }
  expect(wrong).toEqual([]);
}

/** The bytes that were counted over all kills are those of a new count. */
async function checkCount(dataDir: string): Promise<void> {
  const bytesBy = async (id: string): Promise<number> => {
    const engine = await openLmdbEngine({ dataDir, history: crashRules(id), historyRetentionMs: 20 });
    await engine.commit([{ type: 'put', key: 'never/count', value: Buffer.from(id) }]);
    await engine.compact(engine.revision);
    // Nothing superseded is left of the keys that are kept for a moment.
    const { count } = await engine.range({ prefix: 'brief/' });
    const briefVersions = async () => (await engine.history.versions({ prefix: 'brief/', limit: 1_000 })).versions.length;
    await expect.poll(briefVersions, { timeout: 20_000 }).toBe(count);
    const { history_bytes: bytes } = await engine.stats();
    await engine.close();
    return bytes as number;
  };
  const counted = await bytesBy('one');
  expect(counted).toBeGreaterThan(1_000);
  expect(await bytesBy('two')).toBe(counted);
}

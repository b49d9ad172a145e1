/** A server that is killed at any moment has lost nothing that it acknowledged, and shows nothing by halves. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../../packages/lib/src/random.ts';
import { rounds, testSeed } from '../../packages/lib/src/testing/seed.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import type { Engine } from '../../packages/storage/src/engine.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import { bundleChild, startChild } from '../support/child.ts';

const ROUNDS = rounds(20);
/** A kill comes when fewer commits than this were acknowledged, at whatever the process does then: time does not decide how many. */
const LATEST_KILL = 200;

interface Acknowledged {
  readonly revision: number;
  readonly key: string;
  /** undefined: deleted. */
  readonly value: string | undefined;
}

test('nothing that was acknowledged is lost when the server is killed', { timeout: 600_000 }, async () => {
  console.log(`TEST_SEED=${testSeed}`);
  const random = seededRandom(testSeed);
  const program = await bundleChild(join(import.meta.dirname, 'lmdb-crash-child.ts'));
  const dataDir = temporaryDirectory('plat-crash');
  const acknowledged: Acknowledged[] = [];
  const revisions = new Set<number>();
  let newest = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const lines = await runAndKill(program, dataDir, round, random.below(LATEST_KILL));
    const fromBefore = acknowledged.length;
    const opened = Number(lines[0]?.split(' ')[1]);
    expect(opened, 'a new process goes on where the last one ended').toBe(newest);
    for (const line of lines.slice(1)) {
      const [revision, ...changes] = line.split(' ');
      expect(revisions.has(Number(revision)), `revision ${revision} was given out twice`).toBe(false);
      expect(Number(revision)).toBeGreaterThan(newest);
      revisions.add(Number(revision));
      for (const change of changes) acknowledged.push(parse(Number(revision), change));
    }
    const engine = await openLmdbEngine({ dataDir, historyRetentionMs: 3_600_000 });
    await checkAcknowledged(engine, round === ROUNDS - 1 ? acknowledged : acknowledged.slice(fromBefore));
    await checkWhole(engine, newest);
    newest = engine.revision;
    await engine.close();
  }
  expect(acknowledged.length).toBeGreaterThan(ROUNDS * 20);
});

/** The lines that the process could print before it was killed. */
async function runAndKill(program: string, dataDir: string, round: number, commits: number): Promise<string[]> {
  const child = startChild(process.execPath, [program, dataDir, `${round}`]);
  let acknowledged = 0;
  await child.line((line) => !line.startsWith('open') && acknowledged++ >= commits);
  child.process.kill('SIGKILL');
  await child.ended;
  expect(child.errors()).toBe('');
  return child.lines;
}

function parse(revision: number, change: string): Acknowledged {
  const at = change.indexOf('=');
  const value = change.slice(at + 1);
  return { revision, key: change.slice(0, at), value: value === '-' ? undefined : value };
}

/** Each acknowledged write is there at its revision, and the newest of each key is current unless a later one came through. */
async function checkAcknowledged(engine: Engine, acknowledged: readonly Acknowledged[]): Promise<void> {
  const newest = new Map<string, Acknowledged>();
  const lost: string[] = [];
  for (const write of acknowledged) {
    const entry = await engine.get(write.key, write.revision);
    if (entry?.value.toString() !== write.value) lost.push(`${write.key} at ${write.revision}`);
    if (entry !== undefined && entry.revision !== write.revision) lost.push(`${write.key} has ${entry.revision}, not ${write.revision}`);
    if ((newest.get(write.key)?.revision ?? 0) < write.revision) newest.set(write.key, write);
  }
  for (const [key, write] of newest) {
    const entry = await engine.get(key);
    if (entry === undefined ? write.value !== undefined && !(await deletedAfter(engine, write)) : entry.revision < write.revision)
      lost.push(`${key} now`);
  }
  expect(lost).toEqual([]);
}

/** Whether a deletion that could not be acknowledged any more came after the write. */
async function deletedAfter(engine: Engine, { key, revision }: Acknowledged): Promise<boolean> {
  const changes = await engine.changes({ after: revision, prefix: key });
  return changes.some((change) => change.key === key && change.type === 'delete');
}

/** No commit is there by halves: pairs are written and deleted together, and the log has every revision. */
async function checkWhole(engine: Engine, after: number): Promise<void> {
  const halves: string[] = [];
  const { entries } = await engine.range({ prefix: 'pair/' });
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  for (const { key } of entries) {
    const left = byKey.get(key.replace('/right', '/left'));
    const right = byKey.get(key.replace('/left', '/right'));
    if (left?.revision !== right?.revision || !left?.value.equals(right?.value ?? Buffer.alloc(0))) halves.push(key);
  }
  const counts = new Map<number, string[]>();
  for (const { key, revision } of await engine.changes({ after, prefix: '' })) {
    const keys = counts.get(revision);
    if (keys === undefined) counts.set(revision, [key]);
    else keys.push(key);
  }
  for (const [revision, keys] of counts) {
    const whole = keys.length === 1 ? /^(single|last)/.test(keys[0] as string) : keys.length === 3;
    if (!whole) halves.push(`revision ${revision}: ${keys.join(' ')}`);
  }
  expect(halves).toEqual([]);
  expect(counts.size).toBe(engine.revision - after);
}

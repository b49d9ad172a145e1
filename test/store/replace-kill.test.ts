/**
 * Tools that replace a store, killed before each call by which they change names in the data directory: the old store is
 * there, or the new one, and never neither; `plat store verify` says what is left, and the next one to open it finishes.
 *
 * What a kill leaves are the files as they are before the call. One run copies them before each, and a process is killed in earnest
 * before some, with the same result.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run as runCommand } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { backupOf } from '../../packages/storage/src/backup/backup.testing.ts';
import { put } from '../../packages/storage/src/engine.suite.tools.ts';
import { verifyDirectory } from '../../packages/storage/src/engines/lmdb/repair/verify.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import { openMemoryEngine } from '../../packages/storage/src/engines/memory.ts';
import { programDirectory, programMissing } from '../support/program.ts';

const preload = join(import.meta.dirname, 'stop-at-call.cjs');
/** More calls than any of the commands makes: a bound on the test. */
const MOST_CALLS = 60;

/** Runs the program; answers the signal that ended it. */
function run(
  args: readonly string[],
  directory: string,
  stop: { at?: number; count?: string; copies?: string },
): Promise<string | number | null> {
  const env = {
    ...process.env,
    NODE_OPTIONS: `--require=${preload}`,
    STOP_IN: directory,
    ...(stop.at !== undefined && { STOP_AT: String(stop.at) }),
    ...(stop.count !== undefined && { STOP_COUNT: stop.count }),
    ...(stop.copies !== undefined && { STOP_COPIES: stop.copies }),
  };
  const child = spawn(process.execPath, [join(programDirectory, 'plat.js'), ...args, '--data-dir', directory], { env, stdio: 'ignore' });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)));
}

/** Files, but for the lock of the process and what differs from process to process in their names. */
const namesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('store.lock'))
    .map((name) => name.replaceAll(/-\d[^/]*/g, '-N'))
    .sort();

async function contentOf(dataDir: string): Promise<{ content: string; notices: string[] }> {
  const notices: string[] = [];
  const engine = await openLmdbEngine({ dataDir, notice: (message) => void notices.push(message) });
  const { entries } = await engine.range({ prefix: '' });
  await engine.close();
  return { content: entries.map(({ key, value }) => `${key}=${value}`).join(' '), notices };
}

interface Tool {
  readonly args: readonly string[];
  /** The store before, and what it holds. */
  readonly original: string;
  readonly old: string | undefined;
  readonly replaced: string;
  readonly aside: string;
}
const tools: Record<string, Tool> = {};

beforeAll(async () => {
  if (programMissing !== undefined) return;
  const parent = temporaryDirectory('plat-replace');
  const source = openMemoryEngine();
  await source.commit([put('a', 'new'), put('c', 'new')]);
  const backup = join(parent, 'a.backup');
  writeFileSync(backup, await backupOf(source));
  const original = join(parent, 'original');
  const engine = await openLmdbEngine({ dataDir: original });
  for (const name of ['a', 'b']) await engine.commit([put(name, `old of ${name}`)]);
  await engine.close();
  const args = ['store', 'restore', '--from', backup, '--force'];
  tools.restore = { args, original, old: 'a=old of a b=old of b', replaced: 'a=new c=new', aside: 'store.replaced-' };
  // One value does not fit its checksum.
  const damaged = join(parent, 'damaged');
  cpSync(original, damaged, { recursive: true });
  const file = join(damaged, 'store.mdb');
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf('old of b'); at >= 0; at = bytes.indexOf('old of b', at + 1)) bytes[at] = 'O'.charCodeAt(0);
  writeFileSync(file, bytes);
  tools.repair = { args: ['store', 'repair', '--yes'], original: damaged, old: undefined, replaced: 'a=old of a', aside: 'damaged-' };
});

describe.skipIf(programMissing !== undefined)(
  `killed before each call${programMissing === undefined ? '' : ` (skipped: ${programMissing})`}`,
  () => {
    test.each(['restore', 'repair'])('%s', { timeout: 300_000 }, async (name) => {
      const { args, original, old, replaced, aside } = tools[name] as Tool;
      const parent = temporaryDirectory('plat-replace-kill');
      const copyAs = (copy: string): string => {
        cpSync(original, join(parent, copy), { recursive: true });
        return join(parent, copy);
      };
      const whole = copyAs('whole');
      expect([0, 3]).toContain(await run(args, whole, { count: join(parent, 'calls'), copies: parent }));
      expect(await contentOf(whole)).toEqual({ content: replaced, notices: [] });
      const calls = Number(readFileSync(join(parent, 'calls'), 'utf8'));
      expect(calls).toBeGreaterThan(5);
      expect(calls).toBeLessThan(MOST_CALLS);

      const seen = { old: 0, begun: 0, replaced: 0 };
      for (let at = 1; at <= calls; at++) {
        let directory = join(parent, `at-${at}`);
        // The first, one in the middle and the last are killed in earnest.
        const isKilled = at === 1 || at === calls >> 1 || at === calls;
        if (isKilled) {
          const killed = copyAs(`killed-${at}`);
          expect([at, await run(args, killed, { at })]).toEqual([at, 'SIGKILL']);
          expect([at, namesIn(killed)]).toEqual([at, namesIn(directory)]);
          directory = killed;
        }
        const begun = existsSync(join(directory, 'store.replacing'));
        const findings = await verifyDirectory(directory);
        const message = findings[0]?.message ?? '';
        if (begun) {
          expect([at, findings.map(({ file, startsAnyway }) => [file, startsAnyway])]).toEqual([at, [['store.replacing', true]]]);
          expect(message).toContain(`"plat store repair --data-dir ${directory} --yes" finishes it`);
        }
        // Half of them are finished by the command that is named, the others by a start.
        const repair = ['store', 'repair', '--yes'];
        if (begun && at % 2 === 0)
          expect([at, await (isKilled ? run(repair, directory, {}) : runCommand([...repair, '--data-dir', directory], testIO()))]).toEqual([
            at,
            0,
          ]);
        const { content, notices } = await contentOf(directory);
        const isOld = old === undefined ? content !== replaced : content === old;
        expect([at, isOld || content === replaced]).toEqual([at, true]);
        if (begun) expect([at, content]).toEqual([at, replaced]);
        if (begun && at % 2 === 1)
          expect(notices).toEqual([expect.stringContaining('was being replaced when that was interrupted; this was finished')]);
        seen[begun ? 'begun' : isOld ? 'old' : 'replaced']++;
        // The old files are kept, and nothing is left of the work.
        const names = readdirSync(directory);
        if (!isOld)
          expect([at, names.some((one) => one.startsWith(aside) && existsSync(join(directory, one, 'store.mdb')))]).toEqual([at, true]);
        expect(names.filter((one) => /^store\.(replacing|restoring-|repairing-)/.test(one))).toEqual([]);
      }
      expect(Math.min(seen.old, seen.begun)).toBeGreaterThan(0);
    });
  },
);

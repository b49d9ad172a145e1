/** Killing a process proves nothing about a power cut: what it wrote stays in the system's cache. So the calls themselves are watched. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleChild, startChild } from '../support/child.ts';

function canTrace(): boolean {
  try {
    execFileSync('strace', ['-f', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('a commit is answered only after its pages and then the pointer to them were synced', async ({ skip }) => {
  if (!canTrace()) return skip('strace is missing or not allowed here');
  const program = await bundleChild(join(import.meta.dirname, 'lmdb-durable-child.ts'));
  const work = mkdtempSync(join(tmpdir(), 'plat-durable-'));
  const trace = join(work, 'trace');
  const dataDir = join(work, 'data');
  const calls = 'trace=openat,pwrite64,pwritev,writev,fdatasync,fsync,write';
  const child = startChild('strace', ['-f', '-y', '-s', '16', '-e', calls, '-o', trace, process.execPath, program, dataDir]);
  await child.ended;
  expect(child.lines.at(-1)).toBe('answered 19');

  const lines = readFileSync(trace, 'utf8').split('\n');
  const opened = (flags: RegExp) =>
    lines
      .filter((line) => line.includes('openat') && line.includes('store.mdb"') && flags.test(line))
      .map((line) => /= (\d+)</.exec(line)?.[1]);
  const synchronous = opened(/O_DSYNC/);
  expect(synchronous).toHaveLength(1);

  const steps: string[] = [];
  for (const line of lines) {
    const said = /write\(1.*"(begin|answered) (\d+)/.exec(line);
    const call = /(pwrite64|pwritev|writev|fdatasync|fsync)\((\d+)<[^>]*store\.mdb>/.exec(line);
    if (said !== null) steps.push(`${said[1]}`);
    else if (call !== null)
      steps.push(call[2] === synchronous[0] ? 'pointer' : call[1] === 'fdatasync' || call[1] === 'fsync' ? 'sync' : 'pages');
  }
  const first = steps.indexOf('begin');
  const story = steps.slice(first).filter((step, index, all) => step !== all[index - 1]);
  expect(story).toEqual(Array.from({ length: 20 }, () => ['begin', 'pages', 'sync', 'pointer', 'answered']).flat());
  rmSync(work, { recursive: true });
});

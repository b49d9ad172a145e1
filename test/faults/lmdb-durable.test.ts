/** Killing a process proves nothing about a power cut: what it wrote stays in the system's cache. So the calls themselves are watched. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { bundleChild, startChild } from '../support/child.ts';

function canTrace(): boolean {
  try {
    execFileSync('strace', ['-f', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('a commit is answered only after the journal was written through to the disk', async ({ skip }) => {
  if (!canTrace()) return skip('strace is missing or not allowed here');
  const program = await bundleChild(join(import.meta.dirname, 'lmdb-durable-child.ts'));
  const work = temporaryDirectory('plat-durable');
  const trace = join(work, 'trace');
  const dataDir = join(work, 'data');
  const watched = 'trace=openat,pwrite64,pwritev,writev,fdatasync,fsync,write,unlink,unlinkat';
  const child = startChild('strace', ['-f', '-y', '-s', '16', '-e', watched, '-o', trace, process.execPath, program, dataDir]);
  await child.ended;
  expect(child.lines.at(-1)).toBe('answered 19');

  const lines = readFileSync(trace, 'utf8').split('\n');
  // A write to a file that was opened so comes back only when the disk has it.
  expect(
    lines.filter((line) => line.includes('openat') && /store\.journal-\d(\.new)?"/.test(line) && line.includes('O_DSYNC')),
  ).toHaveLength(2);
  const steps: string[] = [];
  for (const line of lines) {
    const said = /write\(1.*"(begin|answered) (\d+)/.exec(line);
    const call = /(pwrite64|pwritev|writev|fdatasync|fsync)\((\d+)<[^>]*store\.journal-0>/.exec(line);
    if (said !== null) steps.push(`${said[1]}`);
    else if (call !== null) steps.push('frame');
  }
  expect(steps.slice(steps.indexOf('begin'))).toEqual(Array.from({ length: 20 }, () => ['begin', 'frame', 'answered']).flat());

  // The tables follow on their own time, and the journal goes only after they are synced: pages first, then the pointer to them.
  const synchronous = lines
    .filter((line) => line.includes('openat') && line.includes('store.mdb"') && line.includes('O_DSYNC'))
    .map((line) => /= (\d+)</.exec(line)?.[1]);
  expect(synchronous).toHaveLength(1);
  const calls = lines.flatMap((line) => {
    if (/unlink.*store\.journal-0/.test(line)) return ['journal removed'];
    const call = /(pwrite64|pwritev|writev|fdatasync|fsync)\((\d+)<[^>]*store\.mdb>/.exec(line);
    if (call === null) return [];
    return [call[2] === synchronous[0] ? 'pointer' : call[1] === 'fdatasync' || call[1] === 'fsync' ? 'sync' : 'pages'];
  });
  const story = calls.filter((step, index) => step !== calls[index - 1]);
  expect(story.slice(-4)).toEqual(['pages', 'sync', 'pointer', 'journal removed']);
});

import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { type TestIO, testIO } from '../testing.ts';
import { Progress, summaryText } from './progress.ts';

const { terminal } = testIO();
const wide = (width: number) => ({ terminal: { ...terminal, size: () => ({ width, height: 24 }) } });
function shown(io: TestIO): string {
  const progress = new Progress(io);
  progress.show('applying 1 of 20');
  progress.show('applying 2 of 20');
  progress.note('20 objects: 20 created');
  return io.stderr;
}

test('a line on a terminal is written again in its place, and a note stays', () => {
  expect(shown(testIO(wide(80)))).toContain('applying 2 of 20');
  expect(shown(testIO(wide(80)))).toMatch(/20 objects: 20 created\n$/);
  expect(shown(testIO(wide(10)))).toContain('applying…');
});

test('counts and bytes are shown after half a second, at most ten times a second', () => {
  const clock = new FakeClock(0);
  const io = testIO({ ...wide(80), clock });
  const progress = new Progress(io);
  const read = progress.bytes('reading', 3 * 1024 ** 2);
  progress.count('importing', 1);
  expect(io.stderr).toBe('');
  clock.advance(500);
  progress.count('importing', 2, 9);
  progress.count('importing', 3, 9);
  expect(io.stderr).toBe('importing 2 of 9');
  clock.advance(100);
  read(1024 ** 2);
  expect(io.stderr).toBe('importing 2 of 9reading 1.0 MiB of 3.0 MiB');
});

test('nothing where the output is not a terminal, and as kubectl', () => {
  expect(shown(testIO())).toBe('');
  expect(shown(testIO({ ...wide(80), program: 'kubectl' }))).toBe('');
});

test('a summary counts what happened', () => {
  expect(summaryText(['created', 'unchanged', 'created'], 1)).toBe('4 objects: 2 created, 1 unchanged, 1 failed');
});

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

test('nothing where the output is not a terminal, and as kubectl', () => {
  expect(shown(testIO())).toBe('');
  expect(shown(testIO({ ...wide(80), program: 'kubectl' }))).toBe('');
});

test('a summary counts what happened', () => {
  expect(summaryText(['created', 'unchanged', 'created'], 1)).toBe('4 objects: 2 created, 1 unchanged, 1 failed');
});

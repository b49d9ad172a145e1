import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { diffLines, unifiedDiff } from './text-diff.ts';

const names = { before: 'a', after: 'b' };

test('the same text has no differences', () => {
  expect(unifiedDiff('x\ny\n', 'x\ny\n', names)).toBe('');
});

test('a change with its surroundings', () => {
  const text = (middle: string) => `1\n2\n3\n4\n${middle}\n6\n7\n8\n9\n`;
  expect(unifiedDiff(text('5'), text('five'), names)).toBe('--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n');
});

test('all new, all gone', () => {
  expect(unifiedDiff('', 'x\ny\n', names)).toBe('--- a\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n');
  expect(unifiedDiff('x\n', '', names)).toBe('--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n');
});

test('changes far apart stand in hunks of their own', () => {
  const lines = Array.from({ length: 30 }, (_, i) => String(i));
  const changed = lines.map((line, i) => (i === 2 || i === 25 ? 'x' : line));
  expect(unifiedDiff(`${lines.join('\n')}\n`, `${changed.join('\n')}\n`, names).match(/^@@.*$/gm)).toEqual([
    '@@ -1,6 +1,6 @@',
    '@@ -23,7 +23,7 @@',
  ]);
});

test('both sides are in the lines, in order, and no shorter way exists than the longest common part leaves', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const lines = diffLines(a, b);
      expect(lines.filter(([mark]) => mark !== '+').map(([, line]) => line)).toEqual(a);
      expect(lines.filter(([mark]) => mark !== '-').map(([, line]) => line)).toEqual(b);
      expect(lines.filter(([mark]) => mark === ' ').length).toBe(commonLength(a, b));
    }),
  );
});
/** By the book, slowly. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  a.forEach((x, i) => {
    b.forEach((y, j) => {
      const row = table[i + 1] as number[];
      row[j + 1] = x === y ? (table[i]?.[j] as number) + 1 : Math.max(table[i]?.[j + 1] as number, row[j] as number);
    });
  });
  return table[a.length]?.[b.length] as number;
}

test('texts that have nothing in common are one change', () => {
  const many = (word: string) => Array.from({ length: 3000 }, (_, i) => `${word}${i}`);
  const lines = diffLines(many('a'), many('b'));
  expect(lines.length).toBe(6000);
});

const patchMissing = ((): boolean => {
  try {
    execFileSync('patch', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
})();
test.skipIf(patchMissing)('a stock patch program turns one into the other (skipped where there is none)', () => {
  const directory = mkdtempSync(join(tmpdir(), 'plat-diff-'));
  const before = Array.from({ length: 60 }, (_, i) => `line ${i}`);
  const after = before.filter((_, i) => i % 13 !== 5).flatMap((line, i) => (i % 11 === 3 ? [line, 'new'] : [line]));
  const file = join(directory, 'f');
  writeFileSync(file, `${before.join('\n')}\n`);
  const text = unifiedDiff(`${before.join('\n')}\n`, `${after.join('\n')}\n`, { before: 'f', after: 'f' });
  execFileSync('patch', ['-s', file], { input: text });
  expect(execFileSync('cat', [file]).toString()).toBe(`${after.join('\n')}\n`);
  rmSync(directory, { recursive: true });
});

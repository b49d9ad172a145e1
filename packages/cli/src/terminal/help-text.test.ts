import { expect, test } from 'vitest';
import { run } from '../index.ts';
import { testIO } from '../testing.ts';
import { foldedLines } from './help-text.ts';

test('long lines go on between words, indented as they are', () => {
  expect(foldedLines('short\n\n  plat get pods --all-namespaces\n', 20)).toBe('short\n\n  plat get pods\n  --all-namespaces\n');
  expect(foldedLines('  a    one two three', 12)).toBe('  a    one\n  two three');
});

test('a word goes to the left where it would not fit; one longer than a line stays whole', () => {
  expect(foldedLines('      a seventeen-letters', 18)).toBe('      a\n seventeen-letters');
  expect(foldedLines(`    x ${'y'.repeat(30)} z`, 10)).toBe(`    x\n${'y'.repeat(30)}\n    z`);
});

test.each([['help'], ['help', 'get'], ['help', 'server'], ['help', 'config'], ['config', '--help'], ['options']])(
  'on 20 columns no word is broken: %s %s',
  async (...args) => {
    const on = async (width: number) => {
      const io = testIO({ env: { PAGER: '' } });
      const narrow = { ...io, terminal: { ...io.terminal, size: () => ({ width, height: 24 }) }, width: 100 };
      expect(await run(args, narrow)).toBe(0);
      return io.stdout;
    };
    const wide = await on(200);
    const narrow = await on(20);
    const words = (text: string) => text.split(/\s+/);
    expect(words(narrow)).toEqual(words(wide));
    expect(narrow.split('\n').filter((line) => line.length > 20 && /\S\s+\S/.test(line))).toEqual([]);
    expect(narrow.split('\n').filter((line) => line.length > 20 && line.startsWith(' '))).toEqual([]);
  },
);

import { expect, test } from 'vitest';
import { testIO } from '../testing.ts';
import { lineCount, page } from './pager.ts';

const long = 'line\n'.repeat(50);
const at = (changes: Parameters<typeof testIO>[0] = {}) => {
  const { terminal } = testIO();
  return testIO({ terminal: { ...terminal, interactive: true, size: () => ({ width: 80, height: 24 }) }, ...changes });
};
/** What `page` prints itself; the pager of these tests exits at once, and shows nothing. */
async function printed(io: ReturnType<typeof testIO>, text: string): Promise<string> {
  await page(io, text);
  return io.stdout;
}

test('long texts on a terminal go to the pager', async () => {
  expect(await printed(at({ env: { PAGER: 'true' } }), long)).toBe('');
});

test.each([
  ['a text that fits', at({ env: { PAGER: 'true' } }), 'short\n'],
  ['no terminal', testIO({ env: { PAGER: 'true' } }), long],
  ['as kubectl', at({ program: 'kubectl', env: { PAGER: 'true' } }), long],
  ['no pager wanted', at({ env: { PAGER: '' } }), long],
  ['cat', at({ env: { PAGER: 'cat' } }), long],
])('printed as it is: %s', async (_, io, text) => {
  expect(await printed(io, text)).toBe(text);
});

test('a pager that is not there: the text is printed', async () => {
  expect(await printed(at({ env: { PAGER: 'exit 127;' } }), long)).toBe(long);
});

test('lines are counted as the terminal wraps them, without colours', () => {
  expect(lineCount('a\nb\n', 80)).toBe(2);
  expect(lineCount(`${'x'.repeat(81)}\n`, 80)).toBe(2);
  expect(lineCount(`\u001b[31m${'x'.repeat(80)}\u001b[0m\n`, 80)).toBe(1);
});

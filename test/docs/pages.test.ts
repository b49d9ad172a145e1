/** The pages that lead a reader from nothing to a result: every command is run, and prints what its page shows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isShown, itemsOf, runPage } from './page-commands.ts';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const pages = ['index.md', ...readdirSync(join(docs, 'start')).map((name) => `start/${name}`)];
const textOf = (name: string): string => readFileSync(join(docs, name), 'utf8');

test.each(pages)('%s', { timeout: 300_000 }, (name) => {
  const outcomes = runPage(textOf(name));
  for (const { line, expected, printed, code } of outcomes) {
    expect(code, `${line}\n${printed}`).toBe(0);
    expect(isShown(expected, printed), `${line}\nprinted\n${printed}\nthe page shows\n${expected}`).toBe(true);
  }
  expect(outcomes).toHaveLength(itemsOf(textOf(name)).filter(({ type }) => type === 'command').length);
  expect(outcomes.length).toBeGreaterThan(0);
});

test('what a page shows is compared line by line, with … for what may differ', () => {
  expect(isShown('a … c\n…\nlast\n', 'a   b c\nx\ny\nlast\n')).toBe(true);
  expect(isShown('a\n', 'a\nb\n')).toBe(false);
  expect(isShown('a.c\n', 'abc\n')).toBe(false);
  expect(isShown('', '')).toBe(true);
  expect(isShown('', 'warning\n')).toBe(false);
});

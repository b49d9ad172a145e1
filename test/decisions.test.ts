/** The list of decisions names every page, and every number that has none. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../docs/decisions/', import.meta.url);
const pages = readdirSync(folder)
  .filter((name) => /^\d{3}-.*\.md$/.test(name))
  .sort();
const list = readFileSync(new URL('README.md', folder), 'utf8');

test('the list of decisions has a line for every page, in order, with its heading', () => {
  const lines = pages.map((name) => `- [${readFileSync(new URL(name, folder), 'utf8').split('\n')[0]?.slice(2)}](${name})`);
  expect(list.split('\n').filter((line) => line.startsWith('- '))).toEqual(lines);
});

test('a heading begins with the number of its page', () => {
  const wrong = pages.filter((name) => !readFileSync(new URL(name, folder), 'utf8').startsWith(`# ${name.slice(0, 3)} `));
  expect(wrong).toEqual([]);
});

test('no number stands for two pages, and one without a page is named in the list', () => {
  const numbers = pages.map((name) => Number(name.slice(0, 3)));
  expect(numbers).toEqual([...new Set(numbers)]);
  const unused = [...(/^Numbers.*$/m.exec(list)?.[0] ?? '').matchAll(/(\d{3})(?: to (\d{3}))?/g)].flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i),
  );
  const highest = Math.max(...numbers);
  expect([...numbers, ...unused].sort((a, b) => a - b)).toEqual(Array.from({ length: highest }, (_, i) => i + 1));
});

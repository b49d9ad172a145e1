/** What no file of the page may do: text of the API would become markup or script. */
import { expect, test } from 'vitest';
import { productFiles, readSource } from '../support/sources.ts';

const dangerous =
  /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|createContextualFragment|srcdoc|DOMParser)\b|\bdocument\.write|\beval\(|\bnew Function\b/g;

const found = (text: string): string[] => [...text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').matchAll(dangerous)].map(([match]) => match);

test('nothing makes markup or script of text', () => {
  const files = productFiles.filter((file) => file.startsWith('console/'));
  expect(files.filter((file) => file.endsWith('.tsx')).length).toBeGreaterThan(10);
  expect(files.flatMap((file) => found(readSource(file)).map((match) => `${file}: ${match}`))).toEqual([]);
});

test('what would is found', () => {
  expect(found('element.innerHTML = text; <p dangerouslySetInnerHTML={{ __html: text }} />; // outerHTML')).toEqual([
    'innerHTML',
    'dangerouslySetInnerHTML',
  ]);
});

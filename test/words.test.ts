/** Words of our own making stay out of the product: each has a term of the field in its place (CONTRIBUTING.md). */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** By the word, what to write instead. Words count in identifiers (`judgeNames`), comments and messages alike. */
const instead: Readonly<Record<string, string>> = {
  told: 'report, notify, log, or the name of what is sent',
  mend: 'repair',
  mended: 'repaired, fixed',
  judge: 'validate, check, evaluate, decide',
  judged: 'validated, checked, evaluated, decided',
  judges: 'validates, checks, evaluates, decides',
  judging: 'validating, checking, evaluating, deciding',
  spoken: 'the version of the request, or the name of the protocol',
  deed: 'action',
  whoever: 'the name of the caller: client, user, reader, server',
  beside: 'next to, in addition to, with',
  heed: 'apply, use, support',
  heeds: 'applies, uses, supports',
  heeded: 'applied, used, supported',
  tell: 'report, show, distinguish, or the name of the field',
  tells: 'reports, shows, distinguishes, or the name of the field',
  somebody: 'the name of the caller: client, user, reader, server',
  anybody: 'any user, any client',
  anew: 'again',
};

/** Phrases, by a pattern. */
const phrases: readonly RegExp[] = [
  /\bas wanted\b(?!,)/,
  /\bhereAndNow\b/,
  /\bisForeign\b/,
  /\btakes no words\b/,
  /\bgoes by\b/,
  /\b(hands?|handed) (it |them )?over\b/,
  // The message of a stock server for 401 is its own.
  /(?<!server has )\basked for\b/,
  /\b(has|have) ended\b/,
  /\b(has|have) (its|their) turn\b/,
  /\bunder way\b/,
  /\bmust be like\b/,
  /\bclients know\b/,
  /\bgives? way\b/,
  /\blaid one over\b/,
];

const src = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const product = files.filter((file) => !file.endsWith('.test.ts'));

/** `repairOwners`, `HTTPServer` and `a plain text` as lower-case words. */
const wordsOf = (line: string): string[] => (line.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []).map((word) => word.toLowerCase());

function faultsOf(line: string): string[] {
  const words = wordsOf(line).filter((word) => Object.hasOwn(instead, word));
  return [
    ...words.map((word) => `"${word}": write ${instead[word]}`),
    ...phrases.filter((phrase) => phrase.test(line)).map((phrase) => `${phrase}: use a plain phrase`),
  ];
}

test('words are found in identifiers, comments and messages', () => {
  expect(wordsOf("const judgeNames = 'is told'; // mend")).toEqual(['const', 'judge', 'names', 'is', 'told', 'mend']);
  expect(faultsOf('  private judgeNames(): void {')).toHaveLength(1);
  expect(faultsOf('/** Waits until objects are as wanted. */')).toHaveLength(1);
  expect(faultsOf('text.trimEnd() // recommended, misjudgement apart')).toEqual([]);
});

test('the product uses the terms of the field', () => {
  const found = product.flatMap((file) =>
    readFileSync(join(src, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => faultsOf(line).map((fault) => `src/${file}:${i + 1}: ${fault}`)),
  );
  expect(found).toEqual([]);
});

test('pages use the terms of the field, too', () => {
  const root = join(src, '..');
  const pages = ['README.md', 'CONTRIBUTING.md', 'examples/README.md', 'examples/operator/README.md'].concat(
    readdirSync(join(root, 'docs'))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file}`),
  );
  expect(pages.length).toBeGreaterThan(20);
  // Titles of tests and output that a page quotes are not its own words.
  const found = pages.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .replace(/`[^`\n]*`/g, '')
      .split('\n')
      .flatMap((line, i) => faultsOf(line).map((fault) => `${file}:${i + 1}: ${fault}`)),
  );
  expect(found).toEqual([]);
});

test('files are named for what they hold', () => {
  const count = (name: string): string[] => product.filter((file) => basename(file) === name);
  expect(count('rules.ts')).toEqual([]);
  expect(count('metrics.ts')).toEqual(['lib/metrics.ts']);
  expect(count('names.ts')).toEqual(['meta/names.ts']);
});

test('a Step is a step of the pipeline', () => {
  const declares = product.filter((file) => /^(export )?(type|interface|class) Step\b/m.test(readFileSync(join(src, file), 'utf8')));
  expect(declares).toEqual(['server/pipeline.ts']);
});

test('files of the root have a folder', () => {
  expect(files.filter((file) => !file.includes('/'))).toEqual(['index.ts']);
});

test('a log line is a constant phrase that can be searched for', () => {
  const made = /\blog\??\.(error|warn|info|debug)\((\d+, )?`|\blog\??\.(error|warn|info|debug)\((\d+, )?'[^']*' \+/;
  expect('this.log.warn(`no file $' + '{file}`)').toMatch(made);
  expect("log.debug(4, 'a ' + b)").toMatch(made);
  const found = product.filter((file) => file !== 'lib/log.ts' && made.test(readFileSync(join(src, file), 'utf8')));
  expect(found).toEqual([]);
});

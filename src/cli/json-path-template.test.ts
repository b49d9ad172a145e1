import { expect, test } from 'vitest';
import { jsonPathTemplate } from './json-path-template.ts';

const list = {
  items: [
    { name: 'a', n: 1 },
    { name: 'b}', n: 2 },
  ],
  on: true,
};

test.each([
  ['{.items[0].name}', 'a'],
  ['{.items[*].name}', 'a b}'],
  ['.on', 'true'],
  ['items[1].n', '2'],
  ['on: {.on}{"\\n"}', 'on: true\n'],
  ['{range .items[*]}{.name}={.n}{"\\t"}{end}.', 'a=1\tb}=2\t.'],
  ['{range .items[*]}{range .n}<{@}>{end}{end}', '<1><2>'],
  ['{.items[?(@.name=="b}")].n}', '2'],
  ['{.nothing}', ''],
  ['{.items[0]}', '{"name":"a","n":1}'],
])('%s', (template, expected) => {
  expect(jsonPathTemplate(template)(list)).toBe(expected);
});

test.each([
  ['', 'needs a template'],
  ['{.a', 'a brace is not closed'],
  ['{range .items[*]}x', 'a {range} has no {end}'],
  ['{end}', 'without its {range}'],
  ['{.items[}', 'a bracket is not closed'],
])('%s is refused', (template, message) => {
  expect(() => jsonPathTemplate(template)).toThrow(message);
});

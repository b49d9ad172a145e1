import { describe, expect, test } from 'vitest';
import { jsonPathTemplate } from './json-path-template.ts';

const list = {
  items: [
    { name: 'a', n: 1, labels: { z: 'x<y', b: null } },
    { name: 'b}', n: 2.5 },
  ],
  on: true,
  none: null,
};

test.each([
  ['{.items[0].name}', 'a'],
  ['{.items[*].name}', 'a b}'],
  ['.on', 'true'],
  ['items[1].n', '2.5'],
  ['on: {.on}{"\\n"}', 'on: true\n'],
  ['{range .items[*]}{.name}={.n}{"\\t"}{end}.', 'a=1\tb}=2.5\t.'],
  ['{range .items[*]}{range .n}<{@}>{end}{end}', '<1><2.5>'],
  ['{range.items[*]}{.n};{end}', '1;2.5;'],
  ['{.items[?(@.name=="b}")].n}', '2.5'],
  ['{.nothing}', ''],
  ['{.none}', '<nil>'],
  ['{.items[0]}', '{"labels":{"b":null,"z":"x\\u003cy"},"n":1,"name":"a"}'],
  ["{'\\x41\\u00e9\\''}", "Aé'"],
  // What follows a loop without an end is evaluated once more outside of it, as kubectl does.
  ['{range .items[*]}{.n}-', '1-2.5--'],
  ['{range .nothing[*]}{.n}{end}end', 'end'],
])('%s', (template, expected) => {
  expect(jsonPathTemplate(template)(list)).toBe(expected);
});

test('as kubectl, a path without braces is a text', () => {
  expect(jsonPathTemplate('.on', { relaxed: false })(list)).toBe('.on');
});

test('the values of each part as JSON', () => {
  expect(jsonPathTemplate('{.items[*].n}{.nothing}', { asJson: true })(list)).toBe('[\n    1,\n    2.5\n]\n[]\n');
});

describe('values of another shape are errors', () => {
  test.each([
    ['{.items[5]}', 'array index out of bounds: index 5, length 2'],
    ['{.items[0:9]}', 'array index out of bounds: index 8, length 2'],
    ['{.on[0]}', 'a value is not a list'],
    ['{.items[?(@.name>1)]}', 'incompatible types for comparison'],
  ])('%s', (template, message) => {
    expect(() => jsonPathTemplate(template)(list)).toThrow(message);
  });
  test('so are missing fields, where they are needed', () => {
    expect(() => jsonPathTemplate('{.nothing}', { allowMissingKeys: false })(list)).toThrow('jsonpath: nothing is not found');
    expect(jsonPathTemplate('{.on}', { allowMissingKeys: false })(list)).toBe('true');
  });
});

test.each([
  ['', 'needs a template'],
  ['{.a', 'a brace is not closed'],
  ['{end}', 'without its {range}'],
  ['{.items[}', 'a bracket is not closed'],
  ['{"\\z"}', 'there is no escape \\z'],
])('%s is refused', (template, message) => {
  expect(() => jsonPathTemplate(template)).toThrow(message);
});

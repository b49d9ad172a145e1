import { expect, test } from 'vitest';
import { comeTo, evaluate } from './cases.testing.ts';
import { CelError, compile, MAX_SOURCE } from './index.ts';

comeTo('precedence', {
  '1 + 2 * 3': 7,
  '(1 + 2) * 3': 9,
  '10 - 3 - 2': 5,
  '2 * 3 % 4': 2,
  '-2 * 3': -6,
  '- - 2': 2,
  '!true || true': true,
  'true || false && false': true,
  '1 < 2 == true': true,
  '1 in [1] && !(2 in [1])': true,
  'false ? 1 : true ? 2 : 3': 2,
  '(true ? false : true) ? 1 : 2': 2,
  '[1, 2, 3][1]': 2,
  "{'a': {'b': 5}}.a.b": 5,
  '.size([1])': 1,
});

comeTo('literals', {
  '0x1F': 31,
  '-0x10': -16,
  '9223372036854775807': 9223372036854775807n,
  '-9223372036854775808': -9223372036854775808n,
  '18446744073709551615u': '18446744073709551615u',
  '0xFFu': '255u',
  '1.5e3': 1500,
  '.5': 0.5,
  '1e-2': 0.01,
});
comeTo('strings', {
  '"a\'b"': "a'b",
  "'a\"b'": 'a"b',
  '"""two\nlines"""': 'two\nlines',
  "'''with ' and '' quotes'''": "with ' and '' quotes",
  'r"\\d+"': '\\d+',
  "R'''\\n'''": '\\n',
  "'\\x41\\u00e9\\U0001F600\\101'": 'Aé😀A',
  "'\\a\\b\\f\\n\\r\\t\\v\\\\\\?\\`'": '\x07\b\f\n\r\t\v\\?`',
  "b'\\xff\\377a'": 'bytes ffff61',
  "b'é'": 'bytes c3a9',
  'br"\\x41"': 'bytes 5c783431',
  "'//' // a comment": '//',
});

test('comments and line breaks stand anywhere', () => {
  expect(evaluate('1 // one\n + // and\n\t2')).toBe(3);
});

test.each<[string, string, number, number]>([
  ['', "unexpected '<EOF>'", 1, 1],
  ['1 +', "unexpected '<EOF>'", 1, 4],
  ['1 + + 2', "unexpected '+'", 1, 5],
  ['(1', "unexpected '<EOF>', expecting ')'", 1, 3],
  ['[1, 2', "unexpected '<EOF>'", 1, 6],
  ["'abc", 'a string is not closed', 1, 1],
  ["'a\nb'", 'a string is not closed', 1, 1],
  ["'\\q'", 'invalid escape sequence', 1, 2],
  ["'\\ud800'", 'no valid code point', 1, 2],
  ["b'\\u00e9'", 'no unicode escape sequences', 1, 3],
  ['1 # 2', "token recognition error at: '#'", 1, 3],
  ['1 = 2', "unexpected '='", 1, 3],
  ['true &\n true', "token recognition error at: '&'", 1, 6],
  ['true ||\n || true', "unexpected '||'", 2, 2],
  ['9223372036854775808', 'invalid int literal', 1, 1],
  ['18446744073709551616u', 'invalid uint literal', 1, 1],
  ['for + 1', 'reserved identifier: for', 1, 1],
  ['a.in', "unexpected 'in'", 1, 3],
  ['has(a)', 'invalid argument to has() macro', 1, 5],
  ['[1].all(a.b, true)', 'argument is not an identifier', 1, 10],
  ["'é' + + 1", "unexpected '+'", 1, 7],
])('%j is refused with its place', (source, message, line, column) => {
  let caught: unknown;
  try {
    compile(source, {});
  } catch (error) {
    caught = error;
  }
  expect(caught).toBeInstanceOf(CelError);
  const [issue] = (caught as CelError).issues;
  expect(issue?.message).toContain(message);
  expect([issue?.line, issue?.column]).toEqual([line, column]);
});

test('the message of an error shows the line and where in it', () => {
  expect(() => compile("true &&\n 'a' + 1", {})).toThrow(
    "ERROR: <input>:2:6: found no matching overload for '_+_' applied to '(string, int)'\n |  'a' + 1\n | .....^",
  );
});

const deep: Readonly<Record<string, (n: number) => string>> = {
  parentheses: (n) => `${'('.repeat(n)}1${')'.repeat(n)}`,
  lists: (n) => `${'['.repeat(n)}${']'.repeat(n)}`,
  sums: (n) => Array(n).fill('1').join('+'),
  negations: (n) => `${'-(!('.repeat(n / 2)}1${'))'.repeat(n / 2)}`,
  conditions: (n) => `${'true?1:'.repeat(n)}1`,
  members: (n) => `{'a':1}${'.a'.repeat(n)}`,
  indexes: (n) => `[1]${'[0]'.repeat(n)}`,
  macros: (n) => `${'[1].all(x,'.repeat(n)}true${')'.repeat(n)}`,
  calls: (n) => `${'size('.repeat(n)}'a'${')'.repeat(n)}`,
};
test.each(Object.entries(deep))('%s that nest too deeply are refused before the stack ends', (_, make) => {
  const source = make(900);
  expect(source.length).toBeLessThan(MAX_SOURCE);
  expect(() => compile(source, {})).toThrow(/nests too deeply/);
});
test('long chains of conditions are not deep', () => {
  expect(evaluate(Array(1900).fill('true').join('&&').slice(0, 9994))).toBe(true);
  expect(evaluate(Array(1000).fill('false').join('||'))).toBe(false);
});
test('a source that is too long is refused', () => {
  expect(() => compile(`1 ${' '.repeat(MAX_SOURCE)}`, {})).toThrow(/at most 10000 are allowed/);
  expect(() => compile('1 + 1', {}, { maxLength: 4 })).toThrow(/at most 4 are allowed/);
});

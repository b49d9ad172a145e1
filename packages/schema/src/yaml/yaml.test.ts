import { isDeepStrictEqual } from 'node:util';
import { jsonText } from '@plat-dev/lib/json-text';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { describe, expect, test } from 'vitest';
import * as oracle from 'yaml';
import { DecodeError } from '../errors.ts';
import { FieldFaults } from '../fields/field-faults.ts';
import { RepeatedKeys } from '../fields/field-place.ts';
import type { JsonValue } from '../types.ts';
import { parsedYaml, parseYaml, parseYamlDocuments, stringifyYaml, yamlBytes } from './index.ts';
import { YamlParser } from './parser.ts';

test.each<[string, JsonValue]>([
  ['', null],
  ['# nothing\n', null],
  ['---\n', null],
  ['plain', 'plain'],
  ['a: 1\nb: two\n', { a: 1, b: 'two' }],
  ['a:\n  b:\n    c: d\n  e: f\n', { a: { b: { c: 'd' }, e: 'f' } }],
  ['a:\n- 1\n- 2\nb: 3', { a: [1, 2], b: 3 }],
  ['a:\n  - 1\n  -\n  - - x\n    - z\n', { a: [1, null, ['x', 'z']] }],
  ['- a: 1\n  b: 2\n- c\n-\n  d: 3\n', [{ a: 1, b: 2 }, 'c', { d: 3 }]],
  ['a: {b: [1, two, "three"], c: {}, d}\ne: []', { a: { b: [1, 'two', 'three'], c: {}, d: null }, e: [] }],
  ['{"apiVersion":"v1","a":[1,{"b":null}]}', { apiVersion: 'v1', a: [1, { b: null }] }],
  ['[a: b, c]', [{ a: 'b' }, 'c']],
  ['[1.2.3.4, 001:db8::]', ['1.2.3.4', '001:db8::']],
  ['[fe80::, a:b]', ['fe80::', 'a:b']],
  ['{ip: 2001:db8::, ports: [a:, 1]}', { ip: '2001:db8::', ports: ['a:', 1] }],
  ['{a::b: c, d: }', { 'a::b': 'c', d: null }],
  ['["a":b, \'c\':, d:\n]', [{ a: 'b' }, { c: null }, { d: null }]],
  ['a: # comment\n  b: c # another\n# last', { a: { b: 'c' } }],
  ['url: http://x/#y\ntime: 12:30', { url: 'http://x/#y', time: '12:30' }],
  ['a: one\n  two\n\n  three\nb: c', { a: 'one two\nthree', b: 'c' }],
  ["a: 'it''s\n  folded\n\n  here'", { a: "it's folded\nhere" }],
  ['a: "tab\\t\\u00e9\\x41 \\\n   joined  \n  folded\\n"', { a: 'tab\té' + 'A joined folded\n' }],
  ['a: |\n  one\n   two\n\n  three\n\n\nb: |-\n  x\nc: |+\n  y\n\nd: z', { a: 'one\n two\n\nthree\n', b: 'x', c: 'y\n\n', d: 'z' }],
  ['a: >\n  one\n  two\n\n  three\n    more\n  last\n', { a: 'one two\nthree\n  more\nlast\n' }],
  ['a: |2\n    x\n  y\n', { a: '  x\ny\n' }],
  ['- |\n x\n- >-\n  y\n  z', ['x\n', 'y z']],
  ['a: |\n\nb: 1', { a: '', b: 1 }],
  ['? a\n: 1\n? b\n: - 2\n', { a: 1, b: [2] }],
  [
    'base: &base {a: 1, b: 2}\nx: *base\nw:\n  <<: *base\n  b: 3\nz: {<<: [*base, {c: 4}]}',
    { base: { a: 1, b: 2 }, x: { a: 1, b: 2 }, w: { a: 1, b: 3 }, z: { a: 1, b: 2, c: 4 } },
  ],
  ['a: &x one\nb: *x\n&k c: *x\n', { a: 'one', b: 'one', c: 'one' }],
  ['a:\n  &m\n  b: 1\nc: *m\nd: !!map\n  e: 2', { a: { b: 1 }, c: { b: 1 }, d: { e: 2 } }],
  ['- &k a: 1\n- *k\n- &n\n- *n', [{ a: 1 }, 'a', null, null]],
  ['a: &s\n  - 1\nb: *s', { a: [1], b: [1] }],
  ['a: !!str 1\nb: !!int "2"\nc: !!binary aGk=\nd: !local x\ne: ! 3', { a: '1', b: 2, c: 'hi', d: 'x', e: '3' }],
  ['%YAML 1.1\n---\na: 1\n...\n', { a: 1 }],
  ['\ufeffa: 1\r\nb: 2\r\n', { a: 1, b: 2 }],
  ['"a b": 1\n\'c\': 2\n3: 4\ntrue: 5', { 'a b': 1, c: 2, 3: 4, true: 5 }],
  ['a:\n  "b": 1,\n', { a: { b: '1,' } }],
  ['b: -x\nc: ?x\nd: :x', { b: '-x', c: '?x', d: ':x' }],
  ['a: {b: 1,\n  c: [x,\n z]}\n', { a: { b: 1, c: ['x', 'z'] } }],
  ['a: [b, # comment\n c]', { a: ['b', 'c'] }],
])('%j', (text, value) => {
  expect(parseYaml(text)).toEqual(value);
});

test('texts without quotes are read by the rules of YAML 1.1', () => {
  const values = {
    true: ['y', 'Yes', 'on', 'TRUE'],
    false: ['n', 'NO', 'off', 'False'],
    null: ['~', 'null', 'Null'],
    420: ['0644', '0o644', '4_20', '0x1a4', '+420', '420.', '4.2e2'],
    '-5': ['-5', '-0b101'],
    '0.5': ['.5', '0.5', '5e-1'],
  };
  for (const [value, texts] of Object.entries(values))
    for (const text of texts) expect(parseYaml(`[${text}]`)).toEqual([JSON.parse(value)]);
  for (const text of ['yES', '2001-01-01', '1:20', '1.2.3', '0x', '08x', '.', '1Gi', '100m', '<<', 'v1', '1e', '_']) {
    expect(parseYaml(`a: ${text}`)).toEqual({ a: text });
  }
});

test.each([
  ['a: b: c', 'yaml: line 1: mapping values are not allowed in this context'],
  ['apiVersion: v1\n\tkind: ConfigMap\n', 'yaml: line 2: found a tab character that violates indentation'],
  ['a: [1, 2', "yaml: line 1: did not find expected ',' or closing bracket"],
  ['a: "x', 'yaml: line 1: found unexpected end of stream'],
  ['a: 1\n  b: 2', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a:\n  b: 1\n c: 2', 'yaml: line 3: did not find expected key'],
  ['a: *x', "yaml: line 1: unknown anchor 'x' referenced"],
  ['a: &x [*x]', "yaml: line 1: anchor 'x' value contains itself"],
  ['a: @x', 'yaml: line 1: found character that cannot start any token'],
  ['a: .inf', 'yaml: line 1: unsupported value: Infinity'],
  ['a: - b', 'yaml: line 1: block sequence entries are not allowed in this context'],
  ['[a]: b', 'yaml: line 1: unsupported map key'],
  ['a: "\\q"', 'yaml: line 1: found unknown escape character'],
  ['{a: 1]', "yaml: line 1: did not find expected ',' or '}'"],
])('%j is refused', (text, message) => {
  expect(() => parseYaml(text)).toThrow(new DecodeError(message));
});

test('the first document counts, unless a single one is asked for', () => {
  const text = 'a: 1\n---\nb: 2\n---\n...\n---\n- 3\n';
  expect(parseYaml(text)).toEqual({ a: 1 });
  expect(() => parseYaml(text, { single: true })).toThrow('yaml: the text holds several documents');
  expect(parseYaml('---\na: 1\n...\n', { single: true })).toEqual({ a: 1 });
  expect(parseYaml('a: 1\n---\n# nothing\n---\n', { single: true })).toEqual({ a: 1 });
  expect(parseYamlDocuments(text)).toEqual([{ a: 1 }, { b: 2 }, null, [3]]);
});

// The lines are those that the stock server's parser names: where the value begins.
test.each([
  ['a: 1\nb: [{c: 1, c: 2}]\na: 3', { a: 3, b: [{ c: 2 }] }, ['line 2: key "c"', 'line 3: key "a"']],
  ['a: 1\na:\n\n  # what it holds\n  b: 1\n', { a: { b: 1 } }, ['line 5: key "a"']],
  ['a: 1\na:\n- 1\na:\nb: 1', { a: null, b: 1 }, ['line 3: key "a"', 'line 4: key "a"']],
  ['a: |\n  x\na: |\n  y\n', { a: 'y\n' }, ['line 3: key "a"']],
  ['- a: {b: 1,\n  b:\n   2}\n  a: 3\n', [{ a: 3 }], ['line 3: key "b"', 'line 4: key "a"']],
  ['{"a": 1,\n"b": {"c": 1,\n"c":\n2}, "a": 4}', { a: 4, b: { c: 2 } }, ['line 4: key "c"', 'line 4: key "a"']],
  ['a: &x {b: 1}\nc: {<<: *x, b: 2}\nd: {<<: *x, <<: *x}\n', { a: { b: 1 }, c: { b: 2 }, d: { b: 1 } }, []],
])('of a repeated key the last value counts, and it is reported: %j', async (text, value, lines) => {
  const expected = lines.map((line) => `${line} already set in map`);
  const faults = new FieldFaults();
  expect(parseYaml(text, { repeated: new RepeatedKeys(faults) })).toEqual(value);
  expect(faults.warnings()).toEqual(expected);
  const sliced = new FieldFaults();
  const repeated = new RepeatedKeys(sliced);
  expect(await inSlices(parsedYaml(Buffer.from(text), { single: true, repeated }), new Slices())).toEqual(value);
  expect(sliced.warnings()).toEqual(expected);
});

test('keys that touch the prototype are keys like any other', () => {
  const value = parseYaml('__proto__: {a: 1}\nb: {<<: {__proto__: {c: 2}}}');
  expect(JSON.stringify(value)).toBe('{"__proto__":{"a":1},"b":{"__proto__":{"c":2}}}');
  expect(({} as { a?: number }).a).toBeUndefined();
});

test('hostile texts are refused before they cost much', () => {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
  for (let i = 1; i < 9; i++)
    lines.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(',')}]`,
    );
  expect(() => parseYaml(lines.join('\n'))).toThrow('the body holds more than 100000 objects and lists');
  for (const part of ['[', '{a: ', '- ', '? ']) expect(() => parseYaml(part.repeat(100_000))).toThrow('exceeded max depth');
  for (const part of ['"', "'", 'a: ', '&a ', '*', '!', '|\n', '>', '%', '\\', ': ', '---\n', '#', '<<: ']) {
    try {
      parseYaml(part.repeat(50_000));
    } catch (error) {
      expect(error).toBeInstanceOf(DecodeError);
    }
  }
  expect(parseYaml(`a: "${'x\n '.repeat(200_000)}"`)).toEqual({ a: `${'x '.repeat(200_000)}` });
});

test('any text is read or refused', () => {
  const part = fc.constantFrom(
    'a',
    'b: ',
    ': ',
    '- ',
    '? ',
    '\n',
    '\n  ',
    '\n    ',
    '[',
    ']',
    '{',
    '}',
    ',',
    '"',
    "'",
    '|',
    '>',
    '#',
    ' #',
    '&x ',
    '*x',
    '!t ',
    '---',
    '\t',
    '\\',
    '1',
    '~',
    '<<: ',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      try {
        expect(parseYaml(parts.join(''))).not.toBeUndefined();
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }),
    { numRuns: rounds(5000) },
  );
});

const word = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom(
    'yes',
    '0644',
    '2001-01-01',
    '',
    ' ',
    'a: b',
    '- a',
    '#',
    'x #y',
    'line\nline',
    '\n',
    'a\n\nb\n',
    ' lead',
    'trail ',
    '~',
    '1e3',
    "it's",
    '"q"',
    'é',
    '\u{1f600}',
    '\t',
    '{',
    '[a]',
    '&a',
    '*a',
    '!t',
    '%',
    '@',
    '`',
    '|',
    '>',
    '...',
    '---',
    '<<',
    'y',
  ),
  fc.array(fc.constantFrom('word', 'x', ' ', '  ', '\n', ': ', "'"), { maxLength: 60 }).map((parts) => parts.join('')),
);
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    word,
    fc.integer(),
    fc.constantFrom(0.5, -1.25, 1e-7),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(word, tie('value'), { maxKeys: 4 }),
  ),
})).value as fc.Arbitrary<JsonValue>;

function readElsewhere(text: string): unknown {
  try {
    return oracle.parse(text, { version: '1.1', uniqueKeys: false });
  } catch {
    return undefined;
  }
}

test('what another writer makes of a value is read back, in every style it knows', () => {
  fc.assert(
    fc.property(
      anyValue,
      fc.record({
        defaultStringType: fc.constantFrom(
          'PLAIN' as const,
          'QUOTE_DOUBLE' as const,
          'QUOTE_SINGLE' as const,
          'BLOCK_LITERAL' as const,
          'BLOCK_FOLDED' as const,
        ),
        collectionStyle: fc.constantFrom('any' as const, 'block' as const, 'flow' as const),
        indentSeq: fc.boolean(),
        indent: fc.integer({ min: 1, max: 4 }),
        lineWidth: fc.constantFrom(0, 20, 80),
      }),
      (value, style) => {
        const text = oracle.stringify(value, { version: '1.1', aliasDuplicateObjects: false, ...style });
        // The other package does not read all that it writes itself: merge keys, texts of blanks alone.
        fc.pre(isDeepStrictEqual(readElsewhere(text), value));
        expect(parseYaml(text)).toEqual(value);
      },
    ),
    { numRuns: rounds(1000) },
  );
});

test('what is written is read back, by ourselves and by another reader', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const text = stringifyYaml(value);
      expect(parseYaml(text)).toEqual(value);
      // That reader takes some texts of digits and signs for numbers that they are not.
      if (!/"[-+0-9._eE]+"/.test(jsonText(value))) expect(readElsewhere(text)).toEqual(value);
    }),
    { numRuns: rounds(1000) },
  );
});

test('YAML is laid out as clients know it', () => {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "parity"',
    reason: 'Forbidden',
    details: { kind: 'pods' },
    code: 403,
  };
  // Recorded from a stock server.
  expect(stringifyYaml(status)).toBe(
    'apiVersion: v1\ncode: 403\ndetails:\n  kind: pods\nkind: Status\nmessage: \'pods is forbidden: User "bob" cannot list resource "pods" in API group ""\n  in the namespace "parity"\'\nmetadata: {}\nreason: Forbidden\nstatus: Failure\n',
  );
  expect(stringifyYaml({ a10: [{ b: 1, a: ['x', ['y']] }, []], a9: 'two\nlines\n', n: '1', t: '2020-01-01T00:00:00Z', e: '' })).toBe(
    'a9: |\n  two\n  lines\na10:\n- a:\n  - x\n  - - "y"\n  b: 1\n- []\ne: ""\n"n": "1"\nt: "2020-01-01T00:00:00Z"\n',
  );
});

describe('large values', () => {
  const long = 600_000;
  const values: Record<string, JsonValue> = {
    'many keys': Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, `some words of entry ${i}`])),
    'many items': { list: Array.from({ length: 5000 }, (_, i) => ({ b: i, a: [`${i}`] })) },
    'a text that is quoted': { a: '"x\ty '.repeat(long / 6), b: 1 },
    'a text of many lines': { a: 'line\n'.repeat(long / 5), b: 'x' },
    'a text of pairs': { a: '\t\u{1f600}'.repeat(long / 3), b: '\u{1f600}' },
    'a text of words': { a: 'words '.repeat(long / 6), 'b 1': null },
  };
  /** Short text yields after some characters, a text of words once. */
  const leastSteps: Record<string, number> = { 'many keys': 5, 'many items': 3, 'a text of words': 2 };
  for (const [name, value] of Object.entries(values))
    test(`${name}: the bytes are those of the text, and the work can be interrupted`, () => {
      const work = yamlBytes(value);
      let steps = 1;
      let step = work.next();
      for (; !step.done; step = work.next()) steps++;
      expect(step.value.equals(Buffer.from(stringifyYaml(value)))).toBe(true);
      expect(steps).toBeGreaterThan(leastSteps[name] ?? 14);
    });

  test('keys of a wide map are sorted with pauses, as those of a small one are', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${(i * 7919) % 20_000}`);
    const work = yamlBytes(Object.fromEntries(keys.map((key) => [key, ''])));
    let beforeText = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) beforeText++;
    const sorted = step.value.toString().split('\n').slice(0, -1);
    expect(sorted).toEqual(keys.map((_, i) => `k${i}: ""`));
    // Each step sorts or merges a thousand keys.
    expect(beforeText).toBeGreaterThan(100);
  });

  test('zeros within the number of a key count', () => {
    const keys = ['k0', 'k1', 'k01', 'k9', 'k10', 'k99', 'k100', 'k101', 'k125', 'k1000', 'k1001', 'k1024'];
    const value = Object.fromEntries([...keys].reverse().map((key) => [key, 1]));
    expect(stringifyYaml(value)).toBe(keys.map((key) => `${key}: 1\n`).join(''));
  });

  test('keys with very long numbers are in the order of their values', () => {
    const zeros = '0'.repeat(300);
    const value = { [`k1${zeros}`]: 1, k9: 1, k10: 1, [`k${zeros}7`]: 1, k2: 1, k02: 1, ka: 1, 'k-': 1 };
    const keys = stringifyYaml(value)
      .split('\n')
      .map((line) => line.replace(/^\? /, '').replace(/: 1$/, ''))
      .filter((line) => line.startsWith('k'));
    expect(keys).toEqual(['k-', 'k2', 'k02', `k${zeros}7`, 'k9', 'k10', `k1${zeros}`, 'ka']);
  });
});

test.each<[string, string, string]>([
  ['plain, of many lines', `a\n${'  b\n'.repeat(10_000)}`, `a${' b'.repeat(10_000)}`],
  ['plain, with many empty lines', `a${'\n'.repeat(10_001)}  b`, `a${'\n'.repeat(10_000)}b`],
  ['of escapes', `"${'\\n'.repeat(10_000)}"`, '\n'.repeat(10_000)],
  ['of escapes that JSON has not', `"${'\\x41'.repeat(10_000)}"`, 'A'.repeat(10_000)],
  ['of doubled quotes', `'${"''".repeat(10_000)}'`, "'".repeat(10_000)],
  ['in quotes, of many lines', `"a\n${'  b\n'.repeat(10_000)}"`, `a${' b'.repeat(10_000)} `],
  ['in quotes, of lines that go on', `"${'a\\\n '.repeat(10_000)}"`, 'a'.repeat(10_000)],
  ['literal', `|\n${'  b\n'.repeat(10_000)}`, 'b\n'.repeat(10_000)],
  ['literal, with empty lines', `|+\n  b\n${'\n'.repeat(10_000)}`, `b${'\n'.repeat(10_001)}`],
  ['folded', `>\n${'  b\n'.repeat(10_000)}`, `${'b '.repeat(10_000).trimEnd()}\n`],
  ['empty lines in double quotes', `"${'\n'.repeat(50_000)}"`, '\n'.repeat(49_999)],
  ['empty lines in single quotes', `'a${' \n'.repeat(50_000)}b'`, `a${'\n'.repeat(49_999)}b`],
  ['empty lines before a literal', `|\n${'\n'.repeat(50_000)}  b\n`, `${'\n'.repeat(50_000)}b\n`],
  ['lines that end with CR and LF', `|\r\n${'  b\r\n'.repeat(80_000)}`, 'b\n'.repeat(80_000)],
  ['lines that end with CR', `|\r${'  b\r'.repeat(80_000)}`, 'b\n'.repeat(80_000)],
])('one text that is the whole body can be interrupted: %s', (_, scalar, value) => {
  for (const text of [`a: ${scalar}`, `- ${scalar}`]) {
    const work = new YamlParser(text, undefined).document();
    let pauses = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) pauses++;
    expect(pauses).toBeGreaterThanOrEqual(10);
    expect(Object.values(step.value as object)).toEqual([value]);
  }
});

const keys = Array.from({ length: 5_000 }, (_, i) => `k${i}`);
test.each([
  ['an alias of many keys', `a: &a {${keys.join(',')}}\nb: *a\n`],
  ['an alias of many lists', `a: &a [${keys.map(() => '[]').join(',')}]\nb: *a\n`],
  ['keys that are merged', `a: &a {${keys.join(',')}}\nb: {<<: *a}\n`],
  ['keys that are merged from a list', `a:\n  <<: [{${keys.join(',')}}, {${keys.join(',')}}]\nb: 1\n`],
  ['directives', `${'%a\n'.repeat(10_000)}---\na: 1\nb: 1\n`],
  ['ends of documents', `${'...\n'.repeat(10_000)}a: 1\nb: 1\n`],
])('%s are read in steps', (_, text) => {
  const work = new YamlParser(text, undefined).document();
  let pauses = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) pauses++;
  expect(pauses).toBeGreaterThanOrEqual(35);
  expect(Object.keys(step.value as object)).toEqual(['a', 'b']);
});

test('names of anchors and tags have any length', () => {
  const name = 'x'.repeat(100_000);
  expect(parseYaml(`a: &${name} !${name} b\nc: *${name}`)).toEqual({ a: 'b', c: 'b' });
  expect(() => parseYaml(`${'\n'.repeat(99)}a: *${name}`)).toThrow(/^yaml: line 100: unknown anchor 'xxx/);
});

test('a key in quotes stands on one line and has at most 1,024 characters; a longer one is said to be a key', () => {
  const key = 'k'.repeat(1021);
  expect(parseYaml(`"${key}": 1`)).toEqual({ [key]: 1 });
  expect(parseYaml(`'${key}': 1`)).toEqual({ [key]: 1 });
  for (const quote of ['"', "'"]) {
    expect(() => parseYaml(`${quote}${key}kkkk${quote}: 1`)).toThrow(DecodeError);
    expect(parseYaml(`? ${quote}${key}kkkk${quote}\n: 1`)).toEqual({ [`${key}kkkk`]: 1 });
    expect(parseYaml(`{${quote}${key}kkkk${quote}: 1}`)).toEqual({ [`${key}kkkk`]: 1 });
  }
  expect(parseYaml('"a\\"b": 1')).toEqual({ 'a"b': 1 });
  expect(parseYaml("'a''b': 1")).toEqual({ "a'b": 1 });
});

test('digits without end are a text: no number is so long', () => {
  expect(parseYaml(`a: ${'1'.repeat(1025)}`)).toEqual({ a: '1'.repeat(1025) });
  expect(parseYaml(`a: ${'1_'.repeat(2000)}`)).toEqual({ a: '1_'.repeat(2000) });
  expect(parseYaml(`a: 0.${'0'.repeat(100)}1`)).toEqual({ a: 1e-101 });
});

test('comments and empty lines are passed over in steps, wherever they stand', () => {
  const rest = '\n#\n \n'.repeat(20_000);
  for (const text of [
    `${rest}a: 1\n`,
    `a:\n${rest}  1\n`,
    `a: 1\n${rest}`,
    `--- \n${rest}a: 1\n`,
    `{${rest}a: 1}`,
    `{a: ${rest}1}`,
    `{a: 1${rest}}`,
    `{a: !!int ${rest}1}`,
  ]) {
    const work = new YamlParser(text, undefined).document();
    let yields = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) yields++;
    expect(step.value).toEqual({ a: 1 });
    expect(yields).toBeGreaterThanOrEqual(10);
  }
});

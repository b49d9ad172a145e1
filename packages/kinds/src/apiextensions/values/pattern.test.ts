import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { compilePattern, PatternError } from './pattern.ts';

test.each<[string, string[], string[]]>([
  ['^[a-zé]*$', ['é'], ['1']],
  ['(?i)^abc$', ['ABC'], ['abd']],
  ['^[[:alpha:]_]+\\z', ['ab_'], ['ab\n', '1']],
  ['\\A(?P<year>\\d{4})-\\d\\d', ['2022-01'], ['x2022-01']],
  ['^a{,2}$', ['a{,2}'], ['aa']],
  ['^[a\\-z.]+$', ['a-z.'], ['b']],
  ['^\\Qa.b\\E$', ['a.b'], ['axb']],
  ['^\\p{L}+$', ['é'], ['1']],
  ['^[]a]+$', [']a'], ['b']],
  ['^a\\/b\\_c$', ['a/b_c'], ['a-b']],
  ['^(?i)(on|OFF)$', ['On', 'off'], ['o']],
  ['^a(?i:b)c$', ['abc', 'aBc'], ['Abc', 'abC']],
  ['^(?i)[^a-c]$', ['d', 'D'], ['b', 'B']],
  ['(?i)^k$', ['K', '\u212a'], ['c']],
  ['^.$', ['a', '\r', '🙂'], ['\n', '']],
  ['(?s)^.$', ['\n'], ['']],
  ['(?m)^b$', ['a\nb', 'b\nc'], ['ab']],
  ['^[[:^alpha:]]$', ['1'], ['a']],
  ['^\\s$', [' ', '\t'], ['\u00a0', '\v']],
  ['\\bab\\b', ['x ab', 'ab'], ['xab', 'ab_']],
  ['a\\Bb', ['ab'], ['a b']],
  ['^a{2,3}$', ['aa', 'aaa'], ['a', 'aaaa']],
  ['^(a{2}|b){2,}$', ['aab', 'aaaa', 'bbb'], ['aa', 'ab']],
  ['^(a*)*b$', ['b', 'aab'], ['a']],
  ['^\\x41\\x{1F642}\\101$', ['A🙂A'], ['A']],
  ['^\\pN\\P{L}\\p{^Greek}$', ['1-a'], ['a-a', '1aa', '1-α']],
  ['', ['', 'a'], []],
  ['a||b', ['', 'x'], []],
])('the pattern %s', (pattern, good, bad) => {
  for (const text of good) expect(compilePattern(pattern).test(text), text).toBe(true);
  for (const text of bad) expect(compilePattern(pattern).test(text), text).toBe(false);
});

test.each([
  ['(a', 'error parsing regexp: missing closing ): `(a`'],
  ['(?!x)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?!`'],
  ['(a)\\1', 'error parsing regexp: invalid escape sequence: `\\1`'],
  ['a)', 'error parsing regexp: unexpected ): `a)`'],
  ['a**', 'error parsing regexp: invalid nested repetition operator: `**`'],
  ['a|*', 'error parsing regexp: missing argument to repetition operator: `*`'],
  ['x[a', 'error parsing regexp: missing closing ]: `[a`'],
  ['[z-a]', 'error parsing regexp: invalid character class range: `z-a`'],
  ['[[:odd:]]', 'error parsing regexp: invalid character class range: `[:odd:]`'],
  ['\\p{Odd}', 'error parsing regexp: invalid character class range: `\\p{Odd}`'],
  ['a{1001}', 'error parsing regexp: invalid repeat count: `{1001}`'],
  ['(a{100}){100}', 'error parsing regexp: invalid repeat count: `{100}`'],
  ['(?<=a)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?<`'],
  ['\\y', 'error parsing regexp: invalid escape sequence: `\\y`'],
  ['a\\', 'error parsing regexp: trailing backslash at end of expression: ``'],
  ['('.repeat(2000), 'error parsing regexp: expression nests too deeply'],
])('%s is no pattern', (pattern, message) => {
  expect(() => compilePattern(pattern)).toThrow(message);
});

test('any text is a pattern or is refused as one', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab(){}[]\\^$.|?*+-,:<>=!PpQE0 1é') }), (pattern) => {
      try {
        compilePattern(pattern).test('ab');
      } catch (error) {
        expect(error).toBeInstanceOf(PatternError);
      }
    }),
    { numRuns: rounds(2000) },
  );
});

test('patterns that both languages have mean the same in both', () => {
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\d', '\\w', '\\b', '^', '$', '-'),
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(${a}|${b})`),
      fc.tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,2}', '*?')).map(([a, sign]) => `(?:${a})${sign}`),
    ),
  }));
  const text = fc.string({ unit: fc.constantFrom(...'aabbc1-_ '), maxLength: 12 });
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 5 }), (source, texts) => {
      const ours = compilePattern(source);
      const theirs = new RegExp(source, 'u');
      for (const one of texts) expect(ours.test(one), one).toBe(theirs.test(one));
    }),
    { numRuns: rounds(3000) },
  );
});

test('no text holds up a pattern', () => {
  const long = 'a'.repeat(200_000);
  for (const pattern of ['^(a+)+$', '^(a|aa)+$', '(a*)*b', '^([a-z]([-a-z]*[a-z])?)*/', '(x+x+)+y|(a+a+)+y'])
    expect(compilePattern(pattern).test(`${long}!`)).toBe(false);
});

test('a pattern with more states than are kept still finds its match', () => {
  const pattern = compilePattern('^(a|b)*a(a|b){14}$');
  const random = (seed: number): string =>
    Array.from({ length: 3000 }, (_, i) => ((i * i * 7919 + seed * i) % 13 < 6 ? 'a' : 'b')).join('');
  for (let seed = 1; seed < 20; seed++) {
    const text = random(seed);
    expect(pattern.test(text)).toBe(text[text.length - 15] === 'a');
  }
});

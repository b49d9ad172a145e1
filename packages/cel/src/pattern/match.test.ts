import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { Matcher, type Meter } from './match.ts';
import { parsePattern } from './parse.ts';

const free: Meter = { spend: () => undefined, read: () => undefined };
const matcher = (pattern: string): Matcher => new Matcher(parsePattern(pattern), free);

test.each<[string, string, number, readonly [number, number] | undefined]>([
  ['b+', 'abbbc', 0, [1, 4]],
  ['b+?', 'abbbc', 0, [1, 2]],
  ['(?U)b+', 'abbbc', 0, [1, 2]],
  ['(?U)b+?', 'abbbc', 0, [1, 4]],
  ['a|ab', 'ab', 0, [0, 1]],
  ['ab|a', 'ab', 0, [0, 2]],
  ['b', 'abab', 2, [3, 4]],
  ['^b', 'ab', 1, undefined],
  ['b$', 'bab', 0, [2, 3]],
  ['\\bb', 'ab b', 0, [3, 4]],
  ['\\bb', 'ab b', 1, [3, 4]],
  ['', 'ab', 1, [1, 1]],
  ['x*', 'ab', 2, [2, 2]],
  ['.', 'a😀b', 1, [1, 3]],
  ['(?m)^b', 'a\nb', 0, [2, 3]],
  ['c', 'ab', 0, undefined],
])('%s in %j from %d', (pattern, text, from, place) => {
  expect(matcher(pattern).find(text, from)).toEqual(place);
});

/** Patterns whose meaning is the same for RegExp: nothing empty is repeated. */
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('a', 'b', '[ab]', '.', '[^a]', 'ab', '\\b', '^', '$'),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(fc.constantFrom('a', 'b', '[ab]', '(?:ab|a)', '(?:a|b)'), fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{1,2}', '{2}'))
      .map(([a, b]) => a + b),
  ),
}));
test('the first match is the one that RegExp finds', () => {
  fc.assert(
    fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 }), (source, text) => {
      const found = new RegExp(source, 'u').exec(text);
      const place = found === null ? undefined : [found.index, found.index + found[0].length];
      expect(matcher(source).find(text, 0)).toEqual(place);
      expect(matcher(source).test(text)).toBe(found !== null);
    }),
    { numRuns: rounds(500) },
  );
});

test('finding is counted: every character costs the steps that are open', () => {
  let steps = 0;
  const counting = new Matcher(parsePattern('a.*c'), {
    spend: (count) => {
      steps += count;
    },
    read: () => undefined,
  });
  steps = 0;
  expect(counting.find('a'.repeat(1000), 0)).toBeUndefined();
  expect(steps).toBeGreaterThan(1000);
  const stopped = new Matcher(parsePattern('a.*c'), free);
  stopped.meter = {
    spend: () => {
      throw new Error('enough');
    },
    read: () => undefined,
  };
  expect(() => stopped.find('aaa', 0)).toThrow('enough');
});

test('sets of many steps are paid for by their size', () => {
  let spent = 0;
  const spend = (steps: number): void => {
    spent += steps;
  };
  const pattern = new Matcher(parsePattern('[ab]{200}'), { ...free, spend });
  spent = 0;
  pattern.test('a'.repeat(199));
  // Each character makes a set of one step more, whose steps are reached and written as a key.
  expect(spent).toBeGreaterThan(3 * ((199 * 200) / 2));
});

import { expect, test } from 'vitest';
import { parsePattern } from './parse.ts';
import { category, complement, includes, setOf, withBothCases } from './sets.ts';

/** Both ends of the pages that are looked through, of halves of characters, of planes, and some characters between. */
const edges = [0, 0x40, 0x41, 0x5a, 0x3b1, 0x4e00, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xf8ff, 0xfffd, 0xffff];
const planes = Array.from({ length: 17 }, (_, plane) => [0, 1, 0x330, 0x1d400, 0xfffd, 0xfffe, 0xffff].map((at) => plane * 0x10000 + at));
const codes = [...new Set([...edges, ...planes.flat()])].filter((code) => code <= 0x10ffff);

test.each(['L', 'Lu', 'N', 'Cs', 'Co', 'Cn', 'C', 'Greek', 'Han', 'Latin', 'Zzzz'])(
  'the characters of \\p{%s} are those of RegExp',
  (name) => {
    const set = category(name);
    const regex = new RegExp(`^\\p{${name.length < 3 ? name : `Script=${name}`}}$`, 'u');
    const wrong = codes.filter((code) => includes(set ?? [], code) !== regex.test(String.fromCodePoint(code)));
    expect(wrong).toEqual([]);
  },
);

test('a category is looked up once, and so is what is made of it', () => {
  expect(category('Nothing')).toBeUndefined();
  const letters = category('L') ?? [];
  expect(category('L')).toBe(letters);
  expect(complement(letters)).toBe(complement(letters));
  expect(withBothCases(letters)).toBe(withBothCases(letters));
});

test('a set holds its ranges and nothing beside them', () => {
  const set = setOf([10, 20, 30, 30, 40, 50]);
  const held = Array.from({ length: 61 }, (_, code) => code).filter((code) => includes(set, code));
  expect(held).toEqual([...Array.from({ length: 11 }, (_, i) => 10 + i), 30, ...Array.from({ length: 11 }, (_, i) => 40 + i)]);
  expect(includes([], 5)).toBe(false);
});

const scripts = 'Arabic Armenian Bengali Cyrillic Georgian Greek Gujarati Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Thai';

test.each([
  ['many categories', scripts.split(' ').map((name) => `\\p{${name}}`)],
  ['sets of letters', Array.from({ length: 400 }, () => '[\\pL\\pN]')],
  ['one set of many', ['[', ...Array.from({ length: 400 }, () => '\\pL'), ']']],
  ['letters of both cases', ['(?i)', ...Array.from({ length: 40 }, () => '[\\pL-]')]],
  ['ranges of both cases', ['(?i)', ...Array.from({ length: 400 }, () => '[\\x{100}-\\x{800}]')]],
])('%s in one pattern are refused', (_, parts) => {
  expect(() => parsePattern(parts.join(''))).toThrow('error parsing regexp: expression too large');
});

test('categories may come again and again, and as many sets as people write', () => {
  expect(() => parsePattern(`(?i)${'\\pL\\PN'.repeat(1000)}`)).not.toThrow();
  expect(() => parsePattern('^[\\pL\\pN\\pM]([\\pL\\pN\\pM\\p{Pd}_.]*[\\pL\\pN\\pM])?$')).not.toThrow();
});

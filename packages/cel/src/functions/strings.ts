/** Functions on texts. Places are counted in code points. */
import { own } from '@plat-dev/lib/own';
import type { Frame } from '../budget.ts';
import { fail } from '../errors.ts';
import { range } from '../estimates.ts';
import {
  beginsOrEnds,
  containsText,
  converts,
  findsText,
  joinsItems,
  makes,
  makesPart,
  makesSame,
  reads,
  replaces,
  splits,
} from '../prices.ts';
import { BOOL, BYTES, INT, listOf, mapOf, parameter, STRING } from '../types.ts';
import { type CelMap, mapSize } from '../values.ts';
import { format, formatLocal } from './format.ts';
import { global, member, type Overload } from './signature.ts';
import { characterAt, charactersOf, lengthOf, unitAt } from './text.ts';

type Int = number | bigint;
const TEXTS = listOf(STRING);

/** The unit of a place; fails where there is none. */
function placeIn(text: string, index: Int): number {
  const unit = index < 0 || typeof index === 'bigint' ? -1 : unitAt(text, index);
  return unit < 0 ? fail(`index out of range: ${index}`) : unit;
}

function charAt(frame: Frame, text: string, index: Int): string {
  frame.spendLength(text.length);
  const unit = placeIn(text, index);
  return unit >= text.length ? '' : String.fromCodePoint(text.codePointAt(unit) as number);
}
/** Looking for a part takes time for both. */
function spendSearch(frame: Frame, text: string, part: string): void {
  frame.spendLength(text.length);
  if (part.length > 1) frame.spendLength(text.length);
}
function indexOf(frame: Frame, text: string, part: string, from: Int = 0): number {
  spendSearch(frame, text, part);
  const index = text.indexOf(part, placeIn(text, from));
  return index < 0 ? -1 : characterAt(text, index);
}
function lastIndexOf(frame: Frame, text: string, part: string, until?: Int): number {
  // Backwards every place is compared with all of the part.
  frame.spend((text.length * Math.min(part.length, 1000)) / 10);
  const index = text.lastIndexOf(part, until === undefined ? text.length : placeIn(text, until));
  return index < 0 ? -1 : characterAt(text, index);
}
function substring(frame: Frame, text: string, from: Int, to?: Int): string {
  frame.spendLength(text.length);
  const start = placeIn(text, from);
  const end = to === undefined ? text.length : placeIn(text, to);
  return start > end ? fail(`invalid substring range. start: ${from}, end: ${to}`) : text.slice(start, end);
}
/** Whether there is no limit. */
const isEvery = (limit: Int): boolean => limit < 0;

/** Units of taking a text apart or putting one together, whatever its length. */
const PIECES_UNITS = 10;
/** Units of one piece that a text is taken apart into. */
const PIECE_UNITS = 2;

function replace(frame: Frame, text: string, part: string, by: string, limit: Int = -1): string {
  frame.spend(PIECES_UNITS);
  frame.spendLength(2 * text.length);
  if (isEvery(limit) && part !== '') {
    // As many pieces as there may be are paid before they are made.
    frame.spend(text.length / part.length);
    const pieces = text.split(part);
    frame.spendLength((pieces.length - 1) * by.length);
    return pieces.join(by);
  }
  const pieces = splitAt(frame, text, part, isEvery(limit) ? Number.POSITIVE_INFINITY : Number(limit) + 1, true);
  frame.spend(pieces.length + (pieces.length * by.length) / 10);
  return pieces.join(by);
}
/** At most so many pieces. Nothing stands between all characters, and with `edges` before the first and after the last. */
function splitAt(frame: Frame, text: string, part: string, most: number, edges: boolean): readonly string[] {
  if (part === '') {
    frame.spend(text.length);
    const all = edges ? ['', ...charactersOf(text), ''] : charactersOf(text);
    return all.length <= most ? all : [...all.slice(0, most - 1), all.slice(most - 1).join('')];
  }
  const pieces: string[] = [];
  let at = 0;
  while (pieces.length < most - 1) {
    const next = text.indexOf(part, at);
    if (next < 0) break;
    frame.spend(PIECE_UNITS);
    pieces.push(text.slice(at, next));
    at = next + part.length;
  }
  pieces.push(text.slice(at));
  return pieces;
}
function split(frame: Frame, text: string, part: string, limit: Int = -1): readonly string[] {
  frame.spend(PIECES_UNITS);
  frame.spendLength(2 * text.length);
  if (Number(limit) === 0) return [];
  return splitAt(frame, text, part, isEvery(limit) ? Number.POSITIVE_INFINITY : Number(limit), false);
}
function joinTexts(frame: Frame, list: readonly unknown[], between = ''): string {
  let length = between.length * list.length;
  frame.spend(PIECES_UNITS + list.length);
  for (const text of list) length += typeof text === 'string' ? text.length : fail('no such overload');
  frame.spendLength(length);
  return list.join(between);
}
/** White space of Unicode; the byte order mark is none. */
const BLANK = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
function trim(frame: Frame, text: string): string {
  frame.spendLength(text.length);
  let from = 0;
  let to = text.length;
  while (from < to && BLANK.test(text[from] as string)) from++;
  while (to > from && BLANK.test(text[to - 1] as string)) to--;
  frame.spend(text.length - (to - from));
  return text.slice(from, to);
}
const lower = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
const upper = (text: string): string => text.replace(/[a-z]+/g, (part) => part.toUpperCase());
const whole =
  (change: (text: string) => string) =>
  (frame: Frame, text: string): string => {
    frame.spend(PIECES_UNITS + 2 * text.length);
    return change(text);
  };

const quoted: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
/** Units of a character that is quoted, in addition to those of any change. */
const QUOTE_UNITS = 4;
const quote = (text: string): string => `"${Array.from(text, (char) => own(quoted, char) ?? char).join('')}"`;

function quoteText(frame: Frame, text: string): string {
  frame.spend(PIECES_UNITS + (2 + QUOTE_UNITS) * text.length);
  return quote(text);
}

const A = parameter('A');
const B = parameter('B');
const sizes: Overload[] = [
  [STRING, (frame: Frame, text: string): number => countCharacters(frame, text)] as const,
  [BYTES, (_: Frame, bytes: Uint8Array): number => bytes.length] as const,
  [listOf(A), (_: Frame, list: readonly unknown[]): number => list.length] as const,
  [mapOf(A, B), (frame: Frame, map: CelMap): number => spendMap(frame, map)] as const,
].flatMap(([type, call]) => [global('size', [type], INT, call), member('size', [type], INT, call)]);

function countCharacters(frame: Frame, text: string): number {
  frame.spendLength(text.length);
  return lengthOf(text);
}
/** The properties of an object of the API have to be counted. */
function spendMap(frame: Frame, map: CelMap): number {
  const size = mapSize(map);
  frame.spend(size);
  return size;
}

export const stringFunctions: readonly Overload[] = [
  ...sizes,
  member(
    'contains',
    [STRING, STRING],
    BOOL,
    (frame, text: string, part: string) => {
      spendSearch(frame, text, part);
      return text.includes(part);
    },
    containsText,
  ),
  member(
    'startsWith',
    [STRING, STRING],
    BOOL,
    (frame, text: string, part: string) => {
      frame.spendLength(part.length);
      return text.startsWith(part);
    },
    beginsOrEnds,
  ),
  member(
    'endsWith',
    [STRING, STRING],
    BOOL,
    (frame, text: string, part: string) => {
      frame.spendLength(part.length);
      return text.endsWith(part);
    },
    beginsOrEnds,
  ),
  member(
    'charAt',
    [STRING, INT],
    STRING,
    charAt,
    makes(() => range(0, 1)),
  ),
  member('indexOf', [STRING, STRING], INT, indexOf, findsText),
  member('indexOf', [STRING, STRING, INT], INT, indexOf, findsText),
  member('lastIndexOf', [STRING, STRING], INT, lastIndexOf, findsText),
  member('lastIndexOf', [STRING, STRING, INT], INT, lastIndexOf, findsText),
  member('substring', [STRING, INT], STRING, substring, makesPart),
  member('substring', [STRING, INT, INT], STRING, substring, makesPart),
  member('replace', [STRING, STRING, STRING], STRING, replace, replaces),
  member('replace', [STRING, STRING, STRING, INT], STRING, replace, replaces),
  member('split', [STRING, STRING], TEXTS, split, splits),
  member('split', [STRING, STRING, INT], TEXTS, split, splits),
  member('join', [TEXTS], STRING, joinTexts, joinsItems),
  member('join', [TEXTS, STRING], STRING, joinTexts, joinsItems),
  member('trim', [STRING], STRING, trim, makesPart),
  member('lowerAscii', [STRING], STRING, whole(lower), makesSame),
  member('upperAscii', [STRING], STRING, whole(upper), makesSame),
];
/** Those of the second version of the library. */
export const newerStringFunctions: readonly Overload[] = [
  global(
    'strings.quote',
    [STRING],
    STRING,
    quoteText,
    converts(
      (min) => min + 2,
      (max) => 2 * max + 2,
    ),
  ),
];
/** Numbers are written as a stock server does. */
export const localFormat: readonly Overload[] = [member('format', [STRING, listOf(A)], STRING, formatLocal, reads(0))];
/** Not of any stock server. */
export const moreStringFunctions: readonly Overload[] = [
  member('format', [STRING, listOf(A)], STRING, format, reads(0)),
  member(
    'reverse',
    [STRING],
    STRING,
    whole((text) => [...text].reverse().join('')),
    makesSame,
  ),
];

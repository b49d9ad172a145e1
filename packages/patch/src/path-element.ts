/**
 * Elements of field paths: `f:` and a field or map key, `k:` and the keys of a list item as JSON, `v:` and the value of a set item as
 * JSON, or `i:` and an index. This file has their order, their canonical form and their text in messages.
 */
import { compareNumbers, isNumeric } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { sortedList } from '@plat-dev/lib/sorted-list';
import { parseExact } from '@plat-dev/schema/json/parse';

/** Among the entries of a node: the path of the node itself is a member of the set. */
export const SELF = '.';

/**
 * Order of elements in a set: fields, list keys, set values, indices; numbers by their value, texts by their letters.
 * `.` comes before all of them.
 */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0;
  const kind = a.charCodeAt(0);
  if (kind !== b.charCodeAt(0)) return rank(kind) - rank(b.charCodeAt(0));
  if (kind === LETTER_F) return a < b ? -1 : 1;
  if (kind === LETTER_I) return Number(a.slice(2)) - Number(b.slice(2));
  return orderInText(a, b) || compareValues(parseExact(a.slice(2)), parseExact(b.slice(2)));
}
const LETTER_F = 0x66;
const LETTER_I = 0x69;
const LETTER_K = 0x6b;
const LETTER_V = 0x76;
function rank(letter: number): number {
  return letter === LETTER_F ? 1 : letter === LETTER_K ? 2 : letter === LETTER_V ? 3 : letter === LETTER_I ? 4 : 0;
}

/**
 * Order of two elements whose first difference is in a text and not in a number: then no parsing is needed. 0: it is
 * not, or the characters there are escaped.
 */
function orderInText(a: string, b: string): number {
  let at = 2;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  const quote = a.lastIndexOf('"', at - 1);
  if (quote < 2 || a.charCodeAt(quote - 1) !== COLON || a.lastIndexOf(':', at - 1) > quote) return 0;
  const leftCode = a.charCodeAt(at);
  const right = b.charCodeAt(at);
  if (leftCode === BACKSLASH || right === BACKSLASH || a.charCodeAt(at - 1) === BACKSLASH) return 0;
  // The shorter text comes first, whatever follows in the other.
  return leftCode === QUOTE ? -1 : right === QUOTE ? 1 : leftCode - right;
}
const COLON = 0x3a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Elements in their order. */
export function sorted(elements: string[]): string[] {
  return elements.length < PARSED_FROM ? elements.sort(compareElements) : atOnce(sortedElements(elements));
}
const PARSED_FROM = 64;
/** A long list in order: its elements are parsed once each, and not once for every comparison. */
export function* sortedElements(elements: string[]): Work<string[]> {
  const inText = elements.every((element) => element.charCodeAt(0) === LETTER_F || element === SELF) || arePlain(elements);
  yield;
  if (inText) return yield* sortedList(elements, compareText);
  const parsedElements: ParsedElement[] = [];
  for (const element of elements) {
    parsedElements.push(parsedElement(element));
    if (parsedElements.length % ELEMENTS_A_STEP === 0) yield;
  }
  yield* sortedList(parsedElements, compareParsed);
  for (let i = 0; i < parsedElements.length; i++) elements[i] = (parsedElements[i] as ParsedElement).element;
  return elements;
}
/** Elements that are parsed between two pauses; a power of two. */
export const ELEMENTS_A_STEP = 1024;
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** An element that was parsed for many comparisons; `value` is undefined where the text alone decides. */
interface ParsedElement {
  readonly element: string;
  readonly value: unknown;
}
function parsedElement(element: string): ParsedElement {
  const kind = element.charCodeAt(0);
  if (kind !== LETTER_K && kind !== LETTER_V) return { element, value: undefined };
  const value: unknown = parseExact(element.slice(2));
  return { element, value: typeof value === 'object' && value !== null ? new Tuple(Object.entries(value)) : value };
}
/** The order of `compareElements`. */
function compareParsed(a: ParsedElement, b: ParsedElement): number {
  if (a.value === undefined || b.value === undefined || a.element.charCodeAt(0) !== b.element.charCodeAt(0))
    return compareElements(a.element, b.element);
  return compareValues(a.value, b.value);
}
/** The keys of an element with their values, listed once. */
class Tuple {
  readonly entries: readonly [string, unknown][];

  constructor(entries: readonly [string, unknown][]) {
    this.entries = entries;
  }
}
const entriesOf = (value: object): readonly [string, unknown][] => (value instanceof Tuple ? value.entries : Object.entries(value));

/** Whether the elements all have one key with an unescaped text: then they sort by their own text. */
function arePlain(elements: readonly string[]): boolean {
  const [first = ''] = elements;
  const start = first.charCodeAt(0) === LETTER_V ? 'v:"' : first.slice(0, first.indexOf(':"', 2) + 2);
  const end = first.charCodeAt(0) === LETTER_V ? '"' : '"}';
  if (start.length < 3) return false;
  for (const element of elements) {
    const last = element.length - end.length;
    if (last < start.length || !element.startsWith(start) || !element.endsWith(end)) return false;
    // The quote after a text comes before all of these letters.
    if (!plainText.test(element.slice(start.length, last))) return false;
  }
  return true;
}
const plainText = /^[#-[\]-~]*$/;

/** Key tuples are compared name by name; of different types, numbers come before texts, texts before booleans. */
function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) {
    const leftEntries = entriesOf(a);
    const right = entriesOf(b);
    for (let i = 0; i < leftEntries.length && i < right.length; i++) {
      const [leftName, leftValue] = leftEntries[i] as [string, unknown];
      const [rightName, rightValue] = right[i] as [string, unknown];
      if (leftName !== rightName) return leftName < rightName ? -1 : 1;
      const order = compareValues(leftValue, rightValue);
      if (order !== 0) return order;
    }
    return leftEntries.length - right.length;
  }
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b);
  if (typeof a !== typeof b) return typeRank(a) - typeRank(b);
  return a === b ? 0 : (a as string) < (b as string) ? -1 : 1;
}
function typeRank(value: unknown): number {
  return value === null ? 4 : isNumeric(value) ? 1 : typeof value === 'string' ? 2 : 3;
}

/** `f:a` → `.a`, `k:{"name":"main"}` → `[name="main"]`, `v:"x"` → `[="x"]`, `i:3` → `[3]`. */
export function elementText(element: string): string {
  const elementValue = element.slice(2);
  switch (element.charCodeAt(0)) {
    case LETTER_F:
      return `.${elementValue}`;
    case LETTER_I:
      return `[${elementValue}]`;
    case LETTER_K:
      return `[${Object.entries(parseExact(elementValue) as object)
        .map(([name, value]) => `${name}=${jsonText(value)}`)
        .join(',')}]`;
    default:
      return `[=${elementValue}]`;
  }
}

/** An element as sent by a client, in the one form that sets have. Undefined: its kind is unknown. Throws where it is malformed. */
export function canonicalElement(element: string): string | undefined {
  if (element.charCodeAt(1) !== 0x3a) throw new Error('missing colon');
  const elementValue = element.slice(2);
  switch (element[0]) {
    case 'f':
      return element;
    case 'k': {
      const keys: unknown = parseExact(elementValue);
      if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) throw new Error('not keys');
      return keysElement(Object.entries(keys));
    }
    case 'v':
      return `v:${jsonText(parseExact(elementValue))}`;
    case 'i':
      if (!/^-?\d{1,15}$/.test(elementValue)) throw new Error('not an index');
      return `i:${Number(elementValue)}`;
    default:
      return undefined;
  }
}
/** The element of a list item with these key fields, whatever their order. */
export function keysElement(keys: [string, unknown][]): string {
  const parts = keys.sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`);
  return `k:{${parts.join(',')}}`;
}

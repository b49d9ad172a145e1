/** Sets of characters: ranges of code points in order, first and last of each, none touching the next. */
export type CharSet = readonly number[];

const LAST = 0x10ffff;
export const anyChar: CharSet = [0, LAST];
export const digits: CharSet = [0x30, 0x39];
export const wordChars: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
export const spaces: CharSet = [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20];
export const lineEnd: CharSet = [0x0a, 0x0a];

/** Named sets within brackets: `[[:alpha:]]`. */
export const namedSets: Readonly<Record<string, CharSet>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: digits,
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: wordChars,
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
};

/** A set from ranges in any order, which may overlap. */
export function setOf(ranges: readonly number[]): CharSet {
  const pairs: [number, number][] = [];
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i] as number, ranges[i + 1] as number]);
  pairs.sort(([a], [b]) => a - b);
  const set: number[] = [];
  for (const [first, last] of pairs) {
    const previousEnd = set[set.length - 1];
    if (previousEnd !== undefined && first <= previousEnd + 1) set[set.length - 1] = Math.max(previousEnd, last);
    else set.push(first, last);
  }
  return set;
}

/** What is made of a large set again and again: that of a category, of which some hundred ranges make each copy. */
function memoized(make: (set: CharSet) => CharSet): (set: CharSet) => CharSet {
  const results = new WeakMap<CharSet, CharSet>();
  return (set) => {
    if (set.length < LARGE) return make(set);
    const cachedSet = results.get(set);
    if (cachedSet !== undefined) return cachedSet;
    const result = make(set);
    results.set(set, result);
    return result;
  };
}
const LARGE = 64;

export const complement = memoized((set: CharSet): CharSet => {
  const result: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if ((set[i] as number) > next) result.push(next, (set[i] as number) - 1);
    next = (set[i + 1] as number) + 1;
  }
  if (next <= LAST) result.push(next, LAST);
  return result;
});

export function includes(set: CharSet, code: number): boolean {
  // The first range that does not end before the character.
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((set[2 * middle + 1] as number) < code) low = middle + 1;
    else high = middle;
  }
  return low < set.length / 2 && (set[2 * low] as number) <= code;
}

/** Ranges longer than this have no letters of two cases that are not in them both, but for those of ASCII. */
const LONGEST_FOLDED = 2_000;

/** Characters of a set whose other case is looked up one by one. */
export function foldedOneByOne(set: CharSet): number {
  let count = 0;
  for (let i = 0; i < set.length; i += 2) {
    const length = (set[i + 1] as number) - (set[i] as number);
    if (length <= LONGEST_FOLDED) count += length + 1;
  }
  return count;
}

/** The set with the other case of all its letters. */
export const withBothCases = memoized((set: CharSet): CharSet => {
  const all = [...set];
  for (let i = 0; i < set.length; i += 2) {
    const first = set[i] as number;
    const last = set[i + 1] as number;
    for (const [from, to, other] of [[0x41, 0x5a, 0x20] as const, [0x61, 0x7a, -0x20] as const]) {
      const start = Math.max(first, from);
      const end = Math.min(last, to);
      if (start <= end) all.push(start + other, end + other);
    }
    if (last - first > LONGEST_FOLDED) continue;
    for (let code = Math.max(first, 0x80); code <= last; code++) addCases(code, all);
  }
  // Letters that have three forms.
  for (const [plain, third] of [[0x6b, 0x212a] as const, [0x73, 0x17f] as const])
    if (includes(set, plain) || includes(set, plain - 0x20)) all.push(third, third);
  return setOf(all);
});
function addCases(code: number, to: number[]): void {
  const text = String.fromCodePoint(code);
  for (const other of [text.toLowerCase(), text.toUpperCase()]) {
    const otherCase = other.codePointAt(0) as number;
    if (otherCase !== code && String.fromCodePoint(otherCase) === other) to.push(otherCase, otherCase);
  }
}

const categories = new Map<string, CharSet>();

/** The characters of a category (`Lu`) or script (`Greek`); undefined when there is none of the name. There are some 200. */
export function category(name: string): CharSet | undefined {
  if (name === 'Any') return anyChar;
  const cachedSet = categories.get(name);
  if (cachedSet !== undefined) return cachedSet;
  const newSet = findCategory(name);
  // Only names that there are: of others there is no end.
  if (newSet !== undefined) categories.set(name, newSet);
  return newSet;
}
function findCategory(name: string): CharSet | undefined {
  const property = `\\p{${/^[A-Z][a-z]?$/.test(name) ? name : `Script=${name}`}}`;
  let run: RegExp;
  try {
    run = new RegExp(`${property}+`, 'gu');
  } catch {
    return undefined;
  }
  const bounds: number[] = [];
  for (const { first, text } of pages()) {
    // All characters of a page have the same length.
    const width = first > 0xffff ? 2 : 1;
    for (const match of text.matchAll(run)) {
      const begin = first + match.index / width;
      bounds.push(begin, begin + match[0].length / width - 1);
    }
  }
  const one = new RegExp(`^${property}$`, 'u');
  for (const [first, last] of uniform) if (one.test(String.fromCodePoint(first))) bounds.push(first, last);
  return setOf(bounds);
}

/** Ranges whose characters are all of one kind: halves of characters, planes that have none, and those for private use. */
const uniform: readonly (readonly [number, number])[] = [
  [0xd800, 0xdfff],
  [0x40000, 0xdffff],
  [0xf0000, 0xffffd],
  [0xffffe, 0xfffff],
  [0x100000, 0x10fffd],
  [0x10fffe, LAST],
];
/** All other characters, as texts that an expression of the engine can run over: far faster than to ask for one at a time. */
function* pages(): Iterable<{ readonly first: number; readonly text: string }> {
  yield { first: 0, text: textOf(0, 0xd7ff) };
  yield { first: 0xe000, text: textOf(0xe000, 0xffff) };
  for (const plane of [0x10000, 0x20000, 0x30000, 0xe0000]) yield { first: plane, text: textOf(plane, plane + 0xffff) };
}
function textOf(first: number, last: number): string {
  const units = new Uint16Array((last + 1 - first) * (first > 0xffff ? 2 : 1));
  for (let code = first, at = 0; code <= last; code++) {
    if (code > 0xffff) units[at++] = 0xd7c0 + (code >> 10);
    units[at++] = code > 0xffff ? 0xdc00 | (code & 0x3ff) : code;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

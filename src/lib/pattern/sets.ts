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
    const before = set[set.length - 1];
    if (before !== undefined && first <= before + 1) set[set.length - 1] = Math.max(before, last);
    else set.push(first, last);
  }
  return set;
}

export function complement(set: CharSet): CharSet {
  const result: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if ((set[i] as number) > next) result.push(next, (set[i] as number) - 1);
    next = (set[i + 1] as number) + 1;
  }
  if (next <= LAST) result.push(next, LAST);
  return result;
}

export function includes(set: CharSet, code: number): boolean {
  for (let i = 0; i < set.length; i += 2) if (code >= (set[i] as number) && code <= (set[i + 1] as number)) return true;
  return false;
}

/** Ranges longer than this have no letters of two cases that are not in them both, but for those of ASCII. */
const LONGEST_FOLDED = 2_000;

/** The set with the other case of all its letters. */
export function withBothCases(set: CharSet): CharSet {
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
}
function addCases(code: number, to: number[]): void {
  const text = String.fromCodePoint(code);
  for (const other of [text.toLowerCase(), text.toUpperCase()]) {
    const made = other.codePointAt(0) as number;
    if (made !== code && String.fromCodePoint(made) === other) to.push(made, made);
  }
}

const categories = new Map<string, CharSet>();

/** The characters of a category (`Lu`) or script (`Greek`); undefined when there is none of the name. There are some 200. */
export function category(name: string): CharSet | undefined {
  if (name === 'Any') return anyChar;
  const known = categories.get(name);
  if (known !== undefined) return known;
  const found = findCategory(name);
  // Only names that there are: of others there is no end.
  if (found !== undefined) categories.set(name, found);
  return found;
}
function findCategory(name: string): CharSet | undefined {
  let regex: RegExp;
  try {
    regex = new RegExp(`^\\p{${/^[A-Z][a-z]?$/.test(name) ? name : `Script=${name}`}}$`, 'u');
  } catch {
    return undefined;
  }
  const set: number[] = [];
  for (let code = 0; code <= LAST; code++) {
    if (!regex.test(String.fromCodePoint(code))) continue;
    if (set[set.length - 1] === code - 1) set[set.length - 1] = code;
    else set.push(code, code);
  }
  return set;
}

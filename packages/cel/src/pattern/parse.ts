/**
 * Patterns in RE2's language, read into a tree. What RE2 does not know is refused, so that a definition means the same
 * everywhere; errors have the messages of a stock server.
 */
import { own } from '@plat-dev/lib/own';
import {
  anyChar,
  type CharSet,
  category,
  complement,
  digits,
  foldedOneByOne,
  lineEnd,
  namedSets,
  setOf,
  spaces,
  withBothCases,
  wordChars,
} from './sets.ts';

export class PatternError extends Error {
  constructor(what: string, where: string) {
    super(`error parsing regexp: ${what}: \`${where}\``);
    this.name = 'PatternError';
  }
}

export type Look = 'begin' | 'end' | 'lineBegin' | 'lineEnd' | 'word' | 'notWord';

export type Tree =
  | { readonly node: 'char'; readonly set: CharSet }
  | { readonly node: 'look'; readonly look: Look }
  | { readonly node: 'sequence'; readonly parts: readonly Tree[] }
  | { readonly node: 'choice'; readonly parts: readonly Tree[] }
  /** `most` is undefined where there is no bound; a lazy one takes as few as it can. */
  | { readonly node: 'repeat'; readonly part: Tree; readonly least: number; readonly most: number | undefined; readonly lazy: boolean };

const MOST_REPEATS = 1000;
const DEEPEST = 1000;
/**
 * The work that the sets of a pattern may take, in ranges that are put together: some tens of nanoseconds each. A category of letters
 * has some hundred; one that is met for the first time is looked up, for some milliseconds.
 */
const MOST_RANGES = 50_000;
const RANGES_A_CATEGORY = 3_000;
/** Characters that are folded one by one at the price of a range. */
const FOLDED_A_RANGE = 4;

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  /** Whether repetitions are lazy unless they say otherwise. */
  readonly U: boolean;
}

export function parsePattern(pattern: string): Tree {
  return new Parser(pattern).whole();
}

const isChar = (set: CharSet): Tree => ({ node: 'char', set });
const escapes: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
const classEscapes: Readonly<Record<string, CharSet>> = { d: digits, s: spaces, w: wordChars };
const looks: Readonly<Record<string, Look>> = { A: 'begin', z: 'end', b: 'word', B: 'notWord' };

class Parser {
  private readonly text: string;
  private at = 0;
  private depth = 0;
  private ranges = 0;
  private readonly categories = new Set<string>();
  private flags: Flags = { i: false, m: false, s: false, U: false };

  constructor(text: string) {
    this.text = text;
  }

  whole(): Tree {
    const tree = this.choice();
    if (this.at < this.text.length) throw new PatternError('unexpected )', this.text);
    return tree;
  }

  /** Alternatives up to the end of the group. Flags that are set within it end with it. */
  private choice(): Tree {
    const outerFlags = this.flags;
    if (++this.depth > DEEPEST) throw new PatternError('expression nests too deeply', this.text);
    const parts = [this.sequence()];
    while (this.text[this.at] === '|') {
      this.at++;
      parts.push(this.sequence());
    }
    this.depth--;
    this.flags = outerFlags;
    return parts.length === 1 ? (parts[0] as Tree) : { node: 'choice', parts };
  }

  private sequence(): Tree {
    const parts: Tree[] = [];
    while (this.at < this.text.length && this.text[this.at] !== '|' && this.text[this.at] !== ')') {
      const begin = this.at;
      if (this.isRepeat()) throw new PatternError('missing argument to repetition operator', this.text.slice(begin, this.repeatEnd()));
      const part = this.atom();
      // Flags alone match nothing, and there is nothing to repeat.
      if (part !== undefined) parts.push(this.repeated(part));
    }
    return parts.length === 1 ? (parts[0] as Tree) : { node: 'sequence', parts };
  }

  // ---- repetition ----------------------------------------------------------------------------------------------

  private isRepeat(): boolean {
    const c = this.text[this.at];
    return c === '*' || c === '+' || c === '?' || (c === '{' && this.bounds() !== undefined);
  }
  private repeatEnd(): number {
    const bounds = this.text[this.at] === '{' ? this.bounds() : undefined;
    return this.at + (bounds?.[0].length ?? 1);
  }
  /** `{2,3}`; braces around something else are characters. */
  private bounds(): RegExpExecArray | undefined {
    return /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.text.slice(this.at, this.at + 30)) ?? undefined;
  }

  private repeated(part: Tree): Tree {
    if (!this.isRepeat()) return part;
    const begin = this.at;
    const [least, most] = this.takeRepeat();
    let lazy = this.flags.U;
    if (this.text[this.at] === '?') {
      lazy = !lazy;
      this.at++;
    }
    if (this.isRepeat()) {
      this.at = this.repeatEnd();
      if (this.text[this.at] === '?') this.at++;
      throw new PatternError('invalid nested repetition operator', this.text.slice(begin, this.at));
    }
    const tree: Tree = { node: 'repeat', part, least, most, lazy };
    if (copiesOf(tree) > MOST_REPEATS) throw new PatternError('invalid repeat count', this.text.slice(begin, this.at));
    return tree;
  }
  private takeRepeat(): [number, number | undefined] {
    const c = this.text[this.at];
    const bounds = c === '{' ? this.bounds() : undefined;
    if (bounds === undefined) {
      this.at++;
      return [c === '+' ? 1 : 0, c === '?' ? 1 : undefined];
    }
    const [whole, least = '', comma, most = ''] = bounds;
    const from = Number(least);
    const to = comma === undefined ? from : most === '' ? undefined : Number(most);
    this.at += whole.length;
    if (from > MOST_REPEATS || (to !== undefined && (to > MOST_REPEATS || to < from)))
      throw new PatternError('invalid repeat count', whole);
    return [from, to];
  }

  // ---- atoms ---------------------------------------------------------------------------------------------------

  /** Undefined for flags that hold from here on, and for an empty quotation. */
  private atom(): Tree | undefined {
    const c = this.text[this.at] as string;
    switch (c) {
      case '(':
        return this.group();
      case '[':
        return isChar(this.brackets());
      case '.':
        this.at++;
        return isChar(this.flags.s ? anyChar : complement(lineEnd));
      case '^':
        this.at++;
        return { node: 'look', look: this.flags.m ? 'lineBegin' : 'begin' };
      case '$':
        this.at++;
        return { node: 'look', look: this.flags.m ? 'lineEnd' : 'end' };
      case '\\':
        return this.escape();
      default:
        return this.literal();
    }
  }
  private literal(): Tree {
    const code = this.text.codePointAt(this.at) as number;
    this.at += code > 0xffff ? 2 : 1;
    return isChar(this.folded([code, code]));
  }
  private folded(set: CharSet): CharSet {
    return this.flags.i ? withBothCases(set) : set;
  }
  private count(ranges: number): void {
    this.ranges += ranges;
    if (this.ranges > MOST_RANGES) throw new PatternError('expression too large', this.text);
  }

  /** `(…)`, `(?:…)`, `(?P<name>…)`, `(?i:…)` and `(?i)`; looking ahead and behind is not in the language. */
  private group(): Tree | undefined {
    const rest = this.text.slice(this.at);
    const outerFlags = this.flags;
    if (rest.startsWith('(?P<')) this.takeName(rest);
    else if (rest.startsWith('(?')) {
      if (!this.takeFlags(rest)) return undefined;
    } else this.at++;
    const inner = this.choice();
    if (this.text[this.at] !== ')') throw new PatternError('missing closing )', this.text);
    this.at++;
    this.flags = outerFlags;
    return inner;
  }
  private takeName(rest: string): void {
    const nameMatch = /^\(\?P<([A-Za-z0-9_]+)>/.exec(rest);
    if (nameMatch === null)
      throw new PatternError('invalid named capture', rest.slice(0, rest.includes('>') ? rest.indexOf('>') + 1 : undefined));
    this.at += nameMatch[0].length;
  }
  /** Whether a group follows the flags. */
  private takeFlags(rest: string): boolean {
    const flagsMatch = /^\(\?([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest);
    const [whole = '', on = '', off = '', end = ''] = flagsMatch ?? [];
    if (flagsMatch === null || whole === '(?)') {
      const flagsLength = /^\(\?[imsU-]*/.exec(rest)?.[0].length ?? 2;
      if (flagsLength >= rest.length) throw new PatternError('missing closing )', rest);
      throw new PatternError('invalid or unsupported Perl syntax', rest.slice(0, flagsLength + 1));
    }
    const flag = (name: 'i' | 'm' | 's' | 'U'): boolean => (off.includes(name) ? false : this.flags[name] || on.includes(name));
    this.flags = { i: flag('i'), m: flag('m'), s: flag('s'), U: flag('U') };
    this.at += whole.length;
    return end === ':';
  }

  private escape(): Tree | undefined {
    const next = this.text[this.at + 1] ?? '';
    const look = own(looks, next);
    if (look !== undefined) {
      this.at += 2;
      return { node: 'look', look };
    }
    if (next === 'Q') return this.quoted();
    const set = this.classEscape();
    if (set !== undefined) return isChar(this.folded(set));
    const code = this.charEscape();
    return isChar(this.folded([code, code]));
  }
  /** `\Qa.b\E` is the text between. */
  private quoted(): Tree | undefined {
    const end = this.text.indexOf('\\E', this.at);
    const stop = end < 0 ? this.text.length : end;
    const parts: Tree[] = [];
    this.at += 2;
    while (this.at < stop) parts.push(this.literal());
    if (end >= 0) this.at += 2;
    const last = parts.pop();
    // What follows repeats the last character only.
    return last === undefined ? undefined : { node: 'sequence', parts: [...parts, this.repeated(last)] };
  }

  /** `\d`, `\pL`, `\P{Greek}`; undefined for the escape of one character. */
  private classEscape(): CharSet | undefined {
    const next = this.text[this.at + 1] ?? '';
    const escapedSet = own(classEscapes, next.toLowerCase());
    if (escapedSet !== undefined) {
      this.at += 2;
      return next === next.toLowerCase() ? escapedSet : complement(escapedSet);
    }
    if (next !== 'p' && next !== 'P') return undefined;
    const rest = this.text.slice(this.at);
    const propertyMatch = /^\\[pP](?:\{(\^?)([^}]*)\}|([^{]))/u.exec(rest);
    const [whole = rest, not = '', long, short] = propertyMatch ?? [];
    const set = propertyMatch === null ? undefined : this.category(long ?? (short as string));
    if (set === undefined) throw new PatternError('invalid character class range', whole);
    this.at += whole.length;
    return (next === 'P') !== (not === '^') ? complement(set) : set;
  }

  private category(name: string): CharSet | undefined {
    if (!this.categories.has(name)) this.count(RANGES_A_CATEGORY);
    this.categories.add(name);
    return category(name);
  }

  private charEscape(): number {
    const rest = this.text.slice(this.at);
    const next = rest[1];
    if (next === undefined) throw new PatternError('trailing backslash at end of expression', '');
    const escapeMatch = /^\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2}))/.exec(rest);
    const [whole, long, short, octal] = escapeMatch ?? [];
    const code =
      whole !== undefined
        ? octal === undefined
          ? Number.parseInt((long ?? short) as string, 16)
          : Number.parseInt(octal, 8)
        : plainEscape(next);
    if (code === undefined || code > 0x10ffff) throw new PatternError('invalid escape sequence', whole ?? rest.slice(0, 2));
    this.at += whole?.length ?? 2;
    return code;
  }

  // ---- brackets ------------------------------------------------------------------------------------------------

  private brackets(): CharSet {
    const begin = this.at;
    const ranges: number[] = [];
    this.at++;
    const negated = this.text[this.at] === '^';
    if (negated) this.at++;
    let first = true;
    while (this.text[this.at] !== ']' || first) {
      if (this.at >= this.text.length) throw new PatternError('missing closing ]', this.text.slice(begin));
      first = false;
      const set = this.namedSet() ?? (this.text[this.at] === '\\' ? this.classEscape() : undefined);
      if (set === undefined) this.range(ranges, begin);
      else {
        this.count(set.length / 2);
        ranges.push(...set);
      }
    }
    this.at++;
    const whole = setOf(ranges);
    if (this.flags.i) this.count(foldedOneByOne(whole) / FOLDED_A_RANGE);
    const set = this.folded(whole);
    return negated ? complement(set) : set;
  }
  private namedSet(): CharSet | undefined {
    const classMatch = /^\[:(\^?)(\w*):\]/.exec(this.text.slice(this.at, this.at + 20));
    if (classMatch === null) return undefined;
    const [whole, not, name = ''] = classMatch;
    const set = own(namedSets, name);
    if (set === undefined) throw new PatternError('invalid character class range', whole);
    this.at += whole.length;
    return not === '^' ? complement(set) : set;
  }
  private range(to: number[], begin: number): void {
    const from = this.at;
    const first = this.bracketChar(begin);
    let last = first;
    if (this.text[this.at] === '-' && this.at + 1 < this.text.length && this.text[this.at + 1] !== ']') {
      this.at++;
      last = this.bracketChar(begin);
      if (last < first) throw new PatternError('invalid character class range', this.text.slice(from, this.at));
    }
    to.push(first, last);
  }
  private bracketChar(begin: number): number {
    if (this.at >= this.text.length) throw new PatternError('missing closing ]', this.text.slice(begin));
    if (this.text[this.at] === '\\') return this.charEscape();
    const code = this.text.codePointAt(this.at) as number;
    this.at += code > 0xffff ? 2 : 1;
    return code;
  }
}

/** The character that an escaped one stands for. Letters and figures that stand for nothing are refused. */
function plainEscape(next: string): number | undefined {
  if (Object.hasOwn(escapes, next)) return own(escapes, next);
  return /[A-Za-z0-9]/.test(next) || next.charCodeAt(0) >= 0x80 ? undefined : next.charCodeAt(0);
}

/** How often the inmost part is written out where repetitions are nested. */
function copiesOf(tree: Tree): number {
  switch (tree.node) {
    case 'repeat':
      return Math.max(1, tree.most ?? tree.least) * copiesOf(tree.part);
    case 'sequence':
    case 'choice':
      return tree.parts.reduce((most, part) => Math.max(most, copiesOf(part)), 1);
    default:
      return 1;
  }
}

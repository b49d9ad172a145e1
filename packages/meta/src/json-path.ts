/**
 * JSONPath, as definitions of custom kinds and command lines use it.
 *
 *   .spec.replicas                                   a field
 *   .metadata.labels.example\.com/tier               a name with dots
 *   .spec['size']   .spec.*   ..name                 a field, every field, a field anywhere below
 *   .spec.ports[0]   [-1]   [1:3]   [::2]   [*]      items of a list
 *   .status.conditions[?(@.type=="Ready")].status    items that satisfy a comparison; `[?(@.type)]`: that have the field
 *   .spec['a','b']   .spec.ports[0,2]                several places, one after another
 */

import { compareNumbers, integerOf, isNumeric } from '@plat-dev/lib/integers';
import { own, setOwn } from '@plat-dev/lib/own';

/** Remaining effort; paths that share one share its limit. */
export interface PathEffort {
  effort: number;
}
/**
 * The values at a path, in order; none if the value does not have the shape of the path, or if the effort
 * is exceeded.
 */
export type JsonPath = (value: unknown, bound?: PathEffort) => unknown[];

export class JsonPathError extends Error {}

/** From values to their successors; undefined if a value has the wrong shape, which ends the search without a result. */
type PathSegment = (values: readonly unknown[]) => unknown[] | undefined;

/** Maximum values between two steps: `..` after `..` finds values repeatedly. More end the search. */
const MOST = 100_000;
/** The same for a command line, which may list more objects than a server looks at for one answer. */
const MOST_OF_COMMAND = 10_000_000;
/** Maximum values that one path visits in all, if the caller has no limit: a short path may name the same long list often. */
const MOST_EFFORT = 2_000_000;

class TooMuch extends Error {}

/** A path is evaluated synchronously, so that one counter is enough for all steps. */
let effortLeft = 0;
let most = MOST;
/** Whether a field that no value has ends the search. */
let isRequired = false;
/** Why the search ended without a result, with what its message names. */
let failure: { readonly why: string; readonly about: string | number; readonly of?: number } | undefined;
function fail(why: string, about: string | number = '', of?: number): undefined {
  failure = { why, about, ...(of !== undefined && { of }) };
  return undefined;
}
function spend(values: number): void {
  effortLeft -= values;
  if (effortLeft < 0) throw new TooMuch();
}

/** Compiles a path, to be evaluated many times. Throws JsonPathError. */
export function jsonPath(text: string): JsonPath {
  const follow = inTurn(new PathReader(text).steps());
  return (value, bound) => {
    effortLeft = bound?.effort ?? MOST_EFFORT;
    try {
      return follow([value]) ?? [];
    } catch (error) {
      if (!(error instanceof TooMuch)) throw error;
      return [];
    } finally {
      if (bound !== undefined) bound.effort = effortLeft;
    }
  };
}

/** Values of a path as a person asks for them: a value of the wrong shape is an error. `isNeeded`: so is a field that is missing. */
export type StrictPath = (value: unknown, isNeeded: boolean) => unknown[];

/** Compiles a path for a command line. Both throw JsonPathError. */
export function strictJsonPath(text: string): StrictPath {
  const follow = inTurn(new PathReader(text).steps());
  return (value, isNeeded) => {
    effortLeft = Number.POSITIVE_INFINITY;
    most = MOST_OF_COMMAND;
    isRequired = isNeeded;
    failure = undefined;
    try {
      const results = follow([value]);
      if (results !== undefined) return results;
      throw new JsonPathError(failureText(failure));
    } finally {
      most = MOST;
      isRequired = false;
    }
  };
}
function failureText(lastFailure: typeof failure): string {
  if (lastFailure === undefined) return 'the path finds too many values';
  const { why, about, of } = lastFailure;
  return why.replace('%', String(about)).replace('#', String(of));
}

function inTurn(steps: readonly PathSegment[]): PathSegment {
  return (values) => {
    let current: unknown[] | undefined = values as unknown[];
    for (const step of steps) {
      spend(current.length);
      current = step(current);
      if (current === undefined || current.length > most) return undefined;
    }
    return current;
  };
}

// ---- steps -----------------------------------------------------------------------------------------------------

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

const field =
  (name: string): PathSegment =>
  (values) => {
    const fieldValues = values
      .filter((value) => isObject(value) && Object.hasOwn(value, name))
      .map((value) => own(value as Record<string, unknown>, name));
    return isRequired && fieldValues.length === 0 && values.length > 0 ? fail('% is not found', name) : fieldValues;
  };

const everyChild: PathSegment = (values) =>
  values.flatMap((value) => {
    const below = children(value);
    spend(below.length);
    return below;
  });

/** Every value with children, itself before its descendants. */
const everywhere: PathSegment = (values) => {
  const allValues: unknown[] = [];
  const visit = (value: unknown): void => {
    const below = children(value);
    spend(1 + below.length);
    if (below.length === 0 || allValues.length > most) return;
    allValues.push(value);
    for (const child of below) visit(child);
  };
  for (const value of values) visit(value);
  return allValues;
};

const constant =
  (value: unknown): PathSegment =>
  (values) =>
    values.map(() => value);

const union =
  (branches: readonly PathSegment[]): PathSegment =>
  (values) => {
    const unionValues: unknown[] = [];
    for (const branch of branches) {
      spend(values.length);
      const some = branch(values);
      if (some === undefined) return undefined;
      spend(some.length);
      for (const branchValue of some) unionValues.push(branchValue);
    }
    return unionValues;
  };

/** Items of lists; null is skipped, anything else that is not a list ends the search. */
function ofLists(pick: (list: readonly unknown[]) => unknown[] | undefined): PathSegment {
  return (values) => {
    const listValues: unknown[] = [];
    for (const value of values) {
      if (value === null) continue;
      const some = Array.isArray(value) ? pick(value) : fail('% is not a list', isObject(value) ? 'an object' : 'a value');
      spend(some?.length ?? 0);
      if (some === undefined) return undefined;
      for (const listValue of some) listValues.push(listValue);
    }
    return listValues;
  };
}

/** `[from:to:step]`. Negative bounds count from the end; bounds outside the list are an error, an empty range is not. */
function slice(from: number, to: number | undefined, step: number): PathSegment {
  return ofLists((list) => {
    const start = from < 0 ? from + list.length : from;
    const end = to === undefined ? list.length : to < 0 ? to + list.length : to;
    if (start === end) return [];
    if (start < 0 || start >= list.length) return fail('array index out of bounds: index %, length #', start, list.length);
    if (end > list.length) return fail('array index out of bounds: index %, length #', end - 1, list.length);
    if (start > end) return fail('starting index % is greater than ending index #', start, end);
    if (step <= 0) return fail('step must be > 0');
    spend(end - start);
    return list.slice(start, end).filter((_, i) => i % step === 0);
  });
}

/** `[n]`: one item. */
const index = (n: number): PathSegment => slice(n, n === -1 ? undefined : n + 1, 1);

type Compare = (order: number) => boolean;
const comparisons: Readonly<Record<string, Compare>> = {
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

const having = (condition: PathSegment): PathSegment => ofLists((list) => list.filter((item) => (condition([item])?.length ?? 0) > 0));

function comparing(leftSide: PathSegment, operator: string, rightSide: PathSegment): PathSegment {
  const passes = own(comparisons, operator) as Compare;
  return ofLists((list) => {
    const matchingItems: unknown[] = [];
    for (const item of list) {
      spend(1);
      const lefts = leftSide([item]);
      const rights = rightSide([item]);
      if (lefts === undefined || rights === undefined) return undefined;
      if (lefts.length > 1 || rights.length > 1) return fail('can only compare one element at a time');
      if (lefts.length === 0 || rights.length === 0) continue;
      const order = orderOf(lefts[0], rights[0]);
      if (order === undefined || (typeof lefts[0] === 'boolean' && /[<>]/.test(operator))) return fail('incompatible types for comparison');
      if (passes(order)) matchingItems.push(item);
    }
    return matchingItems;
  });
}

/** Strings, numbers and booleans are compared with the same type only. */
function orderOf(a: unknown, b: unknown): number | undefined {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return undefined;
}

// ---- text ------------------------------------------------------------------------------------------------------

const OPERATOR = /^([^!<>=]+)([!<>=]+)(.+)$/s;
const SLICE = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/;
const NAME = /(?:\\[\s\S]|[^\\\s.,[\]$@{}])*/y;
const NUMBER = /[+-]?\d+(?:\.\d+)?(?![\w.])/y;
const WORD = /\w+/y;

class PathReader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  steps(): PathSegment[] {
    const steps: PathSegment[] = [];
    while (this.at < this.text.length) {
      const step = this.step();
      if (step !== undefined) steps.push(step);
    }
    return steps;
  }

  private step(): PathSegment | undefined {
    if (this.take('[?(')) return this.filter();
    if (this.take('..')) return everywhereThen(this.match(NAME));
    if (this.take('.')) return this.name();
    if (this.take('[')) return this.brackets();
    // The value itself, where every path begins.
    if (this.take('@') || this.take('$') || this.take(' ')) return undefined;
    return this.literal();
  }

  private name(): PathSegment | undefined {
    const name = this.match(NAME);
    return name === '' ? undefined : namedChild(name);
  }

  private literal(): PathSegment {
    const quote = this.text[this.at] as string;
    if (quote === '"' || quote === "'") return constant(this.quoted(quote));
    const number = this.match(NUMBER);
    if (number !== '') return constant(number.includes('.') ? Number(number) : integerOf(number));
    const word = this.match(WORD);
    if (word === 'true' || word === 'false') return constant(word === 'true');
    throw new JsonPathError(`a path does not go on with ${this.text.slice(this.at - word.length)}`);
  }

  private quoted(quote: string): string {
    const end = this.closing(quote);
    const inner = this.text.slice(this.at + 1, end);
    this.at = end + 1;
    return inner.replace(/\\(.)/gs, '$1');
  }
  /** The end of the quoted string that begins here. */
  private closing(quote: string): number {
    for (let i = this.at + 1; i < this.text.length; i++) {
      if (this.text[i] === '\\') i++;
      else if (this.text[i] === quote) return i;
    }
    throw new JsonPathError('a quotation does not end');
  }

  /** The content of `[` … `]`. */
  private brackets(): PathSegment {
    const end = this.text.indexOf(']', this.at);
    if (end < 0) throw new JsonPathError('a bracket is not closed');
    const inner = this.text.slice(this.at, end);
    this.at = end + 1;
    const parts = inner.split(',');
    return parts.length === 1 ? bracketed(inner) : union(parts.map((part) => bracketed(part.trim())));
  }

  private filter(): PathSegment {
    const inner = this.condition();
    const parts = OPERATOR.exec(inner);
    if (parts === null) return having(inTurn(new PathReader(inner).steps()));
    const [, leftText = '', operator = '', right = ''] = parts;
    if (!Object.hasOwn(comparisons, operator)) throw new JsonPathError(`there is no comparison ${operator}`);
    return comparing(inTurn(new PathReader(leftText).steps()), operator, inTurn(new PathReader(right).steps()));
  }
  /** The text up to `)]`, outside of quoted strings. */
  private condition(): string {
    const start = this.at;
    for (; this.at < this.text.length; this.at++) {
      const char = this.text[this.at] as string;
      if (char === '"' || char === "'") this.at = this.closing(char);
      else if (char === ')') {
        const inner = this.text.slice(start, this.at);
        if (this.take(')]')) return inner;
        break;
      }
    }
    throw new JsonPathError('a comparison is not closed');
  }

  private take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }
  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [matchedText = ''] = pattern.exec(this.text) ?? [];
    this.at += matchedText.length;
    return matchedText;
  }
}

const namedChild = (name: string): PathSegment => (name === '*' ? everyChild : field(name.replaceAll('\\', '')));
const everywhereThen = (name: string): PathSegment => (name === '' ? everywhere : inTurn([everywhere, namedChild(name)]));

function bracketed(text: string): PathSegment {
  if (text === '*') return slice(0, undefined, 1);
  const key = /^'([^']*)'$/.exec(text)?.[1];
  if (key !== undefined) return inTurn(new PathReader(`.${key}`).steps());
  const parts = SLICE.exec(text);
  if (parts === null || text === '') throw new JsonPathError(`${text} is not an index`);
  const [, from = '', to, step = ''] = parts;
  if (to === undefined) return index(Number(from));
  return slice(Number(from), to === '' ? undefined : Number(to), step === '' ? 1 : Number(step));
}

// ---- simple paths ----------------------------------------------------------------------------------------------

/** A path of field names only: `.spec.replicas`. */
export type PlainPath = readonly string[];

export const plainPath = (text: string): PlainPath => text.replace(/^\./, '').split('.');

/** The value at a path; undefined if there is none. Throws JsonPathError if something on the way is not an object. */
export function valueAt(object: unknown, path: PlainPath): unknown {
  let value = object;
  for (let i = 0; i < path.length; i++) {
    if (!isObject(value)) throw notAnObject(path.slice(0, i));
    const name = path[i] as string;
    if (!Object.hasOwn(value, name)) return undefined;
    value = own(value, name);
  }
  return value;
}

/** Sets the value at a path; missing objects on the way are created. Throws JsonPathError if something on the way is not an object. */
export function setAt(object: unknown, path: PlainPath, value: unknown): void {
  let holder = object;
  for (let i = 0; i < path.length; i++) {
    if (!isObject(holder)) throw notAnObject(path.slice(0, i));
    const name = path[i] as string;
    if (i === path.length - 1) setOwn(holder, name, value);
    else {
      if (!Object.hasOwn(holder, name)) setOwn(holder, name, {});
      holder = own(holder, name);
    }
  }
}

const notAnObject = (path: PlainPath): JsonPathError => new JsonPathError(`.${path.join('.')} is not an object`);

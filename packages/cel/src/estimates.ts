/**
 * What a call is expected to cost, from the sizes of its arguments, before any value is known. The figures are those clients
 * know: one unit a call, a tenth of one a character, a quarter a character of a regular expression.
 */
export interface Range {
  readonly min: number;
  /** May be Infinity. */
  readonly max: number;
}

/** What is known of a value before there is one. */
export interface Sized {
  /** Characters, bytes, items or entries; 1 for all else. */
  readonly size: Range;
  /** The sizes of items of a list, or of values of a map. */
  readonly item?: Range;
}

export interface Estimate {
  /** The call alone, without its arguments. */
  readonly cost: Range;
  /** Size of the result; where it is left out, what the type of the result says. */
  readonly size?: Range;
  readonly item?: Range;
}
export type Estimator = (args: readonly Sized[]) => Estimate;

export const range = (min: number, max: number): Range => ({ min, max });
export const exactly = (value: number): Range => ({ min: value, max: value });
export const ZERO = exactly(0);
export const ONE = exactly(1);

const product = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b);
export const plus = (a: Range, b: Range): Range => range(a.min + b.min, a.max + b.max);
export const times = (a: Range, b: Range): Range => range(product(a.min, b.min), product(a.max, b.max));
const by = (a: Range, factor: number): Range => range(Math.ceil(product(a.min, factor)), Math.ceil(product(a.max, factor)));
export const either = (a: Range, b: Range): Range => range(Math.min(a.min, b.min), Math.max(a.max, b.max));

/** Units of a character that is read. */
const CHARACTER = 0.1;
/** Units of a character of a regular expression. */
const PATTERN_CHARACTER = 0.25;
export const read = (size: Range): Range => by(size, CHARACTER);

const sizeOf = (args: readonly Sized[], at: number): Range => args[at]?.size ?? ZERO;

/** Reads the argument at a place. */
export const reads =
  (at: number): Estimator =>
  (args) => ({ cost: read(sizeOf(args, at)) });
/** Reads the first argument, and makes a text that is not longer. */
export const makesPart: Estimator = (args) => ({ cost: read(sizeOf(args, 0)), size: range(0, sizeOf(args, 0).max) });
export const makesSame: Estimator = (args) => ({ cost: read(sizeOf(args, 0)), size: sizeOf(args, 0) });

/** Regular expression times text. One is added, so that an expensive expression is not free for an empty text. */
export const searches: Estimator = (args) => ({
  cost: times(read(plus(sizeOf(args, 0), ONE)), by(sizeOf(args, 1), PATTERN_CHARACTER)),
  size: range(0, sizeOf(args, 0).max),
  item: range(0, sizeOf(args, 0).max),
});
export const containsText: Estimator = (args) => ({ cost: times(read(sizeOf(args, 0)), read(sizeOf(args, 1))) });

/** Reads the shorter of two. */
export const compares: Estimator = (args) => {
  const most = Math.min(sizeOf(args, 0).max, sizeOf(args, 1).max);
  return { cost: by(range(most > 0 ? 1 : 0, most), CHARACTER) };
};
export const joinsTexts: Estimator = (args) => {
  const size = plus(sizeOf(args, 0), sizeOf(args, 1));
  return { cost: read(size), size };
};
export const joinsLists: Estimator = (args) => {
  const [a, b] = args;
  const item = a?.item === undefined || b?.item === undefined ? undefined : either(a.item, b.item);
  return { cost: ONE, size: plus(sizeOf(args, 0), sizeOf(args, 1)), ...(item === undefined ? {} : { item }) };
};
/** One unit for every item of the list at a place. */
export const countsItems =
  (at: number): Estimator =>
  (args) => ({ cost: sizeOf(args, at) });
/** Looks at every item of the list at a place. */
export const looksAtItems =
  (at: number): Estimator =>
  (args) => {
    const item = args[at]?.item;
    return {
      cost: times(sizeOf(args, at), plus(ONE, item === undefined ? ZERO : read(item))),
      ...(item === undefined ? {} : { size: item }),
    };
  };
/** Every item of one list against every item of another. */
export const looksAtPairs: Estimator = (args) => ({ cost: times(times(sizeOf(args, 0), sizeOf(args, 1)), ONE) });
/** Makes a list of some items of another. */
export const makesList: Estimator = (args) => ({
  cost: plus(ONE, by(sizeOf(args, 0), 1)),
  size: range(0, sizeOf(args, 0).max),
  ...(args[0]?.item === undefined ? {} : { item: args[0].item }),
});
export const splits: Estimator = (args) => ({
  cost: by(sizeOf(args, 0), 2 * CHARACTER),
  size: range(0, sizeOf(args, 0).max + 1),
  item: range(0, sizeOf(args, 0).max),
});
export const joinsItems: Estimator = (args) => {
  const list = sizeOf(args, 0);
  const texts = times(list, args[0]?.item ?? range(0, Number.POSITIVE_INFINITY));
  const between = times(range(Math.max(0, list.min - 1), Math.max(0, list.max - 1)), sizeOf(args, 1));
  const size = plus(texts, between);
  return { cost: read(size), size };
};
export const replaces: Estimator = (args) => {
  const text = sizeOf(args, 0);
  const part = sizeOf(args, 1);
  const most = plus(times(range(0, part.min === 0 ? text.max + 1 : Math.ceil(text.max / part.min)), sizeOf(args, 2)), text);
  return { cost: plus(by(text, 2 * CHARACTER), read(range(0, most.max))), size: range(0, most.max) };
};

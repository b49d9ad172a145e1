/**
 * What calls cost, as a stock server counts it: before any value is known, from the sizes of the arguments, and when the values are
 * known. One unit a call, a tenth of one a character that is read, a quarter a character of a regular expression.
 */
import { by, type Estimator, either, exactly, ONE, plus, type Range, range, type Sized, times, ZERO } from './estimates.ts';
import type { CelType } from './types.ts';
import { CelMap, CIDRValue, IPValue, isMap, mapSize, Optional } from './values.ts';

export interface Price {
  readonly estimate: Estimator;
  /** The cost of a call: the same for each, or from its arguments and its result. */
  readonly cost: number | ((args: readonly unknown[], result: unknown) => number);
}

/** Units of a character that is read. */
const CHARACTER = 0.1;
/** Units of a character of a regular expression. */
const PATTERN_CHARACTER = 0.25;
/** Units of making a list, and a function that makes one counts its call too. */
const LIST = 10;

export const read = (size: Range): Range => by(size, CHARACTER);
/** The size of items, where the functions of a stock server look at them. */
function itemSize(list: Sized | undefined): Range | undefined {
  return list?.stock === true && list.isDeclared !== true ? range(0, Number.POSITIVE_INFINITY) : list?.item;
}
const sizeOf = (args: readonly Sized[], at: number): Range => args[at]?.size ?? ZERO;

/** Characters (in UTF-16 units, which need not be counted), bytes, items or entries; 1 for all else. */
export function actualSize(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof CelMap) return value.size;
  if (value instanceof Optional) return value.present ? actualSize(value.value) : 1;
  if (value instanceof IPValue) return value.bytes.length;
  if (value instanceof CIDRValue) return Math.ceil(value.bits / 8);
  return isMap(value) ? mapSize(value) : 1;
}
const readCost = (size: number, factor = 1): number => Math.ceil(factor * size * CHARACTER);
const patternCost = (text: number, pattern: number): number => Math.ceil((1 + text) * CHARACTER) * Math.ceil(pattern * PATTERN_CHARACTER);

/** One unit, whatever the arguments. */
export const one: Price = { estimate: () => ({ cost: ONE }), cost: 1 };
export const costs = (units: number): Price => ({ estimate: () => ({ cost: exactly(units) }), cost: units });
/** One unit; the result has a size that only its own estimate knows, not that of a stock server. */
export const makes = (sizeAt: (args: readonly Sized[]) => Range): Price => ({
  estimate: (args) => ({ cost: ONE, size: sizeAt(args), sizeUnknown: true }),
  cost: 1,
});

/** Reads the argument at a place. */
export const reads = (at: number, factor = 1): Price => ({
  estimate: (args) => ({ cost: by(sizeOf(args, at), factor * CHARACTER) }),
  cost: (args) => readCost(actualSize(args[at]), factor),
});
/** Reads the first argument, and makes a text that is not longer. */
export const makesPart: Price = {
  estimate: (args) => ({ cost: read(sizeOf(args, 0)), size: range(0, sizeOf(args, 0).max) }),
  cost: (args) => readCost(actualSize(args[0])),
};
export const makesSame: Price = {
  estimate: (args) => ({ cost: read(sizeOf(args, 0)), size: sizeOf(args, 0) }),
  cost: (args) => readCost(actualSize(args[0])),
};
/** Reads text to make bytes of it, or the other way round. */
export const converts = (shortest: (min: number) => number, longest: (max: number) => number): Price => ({
  estimate: (args) => ({
    cost: read(sizeOf(args, 0)),
    size: range(Math.floor(shortest(sizeOf(args, 0).min)), longest(sizeOf(args, 0).max)),
  }),
  cost: (args) => readCost(actualSize(args[0])),
});

/** Reads the other text alone before there is one, and the text itself when it is known. */
export const beginsOrEnds: Price = {
  estimate: (args) => ({ cost: read(sizeOf(args, 1)) }),
  cost: (args) => readCost(actualSize(args[0])),
};
/** Regular expression times text. One is added, so that an expensive expression is not free for an empty text. */
export const searches: Price = {
  estimate: (args) => ({
    cost: times(read(plus(sizeOf(args, 0), ONE)), by(sizeOf(args, 1), PATTERN_CHARACTER)),
    size: range(0, sizeOf(args, 0).max),
    item: range(0, sizeOf(args, 0).max),
  }),
  cost: (args) => patternCost(actualSize(args[0]), actualSize(args[1])),
};
/** Validates against a format whose expression has a length of its own. */
export const validates = (longest: number, lengthOf: (format: unknown) => number): Price => ({
  estimate: (args) => ({ cost: by(read(sizeOf(args, 1)), longest * PATTERN_CHARACTER) }),
  cost: ([format, text]) => patternCost(actualSize(text), lengthOf(format)),
});
export const containsText: Price = {
  estimate: (args) => ({ cost: times(read(sizeOf(args, 0)), read(sizeOf(args, 1))) }),
  cost: ([text, part]) => readCost(actualSize(text)) * readCost(actualSize(part)),
};

/** Values that are compared at once. */
const atOnce: ReadonlySet<string> = new Set([
  ...['ip', 'cidr', 'quantity', 'semver', 'authorizer', 'pathCheck', 'groupCheck', 'resourceCheck', 'decision'],
]);
/** Reads the shorter of two. */
export const compares: Price = {
  estimate: (args) => {
    const [a, b] = args;
    if (a?.type !== undefined && a.type.kind === b?.type?.kind && atOnce.has(a.type.kind)) return { cost: ONE };
    const most = Math.min(sizeOf(args, 0).max, sizeOf(args, 1).max);
    return { cost: by(range(most > 0 ? 1 : 0, most), CHARACTER) };
  },
  // Addresses are compared at once.
  cost: ([a, b]) => (a instanceof IPValue || a instanceof CIDRValue ? 1 : readCost(Math.min(actualSize(a), actualSize(b)))),
};
export const joinsTexts: Price = {
  estimate: (args) => {
    const size = plus(sizeOf(args, 0), sizeOf(args, 1));
    return { cost: read(size), size };
  },
  cost: ([a, b]) => readCost(actualSize(a) + actualSize(b)),
};
export const joinsLists: Price = {
  estimate: (args) => {
    const [a, b] = args;
    const item = a?.item === undefined || b?.item === undefined ? undefined : either(a.item, b.item);
    return { cost: ONE, size: plus(sizeOf(args, 0), sizeOf(args, 1)), ...(item === undefined ? {} : { item }) };
  },
  cost: 1,
};
/** One unit for every item of the list at a place. */
export const countsItems = (at: number): Price => ({
  estimate: (args) => ({ cost: sizeOf(args, at) }),
  cost: (args) => actualSize(args[at]),
});
/** Makes what it finds at an index or a key. */
export const findsItem: Price = {
  estimate: ([container]) => ({ cost: ONE, ...(container?.item === undefined ? {} : { size: container.item }) }),
  cost: 1,
};

/** One unit for each item, and what there is to read in it. */
function traversal(value: unknown): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * CHARACTER);
  if (value instanceof Uint8Array) return Math.floor(value.length * CHARACTER);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + traversal(item), 0);
  if (value instanceof CelMap) {
    let sum = 0;
    for (const [key, of] of value.pairs()) sum += traversal(key) + traversal(of);
    return sum;
  }
  if (!isMap(value)) return 1;
  let sum = 0;
  for (const [key, of] of Object.entries(value)) sum += traversal(key) + traversal(of);
  return sum;
}
const holdsTexts = (type: CelType | undefined): boolean => type?.kind === 'list' && (type.of.kind === 'string' || type.of.kind === 'bytes');
/** Looks at every item of the list. Only texts and bytes have something to read. */
export const looksAtItems: Price = {
  estimate: (args) => {
    const item = itemSize(args[0]);
    return {
      cost: times(sizeOf(args, 0), plus(ONE, item === undefined || !holdsTexts(args[0]?.type) ? ZERO : read(item))),
      ...(item === undefined ? {} : { size: item, sizeUnknown: true }),
    };
  },
  cost: ([list]) => traversal(list),
};
/** Where a text is in another one. */
export const findsText: Price = {
  estimate: (args) => ({ cost: read(sizeOf(args, 0)) }),
  cost: ([text]) => traversal(text),
};
/** Every item of one list against every item of another. */
export const looksAtPairs = (factor: number): Price => ({
  estimate: (args) => ({ cost: plus(ONE, by(times(sizeOf(args, 0), sizeOf(args, 1)), factor)) }),
  cost: ([a, b]) => 1 + actualSize(a) * actualSize(b) * factor,
});

// ---- functions that make lists -------------------------------------------------------------------------------------

const making = (size: Range, factor: number): Range => plus(exactly(1 + LIST), by(size, factor));
const madeOf = (size: number, factor: number): number => 1 + LIST + Math.floor(size * factor);
const itemOf = (list: Sized | undefined): Partial<Sized> => (list?.item === undefined ? {} : { item: list.item });

/** Makes a list of items of another; `count` where the source says how many. */
export const makesList = (count?: (args: readonly Sized[]) => Range): Price => ({
  estimate: (args) => {
    const size = count?.(args) ?? sizeOf(args, 0);
    return { cost: making(size, 1), size, ...itemOf(args[0]) };
  },
  cost: (_, result) => madeOf(actualSize(result), 1),
});
/** Compares every item of the list at a place with every other one. */
export const comparesItems = (at: number): Price => ({
  estimate: (args) => {
    const list = sizeOf(args, at);
    const size = times(list, list);
    // A stock server takes the pairs for the size of the result.
    return { cost: making(size, holdsTexts(args[at]?.type) ? 2 + CHARACTER : 2), size, ...itemOf(args[0]) };
  },
  cost: (args) => {
    const list = args[at] as readonly unknown[];
    const [first] = list;
    return madeOf(list.length ** 2, typeof first === 'string' || first instanceof Uint8Array ? 2 + CHARACTER : 2);
  },
});
export const flattens: Price = {
  estimate: (args) => {
    const depth = args.length < 2 ? 1 : Math.max(0, Number(args[1]?.literal ?? Number.POSITIVE_INFINITY));
    return { cost: making(sizeOf(args, 0), depth), size: sizeOf(args, 0) };
  },
  cost: ([list, depth]) => madeOf(actualSize(list), depth === undefined ? 1 : Number(depth)),
};

// ---- texts taken apart and put together ----------------------------------------------------------------------------

export const splits: Price = {
  estimate: (args) => {
    const limit = args[2]?.literal;
    const most = typeof limit === 'number' && limit >= 0 ? limit : sizeOf(args, 0).max;
    return { cost: by(sizeOf(args, 0), 2 * CHARACTER), size: range(0, most), item: range(0, sizeOf(args, 0).max) };
  },
  cost: ([text]) => readCost(actualSize(text), 2),
};
export const joinsItems: Price = {
  estimate: (args) => {
    const list = sizeOf(args, 0);
    const texts = times(list, itemSize(args[0]) ?? range(0, Number.POSITIVE_INFINITY));
    const between = times(range(Math.max(0, list.min - 1), Math.max(0, list.max - 1)), sizeOf(args, 1));
    const size = plus(texts, between);
    return { cost: read(size), size };
  },
  cost: (_, result) => readCost(actualSize(result), 2),
};
export const replaces: Price = {
  estimate: (args) => {
    const [text, part, by_] = [sizeOf(args, 0), sizeOf(args, 1), sizeOf(args, 2)];
    const size = range(leastReplaced(text.min, part.max, by_.min), mostReplaced(text.max, part.min, by_.max));
    return { cost: by(text, 2 * CHARACTER), size };
  },
  cost: ([text]) => readCost(actualSize(text), 2),
};
/** Nothing stands around every character; else as many parts as there may be are replaced, if that makes the text longer or shorter. */
function mostReplaced(text: number, part: number, replacement: number): number {
  if (part === 0) return replacement === 0 ? text : (text + 1) * replacement + text;
  return replacement <= part ? text : Math.ceil(text / part) * replacement;
}
function leastReplaced(text: number, part: number, replacement: number): number {
  if (part === 0) return (text + 1) * replacement + text;
  return part <= replacement || replacement === 0 ? (part <= replacement ? text : 0) : Math.ceil(text / part) * replacement;
}

/**
 * What a call is expected to cost, from the sizes of its arguments, before any value is known. The figures are those clients
 * know: one unit a call, a tenth of one a character, a quarter a character of a regular expression.
 */
import type { CelType } from './types.ts';

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
  /** Whether a declaration says what its items are like. A stock server does not look at lists that are spelled out. */
  readonly isDeclared?: boolean;
  readonly stock?: boolean;
  readonly type?: CelType;
  /** The value, where the source spells it out. */
  readonly literal?: unknown;
}

export interface Estimate {
  /** The call alone, without its arguments. */
  readonly cost: Range;
  /** Whether a stock server knows no size of the result. Where its figures count, what the type of the result says is taken. */
  readonly sizeUnknown?: boolean;
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
export const by = (a: Range, factor: number): Range => range(Math.ceil(product(a.min, factor)), Math.ceil(product(a.max, factor)));
export const either = (a: Range, b: Range): Range => range(Math.min(a.min, b.min), Math.max(a.max, b.max));

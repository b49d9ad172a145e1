import { FAILURE_UNITS, type Frame } from './budget.ts';
import type { Checked } from './checked-expressions.ts';
import { Failure } from './errors.ts';
import type { CelType } from './types.ts';
import { boxDouble, isOfType, unboxDouble } from './values.ts';

/** A part of a program. Throws Failure, CostExceeded. */
export type Eval = (frame: Frame) => unknown;

/** What a part of an expression becomes, for other files that plan. */
export type Planner = (checked: Checked) => Eval;

/** Converts between doubles as they are and doubles in a place that may hold anything. */
export function adapted(eval_: Eval, from: CelType, to: CelType): Eval {
  if ((from.kind === 'double') === (to.kind === 'double')) return eval_;
  if (from.kind === 'double') return (frame) => boxDouble(eval_(frame) as number);
  return (frame) => unboxDouble(eval_(frame));
}

export const ANY: CelType = { kind: 'dyn' };

/** Units of making a list and a map, as in a stock server. */
export const LIST_UNITS = 10;

export const MAP_UNITS = 30;

export const isKey = (key: unknown): boolean => isOfType(key, { kind: 'string' }) || /^(?:int|uint|bool)$/.test(kindOf(key));

function kindOf(key: unknown): string {
  for (const kind of ['int', 'uint', 'bool'] as const) if (isOfType(key, { kind })) return kind;
  return '';
}

/** What may be made up for; all else goes on. */
export function absorb(frame: Frame, error: unknown): Failure {
  if (!(error instanceof Failure)) throw error;
  frame.spend(FAILURE_UNITS);
  return error;
}

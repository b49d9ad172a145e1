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

export const OBJECT_UNITS = 40;

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

/** A list of which every item is spelled out: the same every time. */
export const isConstantList = (checked: Checked): boolean =>
  checked.op === 'list' && checked.items.every(({ value, optional }) => value.op === 'constant' && !optional);

// ---- what a stock server counts --------------------------------------------------------------------------------------

const conversions = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'uint']);
/** Whether a stock server computes it when it compiles the expression: then it costs nothing. */
export function isFolded(checked: Checked): boolean {
  switch (checked.op) {
    case 'constant':
      return true;
    case 'list':
      return checked.items.every(({ value, optional }) => isFolded(value) && !optional);
    case 'map':
      return checked.entries.every(({ key, value, optional }) => isFolded(key) && isFolded(value) && !optional);
    case 'call':
      return conversions.has(checked.name) && checked.args.length === 1 && isFolded(checked.args[0] as Checked);
    default:
      return false;
  }
}

/** Whether it is a name with what is selected of it, which a stock server resolves as one. */
export function isAttribute(checked: Checked): boolean {
  switch (checked.op) {
    case 'variable':
    case 'local':
    case 'field':
    case 'optionalField':
    case 'conditional':
      return true;
    case 'call':
      return checked.name === '_[_]' || checked.name === '_[?_]';
    default:
      return false;
  }
}
/** A name as an index or a branch is resolved with what is around it: there a stock server does not count it. */
export function withoutName(eval_: Eval, checked: Checked): Eval {
  if (!isAttribute(checked) || checked.op === 'conditional') return eval_;
  return (frame) => {
    frame.charge(-1);
    return eval_(frame);
  };
}

/** Regular expressions, times and spans of time that an expression spells out are checked when it is compiled. */
import type { Call, Expr } from './ast.ts';
import { CostBudget, Frame } from './budget.ts';
import { Failure } from './errors.ts';
import { compilePattern } from './functions/regex.ts';
import { readDuration, readTimestamp } from './functions/time-text.ts';
import type { Meter } from './pattern/match.ts';

/** The argument that is wrong and what is said of it; undefined where nothing is. */
export function wrongLiteral({ name, target, args }: Call, meter: Meter): { readonly at: number; readonly message: string } | undefined {
  const frame = new Frame({}, [], new CostBudget(Number.POSITIVE_INFINITY));
  const check = (arg: Expr | undefined, read: (text: string) => unknown): { at: number; message: string } | undefined => {
    if (arg?.node !== 'literal' || typeof arg.value !== 'string') return undefined;
    try {
      read(arg.value);
      return undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { at: arg.at, message: `invalid ${name} argument` };
    }
  };
  if (name === 'matches') return check(target === undefined ? args[1] : args[0], (text) => compilePattern(text, meter));
  if (target !== undefined || args.length !== 1) return undefined;
  if (name === 'timestamp') return check(args[0], (text) => readTimestamp(frame, text));
  return name === 'duration' ? check(args[0], (text) => readDuration(frame, text)) : undefined;
}

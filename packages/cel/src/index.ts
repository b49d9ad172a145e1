/**
 * CEL, the Common Expression Language: expressions that compute a value from variables, always end, and never cost more than they may.
 *
 *   const program = compile('self.min <= self.max', { self: objectOf('Limits', { min: INT, max: INT }) }, { result: BOOL });
 *   program.estimateCost().max                                                    → 5
 *   program.evaluate({ self: { min: 1, max: 2 } }, new CostBudget(1000))          → true
 *   compile('self.mim <= 1', …)                                                   → throws CelError: undefined field 'mim'
 *   program.evaluate({ self: { min: 1 } }, new CostBudget(1000))                  → throws CelRuntimeError: no such key: max
 *   program.evaluate({ self: { min: 1, max: 2 } }, new CostBudget(2))             → throws CostExceeded
 *
 * Nothing here knows the API: the caller declares the types of its variables (types.ts), and values are read in place.
 */

import { apiRelease } from '@plat-dev/lib/version';
import { CostBudget, Frame } from './budget.ts';
import { check } from './check.ts';
import { type AssumedSizes, estimateCost } from './cost.ts';
import { type Environment, environmentOf } from './environment.ts';
import { CelError, CelRuntimeError, Failure, placeOf, Waiting } from './errors.ts';
import { SyntaxFault } from './lexer.ts';
import { parse } from './parser.ts';
import type { Meter } from './pattern/match.ts';
import { plan } from './plan.ts';
import { assignable, type CelType, showType, type Variables } from './types.ts';
import { Double } from './values.ts';

export { type Environment, type EnvironmentOptions, type Environments, environmentOf, environmentsOf } from './environment.ts';
export { CelError, CelRuntimeError, CostExceeded, fail as failEvaluation, Waiting } from './errors.ts';
export { authorizerLibrary } from './functions/authorizer.ts';
export { mutationLibrary } from './functions/mutation.ts';
export { type NamedFormat, namedFormats } from './functions/named-formats.ts';
export type { Library } from './functions/signature.ts';
export * from './types.ts';
export { CostBudget };

/** Longest source, in UTF-16 units. */
export const MAX_SOURCE = 10_000;
/** Most steps of all regular expressions that a source spells out. */
const MAX_PATTERN_STEPS = 20_000;

export interface CompileOptions {
  /** What the expression may use; everything that there is where it is left out. */
  readonly environment?: Environment;
  /** The type that the result must have. */
  readonly result?: CelType;
  /** Longest source, where that is less than MAX_SOURCE. */
  readonly maxLength?: number;
}

export interface Program {
  readonly source: string;
  /** The type of the result. */
  readonly type: CelType;
  /** Names of the variables that are used. */
  readonly variables: ReadonlySet<string>;
  /** What an evaluation costs at least and at most, from the sizes that the types declare; `sizes` are for what they do not. */
  estimateCost(sizes?: Partial<AssumedSizes>): { readonly min: number; readonly max: number };
  /** Throws CelRuntimeError, and CostExceeded once the budget is used up. The values stay as they are. */
  evaluate(values: Readonly<Record<string, unknown>>, budget: CostBudget): unknown;
}

/** Parses, checks and compiles. Throws CelError. */
export function compile(source: string, variables: Variables, options: CompileOptions = {}): Program {
  const longest = Math.min(options.maxLength ?? MAX_SOURCE, MAX_SOURCE);
  const faultAt = (at: number, message: string): CelError => new CelError(source.slice(0, longest), [{ ...placeOf(source, at), message }]);
  if (source.length > longest) throw faultAt(0, `expression is too long: ${source.length} characters, at most ${longest} are allowed`);
  try {
    return compiled(source, variables, options);
  } catch (error) {
    if (error instanceof SyntaxFault) throw faultAt(error.at, error.message);
    // A regular expression that the source spells out.
    if (error instanceof Failure) throw faultAt(0, error.message);
    throw error;
  }
}

function compiled(source: string, variables: Variables, { result, environment = environmentOf(apiRelease) }: CompileOptions): Program {
  const { root, variables: used, slots, issues } = check(source, parse(source, environment), variables, environment, patternMeter());
  if (issues.length > 0) throw new CelError(source, issues);
  if (result !== undefined && !assignable(result, root.type))
    throw new CelError(source, [{ line: 1, column: 1, message: `expected type '${showType(result)}' but found '${showType(root.type)}'` }]);
  const run = plan(root, patternMeter());
  return {
    source,
    type: root.type,
    variables: used,
    estimateCost: (sizes) => estimateCost(root, environment.isStock, sizes),
    evaluate(values, budget) {
      const frame = new Frame(values, slots === 0 ? NO_LOCALS : new Array<unknown>(slots), budget);
      try {
        const value = run(frame);
        return value instanceof Double ? value.value : value;
      } catch (error) {
        if (error instanceof Failure) throw new CelRuntimeError(error.message);
        // Only values of the API can be nested so deeply.
        if (error instanceof RangeError) throw new CelRuntimeError('a value is too large or nests too deeply');
        throw error;
      } finally {
        frame.end();
      }
    },
  };
}
const NO_LOCALS: unknown[] = [];

/** Counts the steps of the regular expressions that a source spells out. */
function patternMeter(): Meter {
  let remainingSteps = MAX_PATTERN_STEPS;
  return {
    spend(steps) {
      remainingSteps -= steps;
      if (remainingSteps < 0) throw new Failure('the regular expressions of the expression are too large');
    },
    read: () => undefined,
  };
}

/** Evaluates as soon as all answers that the evaluation needs are there: what it asked for is asked again, and costs nothing twice. */
export async function evaluateWhenReady(program: Program, values: Readonly<Record<string, unknown>>, budget: CostBudget): Promise<unknown> {
  const { remaining, cost } = budget;
  for (;;) {
    try {
      return program.evaluate(values, budget);
    } catch (error) {
      if (!(error instanceof Waiting)) throw error;
      await error.answer;
      budget.remaining = remaining;
      budget.cost = cost;
    }
  }
}

/**
 * Evaluates expressions of one policy for one request, with the limits of a stock server: each expression has its own, and all of
 * them share another. Between two expressions the work may pause, and it waits for answers of the authorizer.
 *
 *   const evaluation = AdmissionEvaluation.of(values, variables, POLICY_COST);
 *   yield* evaluation.run(expression)   → { value: true }, or { fault: "expression '…' resulted in error: no such key: a" }
 */
import { CelRuntimeError, CostBudget, CostExceeded, failEvaluation, type Program, Waiting } from '@plat-dev/cel';
import { AuthorizerValue, CheckValue } from '@plat-dev/cel/values';
import type { Work } from '@plat-dev/lib/slices';
import type { Compiled } from './admission-compiler.ts';
import type { AdmissionValues } from './admission-values.ts';

/** What one expression may take, in units of work here and of cost as a stock server counts. */
const CALL_WORK = 1_000_000;
const CALL_COST = 1_000_000;
/** Cost, and work, of all conditions of a policy or a webhook; and of all other expressions of a policy, for a binding and a parameter. */
export const CONDITIONS_COST = 2_500_000;
export const POLICY_COST = 10_000_000;

export interface CompiledExpression {
  readonly source: string;
  readonly compiled: Compiled;
}
export interface CompiledVariable extends CompiledExpression {
  readonly name: string;
}
export type Outcome = { readonly value: unknown; readonly fault?: undefined } | { readonly fault: string };

/** All expressions together took more than they may: none of those that are left is evaluated. */
export class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** What is left for expressions that share it. */
interface Remaining {
  cost: number;
  work: number;
}

export class AdmissionEvaluation {
  private readonly values: Readonly<Record<string, unknown>>;
  private readonly variables: readonly CompiledVariable[];
  private readonly remaining: Remaining;

  private constructor(values: Readonly<Record<string, unknown>>, variables: readonly CompiledVariable[], remaining: Remaining) {
    this.values = { ...values, variables: this.lazyVariables(variables) };
    this.variables = variables;
    this.remaining = remaining;
  }
  static of(values: AdmissionValues, variables: readonly CompiledVariable[], limit: number): AdmissionEvaluation {
    const { object, oldObject, request, params = null, namespaceObject = null, ask, requestResource } = values;
    const authorizer = new AuthorizerValue(ask);
    const checks = { authorizer, 'authorizer.requestResource': new CheckValue(authorizer, 'resource', requestResource) };
    const known = { object, oldObject, request, params, namespaceObject, ...checks };
    return new AdmissionEvaluation(known, variables, { cost: limit, work: limit });
  }

  /** For messages, which cannot ask the authorizer, nor can the variables that they use. It shares what is left. */
  withoutAuthorizer(): AdmissionEvaluation {
    const { authorizer: _, 'authorizer.requestResource': __, ...others } = this.values;
    return new AdmissionEvaluation(others, this.variables, this.remaining);
  }

  /** Throws OutOfBudget. */
  *run({ source, compiled }: CompiledExpression): Work<Outcome> {
    if (compiled.program === undefined) return { fault: compiled.fault };
    for (;;) {
      try {
        return { value: this.evaluated(compiled.program) };
      } catch (error) {
        if (error instanceof Waiting) yield error.answer;
        else if (error instanceof CelRuntimeError || error instanceof CostExceeded)
          return { fault: `expression '${source}' resulted in error: ${error.message}` };
        else throw error;
      }
    }
  }

  /** What waits for an answer costs nothing: it begins again. */
  private evaluated(program: Program): unknown {
    const call = new CostBudget(CALL_WORK, CALL_COST);
    let isWaiting = false;
    try {
      return program.evaluate(this.values, call);
    } catch (error) {
      isWaiting = error instanceof Waiting;
      throw error;
    } finally {
      if (!isWaiting) this.spend(CALL_WORK - call.remaining, CALL_COST - call.cost);
    }
  }
  private spend(work: number, cost: number): void {
    this.remaining.work -= work;
    this.remaining.cost -= cost;
    if (this.remaining.work < 0 || this.remaining.cost < 0) throw new OutOfBudget();
  }

  /** Each variable is evaluated when it is first asked for, and once. */
  private lazyVariables(variables: readonly CompiledVariable[]): object {
    const lazy = {};
    for (const { name, compiled } of variables) {
      let outcome: Outcome | undefined;
      const get = (): unknown => {
        outcome ??= this.variable(name, compiled);
        return outcome.fault === undefined ? outcome.value : failEvaluation(outcome.fault);
      };
      Object.defineProperty(lazy, name, { get, enumerable: true });
    }
    return lazy;
  }
  private variable(name: string, compiled: Compiled): Outcome {
    try {
      if (compiled.program === undefined) return { fault: `composited variable "${name}" fails to compile: ${compiled.fault}` };
      return { value: this.evaluated(compiled.program) };
    } catch (error) {
      if (error instanceof CelRuntimeError || error instanceof CostExceeded)
        return { fault: `composited variable "${name}" fails to evaluate: ${error.message}` };
      throw error;
    }
  }
}

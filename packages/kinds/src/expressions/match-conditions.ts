/** Conditions under which a policy or a webhook is asked: all must hold, and one that is false decides, whatever the others are. */
import type { Work } from '@plat-dev/lib/slices';
import type { ApiRelease } from '@plat-dev/lib/version';
import type { MatchCondition } from '../admissionregistration/schema/policies.ts';
import { AdmissionCompiler, results } from './admission-compiler.ts';
import { AdmissionEvaluation, CONDITIONS_COST, type CompiledExpression, OutOfBudget } from './admission-evaluation.ts';
import type { AdmissionValues } from './admission-values.ts';

export type ConditionsOutcome =
  | { readonly met: true }
  | { readonly met: false; readonly condition: string }
  /** None is false, and some could not be evaluated: the failure policy decides. */
  | { readonly met: undefined; readonly fault: string };

export class MatchConditions {
  private readonly conditions: readonly (CompiledExpression & { readonly name: string })[];

  private constructor(conditions: MatchConditions['conditions']) {
    this.conditions = conditions;
  }

  static *compiled(conditions: readonly MatchCondition[], params: boolean, release: ApiRelease): Work<MatchConditions> {
    const compiler = new AdmissionCompiler(release, 'policy', { params, authorizer: true });
    const compiledConditions = [];
    for (const { name = '', expression = '' } of conditions) {
      yield;
      const source = expression.trim();
      compiledConditions.push({ name, source, compiled: compiler.compile(source, results.bool) });
    }
    return new MatchConditions(compiledConditions);
  }

  *evaluate(values: AdmissionValues): Work<ConditionsOutcome> {
    const evaluation = AdmissionEvaluation.of({ ...values, namespaceObject: undefined }, [], CONDITIONS_COST);
    const faults = new Set<string>();
    let unmet: string | undefined;
    try {
      for (const condition of this.conditions) {
        yield;
        const { fault, ...result } = yield* evaluation.run(condition);
        if (fault !== undefined) faults.add(fault);
        else if ((result as { value: unknown }).value !== true) {
          unmet = condition.name;
          break;
        }
      }
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return { met: undefined, fault: error.message };
    }
    if (unmet !== undefined) return { met: false, condition: unmet };
    if (faults.size === 0) return { met: true };
    const [first] = faults;
    return { met: undefined, fault: faults.size === 1 ? (first as string) : `[${[...faults].join(', ')}]` };
  }
}

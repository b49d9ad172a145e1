/**
 * Everything about policies and conditions that needs the evaluator of expressions. It is loaded with the first object that has
 * expressions.
 *
 *   const { validateConditions } = yield* policyExpressions();   // waits for the first load; after that it is there at once
 */
import type { Work } from '@plat-dev/lib/slices';

type PolicyExpressions = typeof import('./expression-rules.ts');

let loaded: PolicyExpressions | undefined;

export function* policyExpressions(): Work<PolicyExpressions> {
  if (loaded === undefined) yield loadPolicyExpressions();
  return loaded as unknown as PolicyExpressions;
}

async function loadPolicyExpressions(): Promise<void> {
  loaded = await import('./expression-rules.ts');
}

/** Evaluates CEL rules, none of which may cost more than its budget. */
import { BOOL, CelError, CostBudget, CostExceeded, compile, INT, listOf, objectOf, STRING } from '@plat-dev/cel';

const self = objectOf('Service', { minReplicas: INT, maxReplicas: INT, names: listOf(STRING) });
const service = { minReplicas: 1, maxReplicas: 3, names: Array.from({ length: 200 }, (_, i) => `name-${i}`) };

function check(rule: string, budget: number): string {
  try {
    const program = compile(rule, { self }, { result: BOOL });
    return program.evaluate({ self: service }, new CostBudget(budget)) === true ? 'holds' : 'is violated';
  } catch (error) {
    if (error instanceof CostExceeded) return 'costs too much';
    if (error instanceof CelError) return `is wrong: ${error.message}`;
    throw error;
  }
}

const unique = 'self.names.all(a, self.names.exists_one(b, a == b))';
for (const [rule, budget] of [
  ['self.minReplicas <= self.maxReplicas', 100],
  ['self.maxReplicas > 5', 100],
  [unique, 1000],
  [unique, 10_000_000],
  ['self.maxReplica > 5', 100],
] as const)
  console.log(`${rule} within ${budget}: ${check(rule, budget)}`);

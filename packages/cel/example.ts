import { BOOL, CostBudget, CostExceeded, compile, INT, objectOf } from '@plat-dev/cel';

const self = objectOf('Limits', { min: INT, max: INT });
const rule = compile('self.min <= self.max', { self }, { result: BOOL });

console.log(rule.estimateCost());
console.log(rule.evaluate({ self: { min: 1, max: 2 } }, new CostBudget(100)));
try {
  rule.evaluate({ self: { min: 1, max: 2 } }, new CostBudget(2));
} catch (error) {
  console.log(error instanceof CostExceeded);
}

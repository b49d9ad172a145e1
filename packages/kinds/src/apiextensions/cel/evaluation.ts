/** Everything that uses the evaluator of expressions. Loaded with the first definition that has rules. */
export { validateRules } from './rule-checks.ts';
export { ruleReleaseOf } from './rule-release.ts';
export { RuleRun } from './rule-run.ts';
export { ruleTreeOf } from './rule-tree.ts';

/** Everything that evaluates policies and match conditions. Loaded with the first of them. */
export { MatchConditions } from './match-conditions.ts';
export { PolicyChecks } from './policy-checks.ts';
export { PolicyMutations } from './policy-mutations.ts';
export { typeWarnings } from './type-check.ts';

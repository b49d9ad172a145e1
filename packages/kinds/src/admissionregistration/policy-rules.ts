/** Validation of policies; what needs the evaluator of expressions is in expression-rules.ts. */
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import type { ReleaseEnv } from '../kind.ts';
import { validateMatchResources, validateMutatedOperations } from './match-resources-rules.ts';
import { validateParamKind } from './parameter-rules.ts';
import { policyExpressions } from './policy-expressions.ts';
import type { MatchResources, MutatingAdmissionPolicy, ParamKind, ValidatingAdmissionPolicy } from './schema/policies.ts';

const at = Path.of('spec');
const failurePolicies = ['Fail', 'Ignore'];
const reinvocationPolicies = ['IfNeeded', 'Never'];

interface CommonSpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
}

function validateCommon({ failurePolicy = '', paramKind, matchConstraints }: CommonSpec, errors: FieldErrors, env: ReleaseEnv): void {
  if (!failurePolicies.includes(failurePolicy)) errors.notSupported(at.child('failurePolicy'), failurePolicy, failurePolicies);
  if (paramKind !== undefined) validateParamKind(paramKind, at.child('paramKind'), errors);
  const matchAt = at.child('matchConstraints');
  if (matchConstraints === undefined) {
    errors.required(matchAt);
    return;
  }
  validateMatchResources(matchConstraints, matchAt, errors, env);
  if ((matchConstraints.resourceRules ?? []).length === 0) errors.required(matchAt.child('resourceRules'));
}

export function* validatePolicy(
  { metadata, spec }: ValidatingAdmissionPolicy,
  old: ValidatingAdmissionPolicy | undefined,
  errors: FieldErrors,
  env: ReleaseEnv,
): Work<void> {
  validateCommon(spec, errors, env);
  const { validateChecks } = yield* policyExpressions();
  const stored = new Set(old === undefined ? [] : checkExpressions(old));
  yield* validateChecks(metadata.name ?? '', spec, at, errors, { env, params: spec.paramKind !== undefined, stored });
}

/** All expressions of a policy. */
function* checkExpressions({ spec }: ValidatingAdmissionPolicy): Generator<string> {
  yield* commonExpressions(spec);
  for (const { expression, messageExpression = '' } of spec.validations ?? []) yield* [expression, messageExpression];
  for (const { valueExpression } of spec.auditAnnotations ?? []) yield valueExpression;
}
function* commonExpressions({
  matchConditions,
  variables,
}: Pick<ValidatingAdmissionPolicy['spec'], 'matchConditions' | 'variables'>): Generator<string> {
  for (const { expression = '' } of matchConditions ?? []) yield expression.trim();
  for (const { expression } of variables ?? []) yield expression;
}

export function* validateMutatingPolicy(
  { spec }: MutatingAdmissionPolicy,
  old: MutatingAdmissionPolicy | undefined,
  errors: FieldErrors,
  env: ReleaseEnv,
): Work<void> {
  validateCommon(spec, errors, env);
  validateMutatedOperations(spec.matchConstraints, at.child('matchConstraints'), errors);
  const { validateMutations } = yield* policyExpressions();
  const stored = new Set(old === undefined ? [] : mutationExpressions(old));
  yield* validateMutations(spec, at, errors, { env, params: spec.paramKind !== undefined, stored });
  const { reinvocationPolicy = '' } = spec;
  if (reinvocationPolicy === '') errors.required(at.child('reinvocationPolicy'));
  else if (!reinvocationPolicies.includes(reinvocationPolicy))
    errors.notSupported(at.child('reinvocationPolicy'), reinvocationPolicy, reinvocationPolicies);
}

function* mutationExpressions({ spec }: MutatingAdmissionPolicy): Generator<string> {
  yield* commonExpressions(spec);
  for (const { applyConfiguration, jsonPatch } of spec.mutations ?? [])
    yield* [applyConfiguration?.expression ?? '', jsonPatch?.expression ?? ''];
}

/** Validation of the expressions of policies and conditions: they compile, and give values of the right type. */
import type { Work } from '@plat-dev/lib/slices';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { qualifiedName } from '@plat-dev/meta/names';
import { AdmissionCompiler, type Compiled, isVariableName, results } from '../expressions/admission-compiler.ts';
import type { ReleaseEnv } from '../kind.ts';
import { qualified, report } from '../validation/field-checks.ts';
import type { MatchCondition, MutatingSpec, ValidatingSpec } from './schema/policies.ts';

/** Most conditions of a policy or a webhook. */
const MAX_CONDITIONS = 64;
const MAX_AUDIT_ANNOTATIONS = 20;
/** Most bytes of the expression for the value of an audit annotation. */
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
/** From 1.34 on errors do not repeat the name of their field. */
const SHORT_SINCE = '1.34';
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const patchTypes = ['ApplyConfiguration', 'JSONPatch'];

export interface ConditionContext {
  readonly env: ReleaseEnv;
  readonly params: boolean;
  /** Expressions of the stored object: they may use what new ones may not yet. */
  readonly stored: ReadonlySet<string>;
}

export function* validateConditions(
  conditions: readonly MatchCondition[] | undefined,
  at: Path,
  errors: FieldErrors,
  { env, params, stored }: ConditionContext,
): Work<void> {
  if (conditions === undefined || conditions.length === 0) return;
  if (conditions.length > MAX_CONDITIONS) errors.tooMany(at, conditions.length, MAX_CONDITIONS);
  const compiler = new AdmissionCompiler(env.release, 'policy', { params, authorizer: true });
  const names = new Set<string>();
  for (const [i, { name = '', expression = '' }] of conditions.entries()) {
    if (errors.full) return;
    yield;
    const here = at.index(i);
    const trimmed = expression.trim();
    if (trimmed === '') errors.required(here.child('expression'));
    else
      invalidWhere(compiler.compile(trimmed, results.bool, { isStored: stored.has(trimmed) }), trimmed, here.child('expression'), errors);
    if (name === '') errors.required(here.child('name'));
    else {
      qualified(name, here.child('name'), errors);
      if (names.has(name)) errors.duplicate(here.child('name'), name);
    }
    names.add(name);
  }
}

function invalidWhere({ fault }: Compiled, expression: string, at: Path, errors: FieldErrors): void {
  if (fault !== undefined) errors.invalid(at, expression, fault);
}

interface SpecContext extends ConditionContext {
  readonly compiler: AdmissionCompiler;
  readonly at: Path;
  readonly errors: FieldErrors;
}

function contextOf(use: 'policy' | 'mutation', at: Path, errors: FieldErrors, context: ConditionContext): SpecContext {
  const compiler = new AdmissionCompiler(context.env.release, use, { params: context.params, authorizer: true });
  return { ...context, compiler, at, errors };
}

/** Everything of a validating policy that has expressions. */
export function* validateChecks(name: string, spec: ValidatingSpec, at: Path, errors: FieldErrors, context: ConditionContext): Work<void> {
  const { validations = [], auditAnnotations = [] } = spec;
  yield* validateConditions(spec.matchConditions, at.child('matchConditions'), errors, context);
  const whole = contextOf('policy', at, errors, context);
  yield* validateVariables(spec.variables, whole);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    errors.required(at.child('validations'), detail);
    if (context.env.since('1.27')) errors.required(at.child('auditAnnotations'), detail);
  }
  for (const [i, validation] of validations.entries()) {
    if (errors.full) return;
    yield;
    validateValidation(validation, at.child('validations').index(i), whole);
  }
  yield* validateAnnotations(name, auditAnnotations, whole);
}

function* validateVariables(variables: ValidatingSpec['variables'], context: SpecContext): Work<void> {
  const { compiler, at, errors, env, stored } = context;
  for (const [i, { name, expression }] of (variables ?? []).entries()) {
    if (errors.full) return;
    yield;
    const here = at.child('variables').index(i);
    const invalidName = env.since(SHORT_SINCE) ? 'must be a valid CEL identifier' : 'name is not a valid CEL identifier';
    if (name.trim() === '') errors.required(here.child('name'), 'name is not specified');
    else if (!isVariableName(name)) errors.invalid(here.child('name'), name, invalidName);
    if (expression.trim() === '') errors.required(here.child('expression'), 'expression is not specified');
    else invalidWhere(compiler.addVariable(name, expression, stored.has(expression)), expression, here.child('expression'), errors);
  }
}

type Validation = NonNullable<ValidatingSpec['validations']>[number];
const lineBreak = /[\n\r]/;

function validateValidation(validation: Validation, at: Path, { compiler, errors, env, stored }: SpecContext): void {
  const { expression, message = '', messageExpression = '', reason } = validation;
  const field = env.since(SHORT_SINCE) ? '' : 'message ';
  if (expression.trim() === '') errors.required(at.child('expression'), 'expression is not specified');
  else
    invalidWhere(
      compiler.compile(expression, results.bool, { isStored: stored.has(expression) }),
      expression,
      at.child('expression'),
      errors,
    );
  const messageAt = at.child('messageExpression');
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.invalid(messageAt, messageExpression, 'must be non-empty if specified');
  else if (messageExpression !== '')
    invalidWhere(
      compiler.compile(messageExpression, results.text, { isStored: stored.has(messageExpression), authorizer: false }),
      messageExpression,
      messageAt,
      errors,
    );
  if (message !== '' && message.trim() === '') errors.invalid(at.child('message'), message, `${field}must be non-empty if specified`);
  else if (lineBreak.test(message.trim())) errors.invalid(at.child('message'), message, `${field}must not contain line breaks`);
  if (reason !== undefined && !reasons.includes(reason)) errors.notSupported(at.child('reason'), reason, reasons);
}

type AuditAnnotation = NonNullable<ValidatingSpec['auditAnnotations']>[number];

function* validateAnnotations(policy: string, annotations: readonly AuditAnnotation[], context: SpecContext): Work<void> {
  const { compiler, errors, stored } = context;
  const at = context.at.child('auditAnnotations');
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    const shown = annotations.map(({ key, valueExpression }) => ({ Key: key, ValueExpression: valueExpression }));
    errors.invalid(at, shown, `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`);
  }
  const keys = new Set<string>();
  for (const [i, { key, valueExpression }] of annotations.entries()) {
    if (errors.full) return;
    yield;
    const here = at.index(i);
    if (policy === '') errors.invalid(here.child('key'), key, 'requires metadata.name be non-empty');
    else report(errors, here.child('key'), `${policy}/${key}`, qualifiedName(`${policy}/${key}`));
    const trimmed = valueExpression.trim();
    const valueAt = here.child('valueExpression');
    if (trimmed === '') errors.required(valueAt, 'valueExpression is not specified');
    else if (Buffer.byteLength(trimmed) > MAX_VALUE_EXPRESSION_BYTES)
      errors.required(valueAt, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`);
    else
      invalidWhere(
        compiler.compile(trimmed, results.textOrNull, { isStored: stored.has(valueExpression) }),
        valueExpression,
        valueAt,
        errors,
      );
    if (keys.has(key)) errors.duplicate(here.child('key'), key);
    keys.add(key);
  }
}

// ---- mutating policies ---------------------------------------------------------------------------------------------

/** Everything of a mutating policy that has expressions. */
export function* validateMutations(spec: MutatingSpec, at: Path, errors: FieldErrors, context: ConditionContext): Work<void> {
  yield* validateConditions(spec.matchConditions, at.child('matchConditions'), errors, context);
  const whole = contextOf('mutation', at, errors, context);
  yield* validateVariables(spec.variables, whole);
  const { mutations = [] } = spec;
  const mutationsAt = at.child('mutations');
  if (mutations.length === 0) errors.required(mutationsAt, 'mutations must contain at least one item');
  for (const [i, mutation] of mutations.entries()) {
    if (errors.full) return;
    yield;
    validateMutation(mutation, mutationsAt.index(i), whole);
  }
}

type Mutation = NonNullable<MutatingSpec['mutations']>[number];

function validateMutation(mutation: Mutation, at: Path, { compiler, errors, stored }: SpecContext): void {
  const { patchType } = mutation;
  if (patchType === '') {
    errors.required(at.child('patchType'));
    return;
  }
  if (!patchTypes.includes(patchType)) {
    errors.notSupported(at.child('patchType'), patchType, patchTypes);
    return;
  }
  const [own, other] =
    patchType === 'JSONPatch' ? (['jsonPatch', 'applyConfiguration'] as const) : (['applyConfiguration', 'jsonPatch'] as const);
  const only = `specified when patchType is ${patchType}`;
  const patch = mutation[own];
  if (patch === undefined) errors.required(at.child(own), `must be ${only}`);
  if (mutation[other] !== undefined) errors.invalid(at.child(other), `{${other}}`, `must not be ${only}`);
  if (patch === undefined) return;
  const { expression = '' } = patch;
  const expressionAt = at.child(own).child('expression');
  if (expression.trim() === '') errors.required(expressionAt);
  else {
    const expected = own === 'jsonPatch' ? results.patches : results.object;
    invalidWhere(compiler.compile(expression, expected, { isStored: stored.has(expression) }), expression, expressionAt, errors);
  }
}

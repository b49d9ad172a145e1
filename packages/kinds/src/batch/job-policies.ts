/** Validation of what a job does about pods that fail, and of when it has succeeded. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { domainPrefixedPath, negativeProblem } from '@plat-dev/meta/names';
import type { KindEnv } from '../kind.ts';
import { each } from '../validation/each.ts';
import { qualified, report } from '../validation/field-checks.ts';
import { countIndexes, readIndexes } from './job-indexes.ts';
import type { JobSpec } from './schema/v1.ts';

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_CONDITIONS = 20;
const MAX_FAILED_INDEXES = 100_000;
/** Jobs of more completions have lower bounds where each index has its own limit. */
const MANY_COMPLETIONS = 100_000;
const MAX_AT_ONCE_OF_MANY = 10_000;
const MAX_MANAGER_BYTES = 63;
const MAX_INDEXES_BYTES = 64 * 1024;

const statuses = ['False', 'True', 'Unknown'];
const operators = ['In', 'NotIn'];
const replacements = ['Failed', 'TerminatingOrFailed'];
const quotedList = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;

export function validatePolicies(spec: JobSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  validateIndexLimits(spec, at, errors);
  if (spec.managedBy !== undefined) {
    report(errors, at.child('managedBy'), spec.managedBy, domainPrefixedPath(spec.managedBy));
    if (Buffer.byteLength(spec.managedBy) > MAX_MANAGER_BYTES) errors.tooLong(at.child('managedBy'), MAX_MANAGER_BYTES);
  }
  if (spec.podFailurePolicy !== undefined) validateFailurePolicy(spec, at.child('podFailurePolicy'), errors, env);
  if (spec.successPolicy !== undefined) {
    if (spec.completionMode !== 'Indexed')
      errors.invalid(at.child('successPolicy'), spec.successPolicy, 'requires indexed completion mode');
    else validateSuccessPolicy(spec, at.child('successPolicy'), errors);
  }
  const { podReplacementPolicy: replacement } = spec;
  const allowed = spec.podFailurePolicy === undefined ? replacements : ['Failed'];
  if (replacement !== undefined && !allowed.includes(replacement))
    errors.notSupported(at.child('podReplacementPolicy'), replacement, allowed);
}

function validateIndexLimits(spec: JobSpec, at: Path, errors: FieldErrors): void {
  const { backoffLimitPerIndex: limit, maxFailedIndexes: most, completions, parallelism = 0 } = spec;
  const mostAt = at.child('maxFailedIndexes');
  if (limit !== undefined && limit < 0) errors.invalid(at.child('backoffLimitPerIndex'), limit, negativeProblem);
  if (most !== undefined) {
    if (most < 0) errors.invalid(mostAt, most, negativeProblem);
    if (limit === undefined) errors.required(at.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified');
  }
  if (spec.completionMode !== 'Indexed') {
    if (spec.completionMode !== undefined && spec.completionMode !== 'NonIndexed') return;
    if (limit !== undefined) errors.invalid(at.child('backoffLimitPerIndex'), limit, 'requires indexed completion mode');
    if (most !== undefined) errors.invalid(mostAt, most, 'requires indexed completion mode');
    return;
  }
  if (completions !== undefined && most !== undefined && most > completions)
    errors.invalid(mostAt, most, 'must be less than or equal to completions');
  if (most !== undefined && most > MAX_FAILED_INDEXES) errors.invalid(mostAt, most, `must be less than or equal to ${MAX_FAILED_INDEXES}`);
  if (completions === undefined || completions <= MANY_COMPLETIONS || limit === undefined) return;
  const ofMany = `must be less than or equal to ${MAX_AT_ONCE_OF_MANY} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (most === undefined) errors.required(mostAt, `must be specified when completions is above ${MANY_COMPLETIONS}`);
  if (parallelism > MAX_AT_ONCE_OF_MANY) errors.invalid(at.child('parallelism'), parallelism, ofMany);
  if (most !== undefined && most > MAX_AT_ONCE_OF_MANY) errors.invalid(mostAt, most, ofMany);
}

// ---- pods that fail ----------------------------------------------------------------------------------------------

type FailureRule = NonNullable<NonNullable<JobSpec['podFailurePolicy']>['rules']>[number];

/** The actions of a release. */
const actionsIn = (env: KindEnv): readonly string[] =>
  env.since('1.28') && env.feature('JobBackoffLimitPerIndex')
    ? ['Count', 'FailIndex', 'FailJob', 'Ignore']
    : ['Count', 'FailJob', 'Ignore'];

function validateFailurePolicy(spec: JobSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const { containers = [], initContainers = [] } = spec.template.spec;
  const names = new Set([...containers, ...initContainers].map(({ name }) => name));
  if (rules.length > MAX_RULES) errors.tooMany(at.child('rules'), rules.length, MAX_RULES);
  each(rules, at.child('rules'), (rule, here) => validateFailureRule(rule, spec, names, here, errors, env));
}

function validateFailureRule(
  rule: FailureRule,
  spec: JobSpec,
  containers: ReadonlySet<string>,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
): void {
  const { action = '', onExitCodes, onPodConditions = [] } = rule;
  const actions = actionsIn(env);
  const actionAt = at.child('action');
  if (action === '') errors.required(actionAt, `valid values: ${quotedList(actions)}`);
  else if (action === 'FailIndex' && env.since('1.28')) {
    if (spec.backoffLimitPerIndex === undefined) errors.invalid(actionAt, action, 'requires the backoffLimitPerIndex to be set');
  } else if (!actions.includes(action)) errors.notSupported(actionAt, action, actions);
  if (onExitCodes !== undefined) validateExitCodes(onExitCodes, containers, at.child('onExitCodes'), errors);
  validateConditions(onPodConditions, at.child('onPodConditions'), errors);
  const alone = (detail: string): void => errors.add('FieldValueInvalid', at, `Invalid value: ${detail}`);
  if (onExitCodes !== undefined && onPodConditions.length > 0) alone('specifying both OnExitCodes and OnPodConditions is not supported');
  if (onExitCodes === undefined && onPodConditions.length === 0) alone('specifying one of OnExitCodes and OnPodConditions is required');
}

function validateExitCodes(
  { operator = '', containerName, values = [] }: NonNullable<FailureRule['onExitCodes']>,
  containers: ReadonlySet<string>,
  at: Path,
  errors: FieldErrors,
): void {
  if (operator === '') errors.required(at.child('operator'), `valid values: ${quotedList(operators)}`);
  else if (!operators.includes(operator)) errors.notSupported(at.child('operator'), operator, operators);
  if (containerName !== undefined && !containers.has(containerName))
    errors.invalid(at.child('containerName'), containerName, 'must be one of the container or initContainer names in the pod template');
  const list = at.child('values');
  if (values.length === 0) errors.invalid(list, values, 'at least one value is required');
  else if (values.length > MAX_EXIT_CODES) errors.tooMany(list, values.length, MAX_EXIT_CODES);
  const codes = new Set<number>();
  each(values, list, (code, here) => {
    if (operator === 'In' && code === 0) errors.invalid(here, code, 'must not be 0 for the In operator');
    if (codes.has(code)) errors.duplicate(here, code);
    codes.add(code);
  });
  if (values.some((code, i) => i > 0 && (values[i - 1] as number) > code)) errors.invalid(list, values, 'must be ordered');
}

function validateConditions(patterns: NonNullable<FailureRule['onPodConditions']>, at: Path, errors: FieldErrors): void {
  if (patterns.length > MAX_CONDITIONS) errors.tooMany(at, patterns.length, MAX_CONDITIONS);
  each(patterns, at, ({ type, status = '' }, here) => {
    qualified(type, here.child('type'), errors);
    if (status === '') errors.required(here.child('status'), `valid values: ${quotedList(statuses)}`);
    else if (!statuses.includes(status)) errors.notSupported(here.child('status'), status, statuses);
  });
}

// ---- success -----------------------------------------------------------------------------------------------------

type SuccessRule = NonNullable<NonNullable<JobSpec['successPolicy']>['rules']>[number];

function validateSuccessPolicy({ successPolicy, completions = 0 }: JobSpec, at: Path, errors: FieldErrors): void {
  const rules = successPolicy?.rules ?? [];
  if (rules.length === 0) errors.required(at.child('rules'), 'at least one rules must be specified when the successPolicy is specified');
  if (rules.length > MAX_RULES) errors.tooMany(at.child('rules'), rules.length, MAX_RULES);
  each(rules, at.child('rules'), (rule, here) => validateSuccessRule(rule, completions, here, errors));
}

function validateSuccessRule(
  { succeededCount: count, succeededIndexes: text }: SuccessRule,
  completions: number,
  at: Path,
  errors: FieldErrors,
): void {
  if (count === undefined && text === undefined)
    errors.required(at, 'at least one of succeededCount or succeededIndexes must be specified');
  let named = 0;
  if (text !== undefined) {
    const here = at.child('succeededIndexes');
    if (Buffer.byteLength(text) > MAX_INDEXES_BYTES) errors.tooLong(here, MAX_INDEXES_BYTES);
    else
      try {
        named = countIndexes(readIndexes(text, completions));
      } catch (error) {
        errors.invalid(here, text, `error parsing succeededIndexes: ${(error as Error).message}`);
      }
  }
  if (count === undefined) return;
  const here = at.child('succeededCount');
  if (count < 0) errors.invalid(here, count, negativeProblem);
  if (count > completions)
    errors.invalid(here, count, `must be less than or equal to ${completions} (the number of specified completions)`);
  if (text !== undefined && count > named)
    errors.invalid(here, count, `must be less than or equal to ${named} (the number of indexes in the specified succeededIndexes field)`);
}

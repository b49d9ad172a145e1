/** Validation of tolerations, topology spread and scheduling gates. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { labelKey, labelValue } from '@plat-dev/meta/names';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { Toleration, TopologySpreadConstraint } from '../../core/schema/pods/scheduling.ts';
import type { KindEnv } from '../../kind.ts';
import { repeats } from '../each.ts';
import { qualified, report } from '../field-checks.ts';
import { invalidText } from '../go-text.ts';
import { validateLabelKeys, validateSeparateKeys } from './label-keys.ts';

// ---- tolerations -------------------------------------------------------------------------------------------------

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const equality = ['Equal', 'Exists'];
const anyKey = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

export function validateTolerations(tolerations: readonly Toleration[], at: Path, errors: FieldErrors, env: KindEnv): void {
  for (let i = 0; i < tolerations.length; i++) validateToleration(tolerations[i] as Toleration, at.index(i), errors, env);
}

function validateToleration(toleration: Toleration, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  if (key !== '') report(errors, at.child('key'), key, labelKey(key));
  else if (operator !== 'Exists') errors.invalid(at.child('operator'), operator, anyKey);
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    errors.invalid(at.child('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  if (operator === 'Equal' || operator === '') {
    const problems = labelValue(value);
    if (problems.length > 0) errors.invalid(at.child('operator'), value, problems.join(';'));
  } else if (operator === 'Exists') {
    if (value !== '')
      invalidText(errors, at.child('operator'), tolerationText(toleration), "value must be empty when `operator` is 'Exists'");
  } else if (env.since('1.35') && (operator === 'Lt' || operator === 'Gt')) validateComparison(operator, value, at, errors, env);
  else errors.notSupported(at.child('operator'), operator, equality);
  if (effect !== '' && !taintEffects.includes(effect)) errors.notSupported(at.child('effect'), effect, taintEffects);
}

/** Taints whose value is a number below or above that of the toleration. */
function validateComparison(operator: string, value: string, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (!env.feature('TaintTolerationComparisonOperators')) errors.notSupported(at.child('operator'), operator, [...equality, 'Lt', 'Gt']);
  else if (!/^(0|-?[1-9][0-9]*)$/.test(value))
    errors.invalid(at.child('value'), value, 'must be a valid decimal integer in canonical form');
  else if (BigInt.asIntN(64, BigInt(value)) !== BigInt(value))
    errors.invalid(at.child('value'), value, `strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`);
}

export function tolerationText({ key = '', operator = '', value = '', effect = '', tolerationSeconds }: Toleration): string {
  const q = JSON.stringify;
  const seconds = tolerationSeconds === undefined ? '(*int64)(nil)' : `(*int64)(${tolerationSeconds})`;
  return `core.Toleration{Key:${q(key)}, Operator:${q(operator)}, Value:${q(value)}, Effect:${q(effect)}, TolerationSeconds:${seconds}}`;
}

// ---- spreading ---------------------------------------------------------------------------------------------------

const spreadActions = ['DoNotSchedule', 'ScheduleAnyway'];

const inclusionPolicies = ['Honor', 'Ignore'];

export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[],
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
): void {
  // All but the last of equal ones are reported.
  const again = repeats([...constraints].reverse(), ({ topologyKey, whenUnsatisfiable }) =>
    JSON.stringify([topologyKey, whenUnsatisfiable]),
  ).reverse();
  constraints.forEach((constraint, i) => {
    const here = at.index(i);
    const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = constraint;
    if (maxSkew <= 0) errors.invalid(here.child('maxSkew'), maxSkew, 'must be greater than zero');
    if (topologyKey === '') errors.required(here.child('topologyKey'), 'can not be empty');
    if (!spreadActions.includes(whenUnsatisfiable)) errors.notSupported(here.child('whenUnsatisfiable'), whenUnsatisfiable, spreadActions);
    if (again[i]) errors.duplicate(here.child('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${whenUnsatisfiable}}`);
    if (minDomains !== undefined) validateMinDomains(minDomains, whenUnsatisfiable, here.child('minDomains'), errors);
    for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const policy = constraint[field];
      if (policy !== undefined && !inclusionPolicies.includes(policy)) errors.notSupported(here.child(field), policy, inclusionPolicies);
    }
    if (env.feature('MatchLabelKeysInPodTopologySpreadSelectorMerge')) validateLabelKeys(constraint, here, errors);
    else validateSeparateKeys(constraint, !env.since('1.27'), here.child('matchLabelKeys'), errors);
    if (env.since('1.27') && !env.feature(invalidSpreadSelectors))
      validateLabelSelector(constraint.labelSelector, here.child('labelSelector'), errors);
  });
}
/** What is stored may stay: no gate of its own, but a rule of pod-gates.ts says when an update may keep it. */
export const invalidSpreadSelectors = 'invalidSpreadSelectors';

function validateMinDomains(minDomains: number, action: string, at: Path, errors: FieldErrors): void {
  if (minDomains <= 0) errors.invalid(at, minDomains, 'must be greater than zero');
  if (action !== 'DoNotSchedule')
    errors.invalid(at, minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`);
}

// ---- scheduling gates --------------------------------------------------------------------------------------------

export function validateSchedulingGates(gates: NonNullable<PodSpec['schedulingGates']>, at: Path, errors: FieldErrors): void {
  const names = new Set<string>();
  gates.forEach(({ name }, i) => {
    qualified(name, at.index(i), errors);
    if (names.has(name)) errors.duplicate(at.index(i), name);
    names.add(name);
  });
}

/** Validation of scheduling constraints: node selectors, affinity, tolerations, topology spread. */

import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { dns1123Label, dns1123Subdomain, labelKey, labelValue } from '@plat-dev/meta/names';
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
} from '../../core/schema/pods/scheduling.ts';
import { repeats } from '../each.ts';
import { report } from '../field-checks.ts';
import { invalidText } from '../go-text.ts';

const hard = 'requiredDuringSchedulingIgnoredDuringExecution';
const soft = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(affinity: Affinity, at: Path, errors: FieldErrors): void {
  if (affinity.nodeAffinity !== undefined) validateNodeAffinity(affinity.nodeAffinity, at.child('nodeAffinity'), errors);
  if (affinity.podAffinity !== undefined) validatePodAffinity(affinity.podAffinity, at.child('podAffinity'), errors);
  if (affinity.podAntiAffinity !== undefined) validatePodAffinity(affinity.podAntiAffinity, at.child('podAntiAffinity'), errors);
}

// ---- nodes -------------------------------------------------------------------------------------------------------

function validateNodeAffinity(affinity: NodeAffinity, at: Path, errors: FieldErrors): void {
  if (affinity[hard] !== undefined) validateNodeSelector(affinity[hard], at.child(hard), errors);
  affinity[soft]?.forEach(({ weight, preference }, i) => {
    const here = at.child(soft).index(i);
    validateWeight(weight, here, errors);
    validateNodeSelectorTerm(preference, here.child('preference'), errors);
  });
}

function validateWeight(weight: number, at: Path, errors: FieldErrors): void {
  if (weight <= 0 || weight > 100) errors.invalid(at.child('weight'), weight, 'must be in the range 1-100');
}

export function validateNodeSelector(selector: NodeSelector, at: Path, errors: FieldErrors): void {
  const terms = selector.nodeSelectorTerms ?? [];
  const termsAt = at.child('nodeSelectorTerms');
  if (terms.length === 0) errors.required(termsAt, 'must have at least one node selector term');
  terms.forEach((term, i) => {
    validateNodeSelectorTerm(term, termsAt.index(i), errors);
  });
}

function validateNodeSelectorTerm(term: NodeSelectorTerm, at: Path, errors: FieldErrors): void {
  term.matchExpressions?.forEach((r, i) => {
    validateNodeLabelRequirement(r, at.child('matchExpressions').index(i), errors);
  });
  term.matchFields?.forEach((r, i) => {
    validateNodeFieldRequirement(r, at.child('matchFields').index(i), errors);
  });
}

function validateNodeLabelRequirement({ key, operator, values }: NodeSelectorRequirement, at: Path, errors: FieldErrors): void {
  const count = values?.length ?? 0;
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (count === 0) errors.required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (count > 0) errors.forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      break;
    case 'Gt':
    case 'Lt':
      if (count !== 1) errors.required(at.child('values'), "must be specified single value when `operator` is 'Lt' or 'Gt'");
      break;
    default:
      errors.invalid(at.child('operator'), operator, 'not a valid selector operator');
  }
  report(errors, at.child('key'), key, labelKey(key));
}

/** Of the fields of a node only its name can be selected. */
function validateNodeFieldRequirement({ key, operator, values = [] }: NodeSelectorRequirement, at: Path, errors: FieldErrors): void {
  if (operator !== 'In' && operator !== 'NotIn') errors.invalid(at.child('operator'), operator, 'not a valid selector operator');
  else if (values.length !== 1)
    errors.required(at.child('values'), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  if (key !== 'metadata.name') errors.invalid(at.child('key'), key, 'not a valid field selector key');
  else
    values.forEach((value, i) => {
      report(errors, at.child('values').index(i), value, dns1123Subdomain(value));
    });
}

// ---- other pods --------------------------------------------------------------------------------------------------

function validatePodAffinity(affinity: PodAffinity, at: Path, errors: FieldErrors): void {
  affinity[hard]?.forEach((term, i) => {
    validatePodTerm(term, at.child(hard).index(i), errors);
  });
  affinity[soft]?.forEach(({ weight, podAffinityTerm }, i) => {
    const here = at.child(soft).index(i);
    validateWeight(weight, here, errors);
    validatePodTerm(podAffinityTerm, here.child('podAffinityTerm'), errors);
  });
}

function validatePodTerm(term: PodAffinityTerm, at: Path, errors: FieldErrors): void {
  validateLabelSelector(term.labelSelector, at.child('labelSelector'), errors);
  validateLabelSelector(term.namespaceSelector, at.child('namespaceSelector'), errors);
  for (const name of term.namespaces ?? []) report(errors, at.child('namespace'), name, dns1123Label(name));
  const { topologyKey } = term;
  if (topologyKey === '') errors.required(at.child('topologyKey'), 'can not be empty');
  report(errors, at.child('topologyKey'), topologyKey, labelKey(topologyKey));
}

// ---- tolerations -------------------------------------------------------------------------------------------------

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const anyKey = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

export function validateTolerations(tolerations: readonly Toleration[], at: Path, errors: FieldErrors): void {
  for (let i = 0; i < tolerations.length; i++) validateToleration(tolerations[i] as Toleration, at.index(i), errors);
}

function validateToleration(toleration: Toleration, at: Path, errors: FieldErrors): void {
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
  } else errors.notSupported(at.child('operator'), operator, ['Equal', 'Exists']);
  if (effect !== '' && !taintEffects.includes(effect)) errors.notSupported(at.child('effect'), effect, taintEffects);
}

export function tolerationText({ key = '', operator = '', value = '', effect = '', tolerationSeconds }: Toleration): string {
  const q = JSON.stringify;
  const seconds = tolerationSeconds === undefined ? '(*int64)(nil)' : `(*int64)(${tolerationSeconds})`;
  return `core.Toleration{Key:${q(key)}, Operator:${q(operator)}, Value:${q(value)}, Effect:${q(effect)}, TolerationSeconds:${seconds}}`;
}

// ---- spreading ---------------------------------------------------------------------------------------------------

const spreadActions = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateTopologySpread(constraints: readonly TopologySpreadConstraint[], at: Path, errors: FieldErrors): void {
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
  });
}

function validateMinDomains(minDomains: number, action: string, at: Path, errors: FieldErrors): void {
  if (minDomains <= 0) errors.invalid(at, minDomains, 'must be greater than zero');
  if (action !== 'DoNotSchedule')
    errors.invalid(at, minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`);
}

/** Validation of node selectors and affinities. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { dns1123Label, dns1123Subdomain, labelKey } from '@plat-dev/meta/names';
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '../../core/schema/pods/scheduling.ts';
import type { KindEnv } from '../../kind.ts';
import { report } from '../field-checks.ts';
import { validateLabelKeys } from './label-keys.ts';

const hard = 'requiredDuringSchedulingIgnoredDuringExecution';
const soft = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(affinity: Affinity, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (affinity.nodeAffinity !== undefined) validateNodeAffinity(affinity.nodeAffinity, at.child('nodeAffinity'), errors);
  if (affinity.podAffinity !== undefined) validatePodAffinity(affinity.podAffinity, at.child('podAffinity'), errors, env);
  if (affinity.podAntiAffinity !== undefined) validatePodAffinity(affinity.podAntiAffinity, at.child('podAntiAffinity'), errors, env);
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

function validatePodAffinity(affinity: PodAffinity, at: Path, errors: FieldErrors, env: KindEnv): void {
  affinity[hard]?.forEach((term, i) => {
    validatePodTerm(term, at.child(hard).index(i), errors, env);
  });
  affinity[soft]?.forEach(({ weight, podAffinityTerm }, i) => {
    const here = at.child(soft).index(i);
    validateWeight(weight, here, errors);
    validatePodTerm(podAffinityTerm, here.child('podAffinityTerm'), errors, env);
  });
}

function validatePodTerm(term: PodAffinityTerm, at: Path, errors: FieldErrors, env: KindEnv): void {
  validateLabelSelector(term.labelSelector, at.child('labelSelector'), errors);
  validateLabelSelector(term.namespaceSelector, at.child('namespaceSelector'), errors);
  for (const name of term.namespaces ?? []) report(errors, at.child('namespace'), name, dns1123Label(name));
  if (env.feature('MatchLabelKeysInPodAffinity')) validateLabelKeys(term, at, errors);
  const { topologyKey } = term;
  if (topologyKey === '') errors.required(at.child('topologyKey'), 'can not be empty');
  report(errors, at.child('topologyKey'), topologyKey, labelKey(topologyKey));
}

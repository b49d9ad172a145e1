/** Pod disruption budgets. */

import { equal } from '@plat-dev/lib/equal';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { pathSegmentName } from '@plat-dev/meta/names';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind, version } from '../kind.ts';
import type { LabelSelector } from '../meta.ts';
import { status } from '../subresources.ts';
import { validateConditions } from '../validation/conditions.ts';
import { amountOrPercentage, atMostAll, notNegative } from '../validation/field-checks.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

const specPath = Path.of('spec');
const statusPath = Path.of('status');

function validate({ spec }: v1.PodDisruptionBudget, errors: FieldErrors): void {
  const { minAvailable, maxUnavailable, selector } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined)
    errors.invalid(specPath, spec, 'minAvailable and maxUnavailable cannot be both set');
  for (const [field, amount] of [['minAvailable', minAvailable] as const, ['maxUnavailable', maxUnavailable] as const]) {
    if (amount === undefined) continue;
    amountOrPercentage(amount, specPath.child(field), errors);
    atMostAll(amount, specPath.child(field), errors);
  }
  validateLabelSelector(selector, specPath.child('selector'), errors);
  const { unhealthyPodEvictionPolicy: unhealthy } = spec;
  if (unhealthy !== undefined && !unhealthyPolicies.includes(unhealthy))
    errors.notSupported(specPath.child('unhealthyPodEvictionPolicy'), unhealthy, unhealthyPolicies);
}
const unhealthyPolicies = ['AlwaysAllow', 'IfHealthyBudget'];

function validateStatus(budget: v1.PodDisruptionBudget, errors: FieldErrors, version: string): void {
  const { conditions, disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = budget.status;
  validateConditions(conditions, statusPath.child('conditions'), errors);
  // Counts were not checked in the older version, and clients of it may rely on that.
  if (version === 'v1beta1') return;
  notNegative(disruptionsAllowed, statusPath, 'disruptionsAllowed', errors);
  notNegative(currentHealthy, statusPath, 'currentHealthy', errors);
  notNegative(desiredHealthy, statusPath, 'desiredHealthy', errors);
  notNegative(expectedPods, statusPath, 'expectedPods', errors);
}

// ---- the selector of version 1beta1 ------------------------------------------------------------------------------

/**
 * An empty selector selects every pod in version 1 and none in version 1beta1. The opposite meaning is expressed with a label
 * that no pod has:
 *
 *   v1       {}                                   every pod     v1beta1  { label does not exist }
 *   v1       { label exists }                     no pod        v1beta1  {}
 */
const marker = (identity: Identity): string => domainName(identity, 'deprecated-v1beta1-empty-selector-match', 'pdb');
const sentinel = (identity: Identity, operator: string): LabelSelector => ({ matchExpressions: [{ key: marker(identity), operator }] });
const isEmpty = (selector: LabelSelector): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;

/** Swaps an empty selector for its long form, and the long form of the other meaning for an empty one. */
function swapSelector(spec: { selector?: LabelSelector } | undefined, identity: Identity, emptyIs: string, longIs: string): void {
  if (spec?.selector === undefined) return;
  if (isEmpty(spec.selector)) spec.selector = sentinel(identity, emptyIs);
  else if (equal(spec.selector, sentinel(identity, longIs))) spec.selector = {};
}

/** The label is used alone or not at all: it is dropped if a client selects anything else. */
function dropMarker(spec: { selector?: LabelSelector } | undefined, identity: Identity): void {
  const { selector } = spec ?? {};
  const key = marker(identity);
  if (!selector?.matchExpressions?.some((expression) => expression.key === key) || equal(selector, sentinel(identity, 'Exists'))) return;
  const others = selector.matchExpressions.filter((expression) => expression.key !== key);
  if (others.length > 0) selector.matchExpressions = others;
  else delete selector.matchExpressions;
}

function toHub(budget: v1beta1.PodDisruptionBudget, identity: Identity): v1.PodDisruptionBudget {
  const { selector } = budget.spec ?? {};
  // The form that selects no pod in version 1 has another meaning here: without the label it selects every pod.
  if (selector !== undefined && equal(selector, sentinel(identity, 'Exists'))) budget.spec.selector = {};
  else swapSelector(budget.spec, identity, 'Exists', 'DoesNotExist');
  dropMarker(budget.spec, identity);
  return budget;
}

function fromHub(budget: v1.PodDisruptionBudget, identity: Identity): v1beta1.PodDisruptionBudget {
  swapSelector(budget.spec, identity, 'DoesNotExist', 'Exists');
  return budget;
}

const amountCell = (amount: number | string | undefined): string => (amount === undefined ? 'N/A' : String(amount));

export const PodDisruptionBudgetKind = kind<v1.PodDisruptionBudget>({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  short: ['pdb'],
  scope: 'Namespaced',
  versions: {
    v1: version({
      schema: v1.PodDisruptionBudget,
      defaults: ({ spec }: v1.PodDisruptionBudget, { identity }) => dropMarker(spec, identity),
    }),
    v1beta1: version({
      schema: v1beta1.PodDisruptionBudget,
      toHub,
      fromHub,
    }),
  },
  hub: 'v1',
  nameRule: pathSegmentName,
  generation: true,
  updateNeedsVersion: true,
  strategy: {
    prepareForCreate: (budget) => {
      budget.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
    },
    prepareForUpdate: (budget, old) => {
      budget.status = old.status;
    },
    validate,
    validateUpdate: (budget, _old, errors) => validate(budget, errors),
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate: (budget, old) => {
        budget.spec = old.spec;
      },
      validateUpdate: (budget, _old, errors, _env, { resource }) => validateStatus(budget, errors, resource.version),
      resetFields: [['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'Min Available', type: 'string', description: 'How many pods must stay available.' },
    { name: 'Max Unavailable', type: 'string', description: 'How many pods may be unavailable.' },
    { name: 'Allowed Disruptions', type: 'integer', description: 'How many pods may be evicted now.' },
    ageColumn,
  ],
  cells: (budget, env) => [
    nameCell(budget),
    amountCell(budget.spec.minAvailable),
    amountCell(budget.spec.maxUnavailable),
    budget.status.disruptionsAllowed,
    ageCell(budget, env),
  ],
});

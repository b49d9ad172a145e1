/** Columns of policies and bindings. */

import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import type { Cell, Column, KindEnv } from '../kind.ts';
import type { LabelSelector } from '../meta.ts';
import type { BindingSpec, MutatingAdmissionPolicy, ParamKind, ParamRef } from './schema/policies.ts';

const UNSET = '<unset>';

export const policyColumns = (counted: Omit<Column, 'type'>): Column[] => [
  nameColumn,
  { ...counted, type: 'integer' },
  { name: 'ParamKind', type: 'string', description: 'The kind of the parameters of the policy.' },
  ageColumn,
];
type Policy = Pick<MutatingAdmissionPolicy, 'metadata'> & { readonly spec: { readonly paramKind?: ParamKind } };
export const policyCells = (policy: Policy, count: number, env: KindEnv): Cell[] => [
  nameCell(policy),
  count,
  policy.spec.paramKind === undefined ? UNSET : `${policy.spec.paramKind.apiVersion ?? ''}/${policy.spec.paramKind.kind ?? ''}`,
  ageCell(policy, env),
];

export const bindingColumns: readonly Column[] = [
  nameColumn,
  { name: 'PolicyName', type: 'string', description: 'The policy that is bound.' },
  { name: 'ParamRef', type: 'string', description: 'The parameters that the policy has here.' },
  ageColumn,
];
type Binding = Pick<MutatingAdmissionPolicy, 'metadata'> & { readonly spec: BindingSpec };
export const bindingCells = (binding: Binding, env: KindEnv): Cell[] => [
  nameCell(binding),
  binding.spec.policyName ?? '',
  referenceText(binding.spec.paramRef),
  ageCell(binding, env),
];

function referenceText({ name = '', namespace = '', selector }: ParamRef = {}): string {
  if (name !== '') return namespace === '' ? name : `${namespace}/${name}`;
  return selector === undefined ? UNSET : selectorText(selector);
}
/** In the notation of a stock server. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

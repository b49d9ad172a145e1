/** Network policies. */
import type { FieldErrors } from '@plat-dev/meta/field';
import { Path } from '@plat-dev/meta/field';
import { ageCell, nameCell, selectorCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { validateConditions } from '../validation/conditions.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { networkPolicyWarnings, validateNetworkPolicy } from './network-policy-rules.ts';
import { NetworkPolicy } from './schema/network-policy.ts';

/** While its feature is off, the status is kept if the stored object has one. Releases from 1.28 on have none. */
const hasStatus = (env: KindEnv): boolean => !env.since('1.28') && env.feature('NetworkPolicyStatus');

/** Default policy types: Ingress, and Egress if there are egress rules. */
function defaults({ spec }: NetworkPolicy): void {
  if ((spec.policyTypes ?? []).length > 0) return;
  spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

function validateUpdate(policy: NetworkPolicy, old: NetworkPolicy, errors: FieldErrors, env: KindEnv): void {
  metadataAgain(policy, { namespaced: true }, errors, env);
  validateNetworkPolicy(policy, errors, env, old);
  metadataUpdateAgain(policy, old, errors, env);
  if (!errors.empty) validateNetworkPolicy(policy, errors, env, old);
}

export const NetworkPolicyKind = kind<NetworkPolicy>({
  group: 'networking',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  short: ['netpol'],
  scope: 'Namespaced',
  versions: { v1: { schema: NetworkPolicy, defaults } },
  hub: 'v1',
  generation: true,
  strategy: {
    prepareForCreate(policy, env) {
      if (hasStatus(env)) policy.status = {};
    },
    prepareForUpdate(policy, old, env) {
      if (!env.since('1.28') && (hasStatus(env) || (old.status.conditions ?? []).length > 0)) policy.status = old.status;
    },
    validate: (policy, errors, env) => validateNetworkPolicy(policy, errors, env),
    validateUpdate,
    warnings: networkPolicyWarnings,
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate: (policy, old, env) => {
        policy.spec = old.spec;
        // Without the feature a stored status can be cleared, but not changed.
        if (!hasStatus(env)) policy.status = (policy.status.conditions ?? []).length === 0 ? {} : old.status;
      },
      validateUpdate: (policy, _old, errors) => validateConditions(policy.status.conditions, Path.of('status', 'conditions'), errors),
      resetFields: [['spec']],
    }),
  },
  columns: [nameColumn, { name: 'Pod-Selector', type: 'string', description: 'The labels of pods that the policy applies to.' }, ageColumn],
  cells: (policy, env) => [nameCell(policy), selectorCell(policy.spec.podSelector), ageCell(policy, env)],
});

/** Policies whose expressions change objects. */
import { kind, version } from '../kind.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import { matchDefaults } from './match-resources-rules.ts';
import { validateMutatingPolicy } from './policy-rules.ts';
import { policyCells, policyColumns } from './policy-tables.ts';
import { type MutatingAdmissionPolicy, type PolicyVersion, policySchemas } from './schema/policies.ts';

const versionOf = (name: PolicyVersion) =>
  version<MutatingAdmissionPolicy, MutatingAdmissionPolicy>({
    schema: policySchemas(name).MutatingAdmissionPolicy,
    defaults: ({ spec }) => matchDefaults(spec.matchConstraints),
  });

export const MutatingAdmissionPolicyKind = kind<MutatingAdmissionPolicy>({
  group: 'admissionregistration',
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  categories: ['api-extensions'],
  scope: 'Cluster',
  versions: { v1: versionOf('v1'), v1beta1: versionOf('v1beta1'), v1alpha1: versionOf('v1alpha1') },
  hub: 'v1',
  generation: true,
  updateNeedsVersion: true,
  strategy: {
    validate: (policy, errors, env) => validateMutatingPolicy(policy, undefined, errors, env),
    *validateUpdate(policy, old, errors, env) {
      metadataAgain(policy, { namespaced: false }, errors, env);
      yield* validateMutatingPolicy(policy, old, errors, env);
    },
  },
  columns: policyColumns({ name: 'Mutations', description: 'How many mutations the policy has.' }),
  cells: (policy, env) => policyCells(policy, (policy.spec.mutations ?? []).length, env),
});

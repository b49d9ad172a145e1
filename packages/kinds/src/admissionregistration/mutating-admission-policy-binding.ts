/** Where a mutating policy applies, and with which parameters. */
import type { FieldErrors } from '@plat-dev/meta/field';
import { type KindEnv, kind, version } from '../kind.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import { matchResourcesAt, validateBinding } from './binding-rules.ts';
import { matchDefaults, validateMutatedOperations } from './match-resources-rules.ts';
import { bindingCells, bindingColumns } from './policy-tables.ts';
import { type MutatingAdmissionPolicyBinding, type PolicyVersion, policySchemas } from './schema/policies.ts';

function validate({ spec }: MutatingAdmissionPolicyBinding, errors: FieldErrors, env: KindEnv): void {
  validateBinding(spec, errors, env);
  validateMutatedOperations(spec.matchResources, matchResourcesAt, errors);
}

const versionOf = (name: PolicyVersion) =>
  version<MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBinding>({
    schema: policySchemas(name).MutatingAdmissionPolicyBinding,
    defaults: ({ spec }) => matchDefaults(spec.matchResources),
  });

export const MutatingAdmissionPolicyBindingKind = kind<MutatingAdmissionPolicyBinding>({
  group: 'admissionregistration',
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
  categories: ['api-extensions'],
  scope: 'Cluster',
  versions: { v1: versionOf('v1'), v1beta1: versionOf('v1beta1'), v1alpha1: versionOf('v1alpha1') },
  hub: 'v1',
  generation: true,
  updateNeedsVersion: true,
  strategy: {
    validate,
    validateUpdate(binding, _old, errors, env) {
      metadataAgain(binding, { namespaced: false }, errors, env);
      validate(binding, errors, env);
    },
  },
  columns: bindingColumns,
  cells: bindingCells,
});

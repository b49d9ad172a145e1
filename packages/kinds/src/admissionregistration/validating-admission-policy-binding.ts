/** Where a validating policy applies, with which parameters, and what a failed validation does. */
import type { FieldErrors } from '@plat-dev/meta/field';
import { type KindEnv, kind, version } from '../kind.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import { validateActions, validateBinding } from './binding-rules.ts';
import { matchDefaults } from './match-resources-rules.ts';
import { bindingCells, bindingColumns } from './policy-tables.ts';
import { type PolicyVersion, policySchemas, type ValidatingAdmissionPolicyBinding } from './schema/policies.ts';

function validate({ spec }: ValidatingAdmissionPolicyBinding, errors: FieldErrors, env: KindEnv): void {
  validateBinding(spec, errors, env);
  validateActions(spec.validationActions, errors, env);
}

const versionOf = (name: PolicyVersion) =>
  version<ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBinding>({
    schema: policySchemas(name).ValidatingAdmissionPolicyBinding,
    defaults: ({ spec }) => matchDefaults(spec.matchResources),
  });

export const ValidatingAdmissionPolicyBindingKind = kind<ValidatingAdmissionPolicyBinding>({
  group: 'admissionregistration',
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
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

/** Policies whose expressions validate requests. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { kind, version } from '../kind.ts';
import { keepMetadata, status } from '../subresources.ts';
import { validateConditions } from '../validation/conditions.ts';
import { each } from '../validation/each.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import { matchDefaults } from './match-resources-rules.ts';
import { validatePolicy } from './policy-rules.ts';
import { policyCells, policyColumns } from './policy-tables.ts';
import { type PolicyVersion, policySchemas, type ValidatingAdmissionPolicy } from './schema/policies.ts';

const statusAt = Path.of('status');

function validateStatus({ status: { typeChecking, conditions } }: ValidatingAdmissionPolicy, errors: FieldErrors): void {
  each(typeChecking?.expressionWarnings, statusAt.child('typeChecking').child('expressionWarnings'), ({ fieldRef, warning }, at) => {
    if (warning === '') errors.required(at.child('warning'));
    if (fieldRef.trim() === '') errors.required(at.child('fieldRef'));
  });
  validateConditions(conditions, statusAt.child('conditions'), errors);
}

const versionOf = (name: PolicyVersion) =>
  version<ValidatingAdmissionPolicy, ValidatingAdmissionPolicy>({
    schema: policySchemas(name).ValidatingAdmissionPolicy,
    defaults: ({ spec }) => matchDefaults(spec.matchConstraints),
  });

export const ValidatingAdmissionPolicyKind = kind<ValidatingAdmissionPolicy>({
  group: 'admissionregistration',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  categories: ['api-extensions'],
  scope: 'Cluster',
  versions: { v1: versionOf('v1'), v1beta1: versionOf('v1beta1'), v1alpha1: versionOf('v1alpha1') },
  hub: 'v1',
  generation: true,
  updateNeedsVersion: true,
  strategy: {
    prepareForCreate(policy) {
      policy.status = {};
    },
    prepareForUpdate(policy, old) {
      policy.status = old.status;
    },
    validate: (policy, errors, env) => validatePolicy(policy, undefined, errors, env),
    *validateUpdate(policy, old, errors, env) {
      metadataAgain(policy, { namespaced: false }, errors, env);
      yield* validatePolicy(policy, old, errors, env);
    },
    resetFields: [['status']],
  },
  subresources: {
    status: {
      ...status<ValidatingAdmissionPolicy>({
        prepareForUpdate(policy, old) {
          keepMetadata(policy, old);
          policy.spec = old.spec;
        },
        validateUpdate: (policy, _old, errors) => validateStatus(policy, errors),
        resetFields: [['metadata'], ['spec']],
      }),
      since: '1.27',
    },
  },
  columns: policyColumns({ name: 'Validations', description: 'How many validations the policy has.' }),
  cells: (policy, env) => policyCells(policy, (policy.spec.validations ?? []).length, env),
});

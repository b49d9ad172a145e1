/**
 * Admission policies and their bindings: what expressions check or change, and where.
 *
 *   policySchemas('v1beta1').ValidatingAdmissionPolicy   the message of a version; all versions have the same fields
 *
 * `since` says when a version first had a field; older ones did not exist then, or had it from their beginning.
 */
import { always, type Infer, inline, int64, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { Condition, LabelSelector, ObjectMeta } from '../../meta.ts';
import { itemValues, pointerValues } from '../../published-values.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

export type PolicyVersion = 'v1' | 'v1beta1' | 'v1alpha1';

/** Version 1beta1 does not publish which values its texts may have. */
const valuesIn =
  (version: PolicyVersion) =>
  (...values: readonly string[]) =>
    version === 'v1beta1' ? {} : pointerValues(...values);

/** The parts that both kinds of policies have. */
function partsOf(version: PolicyVersion) {
  const named = (name: string): string => `admissionregistration.${version}.${name}`;
  const values = valuesIn(version);
  const NamedRuleWithOperations = message(
    named('NamedRuleWithOperations'),
    {
      resourceNames: opt(1, list(string)),
      ruleWithOperations: inline(2, v1.RuleWithOperations),
    },
    { atomic: true },
  );
  const MatchResources = message(
    named('MatchResources'),
    {
      namespaceSelector: ptr(1, LabelSelector),
      objectSelector: ptr(2, LabelSelector),
      resourceRules: opt(3, list(NamedRuleWithOperations)),
      excludeResourceRules: opt(4, list(NamedRuleWithOperations)),
      matchPolicy: ptr(7, string, { default: 'Equivalent', ...values('Exact', 'Equivalent') }),
    },
    { atomic: true },
  );
  const ParamKind = message(named('ParamKind'), { apiVersion: opt(1, string), kind: opt(2, string) }, { atomic: true });
  const ParamRef = message(
    named('ParamRef'),
    {
      name: opt(1, string),
      namespace: opt(2, string),
      selector: ptr(3, LabelSelector, { since: '1.28' }),
      parameterNotFoundAction: ptr(4, string, {
        since: '1.28',
        ...(version === 'v1alpha1' && { default: 'Deny', ...pointerValues('Allow', 'Deny') }),
      }),
    },
    { atomic: true },
  );
  const MatchCondition = matchCondition(version);
  const Variable = message(named('Variable'), { name: req(1, string), expression: req(2, string) }, { atomic: version !== 'v1alpha1' });
  return { named, values, MatchResources, ParamKind, ParamRef, MatchCondition, Variable };
}

function matchCondition(version: PolicyVersion) {
  if (version === 'v1') return v1.MatchCondition;
  if (version === 'v1beta1') return inVersion(v1.MatchCondition, 'admissionregistration.v1beta1');
  const required = { required: true } as const;
  return message('admissionregistration.v1alpha1.MatchCondition', { name: opt(1, string, required), expression: opt(2, string, required) });
}

function validatingSchemas(version: PolicyVersion) {
  const { named, values, MatchResources, ParamKind, ParamRef, MatchCondition, Variable } = partsOf(version);
  const Validation = message(named('Validation'), {
    expression: req(1, string),
    message: opt(2, string),
    reason: ptr(3, string),
    messageExpression: opt(4, string, { since: '1.27' }),
  });
  const AuditAnnotation = message(named('AuditAnnotation'), { key: req(1, string), valueExpression: req(2, string) });
  const ExpressionWarning = message(named('ExpressionWarning'), { fieldRef: req(2, string), warning: req(3, string) });
  const TypeChecking = message(named('TypeChecking'), { expressionWarnings: opt(1, list(ExpressionWarning)) });
  const byName = { patch: 'merge', mergeKey: 'name' } as const;
  const Spec = message(named('ValidatingAdmissionPolicySpec'), {
    paramKind: ptr(1, ParamKind),
    matchConstraints: ptr(2, MatchResources),
    validations: opt(3, list(Validation)),
    failurePolicy: ptr(4, string, { default: 'Fail', ...values('Ignore', 'Fail') }),
    auditAnnotations: opt(5, list(AuditAnnotation), { since: '1.27' }),
    matchConditions: opt(6, list(MatchCondition, 'map', ['name']), { since: '1.27', ...byName }),
    variables: opt(7, list(Variable, 'map', ['name']), { since: '1.28', ...byName }),
  });
  const Status = message(named('ValidatingAdmissionPolicyStatus'), {
    observedGeneration: opt(1, int64),
    typeChecking: ptr(2, TypeChecking),
    conditions: opt(3, list(Condition, 'map', ['type'])),
  });
  const isNamedLater = { from: version === 'v1' ? { '1.36': { required: true } } : {} };
  const BindingSpec = message(named('ValidatingAdmissionPolicyBindingSpec'), {
    policyName: opt(1, string, isNamedLater),
    paramRef: ptr(2, ParamRef),
    matchResources: ptr(3, MatchResources),
    validationActions: opt(4, list(string, 'set'), {
      since: '1.27',
      from: { ...itemValues('Audit', 'Deny', 'Warn').from, ...isNamedLater.from },
    }),
  });
  return {
    ValidatingAdmissionPolicy: object(named('ValidatingAdmissionPolicy'), {
      metadata: always(1, ObjectMeta),
      spec: always(2, Spec),
      status: always(3, Status, { since: '1.27' }),
    }),
    ValidatingAdmissionPolicyBinding: object(named('ValidatingAdmissionPolicyBinding'), {
      metadata: always(1, ObjectMeta),
      spec: always(2, BindingSpec, isNamedLater),
    }),
  };
}

function mutatingSchemas(version: PolicyVersion) {
  const { named, values, MatchResources, ParamKind, ParamRef, MatchCondition, Variable } = partsOf(version);
  const ApplyConfiguration = message(named('ApplyConfiguration'), { expression: opt(1, string) });
  const JSONPatch = message(named('JSONPatch'), { expression: opt(1, string) });
  const Mutation = message(named('Mutation'), {
    patchType: req(2, string, { enum: ['ApplyConfiguration', 'JSONPatch'] }),
    applyConfiguration: ptr(3, ApplyConfiguration),
    jsonPatch: ptr(4, JSONPatch),
  });
  const Spec = message(named('MutatingAdmissionPolicySpec'), {
    paramKind: ptr(1, ParamKind),
    matchConstraints: ptr(2, MatchResources),
    variables: opt(3, list(Variable)),
    mutations: opt(4, list(Mutation)),
    failurePolicy: ptr(5, string, { default: 'Fail', ...values('Ignore', 'Fail') }),
    matchConditions: opt(6, list(MatchCondition, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
    reinvocationPolicy: opt(7, string, version === 'v1' ? { enum: ['IfNeeded', 'Never'] } : {}),
  });
  const BindingSpec = message(named('MutatingAdmissionPolicyBindingSpec'), {
    policyName: opt(1, string),
    paramRef: ptr(2, ParamRef),
    matchResources: ptr(3, MatchResources),
  });
  return {
    MutatingAdmissionPolicy: object(named('MutatingAdmissionPolicy'), { metadata: always(1, ObjectMeta), spec: always(2, Spec) }),
    MutatingAdmissionPolicyBinding: object(named('MutatingAdmissionPolicyBinding'), {
      metadata: always(1, ObjectMeta),
      spec: always(2, BindingSpec),
    }),
  };
}

export const policySchemas = (version: PolicyVersion) => ({ ...validatingSchemas(version), ...mutatingSchemas(version) });

type Schemas = ReturnType<typeof policySchemas>;
export type ValidatingAdmissionPolicy = Infer<Schemas['ValidatingAdmissionPolicy']>;
export type ValidatingAdmissionPolicyBinding = Infer<Schemas['ValidatingAdmissionPolicyBinding']>;
export type MutatingAdmissionPolicy = Infer<Schemas['MutatingAdmissionPolicy']>;
export type MutatingAdmissionPolicyBinding = Infer<Schemas['MutatingAdmissionPolicyBinding']>;

export type ValidatingSpec = ValidatingAdmissionPolicy['spec'];
export type MutatingSpec = MutatingAdmissionPolicy['spec'];
export type BindingSpec = MutatingAdmissionPolicyBinding['spec'];
export type MatchResources = NonNullable<ValidatingSpec['matchConstraints']>;
export type NamedRule = NonNullable<MatchResources['resourceRules']>[number];
export type ParamKind = NonNullable<ValidatingSpec['paramKind']>;
export type ParamRef = NonNullable<BindingSpec['paramRef']>;
export interface MatchCondition {
  readonly name?: string;
  readonly expression?: string;
}

import { inSlices, Slices } from '@plat-dev/lib/slices';
import { schemaIn } from '@plat-dev/schema/releases';
import { beforeAll, expect, test } from 'vitest';
import { releaseEnv } from '../kind.ts';
import { kindIn } from '../kind-in-release.ts';
import { create, type Loose, testEnv } from '../validation/kinds.testing.ts';
import { MutatingAdmissionPolicyKind } from './mutating-admission-policy.ts';
import { MutatingAdmissionPolicyBindingKind } from './mutating-admission-policy-binding.ts';
import { policyExpressions } from './policy-expressions.ts';
import { policySchemas } from './schema/policies.ts';
import { ValidatingAdmissionPolicyKind } from './validating-admission-policy.ts';
import { ValidatingAdmissionPolicyBindingKind } from './validating-admission-policy-binding.ts';

// The rules run at once once the evaluator is loaded.
beforeAll(async () => {
  await inSlices(policyExpressions(), new Slices());
});

const env = { ...testEnv, ...releaseEnv('1.36') };
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
const constraints = { resourceRules: [rule] };
const policy = (spec: Loose): Loose => ({
  metadata: { name: 'p' },
  spec: { matchConstraints: constraints, validations: [{ expression: 'true' }], ...spec },
});
const errorsOf = (spec: Loose, inEnv = env): string[] => create(ValidatingAdmissionPolicyKind, policy(spec), inEnv).errors;
const like = (texts: readonly string[]) => texts.map((text) => expect.stringContaining(text));

test('a policy gets its defaults, and status is not what the client says', () => {
  const { object, errors } = create(ValidatingAdmissionPolicyKind, { ...policy({}), status: { observedGeneration: 7 } }, env);
  expect(errors).toEqual([]);
  expect(object).toMatchObject({
    spec: { failurePolicy: 'Fail', matchConstraints: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} } },
    status: {},
  });
  expect(ValidatingAdmissionPolicyKind.cells?.(object as never, env)).toEqual(['p', 1, '<unset>', '27h']);
});

test.each<[string, Loose, string[]]>([
  ['rules', { matchConstraints: {} }, ['spec.matchConstraints.resourceRules | Required']],
  ['something to do', { validations: [] }, ['spec.validations | Required', 'spec.auditAnnotations | Required']],
  ['an expression that compiles', { validations: [{ expression: 'nothing' }] }, ["undeclared reference to 'nothing'"]],
  ['a truth', { validations: [{ expression: "'text'" }] }, ['must evaluate to bool but got string']],
  ['parameters that are declared', { validations: [{ expression: 'params.x == 1' }] }, ["undeclared reference to 'params'"]],
  [
    'variables in their order',
    {
      variables: [
        { name: 'a', expression: 'variables.b' },
        { name: 'b', expression: '1' },
      ],
    },
    ["undeclared reference to 'variables'"],
  ],
  [
    'a known variable',
    { variables: [{ name: 'a', expression: '1' }], validations: [{ expression: 'variables.b == 1' }] },
    ["undefined field 'b'"],
  ],
  ['a text for an annotation', { auditAnnotations: [{ key: 'k', valueExpression: '1' }] }, ['must evaluate to one of [string null_type]']],
  [
    'no authorizer in a message',
    { validations: [{ expression: 'true', messageExpression: "authorizer.path('/').check('get').reason()" }] },
    ["undeclared reference to 'authorizer'"],
  ],
  [
    'at most 64 conditions',
    { matchConditions: Array.from({ length: 65 }, (_, i) => ({ name: `n${i}`, expression: 'true' })) },
    ['must have at most 64 items'],
  ],
])('a policy needs %s', (_name, spec, texts) => {
  expect(errorsOf(spec)).toEqual(like(texts));
});

test('what all conditions of the most that there may be allow is accepted', () => {
  expect(errorsOf({ matchConditions: Array.from({ length: 64 }, (_, i) => ({ name: `n${i}`, expression: 'true' })) })).toEqual([]);
});

test('names of variables are checked, and older releases name the field', () => {
  const spec = { variables: [{ name: '1x', expression: 'true' }] };
  expect(errorsOf(spec)).toEqual(like(['"1x": must be a valid CEL identifier']));
  expect(errorsOf(spec, { ...env, ...releaseEnv('1.33') })).toEqual(like(['"1x": name is not a valid CEL identifier']));
});

test('new expressions may use what the release before has', () => {
  const spec = { validations: [{ expression: "sets.contains(['a'], ['a'])" }] };
  expect(errorsOf(spec, { ...env, ...releaseEnv('1.31') })).toEqual([]);
  expect(errorsOf(spec, { ...env, ...releaseEnv('1.28') })).toEqual(like(["undeclared reference to 'sets'"]));
});

const binding = (spec: Loose): Loose => ({ metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'], ...spec } });

test.each<[string, Loose, string[]]>([
  ['a policy', { policyName: '' }, ['spec.policyName | Required']],
  ['an action', { validationActions: [] }, ['at least one validation action is required']],
  ['one of Deny and Warn', { validationActions: ['Deny', 'Warn'] }, ['must not contain both Deny and Warn']],
  ['a name or a selector', { paramRef: { parameterNotFoundAction: 'Deny' } }, ['one of name or selector must be specified']],
  ['an action for missing parameters', { paramRef: { name: 'a' } }, ['spec.paramRef.parameterNotFoundAction | Required']],
])('a binding needs %s', (_name, spec, texts) => {
  expect(create(ValidatingAdmissionPolicyBindingKind, binding(spec), env).errors).toEqual(like(texts));
});

test('1.26 has neither actions nor actions for missing parameters', () => {
  const old = { ...env, ...releaseEnv('1.26') };
  const { errors } = create(
    ValidatingAdmissionPolicyBindingKind,
    { metadata: { name: 'b' }, spec: { policyName: 'p', paramRef: { name: 'a' } } },
    old,
  );
  expect(errors).toEqual([]);
});

const mutating = (mutations: Loose, spec: Loose = {}): string[] =>
  create(
    MutatingAdmissionPolicyKind,
    { metadata: { name: 'm' }, spec: { matchConstraints: constraints, reinvocationPolicy: 'Never', mutations, ...spec } },
    env,
  ).errors;
const apply = (expression: string): Loose => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression: string): Loose => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

test.each<[string, Loose, Loose, string[]]>([
  ['a mutation', [], {}, ['mutations must contain at least one item']],
  ['an object', [apply("'text'")], {}, ['must evaluate to Object but got string']],
  ['a list of operations', [patch('Object{}')], {}, ['must evaluate to list(JSONPatch) but got Object']],
  ['the part of its type', [{ patchType: 'JSONPatch' }], {}, ['must be specified when patchType is JSONPatch']],
  ['a policy of reinvocation', [apply('Object{}')], { reinvocationPolicy: '' }, ['spec.reinvocationPolicy | Required']],
  [
    'operations with an object',
    [apply('Object{}')],
    { matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } },
    ['spec.matchConstraints.resourceRules.operations | NotSupported'],
  ],
])('a mutating policy needs %s', (_name, mutations, spec, texts) => {
  expect(mutating(mutations, spec)).toEqual(like(texts));
});

test('an empty list is one of operations', () => {
  expect(mutating([patch("has(object.data) ? [] : [JSONPatch{op: 'add', path: '/data', value: {'a': 'b'}}]")])).toEqual([]);
});

test('bindings of mutating policies have no actions', () => {
  const { object, errors } = create(MutatingAdmissionPolicyBindingKind, binding({}), env);
  expect(errors).toEqual([]);
  expect(object.spec).toEqual({ policyName: 'p' });
});

test('fields are there from their release on, and alpha has a default of its own', () => {
  const fields = (release: '1.26' | '1.27' | '1.28'): string[] => {
    const { spec } = schemaIn(release, policySchemas('v1alpha1').ValidatingAdmissionPolicy).fields as Loose;
    return Object.keys(spec.type.fields);
  };
  expect(fields('1.26')).toEqual(['paramKind', 'matchConstraints', 'validations', 'failurePolicy']);
  expect(fields('1.27')).toContain('matchConditions');
  expect(fields('1.27')).not.toContain('variables');
  expect(fields('1.28')).toContain('variables');
  expect(kindIn('1.26', ValidatingAdmissionPolicyKind).subresources).toEqual({});
  expect(Object.keys(kindIn('1.27', ValidatingAdmissionPolicyKind).subresources)).toEqual(['status']);
  const reference = (version: 'v1' | 'v1alpha1'): Loose =>
    (policySchemas(version).ValidatingAdmissionPolicyBinding.fields.spec.type.fields.paramRef.type.fields as Loose).parameterNotFoundAction
      .default;
  expect([reference('v1alpha1'), reference('v1')]).toEqual(['Deny', undefined]);
});

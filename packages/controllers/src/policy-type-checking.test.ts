import { loadAdmissionExpressions } from '@plat-dev/kinds/expressions/load-admission-expressions';
import { beforeAll, expect, test } from 'vitest';
import { policyTypeChecking } from './policy-type-checking.ts';
import { FakeApi, fakeKinds, runControllers } from './testing.ts';

beforeAll(() => loadAdmissionExpressions());

const policies = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  name: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
} as const;

async function warningsOf(rule: object, validations: readonly object[], more: object = {}): Promise<unknown> {
  const { namespaces, definitions, apiServices } = fakeKinds;
  const api = new FakeApi([namespaces, definitions, apiServices, policies]);
  const toySchema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } };
  api.put(definitions, {
    metadata: { name: 'toys.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'toys', kind: 'Toy' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: toySchema } }],
    },
  } as never);
  const run = runControllers(api, [policyTypeChecking('1.36')]);
  api.put(policies, {
    metadata: { name: 'p', generation: 2 },
    spec: { matchConstraints: { resourceRules: [rule] }, validations, ...more },
  } as never);
  await run.idle();
  const { status } = api.get(policies, '', 'p') as unknown as {
    status: { observedGeneration: number; typeChecking: { expressionWarnings?: unknown } };
  };
  await run.stop();
  expect(status.observedGeneration).toBe(2);
  return status.typeChecking.expressionWarnings ?? undefined;
}
const rule = (group: string, resource: string, version = 'v1') => ({
  apiGroups: [group],
  apiVersions: [version],
  resources: [resource],
  operations: ['*'],
});

test('expressions are checked against built-in kinds', async () => {
  const validations = [
    { expression: "object.spec.replicas < '5'" },
    { expression: 'true', messageExpression: "'x' + object.spec.nowhere" },
  ];
  expect(await warningsOf(rule('apps', 'deployments'), validations)).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning:
        "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_<_' applied to '(int, string)'\n | object.spec.replicas < '5'\n | .....................^\n",
    },
    {
      fieldRef: 'spec.validations[1].messageExpression',
      warning:
        "apps/v1, Kind=Deployment: ERROR: <input>:1:18: undefined field 'nowhere'\n | 'x' + object.spec.nowhere\n | .................^\n",
    },
  ]);
});

test('and against custom kinds, of whose metadata all is known', async () => {
  const right = { expression: "object.spec.size < 3 && object.metadata.labels['a'] == object.kind" };
  expect(await warningsOf(rule('example.com', 'toys'), [right])).toBeUndefined();
  expect(await warningsOf(rule('example.com', 'toys'), [{ expression: 'object.spec.colour == 1' }])).toMatchObject([
    { warning: expect.stringMatching(/^example.com\/v1, Kind=Toy: ERROR: .*undefined field 'colour'/) },
  ]);
});

test('rules that could be for anything are not looked at, nor what no kind is known by', async () => {
  const wrong = [{ expression: 'object.spec.nowhere == 1' }];
  expect(await warningsOf(rule('*', 'deployments'), wrong)).toBeUndefined();
  expect(await warningsOf(rule('apps', '*'), wrong)).toBeUndefined();
  expect(await warningsOf(rule('apps', 'deployments/scale'), wrong)).toBeUndefined();
  expect(await warningsOf(rule('apps', 'nothings'), wrong)).toBeUndefined();
});

test('variables and parameters have their types', async () => {
  const more = {
    paramKind: { apiVersion: 'example.com/v1', kind: 'Toy' },
    variables: [{ name: 'n', expression: 'object.spec.replicas' }],
  };
  expect(await warningsOf(rule('apps', 'deployments'), [{ expression: 'variables.n < params.spec.size' }], more)).toBeUndefined();
  expect(await warningsOf(rule('apps', 'deployments'), [{ expression: "variables.n == 'a' || params.spec.none" }], more)).toHaveLength(1);
});

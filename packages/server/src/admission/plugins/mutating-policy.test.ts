import { loadAdmissionExpressions } from '@plat-dev/kinds/expressions/load-admission-expressions';
import type { ApiError } from '@plat-dev/meta/errors';
import { beforeAll, describe, expect, test } from 'vitest';
import { Explanation } from '../explanation.ts';
import { World } from '../testing.ts';
import type { AdmissionRequest } from '../types.ts';
import { mutatingAdmissionPolicy } from './mutating-policy.ts';

beforeAll(() => loadAdmissionExpressions());

const rule = (more: object = {}) => ({ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'], ...more });
const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
interface Part {
  readonly mutations: readonly object[];
  readonly policy?: object;
  readonly binding?: object;
}

function worldOf(...parts: readonly Part[]): World {
  const world = new World({ release: '1.36', features: ['MutatingAdmissionPolicy'] }).with('namespaces', { metadata: { name: 'ns' } });
  for (const [i, { mutations, policy, binding }] of parts.entries()) {
    const spec = { matchConstraints: { resourceRules: [rule()] }, reinvocationPolicy: 'Never', mutations, ...policy };
    world.with('admissionregistration/mutatingadmissionpolicies', { metadata: { name: `p${i}` }, spec });
    world.with('admissionregistration/mutatingadmissionpolicybindings', {
      metadata: { name: `b${i}` },
      spec: { policyName: `p${i}`, ...binding },
    });
  }
  return world;
}
const cm = (data: object, metadata: object = {}) => ({ metadata: { name: 'c', namespace: 'ns', ...metadata }, data });

/** The object after the policies, or the refusal. */
async function changed(world: World, request: AdmissionRequest = world.request('configmaps', cm({ a: '1' }))) {
  const plugin = await world.plugin(mutatingAdmissionPolicy);
  try {
    await plugin.admit?.(request);
    return request.object as unknown as { data: object; spec: Record<string, unknown>; metadata: Record<string, unknown> };
  } catch (error) {
    return (error as ApiError).status();
  }
}

test('mutations of a policy run in order, and policies by their names', async () => {
  const world = worldOf(
    {
      mutations: [
        apply("Object{data: {'b': object.data.a + '2'}}"),
        patch("[JSONPatch{op: 'add', path: '/data/c', value: object.data.b + '3'}]"),
      ],
    },
    { mutations: [apply("Object{data: {'d': object.data.c + '4'}}")] },
  );
  expect(await changed(world)).toMatchObject({ data: { a: '1', b: '12', c: '123', d: '1234' } });
});

test('lists are merged by their keys, and defaults follow', async () => {
  const pod = { metadata: { name: 'p', namespace: 'ns' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const expression =
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'side', image: 's'}, Object.spec.containers{name: 'c', tty: true}]}}";
  const world = worldOf({
    mutations: [apply(expression)],
    policy: { matchConstraints: { resourceRules: [rule({ resources: ['pods'] })] } },
  });
  const { spec } = (await changed(world, world.request('pods', pod))) as { spec: Record<string, unknown> };
  expect(spec.containers).toMatchObject([
    { name: 'side', image: 's', imagePullPolicy: 'Always' },
    { name: 'c', image: 'i', tty: true },
  ]);
});

describe('what cannot be done follows the failure policy', () => {
  const deploymentRules = { matchConstraints: { resourceRules: [rule({ apiGroups: ['apps'], resources: ['deployments'] })] } };
  const deployment = {
    metadata: { name: 'd', namespace: 'ns' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
  const spec = (inner: string) => `Object{spec: Object.spec{${inner}}}`;
  test.each([
    ['an expression that fails', apply("Object{data: {'b': object.data['x']}}"), 'no such key'],
    [
      'a path that is not there',
      patch("[JSONPatch{op: 'replace', path: '/spec/none/x', value: 1}]"),
      'JSON Patch: operation 0 (replace /spec/none/x) does not apply',
    ],
    [
      'an atomic map',
      apply(spec("selector: Object.spec.selector{matchLabels: {'x': 'y'}}")),
      'may not mutate atomic arrays, maps or structs: .spec.selector',
    ],
    ['a field that the kind does not have', apply(spec('none: 1')), '.spec.none: field not declared in schema'],
    [
      'a name that is not that of the place',
      apply('Object{spec: Object.metadata{}}'),
      'unexpected type name "Object.metadata", expected "Object.spec"',
    ],
    ['a value of another type', patch("[JSONPatch{op: 'add', path: '/spec/replicas', value: 'many'}]"), 'error applying patch'],
    ['a value without a JSON form', patch("[JSONPatch{op: 'add', path: '/spec/replicas', value: type(1)}]"), 'no JSON form'],
  ])('%s', async (_, mutation, text) => {
    const attempt = (failurePolicy: string) => {
      const world = worldOf({ mutations: [mutation], policy: { ...deploymentRules, failurePolicy } });
      return changed(world, world.request('apps/deployments', deployment));
    };
    const refusal = (await attempt('Fail')) as ReturnType<ApiError['status']>;
    expect(refusal).toMatchObject({ code: 403, reason: 'Invalid' });
    expect(refusal.message).toMatch(/^policy 'p0' with binding 'b0' denied request: /);
    expect(refusal.message).toContain(text);
    expect(await attempt('Ignore')).toMatchObject({ spec: { selector: { matchLabels: { a: 'b' } } } });
  });

  test('a value that holds the same parts again and again is bounded', async () => {
    const variables = [{ name: 'v0', expression: "['0123456789']" }];
    for (let i = 1; i <= 9; i++) {
      const parts = Array.from({ length: 10 }, () => `variables.v${i - 1}`);
      variables.push({ name: `v${i}`, expression: `[${parts.join(', ')}]` });
    }
    const world = worldOf({ mutations: [patch("[JSONPatch{op: 'add', path: '/data/b', value: variables.v9}]")], policy: { variables } });
    expect(await changed(world)).toMatchObject({ code: 403, message: expect.stringContaining('is too large') });
  });

  test('a missing parameter is forbidden', async () => {
    const policy = { paramKind: { apiVersion: 'v1', kind: 'Secret' } };
    const binding = { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } };
    expect(await changed(worldOf({ mutations: [apply('Object{}')], policy, binding }))).toMatchObject({ code: 403, reason: 'Forbidden' });
  });

  test('all faults are causes, the first is the message', async () => {
    const failing = { mutations: [apply("Object{data: {'b': object.data['x']}}")] };
    const refusal = (await changed(worldOf(failing, failing))) as ReturnType<ApiError['status']>;
    expect(refusal.details?.causes?.map(({ message }) => message?.slice(0, 11))).toEqual(["policy 'p0'", "policy 'p1'"]);
  });
});

test('a patch whose test fails leaves the object as it is', async () => {
  const expression = "[JSONPatch{op: 'add', path: '/data/b', value: '2'}, JSONPatch{op: 'test', path: '/data/a', value: 'other'}]";
  expect(await changed(worldOf({ mutations: [patch(expression)] }))).toMatchObject({ data: { a: '1' } });
});

test('what is deleted is not changed', async () => {
  const plugin = await worldOf({ mutations: [apply('Object{}')] }).plugin(mutatingAdmissionPolicy);
  expect(plugin.handles('DELETE')).toBe(false);
});

test('policies with IfNeeded run again where others changed the object after them, once', async () => {
  const count = (key: string) => apply(`Object{data: {'${key}': has(object.data.${key}) ? object.data.${key} + '+' : '0'}}`);
  const ifNeeded = { reinvocationPolicy: 'IfNeeded' };
  const world = worldOf({ mutations: [count('x')], policy: ifNeeded }, { mutations: [count('y')] });
  const plugin = await world.plugin(mutatingAdmissionPolicy);
  const request = world.request('configmaps', cm({ a: '1' }));
  await plugin.admit?.(request);
  expect(request.reinvocation).toBe('wanted');
  request.reinvocation = 'running';
  await plugin.admit?.(request);
  expect(request.object).toMatchObject({ data: { x: '0+', y: '0' } });
});

test('the explanation of a request shows what a policy changed', async () => {
  const world = worldOf({ mutations: [apply("Object{data: {'b': '2'}}")] });
  const explanation = new Explanation();
  await changed(world, { ...world.request('configmaps', cm({ a: '1' })), explanation });
  expect(explanation.steps).toMatchObject([
    {
      step: 'MutatingAdmissionPolicy/p0/b0',
      phase: 'admit',
      round: 0,
      changes: { operations: [{ op: 'add', path: '/data/b', value: '2' }] },
    },
  ]);
});

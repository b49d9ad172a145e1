import { loadAdmissionExpressions } from '@plat-dev/kinds/expressions/load-admission-expressions';
import type { ApiError } from '@plat-dev/meta/errors';
import { beforeAll, describe, expect, test } from 'vitest';
import { Explanation } from '../explanation.ts';
import { type RequestOptions, World } from '../testing.ts';
import type { AdmissionPlugin } from '../types.ts';
import { validatingAdmissionPolicy } from './validating-policy.ts';

beforeAll(() => loadAdmissionExpressions());

const rule = (more: object = {}) => ({ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'], ...more });
const policyOf = (spec: object, name = 'p') => ({
  metadata: { name },
  spec: { matchConstraints: { resourceRules: [rule()] }, validations: [{ expression: "!('bad' in object.data)" }], ...spec },
});
const bindingOf = (spec: object = {}, name = 'b') => ({
  metadata: { name },
  spec: { policyName: 'p', validationActions: ['Deny'], ...spec },
});

function worldOf(policy: object, ...bindings: object[]): World {
  const world = new World({ release: '1.36', features: ['ValidatingAdmissionPolicy'] });
  world.with('admissionregistration/validatingadmissionpolicies', policyOf(policy));
  for (const [i, binding] of (bindings.length > 0 ? bindings : [{}]).entries())
    world.with('admissionregistration/validatingadmissionpolicybindings', bindingOf(binding, i === 0 ? 'b' : `b${i}`));
  return world.with('namespaces', { metadata: { name: 'ns', labels: { tier: 'gold' } } });
}
const cm = (data: object, metadata: object = {}) => ({ metadata: { name: 'c', namespace: 'ns', ...metadata }, data });

const plugins = new WeakMap<World, Promise<AdmissionPlugin>>();
function pluginOf(world: World): Promise<AdmissionPlugin> {
  const plugin = plugins.get(world) ?? world.plugin(validatingAdmissionPolicy);
  plugins.set(world, plugin);
  return plugin;
}

interface Attempt extends RequestOptions {
  readonly kind?: string;
}
async function denialIn(
  world: World,
  object: object | undefined,
  { kind = 'configmaps', ...options }: Attempt = {},
): Promise<ApiError | undefined> {
  const plugin = await pluginOf(world);
  try {
    await plugin.validate?.(world.request(kind, object, options));
    return undefined;
  } catch (error) {
    return error as ApiError;
  }
}
const why = async (...args: Parameters<typeof denialIn>): Promise<string | undefined> =>
  (await denialIn(...args))?.message.replace(/^.*denied request: /, '');

const bad = cm({ bad: '' });
const fine = cm({ fine: '' });

describe('which requests a policy is for', () => {
  test.each([
    ['a resource that no rule names', { resourceRules: [rule({ resources: ['secrets'] })] }, bad, false],
    ['an operation that no rule names', { resourceRules: [rule({ operations: ['DELETE'] })] }, bad, false],
    ['a name of the rule', { resourceRules: [rule({ resourceNames: ['c'] })] }, bad, true],
    ['another name than that of the rule', { resourceRules: [rule({ resourceNames: ['d'] })] }, bad, false],
    ['an excluded name', { resourceRules: [rule()], excludeResourceRules: [rule({ resourceNames: ['c'] })] }, bad, false],
    ['another name than the excluded one', { resourceRules: [rule()], excludeResourceRules: [rule({ resourceNames: ['d'] })] }, bad, true],
    ['an excluded resource', { resourceRules: [rule({ resources: ['*'] })], excludeResourceRules: [rule()] }, bad, false],
    ['labels of the namespace', { resourceRules: [rule()], namespaceSelector: { matchLabels: { tier: 'gold' } } }, bad, true],
    ['other labels of the namespace', { resourceRules: [rule()], namespaceSelector: { matchLabels: { tier: 'tin' } } }, bad, false],
    ['labels of the object', { resourceRules: [rule()], objectSelector: { matchLabels: { a: 'b' } } }, bad, false],
  ])('%s', async (_, matchConstraints, object, isDenied) => {
    expect((await denialIn(worldOf({ matchConstraints }), object)) !== undefined).toBe(isDenied);
  });

  test('a binding narrows its policy, and one without rules does not', async () => {
    const narrow = { matchResources: { resourceRules: [rule({ resources: ['secrets'] })] } };
    expect(await denialIn(worldOf({}, narrow), bad)).toBeUndefined();
    expect(
      await denialIn(worldOf({}, narrow, { matchResources: { namespaceSelector: { matchLabels: { tier: 'gold' } } } }), bad),
    ).toBeDefined();
    expect(await denialIn(worldOf({}, { policyName: 'another' }), bad)).toBeUndefined();
  });

  test('another version of the same objects matches by Equivalent, in the version of the rule', async () => {
    const scaler = {
      metadata: { name: 'h', namespace: 'ns' },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
    };
    const resourceRules = [rule({ apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] })];
    const validations = [{ expression: 'false', messageExpression: "object.apiVersion + ' for ' + request.requestKind.version" }];
    const attempt = { kind: 'autoscaling/horizontalpodautoscalers@v2' };
    expect(await why(worldOf({ matchConstraints: { resourceRules }, validations }), scaler, attempt)).toBe('autoscaling/v1 for v2');
    const exact = worldOf({ matchConstraints: { matchPolicy: 'Exact', resourceRules }, validations });
    expect(await denialIn(exact, scaler, attempt)).toBeUndefined();
  });

  test('policies do not judge policies, webhooks and reviews', async () => {
    const resourceRules = [rule({ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] })];
    const world = worldOf({ matchConstraints: { resourceRules }, validations: [{ expression: 'false' }] });
    const denied = async (kind: string) => (await denialIn(world, { metadata: { name: 'o' }, spec: {} }, { kind })) !== undefined;
    expect(await denied('nodes')).toBe(true);
    expect(await denied('admissionregistration/validatingadmissionpolicies')).toBe(false);
    expect(await denied('authorization/subjectaccessreviews')).toBe(false);
  });
});

describe('what a failed validation does', () => {
  test('Deny names policy, binding and reason', async () => {
    const denial = await denialIn(worldOf({ validations: [{ expression: 'false', reason: 'Forbidden', message: 'no' }] }), bad);
    const text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
    expect(denial?.status()).toMatchObject({ code: 403, reason: 'Forbidden', message: `configmaps "c" is forbidden: ${text}` });
    expect(denial?.details?.causes).toEqual([{ message: text }]);
  });

  test('Warn and Audit let it pass', async () => {
    const world = worldOf(
      { auditAnnotations: [{ key: 'k', valueExpression: "'seen ' + object.metadata.name" }] },
      { validationActions: ['Warn', 'Audit'] },
    );
    expect(await denialIn(world, bad)).toBeUndefined();
    expect(world.warnings).toEqual([
      "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: !('bad' in object.data)",
    ]);
    expect(JSON.parse(world.annotations.get('validation.policy.admission.k8s.io/validation_failure') ?? '')).toEqual([
      {
        message: "failed expression: !('bad' in object.data)",
        policy: 'p',
        binding: 'b',
        expressionIndex: 0,
        validationActions: ['Warn', 'Audit'],
      },
    ]);
    expect(world.annotations.get('p/k')).toBe('seen c');
  });

  test('values of an audit annotation from several bindings are joined, each once', async () => {
    const world = worldOf(
      { paramKind: { apiVersion: 'v1', kind: 'Secret' }, auditAnnotations: [{ key: 'k', valueExpression: "'' + params.metadata.name" }] },
      ...['one', 'two', 'one'].map((name) => ({ paramRef: { name, parameterNotFoundAction: 'Deny' } })),
    );
    for (const name of ['one', 'two']) world.with('secrets', { metadata: { name, namespace: 'ns' } });
    await denialIn(world, fine);
    expect(world.annotations.get('p/k')).toBe('one, two');
  });
});

describe('what cannot be evaluated follows the failure policy', () => {
  const faults: [string, object, object, string][] = [
    ['a validation', { validations: [{ expression: "object.data['x'] == ''" }] }, {}, 'no such key: x'],
    ['a condition', { matchConditions: [{ name: 'n', expression: "object.data['x'] == ''" }] }, {}, 'no such key: x'],
    [
      'a variable',
      { variables: [{ name: 'v', expression: "object.data['x']" }], validations: [{ expression: "variables.v == ''" }] },
      {},
      'composited variable "v" fails to evaluate: no such key: x',
    ],
    [
      'an annotation',
      { validations: [], auditAnnotations: [{ key: 'k', valueExpression: "'a' + object.data['x']" }] },
      {},
      'no such key: x',
    ],
    [
      'a missing parameter',
      { paramKind: { apiVersion: 'v1', kind: 'Secret' } },
      { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } },
      'no params found for policy binding with `Deny` parameterNotFoundAction',
    ],
    [
      'a kind of parameters that does not exist',
      { paramKind: { apiVersion: 'a.example/v1', kind: 'Nothing' } },
      {},
      "failed to find resource referenced by paramKind: 'a.example/v1, Kind=Nothing'",
    ],
    [
      'a namespace for a parameter that has none',
      { paramKind: { apiVersion: 'v1', kind: 'Node' } },
      { paramRef: { name: 'n', namespace: 'ns', parameterNotFoundAction: 'Allow' } },
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    ],
    [
      'an expression that costs too much',
      { validations: [{ expression: "['a', 'b', 'c'].all(g, authorizer.group(g).resource('pods').check('get').allowed() || true)" }] },
      {},
      'operation cancelled: actual cost limit exceeded',
    ],
  ];
  test.each(faults)('%s', async (_, policy, binding, text) => {
    const denial = await denialIn(worldOf(policy, binding), fine);
    expect(denial?.code).toBe(422);
    expect(denial?.message).toContain(text);
    expect(await denialIn(worldOf({ ...policy, failurePolicy: 'Ignore' }, binding), fine)).toBeUndefined();
  });

  test('a validation that is false is no fault', async () => {
    expect(await denialIn(worldOf({ failurePolicy: 'Ignore' }), bad)).toBeDefined();
  });

  test('all expressions of a policy share a budget', async () => {
    const costly = "[1,2].all(i, authorizer.group('').resource('pods').check('get').allowed() || true)";
    const many = (count: number) => ({ validations: Array.from({ length: count }, () => ({ expression: costly })) });
    expect(await denialIn(worldOf(many(14)), fine)).toBeUndefined();
    expect(await why(worldOf(many(15)), fine)).toBe(
      'validation failed due to running out of cost budget, no further validation rules will be run',
    );
    const conditions = { matchConditions: Array.from({ length: 4 }, (_, i) => ({ name: `n${i}`, expression: costly })) };
    expect(await why(worldOf(conditions), fine)).toMatch(/out of cost budget/);
  });
});

describe('what expressions see', () => {
  const says = (messageExpression: string, more: object = {}) =>
    worldOf({ ...more, validations: [{ expression: 'false', messageExpression }] });

  test('the request, without what is empty', async () => {
    const user = { name: 'alice', uid: 'u', groups: ['dev'], extra: { scope: ['a'] } };
    expect(
      await why(says("request.operation + ' ' + request.userInfo.username + ' ' + request.userInfo.extra['scope'][0]"), bad, { user }),
    ).toBe('CREATE alice a');
    expect(await why(says('string(has(request.subResource)) + string(has(request.name)) + string(request.dryRun)'), bad)).toBe(
      'falsetruefalse',
    );
  });
  test('the namespace', async () => {
    expect(await why(says("'tier ' + namespaceObject.metadata.labels['tier']"), bad)).toBe('tier gold');
  });
  test('variables that are null', async () => {
    expect(await why(says("'null: ' + string(variables.v == null)", { variables: [{ name: 'v', expression: 'oldObject' }] }), bad)).toBe(
      'null: true',
    );
  });
  test('answers of the authorizer that come later, asked for once', async () => {
    const asks = "authorizer.requestResource.check('approve').allowed()";
    const world = worldOf({ validations: [{ expression: `!${asks} || ${asks}` }, { expression: asks, message: 'may not approve' }] });
    const asked: string[] = [];
    const env = {
      ...world.env,
      authorize: async ({ verb, resource, namespace, name }: { verb: string; resource: string; namespace: string; name: string }) => {
        asked.push(`${verb} ${resource} ${namespace}/${name}`);
        return { decision: 'none', reason: '' } as const;
      },
    };
    const plugin = await validatingAdmissionPolicy(env, undefined);
    await expect(plugin.validate?.(world.request('configmaps', bad))).rejects.toThrow('may not approve');
    expect(asked).toEqual(['approve configmaps ns/c']);
  });
  test('a service account in place of the user', async () => {
    const world = says("'users: ' + string(size(object.data))");
    const seen: string[] = [];
    world.may = ({ name, groups }) => {
      seen.push(`${name} ${groups.join()}`);
      return false;
    };
    const expression =
      "authorizer.serviceAccount('ns', 'a').group('').resource('pods').check('get').allowed() || authorizer.serviceAccount('ns', 'b').group('').resource('pods').check('get').allowed()";
    const asking = worldOf({ validations: [{ expression }] });
    asking.may = world.may;
    await denialIn(asking, bad);
    const groups = 'system:serviceaccounts,system:serviceaccounts:ns,system:authenticated';
    expect(seen).toEqual([`system:serviceaccount:ns:a ${groups}`, `system:serviceaccount:ns:b ${groups}`]);
  });
});

test('every parameter that a selector finds is evaluated, in the namespace of the request', async () => {
  const world = worldOf(
    {
      paramKind: { apiVersion: 'v1', kind: 'Secret' },
      validations: [{ expression: "params.metadata.name != 'second'", messageExpression: "'by ' + params.metadata.name" }],
    },
    { paramRef: { selector: { matchLabels: { use: 'yes' } }, parameterNotFoundAction: 'Deny' } },
  );
  world.with('secrets', { metadata: { name: 'second', namespace: 'other', labels: { use: 'yes' } } });
  world.with('secrets', { metadata: { name: 'first', namespace: 'ns', labels: { use: 'yes' } } });
  expect(await why(world, fine)).toBeUndefined();
  world.with('secrets', { metadata: { name: 'second', namespace: 'ns', labels: { use: 'yes' } } });
  expect(await why(world, fine)).toBe('by second');
});

test('a policy that changes is compiled again, one that goes has no effect any more', async () => {
  const world = worldOf({});
  const plugin = await world.plugin(validatingAdmissionPolicy);
  const attempt = async () => plugin.validate?.(world.request('configmaps', bad));
  await expect(attempt()).rejects.toThrow('denied request');
  world.with('admissionregistration/validatingadmissionpolicies', policyOf({ validations: [{ expression: 'true' }] }));
  await attempt();
  world.with('admissionregistration/validatingadmissionpolicies', policyOf({}));
  await expect(attempt()).rejects.toThrow('denied request');
  world.view('admissionregistration', 'validatingadmissionpolicies').remove('', 'p');
  await attempt();
});

test('while the gate is off, policies have no effect', async () => {
  const plugin = await new World({ release: '1.28' }).plugin(validatingAdmissionPolicy);
  expect(plugin.handles('CREATE')).toBe(false);
});

test('the explanation of a request shows policies', async () => {
  const world = worldOf({ matchConditions: [{ name: 'not-free', expression: "!('free' in object.data)" }] });
  const plugin = await world.plugin(validatingAdmissionPolicy);
  const explained = async (data: object) => {
    const explanation = new Explanation();
    const validate = async () => plugin.validate?.({ ...world.request('configmaps', cm(data)), explanation });
    await validate().catch(() => {});
    return explanation.steps.map(({ step, refused, note }) => ({ step, refused, note }));
  };
  expect(await explained({ bad: '', free: '' })).toEqual([
    { step: 'ValidatingAdmissionPolicy/p/b', refused: undefined, note: 'its condition "not-free" is false' },
  ]);
  expect(await explained({ bad: '' })).toEqual([
    { step: 'ValidatingAdmissionPolicy/p/b', refused: "failed expression: !('bad' in object.data)", note: undefined },
  ]);
});

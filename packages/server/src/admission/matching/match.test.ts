import { expect, test } from 'vitest';
import { servedKind, World } from '../testing.ts';
import { type ConfigurationObject, compile } from '../webhooks/compiled-webhooks.ts';
import { Matcher, namespaceSelected, objectSelected, type RuleObject } from './match.ts';

const world = new World();
const { equivalents } = world.env.webhooks;
const rule = (more: Partial<RuleObject> = {}): RuleObject => ({
  operations: ['*'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
  ...more,
});
const hook = (rules: RuleObject[], more: object = {}) => ({
  name: 'w.example.test',
  clientConfig: {},
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  rules,
  ...more,
});
const configuration = (name: string, ...webhooks: object[]): ConfigurationObject => ({ metadata: { name }, webhooks }) as never;

function matches(
  given: RuleObject,
  kind: string,
  subresource = '',
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT' = 'CREATE',
  more: object = {},
) {
  const matcher = new Matcher(compile([configuration('c', hook([given], more))]));
  return matcher.candidates(servedKind(kind), subresource, operation, equivalents).map(({ places }) => places[0]?.served.apiVersion);
}

test.each([
  [rule(), 'configmaps', '', 'CREATE', true],
  [rule({ operations: ['UPDATE'] }), 'configmaps', '', 'CREATE', false],
  [rule({ resources: ['*'] }), 'secrets', '', 'DELETE', true],
  [rule({ resources: ['*'] }), 'pods', 'status', 'UPDATE', false],
  [rule({ resources: ['*/*'] }), 'pods', 'status', 'UPDATE', true],
  [rule({ resources: ['*/*'] }), 'pods', '', 'UPDATE', true],
  [rule({ resources: ['pods/*'] }), 'pods', '', 'CREATE', true],
  [rule({ resources: ['pods/*'] }), 'pods', 'exec', 'CONNECT', true],
  [rule({ resources: ['*/status'] }), 'pods', 'status', 'UPDATE', true],
  [rule({ resources: ['*/status'] }), 'pods', '', 'UPDATE', false],
  [rule({ resources: ['pods'] }), 'pods', 'binding', 'CREATE', false],
  [rule({ apiGroups: ['apps'], resources: ['deployments'] }), 'apps/deployments', '', 'CREATE', true],
  [rule({ apiGroups: ['*'], resources: ['*'] }), 'apps/deployments', '', 'CREATE', true],
  [rule({ resources: ['*'], scope: 'Cluster' }), 'configmaps', '', 'CREATE', false],
  [rule({ resources: ['*'], scope: 'Cluster' }), 'nodes', '', 'CREATE', true],
  [rule({ resources: ['*'], scope: 'Cluster' }), 'namespaces', '', 'CREATE', true],
  [rule({ resources: ['*'], scope: 'Namespaced' }), 'namespaces', '', 'CREATE', false],
  [
    rule({ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }),
    'admissionregistration/validatingwebhookconfigurations',
    '',
    'CREATE',
    false,
  ],
] as const)('%j speaks of %s/%s on %s: %s', (given, kind, subresource, operation, expected) => {
  expect(matches(given, kind, subresource, operation).length > 0).toBe(expected);
});

test('a request in another version is met by an Equivalent rule, in the version of the rule', () => {
  const budgets = rule({ apiGroups: ['policy'], resources: ['poddisruptionbudgets'] });
  expect(matches(budgets, 'policy/poddisruptionbudgets@v1beta1')).toEqual(['policy/v1']);
  expect(matches(budgets, 'policy/poddisruptionbudgets@v1')).toEqual(['policy/v1']);
  expect(matches(budgets, 'policy/poddisruptionbudgets@v1beta1', '', 'CREATE', { matchPolicy: 'Exact' })).toEqual([]);
});

test('webhooks are called by the names of their configurations, then in the order listed', () => {
  const named = (name: string) => hook([rule()], { name });
  const compiled = compile([configuration('b', named('r'), named('p')), configuration('a', named('s'), named('q'))]);
  expect(compiled.map(({ name, index }) => `${index} ${name}`)).toEqual(['0 s', '1 q', '2 r', '3 p']);
});

test('what no rule speaks of is found out once', () => {
  let asked = 0;
  const matcher = new Matcher(compile([configuration('c', hook([rule()]))]));
  const count = (served: Parameters<typeof equivalents>[0]) => {
    asked++;
    return equivalents(served);
  };
  const secrets = servedKind('secrets');
  for (let i = 0; i < 5; i++) expect(matcher.candidates(secrets, '', 'CREATE', count)).toEqual([]);
  expect(asked).toBe(1);
});

const [selecting] = compile([
  configuration(
    'c',
    hook([rule()], { objectSelector: { matchLabels: { only: 'me' } }, namespaceSelector: { matchLabels: { tier: 'gold' } } }),
  ),
]);
const cm = (labels: object) => ({ metadata: { name: 'c', namespace: 'ns', labels } });

test('the object selector looks at the old and at the new object', () => {
  const selected = (object: object | undefined, old?: object) =>
    objectSelected(selecting as never, world.request('configmaps', object, old === undefined ? {} : { old }));
  expect(selected(cm({ only: 'me' }))).toBe(true);
  expect(selected(cm({}), cm({ only: 'me' }))).toBe(true);
  expect(selected(undefined, cm({ only: 'me' }))).toBe(true);
  expect(selected(cm({}), cm({}))).toBe(false);
  const options = { kind: 'PodExecOptions' };
  const connect = world.request('pods', options, {
    operation: 'CONNECT',
    objectKind: { group: '', version: 'v1', kind: 'PodExecOptions' },
  });
  expect(objectSelected(selecting as never, connect)).toBe(false);
});

test('the namespace selector reads the namespace, or the labels that it will have', () => {
  const selected = (request: Parameters<typeof namespaceSelected>[1], labels: 'missing' | Record<string, string>) =>
    namespaceSelected(selecting as never, request, () => labels);
  const inNamespace = world.request('configmaps', cm({}));
  expect(selected(inNamespace, { tier: 'gold' })).toBe(true);
  expect(selected(inNamespace, {})).toBe(false);
  expect(selected(inNamespace, 'missing')).toBe('missing');
  expect(selected(world.request('nodes', { metadata: { name: 'n' } }), 'missing')).toBe(true);
  const namespace = (tier: string) => ({ metadata: { name: 'ns', labels: { tier } } });
  expect(selected(world.request('namespaces', namespace('gold'), { old: namespace('tin') }), { tier: 'tin' })).toBe(true);
  expect(selected(world.request('namespaces', undefined, { old: namespace('tin') }), { tier: 'tin' })).toBe(false);
});

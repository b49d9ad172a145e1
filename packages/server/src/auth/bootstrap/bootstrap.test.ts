import { readFeatureGates } from '@plat-dev/kinds/feature-gates';
import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { recordedText } from '@plat-dev/lib/testing/recordings.testing';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { BindingObject } from '../authz/policy-rules.ts';
import { RoleBasedAccess } from '../authz/rbac.ts';
import { bootstrapPolicy, type ClusterRoleObject } from './objects.ts';
import { reconcileBinding, reconcileRole } from './reconcile.ts';

const stockOf = (release: string) => {
  const features = readFeatureGates(new Map(), { release });
  return { release, feature: (gate: string): boolean => features.isOn(gate), explains: false };
};
const stock = stockOf('1.24');
const explaining = { ...stock, explains: true };

test('controllers have the rules of features that are on', () => {
  const rulesOf = (role: string, feature: (gate: string) => boolean): string =>
    JSON.stringify(
      bootstrapPolicy(kubernetes, { ...stock, feature }).clusterRoles.find(({ metadata }) => metadata.name === `system:controller:${role}`)
        ?.rules,
    );
  expect(rulesOf('attachdetach-controller', () => true)).toContain('csinodes');
  expect(rulesOf('attachdetach-controller', () => false)).not.toContain('csinodes');
  const updates = '"verbs":["update"],"apiGroups":[""],"resources":["persistentvolumeclaims"]';
  expect(rulesOf('statefulset-controller', () => true)).toContain(updates);
  expect(rulesOf('statefulset-controller', () => false)).not.toContain(updates);
});

test('the policy is that of a stock server', () => {
  const facts = JSON.parse(recordedText('api-facts', 'bootstrap-objects.json'));
  const policy = bootstrapPolicy(kubernetes, stock);
  expect(policy.clusterRoles).toEqual(facts.clusterroles);
  expect(policy.clusterRoleBindings).toEqual(facts.clusterrolebindings);
  expect(policy.roles).toEqual(facts.roles);
  expect(policy.roleBindings).toEqual(facts.rolebindings);
});

test('another identity has the same policy under its own names', () => {
  const policy = bootstrapPolicy(plat, explaining);
  const text = JSON.stringify(policy);
  expect(text).not.toMatch(/k8s\.io|kubernetes\.io|kube-system|kube-public/);
  expect(policy.clusterRoles).toHaveLength(bootstrapPolicy(kubernetes, explaining).clusterRoles.length);
  expect(policy.clusterRoleBindings.map((one) => one.metadata.name)).toContain('system:explanation-user');
  expect(policy.clusterRoles.map((role) => role.metadata.name)).toContain('system:certificates.plat.dev:apiserver-client-approver');
  expect(text).toContain('"rbac.authorization.plat.dev/autoupdate":"true"');
});

test('where history is served the roles of both identities give the right to see it', () => {
  const own = ['system:aggregate-history-to-admin', 'system:aggregate-history-to-edit', 'system:explanation-user'];
  for (const identity of [plat, kubernetes]) {
    const names = ({ clusterRoles }: ReturnType<typeof bootstrapPolicy>) => clusterRoles.map(({ metadata }) => metadata.name);
    const stockNames = new Set(names(bootstrapPolicy(identity, stock)));
    const policy = bootstrapPolicy(identity, explaining);
    expect(names(policy).filter((name) => !stockNames.has(name))).toEqual(own);
    const verbsOf = (role: string) =>
      new Set(policy.clusterRoles.find(({ metadata }) => metadata.name === role)?.rules?.flatMap(({ verbs }) => verbs));
    expect(['admin', 'edit', 'view'].map((role) => verbsOf(role).has('history'))).toEqual([true, true, false]);
  }
});

test('the policy lets signed-in users read discovery, and everyone read the health', () => {
  const store = new FakeStore();
  const policy = bootstrapPolicy(plat, explaining);
  for (const role of policy.clusterRoles) store.put('rbac.authorization', 'clusterroles', role);
  for (const binding of policy.clusterRoleBindings) store.put('rbac.authorization', 'clusterrolebindings', binding);
  const access = new RoleBasedAccess(store.live, plat);
  const may = (groups: string[], path: string) =>
    access.authorize({
      user: { name: 'u', groups },
      verb: 'get',
      group: '',
      version: '',
      resource: '',
      subresource: '',
      name: '',
      namespace: '',
      path,
      resourceRequest: false,
    }).decision;
  expect(may(['system:authenticated'], '/apis/apps/v1')).toBe('allow');
  expect(may(['system:unauthenticated'], '/apis/apps/v1')).toBe('none');
  expect(may(['system:unauthenticated'], '/healthz')).toBe('allow');
  expect(may(['system:authenticated'], '/metrics')).toBe('none');
});

const role = (rules: ClusterRoleObject['rules'], annotations?: Record<string, string>): ClusterRoleObject => ({
  metadata: { name: 'r', ...(annotations && { annotations }) } as ClusterRoleObject['metadata'],
  rules: rules ?? [],
});
const get = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const list = { verbs: ['list', 'watch'], apiGroups: [''], resources: ['pods'] };
const secrets = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] };
const off = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };

test('a role gets back what is missing and keeps what was added', () => {
  const wanted = role([{ ...get, verbs: ['get', 'list', 'watch'] }], { a: '1' });
  expect(reconcileRole(kubernetes, undefined, wanted)).toEqual({ action: 'create', object: wanted });
  expect(reconcileRole(kubernetes, role([get, secrets]), wanted)).toEqual({
    action: 'update',
    object: { metadata: { name: 'r', labels: {}, annotations: { a: '1' } }, rules: [get, secrets, list] },
  });
  const wider: ClusterRoleObject = { ...role([{ ...get, verbs: ['*'] }]), metadata: { name: 'r', labels: {}, annotations: { a: 'mine' } } };
  expect(reconcileRole(kubernetes, wider, wanted)).toEqual({ action: 'none' });
  expect(reconcileRole(kubernetes, role([secrets], off), wanted)).toEqual({ action: 'none' });
});

test('an aggregated role keeps the rules that were gathered and gets its selectors back', () => {
  const selector = (name: string) => ({ matchLabels: { [name]: 'true' } });
  const wanted = { ...role([get]), aggregationRule: { clusterRoleSelectors: [selector('a')] } };
  const existing = { ...role([secrets]), aggregationRule: { clusterRoleSelectors: [selector('mine')] } };
  expect(reconcileRole(kubernetes, existing, wanted)).toMatchObject({
    action: 'update',
    object: { rules: [secrets], aggregationRule: { clusterRoleSelectors: [selector('mine'), selector('a')] } },
  });
});

const binding = (subjects: string[], name = 'role', annotations?: Record<string, string>): BindingObject => ({
  metadata: { name: 'b', ...(annotations && { annotations }) } as BindingObject['metadata'],
  subjects: subjects.map((one) => ({ kind: 'User', name: one })),
  roleRef: { apiGroup: 'g', kind: 'ClusterRole', name },
});

test('a binding gets its subjects back and keeps others', () => {
  expect(reconcileBinding(kubernetes, binding(['mine']), binding(['a']))).toMatchObject({
    action: 'update',
    object: { subjects: [{ name: 'mine' }, { name: 'a' }] },
  });
  expect(reconcileBinding(kubernetes, binding(['mine'], 'role', off), binding(['a']))).toEqual({ action: 'none' });
  expect(reconcileBinding(kubernetes, binding(['mine'], 'other', { a: '1' }), binding(['a']))).toMatchObject({
    action: 'recreate',
    object: { subjects: [{ name: 'a' }], roleRef: { name: 'role' }, metadata: { annotations: { a: '1' } } },
  });
  expect(reconcileBinding(kubernetes, undefined, binding(['a'])).action).toBe('create');
});

test('the policy of this release changes nothing where it was written before', () => {
  for (const identity of [plat, kubernetes]) {
    const policy = bootstrapPolicy(identity, explaining);
    for (const one of policy.clusterRoles) expect(reconcileRole(identity, one, one)).toEqual({ action: 'none' });
    for (const one of policy.roleBindings) expect(reconcileBinding(identity, one, one)).toEqual({ action: 'none' });
  }
});

import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { missingFrom, TooManyPermissions } from '@plat-dev/kinds/rbac/covers';
import type { PolicyRule } from '@plat-dev/kinds/rbac/schema/v1';
import type { ApiError } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { beforeEach, expect, test } from 'vitest';
import type { User } from '../types.ts';
import { type EscalationCheck, escalationCheck } from './escalation.ts';
import type { BindingObject, RoleObject } from './policy-rules.ts';
import { RoleBasedAccess } from './rbac.ts';

const group = 'rbac.authorization';
const me: User = { name: 'me', groups: ['system:authenticated'] };
const admin: User = { name: 'root', groups: ['system:masters'] };
const rule = (resources: string, verbs: string, more: Partial<PolicyRule> = {}): PolicyRule => ({
  verbs: verbs.split(','),
  apiGroups: [''],
  resources: resources.split(','),
  ...more,
});
const role = (rules: PolicyRule[], name = 'r', namespace: string | undefined = 'ns'): RoleObject => ({
  metadata: { name, ...(namespace && { namespace }) } as RoleObject['metadata'],
  rules,
});
const binding = (roleName: string, kind = 'Role', subjects = ['x'], namespace: string | undefined = 'ns'): BindingObject => ({
  metadata: { name: 'b', ...(namespace && { namespace }) } as BindingObject['metadata'],
  subjects: subjects.map((name) => ({ kind: 'User', name })),
  roleRef: { apiGroup: `${group}.k8s.io`, kind, name: roleName },
});

let store: FakeStore;
let check: EscalationCheck;
/** Gives `me` these rules in the namespace. */
function hold(...rules: PolicyRule[]) {
  store.put(group, 'roles', role(rules, 'mine'));
  store.put(group, 'rolebindings', { ...binding('mine', 'Role', ['me']), metadata: { name: 'mine', namespace: 'ns' } });
}
beforeEach(() => {
  store = new FakeStore();
  const access = new RoleBasedAccess(store.live, kubernetes);
  check = escalationCheck(kubernetes, access, access);
});
const refusal = (promise: Promise<void>): Promise<string> =>
  promise.then(
    () => 'allowed',
    (error: ApiError) => `${error.code} ${error.message}`,
  );
/** A role that I write, by its name unless it is posted. */
const byMe = (written: RoleObject, old: RoleObject | undefined, pathName = old?.metadata.name ?? ''): Promise<void> =>
  check.checkRole(me, written, old, pathName);
const prefix = 'user "me" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:';

test('nobody makes a role with more than they hold', async () => {
  hold(rule('pods', 'get,list'));
  expect(await refusal(byMe(role([rule('pods', 'get')]), undefined))).toBe('allowed');
  expect(await refusal(byMe(role([rule('pods', 'get,delete')], 'more'), undefined))).toBe(
    `403 roles.rbac.authorization.k8s.io "more" is forbidden: ${prefix}\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}`,
  );
  const many = [rule('services', '*', { resourceNames: ['x'] }), rule('secrets', 'get,list'), { verbs: ['get'], nonResourceURLs: ['/x'] }];
  expect(await refusal(byMe(role(many, 'more'), undefined))).toBe(
    `403 roles.rbac.authorization.k8s.io "more" is forbidden: ${prefix}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}\n{APIGroups:[""], Resources:["services"], ResourceNames:["x"], Verbs:["*"]}\n{NonResourceURLs:["/x"], Verbs:["get"]}`,
  );
  expect(await refusal(check.checkRole(admin, role(many), undefined, ''))).toBe('allowed');
});

test('a role beyond what one holds may be freed for deletion and changed in no other way', async () => {
  const old = role([rule('secrets', 'get')]);
  const freed = { ...old, metadata: { ...old.metadata, finalizers: [] } };
  expect(await refusal(byMe(freed, old))).toBe('allowed');
  const labelled = { ...old, metadata: { ...old.metadata, labels: { a: 'b' } } };
  expect(await refusal(byMe(labelled, old))).toMatch(/not currently held/);
  expect(await refusal(byMe(role([rule('secrets', 'get,list')]), old))).toMatch(/not currently held/);
});

test('the verb escalate lifts the limit, for single roles only where the request names them', async () => {
  const secrets = (name: string): RoleObject => role([rule('secrets', 'get')], name);
  const escalate = rule('roles', 'escalate', { apiGroups: [`${group}.k8s.io`] });
  hold({ ...escalate, resourceNames: ['r'] });
  expect(await refusal(byMe(secrets('r'), role([], 'r')))).toBe('allowed');
  expect(await refusal(byMe(secrets('other'), role([], 'other')))).toMatch(/403/);
  // A create by PUT or apply names it, a POST does not.
  expect(await refusal(byMe(secrets('r'), undefined, 'r'))).toBe('allowed');
  expect(await refusal(byMe(secrets('r'), undefined))).toMatch(/403/);
  hold(escalate);
  expect(await refusal(byMe(secrets('r'), undefined))).toBe('allowed');
});

test('an aggregated role may be written, or made a plain one, only by those who hold everything', async () => {
  const plain = role([], 'r', '');
  const aggregated = { ...plain, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } };
  const changes = [
    [aggregated, undefined],
    [aggregated, plain],
    [plain, aggregated],
    [{ ...aggregated, metadata: { ...aggregated.metadata, labels: { a: 'b' } } }, aggregated],
  ] as const;
  for (const [written, old] of changes)
    expect(await refusal(byMe(written, old))).toBe(
      '403 clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    );
  // What the role contains itself is reported first.
  expect(await refusal(byMe({ ...aggregated, rules: [rule('secrets', 'get')] }, undefined))).toMatch(/not currently held/);
  expect(await refusal(byMe(Object.assign({}, plain, { aggregationRule: { clusterRoleSelectors: [] } }), undefined))).toBe('allowed');
  expect(await refusal(byMe({ ...aggregated, metadata: { ...aggregated.metadata, finalizers: [] } }, aggregated))).toBe('allowed');
  store.put(group, 'clusterroles', role([rule('*', '*', { apiGroups: ['*'] }), { verbs: ['*'], nonResourceURLs: ['*'] }], 'all', ''));
  store.put(group, 'clusterrolebindings', binding('all', 'ClusterRole', ['me'], ''));
  for (const [written, old] of changes) expect(await refusal(byMe(written, old))).toBe('allowed');
});

test('nobody binds a role they do not hold', async () => {
  hold(rule('pods', 'get'));
  store.put(group, 'roles', role([rule('pods', 'get')], 'fits'));
  store.put(group, 'roles', role([rule('secrets', 'get')], 'more'));
  expect(await refusal(check.checkBinding(me, binding('fits'), undefined))).toBe('allowed');
  expect(await refusal(check.checkBinding(me, binding('more'), undefined))).toBe(
    `403 rolebindings.rbac.authorization.k8s.io "b" is forbidden: ${prefix}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`,
  );
  expect(await refusal(check.checkBinding(me, binding('more'), binding('more')))).toBe('allowed');
  expect(await refusal(check.checkBinding(me, binding('more', 'Role', ['x', 'me']), binding('more')))).toMatch(/403/);
  expect(await refusal(check.checkBinding(me, binding('ghost'), undefined))).toBe('404 roles.rbac.authorization.k8s.io "ghost" not found');
  const access = new RoleBasedAccess(store.live, kubernetes);
  const later = escalationCheck(kubernetes, access, access, '1.36');
  expect(await refusal(later.checkBinding(me, binding('ghost'), undefined))).toBe(
    '404 rolebindings.rbac.authorization.k8s.io "ghost" not found',
  );
  expect(await refusal(check.checkBinding(admin, binding('ghost'), undefined))).toBe('allowed');
});

test('the verb bind, by role name, lifts the limit', async () => {
  hold(rule('roles', 'bind', { apiGroups: [`${group}.k8s.io`], resourceNames: ['more'] }));
  store.put(group, 'roles', role([rule('secrets', 'get')], 'more'));
  store.put(group, 'roles', role([rule('secrets', 'get')], 'other'));
  expect(await refusal(check.checkBinding(me, binding('more'), undefined))).toBe('allowed');
  expect(await refusal(check.checkBinding(me, binding('other'), undefined))).toMatch(/403/);
});

test.each<[string, PolicyRule, PolicyRule, number]>([
  ['itself', rule('pods', 'get'), rule('pods', 'get'), 0],
  ['a star verb covers', rule('pods', '*'), rule('pods', 'get,list'), 0],
  ['a star is not covered by all the words', rule('pods', 'get,list,watch'), rule('pods', '*'), 1],
  ['a star resource covers subresources', rule('*', 'get'), rule('pods/log', 'get'), 0],
  ['a star before a subresource', rule('*/log', 'get'), rule('pods/log', 'get'), 0],
  ['names narrow', rule('pods', 'get', { resourceNames: ['a'] }), rule('pods', 'get'), 1],
  ['no names are wider', rule('pods', 'get'), rule('pods', 'get', { resourceNames: ['a'] }), 0],
  ['some names', rule('pods', 'get', { resourceNames: ['a'] }), rule('pods', 'get', { resourceNames: ['a', 'b'] }), 1],
  ['a path prefix', { verbs: ['get'], nonResourceURLs: ['/a/*'] }, { verbs: ['get'], nonResourceURLs: ['/a/b', '/a/*', '/b'] }, 1],
])('what covers what: %s', (_, owned, wanted, missing) => {
  expect(missingFrom([owned], [wanted])).toHaveLength(missing);
});

test('a rule whose lists multiply to millions of permissions is compared as a whole, or refused', () => {
  const many = (prefix: string): string[] => Array.from({ length: 5000 }, (_, i) => `${prefix}${i}`);
  const huge: PolicyRule = { verbs: many('v'), apiGroups: many('g'), resources: many('r'), resourceNames: many('n') };
  expect(missingFrom([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], [huge])).toEqual([]);
  expect(missingFrom([huge], [huge])).toEqual([]);
  expect(() => missingFrom([rule('pods', 'get')], [huge])).toThrow('the rules amount to more than 20000 single permissions');
  expect(() => missingFrom([], [{ ...huge, resourceNames: [] }])).toThrow(TooManyPermissions);
  // The bound is far from what roles of people amount to.
  const usual: PolicyRule = { verbs: many('v').slice(0, 8), apiGroups: many('g').slice(0, 20), resources: many('r').slice(0, 100) };
  expect(missingFrom([], [usual])).toHaveLength(16_000);
});

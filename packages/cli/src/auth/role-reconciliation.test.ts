import { expect, test } from 'vitest';
import { type BindingObject, type RoleObject, reconciledBinding, reconciledRole } from './role-reconciliation.ts';

const rule = (resources: string, verbs: string) => ({ apiGroups: [''], resources: resources.split(','), verbs: verbs.split(',') });
const role = (...rules: ReturnType<typeof rule>[]): RoleObject => ({ metadata: { name: 'r' }, rules });

test('missing permissions are added, others stay', () => {
  const existing = role(rule('pods', 'get,list'), rule('secrets', 'get'));
  const result = reconciledRole(existing, role(rule('pods', 'get,watch')), false);
  expect(result.action).toBe('update');
  expect(result.object.rules).toEqual([...(existing.rules ?? []), { apiGroups: [''], resources: ['pods'], verbs: ['watch'] }]);
  expect(result.report).toEqual([{ title: 'missing rules added', lines: ['{"verbs":["watch"],"apiGroups":[""],"resources":["pods"]}'] }]);
  expect(reconciledRole(existing, role(rule('pods', 'list')), false).action).toBe('none');
  expect(reconciledRole(undefined, role(rule('pods', 'list')), false).action).toBe('create');
});

test('extra permissions are removed if asked', () => {
  const existing = role(rule('pods', 'get,list'));
  const wanted = role(rule('pods', 'get'));
  const result = reconciledRole(existing, wanted, true);
  expect(result.object.rules).toEqual(wanted.rules);
  expect(result.report.map(({ title }) => title)).toEqual(['extra rules removed']);
  expect(reconciledRole(existing, wanted, false).action).toBe('none');
});

test('rules of an aggregated role are left to its controller, selectors are added', () => {
  const selector = (app: string) => ({ matchLabels: { app } });
  const existing: RoleObject = { ...role(rule('pods', 'get')), aggregationRule: { clusterRoleSelectors: [selector('a')] } };
  const wanted: RoleObject = { ...role(rule('nodes', 'get')), aggregationRule: { clusterRoleSelectors: [selector('b')] } };
  const { object } = reconciledRole(existing, wanted, false);
  expect(object.rules).toEqual(existing.rules);
  expect(object.aggregationRule?.clusterRoleSelectors).toEqual([selector('a'), selector('b')]);
  expect(reconciledRole(existing, wanted, true).object.aggregationRule).toEqual(wanted.aggregationRule);
});

const user = (name: string) => ({ kind: 'User', name, apiGroup: 'g' });
const binding = (roleName: string, ...names: string[]): BindingObject => ({
  metadata: { name: 'b', labels: { [roleName]: 'x' } },
  roleRef: { kind: 'Role', name: roleName, apiGroup: 'g' },
  subjects: names.map(user),
});

test('subjects of a binding are added, or become those of the file', () => {
  const existing = binding('r', 'a', 'b');
  expect(reconciledBinding(existing, binding('r', 'b', 'c'), false).object.subjects).toEqual(['a', 'b', 'c'].map(user));
  const removed = reconciledBinding(existing, binding('r', 'b', 'c'), true);
  expect(removed.object.subjects).toEqual(['b', 'c'].map(user));
  expect(removed.report.map(({ title }) => title)).toEqual(['missing subjects added', 'extra subjects removed']);
  expect(reconciledBinding(existing, binding('r', 'a'), false).action).toBe('none');
});

test('a binding to another role is made anew, with the labels of both', () => {
  const { action, object } = reconciledBinding(binding('old', 'a'), binding('new', 'b'), false);
  expect([action, object.roleRef.name, object.metadata.labels]).toEqual(['recreate', 'new', { old: 'x', new: 'x' }]);
});

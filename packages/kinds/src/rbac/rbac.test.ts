import { plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { create, type Loose, shown, testEnv, update } from '../validation/kinds.testing.ts';
import { ClusterRoleKind } from './cluster-role.ts';
import { ClusterRoleBindingKind } from './cluster-role-binding.ts';
import { RoleKind } from './role.ts';
import { RoleBindingKind } from './role-binding.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const own = 'rbac.authorization.k8s.io';

test('a role without rules shows null, and its name may hold colons', () => {
  const { object, errors } = create(RoleKind, { metadata: { name: 'System:Some_Thing' } });
  expect(errors).toEqual([]);
  expect(shown(RoleKind, object).rules).toBeNull();
  expect(create(RoleKind, { metadata: { name: 'a/b' } }).errors).toEqual(like(['metadata.name | Invalid']));
});

test.each<[string, Loose, string[]]>([
  ['verbs', { apiGroups: [''], resources: ['pods'] }, ['rules[0].verbs | Required']],
  ['groups and resources', { verbs: ['get'] }, ['rules[0].apiGroups | Required', 'rules[0].resources | Required']],
  [
    'no paths',
    { verbs: ['get'], nonResourceURLs: ['/x'] },
    ['rules[0].nonResourceURLs | Invalid | Invalid value: []string{"/x"}: namespaced rules'],
  ],
])('rules of a role need %s', (_name, rule, texts) => {
  expect(create(RoleKind, { metadata: { name: 'r' }, rules: [rule] }).errors).toEqual(like(texts));
});

test('a rule of a cluster role is about paths or about resources', () => {
  const rule = { verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'] };
  expect(create(ClusterRoleKind, { metadata: { name: 'r' }, rules: [rule] }).errors).toEqual(like(['rules cannot apply to both']));
});

test('an aggregation has selectors that select', () => {
  const aggregate = (...clusterRoleSelectors: Loose[]) =>
    create(ClusterRoleKind, { metadata: { name: 'r' }, aggregationRule: { clusterRoleSelectors } }).errors;
  expect(aggregate()).toEqual(like(['aggregationRule.clusterRoleSelectors | Required']));
  expect(aggregate({ matchExpressions: [{ key: 'k', operator: 'In', values: ['bad value'] }] })).toEqual(
    like(['aggregationRule.clusterRoleSelectors[0] | Invalid | Invalid value: "null": invalid label selector.']),
  );
  expect(aggregate({ matchLabels: { a: 'b' } })).toEqual([]);
});

const binding = (subjects: Loose[] = [], roleRef: Loose = { kind: 'Role', name: 'r' }): Loose => ({
  metadata: { name: 'b' },
  roleRef,
  subjects,
});

test('groups of roles and subjects are filled in, after the identity', () => {
  const subjects = [
    { kind: 'User', name: 'u' },
    { kind: 'Group', name: 'g' },
    { kind: 'ServiceAccount', name: 's' },
  ];
  for (const [env, group] of [
    [testEnv, own],
    [{ ...testEnv, identity: plat }, 'rbac.authorization.plat.dev'],
  ] as const) {
    const { object, errors } = create(RoleBindingKind, binding(subjects), env);
    expect(errors).toEqual([]);
    expect(object.roleRef.apiGroup).toBe(group);
    expect(object.subjects.map((subject: Loose) => subject.apiGroup)).toEqual([group, group, undefined]);
  }
});

test('subjects and references are checked one by one', () => {
  const subjects = [
    { kind: 'Robot', name: 'x' },
    { kind: 'User', name: '' },
    { kind: 'User', apiGroup: 'apps', name: 'u' },
    { kind: 'ServiceAccount', apiGroup: own, name: 'Bad_Name' },
  ];
  expect(create(RoleBindingKind, binding(subjects, { apiGroup: 'apps', kind: 'Pod', name: 'a/b' })).errors).toEqual(
    like([
      'roleRef.apiGroup | NotSupported',
      'roleRef.kind | NotSupported | Unsupported value: "Pod": supported values: "Role", "ClusterRole"',
      'roleRef.name | Invalid',
      'subjects[0].kind | NotSupported',
      'subjects[1].name | Required',
      'subjects[2].apiGroup | NotSupported',
      'subjects[3].name | Invalid',
      'subjects[3].apiGroup | NotSupported | Unsupported value: "rbac.authorization.k8s.io": supported values: ""',
    ]),
  );
  const cluster = binding([{ kind: 'ServiceAccount', name: 's' }], { kind: 'Role', name: 'r' });
  expect(create(ClusterRoleBindingKind, cluster).errors).toEqual(like(['roleRef.kind | NotSupported', 'subjects[0].namespace | Required']));
});

test('a binding stays a binding of its role', () => {
  const { object } = create(RoleBindingKind, binding());
  expect(update(RoleBindingKind, object, (o) => Object.assign(o.roleRef, { name: 'other' })).errors).toEqual([
    `roleRef | Invalid | Invalid value: rbac.RoleRef{APIGroup:"${own}", Kind:"Role", Name:"other"}: cannot change roleRef`,
  ]);
  expect(update(RoleBindingKind, object, (o) => Object.assign(o, { subjects: [{ kind: 'User', name: 'v' }] })).errors).toEqual([]);
});

test('a row of a binding', () => {
  const subjects = [
    { kind: 'User', name: 'u' },
    { kind: 'User', name: 'v' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  ];
  const { object } = create(RoleBindingKind, binding(subjects));
  expect(RoleBindingKind.cells?.(object as never, testEnv)).toEqual(['b', 'Role/r', '27h', 'u, v', '', 'n/s']);
});

import { expect, test } from 'vitest';
import type { Kind } from '../../api/kinds.ts';
import { attributesOf, explainByPolicy, subjectsByPolicy } from './explanation.ts';
import { loadPolicy, type PolicyKinds } from './load-policy.ts';
import { cellOf, matrixRows } from './matrix.ts';
import { actionIn, actionQuery, actionText, personIn, targetText } from './question.ts';
import { type Action, lacksOf, type Policy, personOf, type ResourceAction, rulesOfPerson } from './rbac.ts';

const action = (parts: Partial<ResourceAction> = {}): ResourceAction => ({
  verb: 'get',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'team',
  name: '',
  ...parts,
});
const kindOf = (resource: string, group = '', verbs = ['get', 'list', 'create'], isNamespaced = true): Kind => ({
  group,
  version: 'v1',
  resource,
  kind: resource,
  isNamespaced,
  shortNames: resource === 'pods' ? ['po'] : [],
  verbs,
  subresources: [],
});
const policy: Policy = {
  clusterRoles: [
    { metadata: { name: 'view' }, rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/log'] }] },
    { metadata: { name: 'owner' }, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] },
    { metadata: { name: 'metrics' }, rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/healthz/*'] }] },
  ],
  roles: [
    {
      metadata: { name: 'one-secret', namespace: 'team' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['token'] }],
    },
  ],
  clusterRoleBindings: [
    { metadata: { name: 'owners' }, roleRef: { kind: 'ClusterRole', name: 'owner' }, subjects: [{ kind: 'User', name: 'root' }] },
    {
      metadata: { name: 'scrapers' },
      roleRef: { kind: 'ClusterRole', name: 'metrics' },
      subjects: [{ kind: 'Group', name: 'monitoring' }],
    },
    { metadata: { name: 'broken' }, roleRef: { kind: 'ClusterRole', name: 'gone' }, subjects: [{ kind: 'User', name: 'alice' }] },
  ],
  roleBindings: [
    {
      metadata: { name: 'readers', namespace: 'team' },
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'Group', name: 'team' }],
    },
    {
      metadata: { name: 'ci', namespace: 'team' },
      roleRef: { kind: 'Role', name: 'one-secret' },
      subjects: [{ kind: 'ServiceAccount', name: 'ci', namespace: 'team' }],
    },
    {
      metadata: { name: 'elsewhere', namespace: 'other' },
      roleRef: { kind: 'ClusterRole', name: 'owner' },
      subjects: [{ kind: 'User', name: 'alice' }],
    },
  ],
};
const alice = personOf('alice', ['team']);
const VERSION = 'rbac.example/v1';

test('a rule lacks what keeps it from allowing a request', () => {
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods', '*/scale'], resourceNames: ['web'] };
  expect(lacksOf(rule, action({ name: 'web' }))).toEqual([]);
  expect(lacksOf(rule, action({ name: 'web', verb: 'delete' }))).toEqual(['verb']);
  expect(lacksOf(rule, action())).toEqual(['resourceName']);
  expect(lacksOf(rule, action({ name: 'web', subresource: 'log' }))).toEqual(['resource']);
  expect(lacksOf(rule, action({ name: 'web', resource: 'deployments', group: 'apps', subresource: 'scale' }))).toEqual(['apiGroup']);
  const paths = { verbs: ['get'], nonResourceURLs: ['/healthz/*'] };
  expect([lacksOf(paths, { verb: 'get', path: '/healthz/ping' }), lacksOf(paths, { verb: 'get', path: '/metrics' })]).toEqual([
    [],
    ['path'],
  ]);
  expect(lacksOf(paths, action())).toEqual(['apiGroup', 'resource']);
});

test('a refusal names the nearest bindings and the role that would allow the request', () => {
  const { allowed, nearest, proposal } = explainByPolicy(policy, action({ verb: 'delete' }), alice, VERSION);
  expect(allowed).toBe(false);
  expect(nearest?.map(({ binding, lacks }) => [binding.name, lacks])).toEqual([
    ['owners', ['subject']],
    ['broken', ['role']],
    ['readers', ['verb']],
  ]);
  expect(proposal).toEqual({
    role: {
      apiVersion: VERSION,
      kind: 'Role',
      metadata: { name: 'delete-pods-alice', namespace: 'team' },
      rules: [{ verbs: ['delete'], apiGroups: [''], resources: ['pods'] }],
    },
    binding: {
      apiVersion: VERSION,
      kind: 'RoleBinding',
      metadata: { name: 'delete-pods-alice', namespace: 'team' },
      roleRef: { apiGroup: 'rbac.example', kind: 'Role', name: 'delete-pods-alice' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.example', name: 'alice' }],
    },
  });
});

test('what the proposed role and binding add does allow the request', () => {
  const asked = [action({ verb: 'delete', name: 'web' }), action({ resource: 'pods', subresource: 'exec', verb: 'create' })];
  for (const one of asked) {
    const { proposal } = explainByPolicy(policy, one, alice, VERSION);
    const added = {
      ...policy,
      roles: [...policy.roles, proposal?.role as never],
      roleBindings: [...policy.roleBindings, proposal?.binding as never],
    };
    expect(explainByPolicy(added, one, alice, VERSION).allowed).toBe(true);
  }
  const path = { verb: 'get', path: '/metrics' };
  const { proposal } = explainByPolicy(policy, path, alice, VERSION);
  expect([proposal?.role.kind, proposal?.binding.kind]).toEqual(['ClusterRole', 'ClusterRoleBinding']);
});

test('rights come by group, by service account, and to superusers without roles', () => {
  const ask = (person: typeof alice, one: Action) => explainByPolicy(policy, one, person, VERSION).allowed;
  expect(ask(alice, action())).toBe(true);
  expect(ask(alice, action({ namespace: 'else' }))).toBe(false);
  expect(ask(personOf('system:serviceaccount:team:ci', []), action({ resource: 'secrets', name: 'token' }))).toBe(true);
  expect(ask(personOf('system:serviceaccount:other:ci', []), action({ resource: 'secrets', name: 'token' }))).toBe(false);
  expect(ask(personOf('anybody', ['system:masters']), action({ verb: 'anything' }))).toBe(true);
});

test('who can lists the subjects of all bindings that allow it', () => {
  const names = (one: Action) => subjectsByPolicy(policy, one).subjects?.map(({ subject }) => subject.name);
  expect(names(action())).toEqual(['root', 'team']);
  expect(names({ verb: 'get', path: '/metrics' })).toEqual(['monitoring']);
});

test('a matrix tells all, some and no objects apart, and verbs that a kind does not have', () => {
  const person = personOf('system:serviceaccount:team:ci', ['team']);
  const rules = rulesOfPerson(policy, person, 'team');
  const secrets = kindOf('secrets');
  expect(['get', 'list', 'delete'].map((verb) => cellOf(rules, secrets, verb))).toEqual(['some', 'no', 'absent']);
  expect(cellOf(rules, kindOf('pods'), 'get')).toBe('yes');
  const kinds = [kindOf('pods'), secrets, kindOf('nodes', '', ['get'], false)];
  expect(matrixRows(rules, kinds, '', 'team').map(({ kind }) => kind.resource)).toEqual(['pods', 'secrets']);
  expect(matrixRows(rules, kinds, 'NOD', undefined).map(({ kind }) => kind.resource)).toEqual(['nodes']);
});

test('the URL has the question', () => {
  const read = (search: string) => actionIn(new URLSearchParams(search), 'team');
  expect(read('verb=delete&resource=pods&name=web')).toEqual(action({ verb: 'delete', name: 'web' }));
  expect(read('verb=get&path=/metrics')).toEqual({ verb: 'get', path: '/metrics' });
  expect([read('resource=pods'), read('verb=get')]).toEqual([undefined, undefined]);
  expect(personIn(new URLSearchParams('user=bob&groups=a, b'))).toEqual({ name: 'bob', groups: ['a', 'b', 'system:authenticated'] });
  expect(personIn(new URLSearchParams(''))).toBeUndefined();
});

test('a user types kinds by their names, short names, groups and subresources', () => {
  const kinds = [kindOf('pods'), kindOf('deployments', 'apps')];
  const query = (target: string) => {
    const { group, resource, subresource, path } = actionQuery('get', target, '', kinds);
    return [group, resource, subresource, path].join(' ').trim();
  };
  expect(['pods', 'po', 'pods/log', 'deployments', 'deployments.apps', '/metrics'].map(query)).toEqual([
    'pods',
    'pods',
    'pods log',
    'apps deployments',
    'apps deployments',
    '/metrics',
  ]);
  expect(query('widgets.example.com')).toBe('example.com widgets');
  expect(targetText(new URLSearchParams('group=apps&resource=deployments&subresource=scale'))).toBe('deployments.apps/scale');
});

test('actions are said in words and sent without what is empty', () => {
  expect(actionText(action({ group: 'apps', resource: 'deployments', subresource: 'scale', name: 'web' }))).toBe(
    'get deployments.apps/scale web in team',
  );
  expect(attributesOf(action())).toEqual({ resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'team' } });
  expect(attributesOf({ verb: 'get', path: '/x' })).toEqual({ nonResourceAttributes: { verb: 'get', path: '/x' } });
});

test('without a namespace only policy of the whole cluster is read', async () => {
  const paths: string[] = [];
  const api = {
    json: async (path: string): Promise<never> => {
      paths.push(path);
      return { items: null } as never;
    },
  };
  const kinds = Object.fromEntries(
    ['clusterRoles', 'roles', 'clusterRoleBindings', 'roleBindings'].map((name) => [name, kindOf(name.toLowerCase(), 'rbac.example')]),
  ) as unknown as PolicyKinds;
  const { signal } = new AbortController();
  expect(await loadPolicy(api, kinds, '', signal)).toEqual({ clusterRoles: [], roles: [], clusterRoleBindings: [], roleBindings: [] });
  expect(paths).toEqual(['/apis/rbac.example/v1/clusterroles', '/apis/rbac.example/v1/clusterrolebindings']);
  await loadPolicy(api, kinds, 'team', signal);
  expect(paths.length).toBe(6);
});

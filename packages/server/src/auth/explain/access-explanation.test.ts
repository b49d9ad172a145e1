/** Why a request is allowed or refused, and what would allow it. */
import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import type { PolicyRule, Subject } from '@plat-dev/kinds/rbac/schema/v1';
import { atOnce, Slices } from '@plat-dev/lib/slices';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { RoleBasedAccess } from '../authz/rbac.ts';
import { alwaysDeny, superuser } from '../authz/simple.ts';
import type { Attributes, Authorizer, User } from '../types.ts';
import { type AccessExplanation, explainAccess } from './access-explanation.ts';
import { allowedSubjects } from './subject-search.ts';

const group = 'rbac.authorization';
const alice: User = { name: 'alice', groups: ['qa'] };
const admin: User = { name: 'root', groups: ['system:masters'] };
const person = (name: string): Subject => ({ kind: 'User', apiGroup: `${group}.k8s.io`, name });

function world() {
  const store = new FakeStore();
  const authorizers: Authorizer[] = [superuser, new RoleBasedAccess(store.live, kubernetes)];
  const put = (plural: string, namespace: string, name: string, object: object): void =>
    void store.put(group, plural, { metadata: { name, ...(namespace && { namespace }) }, ...object } as never);
  const role = (namespace: string, name: string, rules: readonly PolicyRule[], more = {}): void =>
    put(namespace === '' ? 'clusterroles' : 'roles', namespace, name, { rules, ...more });
  const bind = (namespace: string, name: string, subjects: readonly Subject[], kind: string, roleName: string): void =>
    put(namespace === '' ? 'clusterrolebindings' : 'rolebindings', namespace, name, {
      subjects,
      roleRef: { apiGroup: group, kind, name: roleName },
    });
  const explain = (asked: Attributes, asker = admin): Promise<AccessExplanation> =>
    explainAccess({ identity: kubernetes, live: store.live, authorizers }, asked, asker, new Slices());
  return { store, authorizers, role, bind, put, explain };
}
const asks = (user: User, verb: string, resource: string, more: Partial<Attributes> = {}): Attributes => ({
  user,
  verb,
  group: '',
  version: 'v1',
  resource,
  subresource: '',
  name: '',
  namespace: 'team',
  path: '',
  resourceRequest: true,
  ...more,
});

test('the nearest bindings: the own one without the verb, then that of others', async () => {
  const { role, bind, explain } = world();
  role('', 'view', [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }]);
  role('team', 'owner', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]);
  role('team', 'unrelated', [{ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'] }]);
  bind('team', 'readers', [{ kind: 'Group', name: 'qa' }], 'ClusterRole', 'view');
  bind('team', 'owners', [person('bob')], 'Role', 'owner');
  bind('team', 'others', [person('carol')], 'Role', 'unrelated');
  bind('elsewhere', 'owners', [person('alice')], 'ClusterRole', 'view');
  const { decision, nearest, proposal, authorizers } = await explain(asks(alice, 'delete', 'pods', { name: 'web-0' }));
  expect(decision).toBe('none');
  expect(authorizers.map(({ name, decision }) => `${name} ${decision}`)).toEqual(['superuser none', 'RBAC none']);
  expect(nearest.map(({ binding, lacks }) => `${binding.namespace}/${binding.name}: ${lacks}`)).toEqual([
    'team/readers: verb',
    'team/owners: subject',
  ]);
  expect(proposal).toEqual({
    role: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'alice-delete-pods', namespace: 'team' },
      rules: [{ verbs: ['delete'], apiGroups: [''], resources: ['pods'], resourceNames: ['web-0'] }],
    },
    binding: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'alice-delete-pods', namespace: 'team' },
      subjects: [person('alice')],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'alice-delete-pods' },
    },
  });
});

test('a rule for paths is not near a request for resources, nor the other way round', async () => {
  const { role, bind, explain } = world();
  role('', 'discovery', [{ verbs: ['get'], nonResourceURLs: ['/api', '/api/*'] }]);
  role('', 'view', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]);
  for (const name of ['discovery', 'view']) bind('', name, [person('alice')], 'ClusterRole', name);
  const nearest = async (asked: Attributes) => (await explain(asked)).nearest.map(({ binding }) => binding.name);
  expect(await nearest(asks(alice, 'get', 'nodes'))).toEqual(['view']);
  expect(await nearest(asks(alice, 'get', '', { namespace: '', path: '/metrics', resourceRequest: false }))).toEqual(['discovery']);
});

test('a proposal has a name of its own', async () => {
  const { role, explain } = world();
  const refused = asks(alice, 'get', 'pods');
  role('team', 'alice-get-pods', []);
  expect((await explain(refused)).proposal?.role.metadata.name).toBe('alice-get-pods-2');
  // Those who may not list roles do not learn that there is one.
  expect((await explain(refused, alice)).proposal?.role.metadata.name).toBe('alice-get-pods');
});

test('what is allowed names its binding and rule, and proposes nothing', async () => {
  const { role, bind, explain } = world();
  role('', 'view', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]);
  bind('team', 'readers', [person('alice')], 'ClusterRole', 'view');
  const explanation = await explain(asks(alice, 'get', 'pods'));
  expect(explanation).toMatchObject({
    decision: 'allow',
    allowedBy: [{ binding: { kind: 'RoleBinding', name: 'readers', namespace: 'team' }, role: { kind: 'ClusterRole', name: 'view' } }],
    nearest: [],
  });
  expect(explanation.proposal).toBeUndefined();
});

test('a binding of a role that is gone says so', async () => {
  const { bind, explain } = world();
  bind('team', 'readers', [person('alice')], 'Role', 'gone');
  expect((await explain(asks(alice, 'get', 'pods'))).nearest).toMatchObject([{ binding: { name: 'readers' }, lacks: ['role'] }]);
});

test('roles and bindings that the asker may not list are not spoken of', async () => {
  const { role, bind, explain } = world();
  role('', 'view', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]);
  bind('team', 'readers', [person('bob')], 'ClusterRole', 'view');
  bind('', 'all-readers', [person('bob')], 'ClusterRole', 'view');
  const refused = asks(alice, 'get', 'pods');
  expect((await explain(refused, alice)).nearest).toEqual([]);
  const listing = (resource: string): PolicyRule => ({ verbs: ['list'], apiGroups: [`${group}.k8s.io`], resources: [resource] });
  role('', 'lists-bindings', [listing('rolebindings')]);
  bind('team', 'a', [person('alice')], 'ClusterRole', 'lists-bindings');
  expect((await explain(refused, alice)).nearest).toEqual([]);
  role('', 'lists-roles', [listing('clusterroles')]);
  bind('', 'b', [person('alice')], 'ClusterRole', 'lists-roles');
  expect((await explain(refused, alice)).nearest.map(({ binding }) => binding.name)).toEqual(['readers']);
});

test('where no role can help none is proposed', async () => {
  const { store } = world();
  const sources = { identity: kubernetes, live: store.live, authorizers: [superuser, alwaysDeny] };
  expect((await explainAccess(sources, asks(alice, 'get', 'pods'), admin, new Slices())).proposal).toBeUndefined();
});

test('who can: subjects of all bindings that allow it, and whence an aggregated role has its rule', () => {
  const { store, role, bind } = world();
  const rule: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
  role('', 'part', [rule], { metadata: { name: 'part', labels: { into: 'view' } } });
  role('', 'view', [rule], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { into: 'view' } }] } });
  bind(
    '',
    'viewers',
    [
      { kind: 'Group', name: 'qa' },
      { kind: 'ServiceAccount', name: 'ci', namespace: 'build' },
    ],
    'ClusterRole',
    'view',
  );
  bind('elsewhere', 'b', [person('carol')], 'ClusterRole', 'view');
  const subjects = atOnce(allowedSubjects(kubernetes, store.live, asks(alice, 'get', 'pods'), () => true));
  expect(subjects.map(({ subject, binding, aggregatedFrom }) => [subject.name, binding?.name, aggregatedFrom])).toEqual([
    ['system:masters', undefined, undefined],
    ['qa', 'viewers', ['part']],
    ['ci', 'viewers', ['part']],
  ]);
});

test('the proposed role makes the request pass, and nothing of it can be left out, whatever roles there are', async () => {
  const some = (...values: string[]) => fc.subarray(values, { minLength: 1 });
  const rule: fc.Arbitrary<PolicyRule> = fc.record(
    {
      verbs: some('get', 'list'),
      apiGroups: some('', 'apps'),
      resources: some('pods', 'pods/log', 'nodes'),
      resourceNames: fc.subarray(['one', 'two']),
    },
    { requiredKeys: ['verbs', 'apiGroups', 'resources'] },
  );
  const namespace = fc.constantFrom('', 'n1', 'n2');
  const user = fc.constantFrom('u', 'v', 'system:serviceaccount:n1:s', 'odd name:x');
  const grant = fc.record({ namespace, rules: fc.array(rule, { maxLength: 3 }), name: user });
  const question = fc.record({
    user,
    verb: fc.constantFrom('get', 'list', 'delete'),
    what: fc.constantFrom('pods', 'pods/log', 'nodes', '/metrics'),
    group: fc.constantFrom('', 'apps'),
    name: fc.constantFrom('', 'one', 'two'),
    namespace,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(grant, { maxLength: 6 }), question, async (grants, { user: name, what, verb, group: apiGroup, ...more }) => {
      const { authorizers, role, bind, put, explain } = world();
      grants.forEach((one, i) => {
        role(one.namespace, `r${i}`, one.rules);
        bind(one.namespace, `b${i}`, [person(one.name)], one.namespace === '' ? 'ClusterRole' : 'Role', `r${i}`);
      });
      const isPath = what.startsWith('/');
      const [resource = '', subresource = ''] = isPath ? [] : what.split('/');
      const path = isPath ? what : '';
      const asked = asks({ name, groups: [] }, verb, resource, { ...more, group: apiGroup, subresource, path, resourceRequest: !isPath });
      const decide = async () => (await authorizers[1]?.authorize(asked))?.decision;
      const explanation = await explain(asked);
      expect(explanation.decision).toBe(await decide());
      expect(explanation.allowedBy.length > 0).toBe(explanation.decision === 'allow');
      if (explanation.decision === 'allow') return;
      const { proposal } = explanation;
      if (proposal === undefined) throw new Error('nothing is proposed');
      const { metadata } = proposal.role;
      const plural = proposal.role.kind === 'Role' ? 'roles' : 'clusterroles';
      put(plural, metadata.namespace ?? '', metadata.name, { rules: proposal.role.rules });
      bind(metadata.namespace ?? '', metadata.name, proposal.binding.subjects, proposal.role.kind, metadata.name);
      expect(await decide()).toBe('allow');
      for (let i = 0; i < proposal.role.rules.length; i++) {
        put(plural, metadata.namespace ?? '', metadata.name, { rules: proposal.role.rules.toSpliced(i, 1) });
        expect(await decide()).toBe('none');
      }
    }),
    { numRuns: rounds(300) },
  );
});

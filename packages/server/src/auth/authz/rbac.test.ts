import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import type { PolicyRule, Subject } from '@plat-dev/kinds/rbac/schema/v1';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { type Attributes, type User, unionAuthorizer } from '../types.ts';
import { ruleAllows } from './policy-rules.ts';
import { RoleBasedAccess } from './rbac.ts';
import { forbiddenError, forbiddenMessage } from './refusal.ts';
import { alwaysAllow, alwaysDeny, superuser } from './simple.ts';

const group = 'rbac.authorization';
const pods: PolicyRule = { verbs: ['list'], apiGroups: [''], resources: ['pods'] };
const asks = (user: User, verb: string, what: string, more: Partial<Attributes> = {}): Attributes => {
  const [resource = '', subresource = ''] = what.split('/');
  const path = what.startsWith('/');
  const named = { resource: path ? '' : resource, subresource: path ? '' : subresource, path: path ? what : '' };
  return { user, verb, group: '', version: 'v1', name: '', namespace: '', resourceRequest: !path, ...named, ...more };
};
const bob: User = { name: 'bob', groups: ['qa', 'system:authenticated'] };

function world() {
  const store = new FakeStore();
  const rbac = new RoleBasedAccess(store.live, kubernetes);
  const role = (namespace: string, name: string, rules: readonly PolicyRule[]) =>
    store.put(group, namespace === '' ? 'clusterroles' : 'roles', { metadata: { name, ...(namespace && { namespace }) }, rules } as never);
  const bind = (
    namespace: string,
    name: string,
    subjects: readonly Subject[],
    roleName: string,
    kind = namespace === '' ? 'ClusterRole' : 'Role',
  ) =>
    store.put(group, namespace === '' ? 'clusterrolebindings' : 'rolebindings', {
      metadata: { name, ...(namespace && { namespace }) },
      subjects,
      roleRef: { apiGroup: `${group}.k8s.io`, kind, name: roleName },
    } as never);
  return { store, rbac, role, bind };
}
const user = (name: string): Subject => ({ kind: 'User', name });

test('a binding allows, and says so; its end and that of its role end it', () => {
  const { store, rbac, role, bind } = world();
  const question = asks(bob, 'list', 'pods', { namespace: 'ns' });
  expect(rbac.authorize(question)).toEqual({ decision: 'none', reason: '' });
  bind('ns', 'b', [user('bob')], 'r');
  expect(rbac.authorize(question)).toEqual({ decision: 'none', reason: 'RBAC: role.rbac.authorization.k8s.io "r" not found' });
  role('ns', 'r', [pods]);
  expect(rbac.authorize(question)).toEqual({ decision: 'allow', reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "bob"' });
  expect(rbac.authorize({ ...question, namespace: 'other' }).decision).toBe('none');
  expect(rbac.authorize({ ...question, namespace: '' }).decision).toBe('none');
  role('ns', 'r', [{ ...pods, verbs: ['get'] }]);
  expect(rbac.authorize(question).decision).toBe('none');
  role('ns', 'r', [pods]);
  store.remove(group, 'roles', 'ns', 'r');
  expect(rbac.authorize(question).reason).toMatch(/not found/);
  role('ns', 'r', [pods]);
  expect(rbac.authorize(question).decision).toBe('allow');
  bind('ns', 'b', [user('alice')], 'r');
  expect(rbac.authorize(question).decision).toBe('none');
  bind('ns', 'b', [user('bob')], 'r');
  store.remove(group, 'rolebindings', 'ns', 'b');
  expect(rbac.authorize(question)).toEqual({ decision: 'none', reason: '' });
});

test('reasons name the binding, the role and the subject', () => {
  const { rbac, role, bind } = world();
  role('', 'view', [pods]);
  bind('', 'a', [{ kind: 'Group', name: 'qa' }], 'view');
  bind('ns', 'b', [{ kind: 'ServiceAccount', name: 'robot' }], 'view', 'ClusterRole');
  bind('', 'c', [{ kind: 'ServiceAccount', name: 'robot', namespace: 'elsewhere' }], 'view');
  const reason = (who: User, namespace: string) => rbac.authorize(asks(who, 'list', 'pods', { namespace })).reason;
  expect(reason(bob, 'ns')).toBe('RBAC: allowed by ClusterRoleBinding "a" of ClusterRole "view" to Group "qa"');
  expect(reason({ name: 'system:serviceaccount:ns:robot', groups: [] }, 'ns')).toBe(
    'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "view" to ServiceAccount "robot/ns"',
  );
  expect(reason({ name: 'system:serviceaccount:elsewhere:robot', groups: [] }, 'ns')).toBe(
    'RBAC: allowed by ClusterRoleBinding "c" of ClusterRole "view" to ServiceAccount "robot/elsewhere"',
  );
});

test('several missing roles are reported together, and do not hide a working binding', () => {
  const { rbac, role, bind } = world();
  bind('ns', 'a', [user('bob')], 'ghost');
  bind('ns', 'b', [user('bob')], 'ghost-2', 'ClusterRole');
  const question = asks(bob, 'list', 'pods', { namespace: 'ns' });
  expect(rbac.authorize(question).reason).toBe(
    'RBAC: [role.rbac.authorization.k8s.io "ghost" not found, clusterrole.rbac.authorization.k8s.io "ghost-2" not found]',
  );
  role('ns', 'r', [pods]);
  bind('ns', 'c', [user('bob')], 'r');
  expect(rbac.authorize(question).decision).toBe('allow');
});

test.each<[string, PolicyRule, Attributes, boolean]>([
  ['another verb', pods, asks(bob, 'get', 'pods'), false],
  ['another group', pods, asks(bob, 'list', 'pods', { group: 'apps' }), false],
  ['a star verb', { ...pods, verbs: ['*'] }, asks(bob, 'fly', 'pods'), true],
  ['a star group', { ...pods, apiGroups: ['*'] }, asks(bob, 'list', 'pods', { group: 'apps' }), true],
  ['a star resource covers subresources', { ...pods, resources: ['*'] }, asks(bob, 'list', 'pods/log'), true],
  ['a resource does not cover its subresource', pods, asks(bob, 'list', 'pods/log'), false],
  ['a subresource does not cover its resource', { ...pods, resources: ['pods/log'] }, asks(bob, 'list', 'pods'), false],
  ['a star before a subresource', { ...pods, resources: ['*/scale'] }, asks(bob, 'list', 'deployments/scale'), true],
  ['a star before another subresource', { ...pods, resources: ['*/scale'] }, asks(bob, 'list', 'deployments/status'), false],
  ['a star within a word', { ...pods, resources: ['po*'] }, asks(bob, 'list', 'pods'), false],
  ['a name', { ...pods, resourceNames: ['one'] }, asks(bob, 'list', 'pods', { name: 'one' }), true],
  ['another name', { ...pods, resourceNames: ['one'] }, asks(bob, 'list', 'pods', { name: 'two' }), false],
  ['no name where one is wanted', { ...pods, resourceNames: ['one'] }, asks(bob, 'list', 'pods'), false],
  ['an empty name', { ...pods, resourceNames: [''] }, asks(bob, 'list', 'pods'), true],
  ['a path', { verbs: ['get'], nonResourceURLs: ['/alpha'] }, asks(bob, 'get', '/alpha'), true],
  ['a longer path', { verbs: ['get'], nonResourceURLs: ['/alpha'] }, asks(bob, 'get', '/alpha/'), false],
  ['a prefix', { verbs: ['get'], nonResourceURLs: ['/beta/*'] }, asks(bob, 'get', '/beta/x/y'), true],
  ['less than a prefix', { verbs: ['get'], nonResourceURLs: ['/beta/*'] }, asks(bob, 'get', '/beta'), false],
  ['a star within a path', { verbs: ['get'], nonResourceURLs: ['/ga*ma'] }, asks(bob, 'get', '/gamma'), false],
  ['a star path', { verbs: ['get'], nonResourceURLs: ['*'] }, asks(bob, 'get', '/x'), true],
  ['a resource rule for a path', { ...pods, resources: ['*'], verbs: ['*'] }, asks(bob, 'get', '/x'), false],
  ['a path rule for a resource', { verbs: ['*'], nonResourceURLs: ['*'] }, asks(bob, 'list', 'pods'), false],
])('%s', (_, rule, question, allowed) => {
  const { rbac, role, bind } = world();
  role('', 'r', [rule]);
  bind('', 'b', [user('bob')], 'r');
  expect(rbac.authorize(question).decision === 'allow').toBe(allowed);
});

test('a cluster role bound in a namespace opens no path', () => {
  const { rbac, role, bind } = world();
  role('', 'r', [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }]);
  bind('ns', 'b', [user('bob')], 'r', 'ClusterRole');
  expect(rbac.authorize(asks(bob, 'get', '/metrics', { namespace: 'ns' })).decision).toBe('none');
});

// The same history, looked at plainly: every binding, every subject, every rule.
interface Binding {
  readonly namespace: string;
  readonly subjects: readonly Subject[];
  readonly role: string;
  readonly kind: string;
}
function naive(roles: Map<string, readonly PolicyRule[]>, bindings: Map<string, Binding>, asked: Attributes): boolean {
  for (const binding of bindings.values()) {
    if (binding.namespace !== '' && (binding.namespace !== asked.namespace || !asked.resourceRequest)) continue;
    const applies = binding.subjects.some(
      (subject) =>
        (subject.kind === 'User' && subject.name === asked.user.name) ||
        (subject.kind === 'Group' && asked.user.groups.includes(subject.name)) ||
        (subject.kind === 'ServiceAccount' &&
          (subject.namespace ?? binding.namespace) !== '' &&
          asked.user.name === `system:serviceaccount:${subject.namespace ?? binding.namespace}:${subject.name}`),
    );
    const rules = roles.get(`${binding.kind}/${binding.kind === 'Role' ? binding.namespace : ''}/${binding.role}`);
    if (applies && rules?.some((rule) => ruleAllows(rule, asked))) return true;
  }
  return false;
}

test('decisions are those of a plain look at all rules, after any history', () => {
  const namespace = fc.constantFrom('', 'n1', 'n2');
  const some = (...values: string[]) => fc.subarray(values, { minLength: 1 });
  const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
    fc.record(
      {
        verbs: some('get', 'list', '*'),
        apiGroups: some('', 'apps', '*'),
        resources: some('pods', 'pods/log', '*', '*/log', 'nodes', 'po*'),
        resourceNames: fc.subarray(['', 'one', 'two']),
      },
      { requiredKeys: ['verbs', 'apiGroups', 'resources'] },
    ),
    fc.record({ verbs: some('get', 'post', '*'), nonResourceURLs: some('/a', '/a/*', '*', '/b*') }),
  );
  const subject: fc.Arbitrary<Subject> = fc.oneof(
    fc.record({ kind: fc.constant('User'), name: fc.constantFrom('u', 'system:serviceaccount:n1:s') }),
    fc.record({ kind: fc.constant('Group'), name: fc.constantFrom('g', 'h') }),
    fc.record(
      { kind: fc.constant('ServiceAccount'), name: fc.constant('s'), namespace: fc.constantFrom('n1', 'n2') },
      { requiredKeys: ['kind', 'name'] },
    ),
  );
  const roleName = fc.constantFrom('r1', 'r2');
  const step = fc.oneof(
    fc.record({ do: fc.constant('role' as const), namespace, name: roleName, rules: fc.array(rule, { maxLength: 3 }) }),
    fc.record({
      do: fc.constant('bind' as const),
      namespace,
      name: fc.constantFrom('b1', 'b2', 'b3'),
      role: roleName,
      local: fc.boolean(),
      subjects: fc.array(subject, { maxLength: 3 }),
    }),
    fc.record({ do: fc.constant('unrole' as const), namespace, name: roleName }),
    fc.record({ do: fc.constant('unbind' as const), namespace, name: fc.constantFrom('b1', 'b2', 'b3') }),
  );
  const question = fc
    .record({
      user: fc.record({
        name: fc.constantFrom('u', 'v', 'system:serviceaccount:n1:s', 'system:serviceaccount:n2:s'),
        groups: fc.subarray(['g', 'h']),
      }),
      verb: fc.constantFrom('get', 'list', 'post'),
      what: fc.constantFrom('pods', 'pods/log', 'nodes', 'nodes/log', '/a', '/a/b', '/bc'),
      group: fc.constantFrom('', 'apps'),
      name: fc.constantFrom('', 'one', 'two'),
      namespace,
    })
    .map(({ user, verb, what, ...more }) => asks(user, verb, what, more));
  const script = fc.array(fc.tuple(step, fc.array(question, { minLength: 1, maxLength: 4 })), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(script, (steps) => {
      const { store, rbac, role, bind } = world();
      const roles = new Map<string, readonly PolicyRule[]>();
      const bindings = new Map<string, Binding>();
      for (const [step, questions] of steps) {
        const key = `${step.namespace}/${step.name}`;
        const roleKey = `${step.namespace === '' ? 'ClusterRole' : 'Role'}/${step.namespace}/${step.name}`;
        if (step.do === 'role') {
          role(step.namespace, step.name, step.rules);
          roles.set(roleKey, step.rules);
        } else if (step.do === 'unrole') {
          store.remove(group, step.namespace === '' ? 'clusterroles' : 'roles', step.namespace, step.name);
          roles.delete(roleKey);
        } else if (step.do === 'bind') {
          const kind = step.namespace !== '' && step.local ? 'Role' : 'ClusterRole';
          bind(step.namespace, step.name, step.subjects, step.role, kind);
          bindings.set(key, { namespace: step.namespace, subjects: step.subjects, role: step.role, kind });
        } else {
          store.remove(group, step.namespace === '' ? 'clusterrolebindings' : 'rolebindings', step.namespace, step.name);
          bindings.delete(key);
        }
        for (const asked of questions) {
          expect(rbac.authorize(asked).decision === 'allow').toBe(naive(roles, bindings, asked));
          // What may be listed is what is allowed.
          const listed = rbac.policyRules(asked.user, asked.resourceRequest ? asked.namespace : '').rules;
          expect(listed.some((one) => ruleAllows(one, asked))).toBe(naive(roles, bindings, asked));
        }
      }
    }),
    { numRuns: rounds(500) },
  );
});

test('objects that were there before the authorizer count', () => {
  const { store, role, bind } = world();
  role('', 'r', [pods]);
  bind('', 'b', [user('bob')], 'r');
  expect(new RoleBasedAccess(store.live, kubernetes).authorize(asks(bob, 'list', 'pods')).decision).toBe('allow');
});

test('the rules of a user are listed, cluster first', async () => {
  const { rbac, role, bind } = world();
  role('', 'c', [{ verbs: ['get'], nonResourceURLs: ['/x'] }, pods]);
  role('ns', 'r', [{ ...pods, resourceNames: ['one'] }]);
  bind('', 'c', [{ kind: 'Group', name: 'qa' }], 'c');
  bind('ns', 'r', [user('bob')], 'r');
  bind('ns', 's', [user('bob')], 'ghost');
  expect(await unionAuthorizer([superuser, rbac]).rulesFor(bob, 'ns')).toEqual({
    resourceRules: [pods, { ...pods, resourceNames: ['one'] }],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    incomplete: false,
    error: 'role.rbac.authorization.k8s.io "ghost" not found',
  });
});

test('authorizers are asked in turn', () => {
  const question = asks(bob, 'list', 'pods');
  const { rbac } = world();
  expect(unionAuthorizer([superuser, rbac]).authorize(question)).toEqual({ decision: 'none', reason: '' });
  expect(unionAuthorizer([superuser, rbac]).authorize({ ...question, user: { name: 'root', groups: ['system:masters'] } })).toEqual({
    decision: 'allow',
    reason: '',
  });
  expect(unionAuthorizer([alwaysDeny, alwaysAllow]).authorize(question)).toEqual({ decision: 'allow', reason: '' });
  expect(unionAuthorizer([alwaysDeny]).authorize(question)).toEqual({ decision: 'none', reason: 'Everything is forbidden.' });
});

test('a refusal says what was asked', () => {
  expect(forbiddenMessage(asks(bob, 'get', '/<x>&'), '')).toBe('User "bob" cannot get path "/&lt;x&gt;&amp;"');
  const nodes = asks(bob, 'get', 'nodes/proxy', { name: 'n' });
  expect(forbiddenError(nodes, '').status()).toMatchObject({
    message: 'nodes "n" is forbidden: User "bob" cannot get resource "nodes/proxy" in API group "" at the cluster scope',
    details: { name: 'n', kind: 'nodes' },
    code: 403,
  });
  expect(forbiddenError(asks(bob, 'get', '/metrics'), '').status()).toMatchObject({
    message: 'forbidden: User "bob" cannot get path "/metrics"',
    details: {},
  });
  const leases = asks(bob, 'list', 'leases', { group: 'coordination.k8s.io', namespace: 'ns' });
  expect(forbiddenError(leases, 'RBAC: x').status().message).toBe(
    'leases.coordination.k8s.io is forbidden: User "bob" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "ns": RBAC: x',
  );
});

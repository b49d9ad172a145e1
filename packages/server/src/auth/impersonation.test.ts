import type { PolicyRule } from '@plat-dev/kinds/rbac/schema/v1';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import type { ApiError } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { ruleAllows } from './authz/policy-rules.ts';
import { noRules } from './authz/simple.ts';
import { impersonate, newLastModes, wantsImpersonation } from './impersonation.ts';
import type { Attributes, Authorizer, User } from './types.ts';

const alice: User = { name: 'alice', groups: ['system:authenticated'] };
/** What is requested. */
const listing: Attributes = {
  user: alice,
  verb: 'list',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  name: '',
  namespace: 'n',
  path: '',
  resourceRequest: true,
};
/** Allows by rules, and remembers what was asked and allowed. */
function ruled(...rules: PolicyRule[]): Authorizer & { allowed: Attributes[] } {
  const allowed: Attributes[] = [];
  return {
    name: 'rules',
    allowed,
    authorize(asked) {
      const yes = rules.some((rule) => ruleAllows(rule, asked));
      if (yes) allowed.push(asked);
      return { decision: yes ? 'allow' : 'none', reason: '' };
    },
    rulesFor: async () => noRules,
  };
}
const imp = (resource: string, names?: string[], group = ''): PolicyRule => ({
  verbs: ['impersonate'],
  apiGroups: [group],
  resources: [resource],
  ...(names && { resourceNames: names }),
});
const all = ruled({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
const as = async (pairs: readonly (readonly [string, string])[], by: Authorizer = all): Promise<User | undefined | string> => {
  try {
    return (await impersonate({ identity: kubernetes, authorizer: by, constrained: false }, { rawHeaders: pairs.flat() }, listing))?.user;
  } catch (error) {
    return `${(error as ApiError).code} ${(error as ApiError).message}`;
  }
};
const user = (name: string) => ['Impersonate-User', name] as const;
const group = (name: string) => ['Impersonate-Group', name] as const;

test('a user, groups, uid and extras are taken on', async () => {
  expect(await as([user('zoe')])).toEqual({ name: 'zoe', groups: ['system:authenticated'] });
  expect(await as([user('zoe'), group('one'), group('two')])).toEqual({ name: 'zoe', groups: ['one', 'two', 'system:authenticated'] });
  expect(await as([user('zoe'), group('system:authenticated'), group('z')])).toMatchObject({ groups: ['system:authenticated', 'z'] });
  expect(await as([user('zoe'), group('a'), group('a')])).toMatchObject({ groups: ['a', 'a', 'system:authenticated'] });
  expect(await as([user('zoe'), group('one, two')])).toMatchObject({ groups: ['one, two', 'system:authenticated'] });
  const extras = [
    ['Impersonate-Uid', 'u-77'],
    ['impersonate-extra-scopes', 'view'],
    ['Impersonate-Extra-Scopes', 'edit'],
    ['Impersonate-Extra-example.com%2Fteam', 'blue'],
    ['impersonate-extra-bad%zz', 'v'],
  ] as const;
  expect(await as([user('zoe'), ...extras])).toEqual({
    name: 'zoe',
    uid: 'u-77',
    groups: ['system:authenticated'],
    extra: { scopes: ['view', 'edit'], 'example.com/team': ['blue'], 'bad%zz': ['v'] },
  });
});

test('service accounts bring their groups, anonymous its own', async () => {
  expect(await as([user('system:serviceaccount:ns:robot')])).toMatchObject({
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
  });
  expect(await as([user('system:serviceaccount:ns:robot'), group('only')])).toMatchObject({ groups: ['only', 'system:authenticated'] });
  expect(await as([user('system:anonymous')])).toMatchObject({ groups: ['system:unauthenticated'] });
});

test('nothing asked, nothing done; other parts need a user', async () => {
  expect(await as([])).toBeUndefined();
  expect(await as([user('')])).toBeUndefined();
  expect(
    await as([
      ['X-Impersonate-User', 'more'],
      ['Impersonate-Userx', 'q'],
    ]),
  ).toBeUndefined();
  for (const pair of [group('dev'), ['Impersonate-Uid', 'u'], ['Impersonate-Extra-Scopes', 'view']] as const) {
    expect(await as([pair])).toMatch(/^400 /);
    expect(await as([user(''), pair])).toMatch(/^400 /);
  }
  expect(await as([user('a'), user('b')])).toMatch(/^400 /);
});

test('each part is asked for by its own name', async () => {
  expect(await as([user('zoe')], ruled())).toBe(
    '403 users "zoe" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
  expect(await as([user('system:serviceaccount:ns:robot')], ruled())).toBe(
    '403 serviceaccounts "robot" is forbidden: User "alice" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"',
  );
  expect(await as([user('system:serviceaccount:Bad_Ns:robot')], ruled())).toMatch(/^403 users "system:serviceaccount:Bad_Ns:robot"/);
  const zoe = imp('users', ['zoe']);
  expect(await as([user('zoe'), group('dev')], ruled(zoe))).toBe(
    '403 groups "dev" is forbidden: User "alice" cannot impersonate resource "groups" in API group "" at the cluster scope',
  );
  expect(await as([user('zoe'), ['Impersonate-Uid', 'u1']], ruled(zoe))).toBe(
    '403 uids.authentication.k8s.io "u1" is forbidden: User "alice" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
  );
  const scopes = imp('userextras/scopes', ['view'], 'authentication.k8s.io');
  const extra = (key: string, value: string) => [`Impersonate-Extra-${key}`, value] as const;
  expect(await as([user('zoe'), extra('scopes', 'view')], ruled(zoe, scopes))).toBeTypeOf('object');
  expect(await as([user('zoe'), extra('scopes', 'view'), extra('scopes', 'edit')], ruled(zoe, scopes))).toBe(
    '403 userextras.authentication.k8s.io "edit" is forbidden: User "alice" cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope',
  );
  expect(await as([user('zoe'), extra('other', 'view')], ruled(zoe, scopes))).toMatch(/userextras\/other/);
});

test('no headers yield anyone whose every part was not allowed', async () => {
  const name = fc.constantFrom(
    'Impersonate-User',
    'impersonate-group',
    'IMPERSONATE-UID',
    'Impersonate-Extra-scopes',
    'Impersonate-Extra-a%2fb',
    'Impersonate-Extra-',
    'Impersonate_User',
    'x-impersonate-user',
  );
  const value = fc.constantFrom('', 'zoe', 'system:masters', 'system:serviceaccount:ns:robot', 'view', 'dev', 'a,b', '%00');
  const rules = fc.subarray([
    imp('users', ['zoe']),
    imp('users'),
    imp('groups', ['dev']),
    imp('serviceaccounts'),
    imp('uids', ['view'], 'authentication.k8s.io'),
    imp('userextras/scopes', undefined, 'authentication.k8s.io'),
    imp('userextras/a/b', undefined, 'authentication.k8s.io'),
  ]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 5 }), rules, async (pairs, held) => {
      const by = ruled(...held);
      const answer = await as(pairs, by);
      if (answer === undefined || typeof answer === 'string') return;
      const given = (resource: string, subresource = '') =>
        by.allowed.filter((asked) => asked.resource === resource && asked.subresource === subresource).map((asked) => asked.name);
      const account = /^system:serviceaccount:(.*):(.*)$/.exec(answer.name);
      expect(account === null ? given('users') : given('serviceaccounts')).toContain(account === null ? answer.name : account[2]);
      for (const one of answer.groups) {
        if (one === 'system:authenticated' || (account !== null && one.startsWith('system:serviceaccounts'))) continue;
        expect(given('groups')).toContain(one);
      }
      if (answer.uid !== undefined) expect(given('uids')).toContain(answer.uid);
      for (const [key, values] of Object.entries(answer.extra ?? {})) expect(given('userextras', key)).toEqual(values);
    }),
    { numRuns: rounds(500) },
  );
});

test('requests without such headers are recognized without looking at each', () => {
  expect(wantsImpersonation({ accept: '*/*', 'x-impersonate-user': 'a' })).toBe(false);
  for (const name of ['impersonate-user', 'impersonate-group', 'impersonate-uid', 'impersonate-extra-x']) {
    expect(wantsImpersonation({ [name]: 'a' })).toBe(true);
  }
});

// ---- for certain requests only ---------------------------------------------------------------------------------

const node = 'system:node:n1';
const agent: User = {
  name: 'system:serviceaccount:infra:agent',
  groups: ['system:authenticated'],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'], 'authentication.kubernetes.io/node-uid': ['u1'] },
};
const rule = (verb: string, resource: string, names?: string[], group = 'authentication.k8s.io'): PolicyRule => ({
  verbs: [verb],
  apiGroups: [group],
  resources: [resource],
  ...(names && { resourceNames: names }),
});
const on = (mode: string): PolicyRule => rule(`impersonate-on:${mode}:list`, 'pods', undefined, '');
const constrained = async (pairs: readonly (readonly [string, string])[], rules: PolicyRule[], caller = alice, last = newLastModes()) => {
  const options = { identity: kubernetes, authorizer: ruled(...rules), constrained: last };
  try {
    const result = await impersonate(options, { rawHeaders: pairs.flat() }, { ...listing, user: caller });
    return `${result?.constraint} ${result?.user.name} ${result?.user.groups.join(' ')}`;
  } catch (error) {
    return `${(error as ApiError).code} ${(error as ApiError).message}`;
  }
};

test('a user may be impersonated for certain requests', async () => {
  const rules = [on('user-info'), rule('impersonate:user-info', 'users', ['zoe'])];
  expect(await constrained([user('zoe')], rules)).toBe('impersonate:user-info zoe system:authenticated');
  expect(await constrained([user('max')], rules)).toMatch(
    /^403 users\.authentication\.k8s\.io "max" is forbidden: .*impersonate:user-info/,
  );
  expect(await constrained([user('zoe')], rules.slice(1))).toMatch(
    /^403 pods is forbidden: .* cannot impersonate-on:user-info:list resource/,
  );
  expect(await constrained([user('zoe'), group('crew')], rules)).toMatch(/^403 groups\.authentication\.k8s\.io "crew" is forbidden/);
  const crew = [...rules, rule('impersonate:user-info', 'groups', ['crew'])];
  expect(await constrained([user('zoe'), group('crew')], crew)).toBe('impersonate:user-info zoe crew system:authenticated');
});

test('a right to all groups at once is enough for many', async () => {
  const rules = [on('user-info'), rule('impersonate:user-info', 'users'), rule('impersonate:user-info', 'groups', ['*'])];
  const groups = ['a', 'b', 'c', 'd'].map(group);
  expect(await constrained([user('zoe'), ...groups], rules)).toMatch(/^impersonate:user-info zoe a b c d /);
  expect(await constrained([user('zoe'), ...groups.slice(1)], rules)).toMatch(/^403 groups/);
});

test('groups and extras that give more than a name are refused', async () => {
  const rules = ['users', 'groups', 'userextras/a', 'userextras/example.com/a'].map((resource) => rule('impersonate:user-info', resource));
  const refused = (...more: (readonly [string, string])[]) => constrained([user('zoe'), ...more], [on('user-info'), ...rules]);
  expect(await refused(group('system:masters'))).toContain('impersonating the system:masters group is not allowed');
  expect(await refused(group(''))).toContain('impersonating the empty string group is not allowed');
  expect(await refused(['Impersonate-Extra-a', 'x'])).toContain('impersonating an invalid key in extra is not allowed');
  expect(await refused(['Impersonate-Extra-example.com%2fa', ''])).toContain(
    'impersonating the empty string value in extra is not allowed',
  );
  expect(await refused(['Impersonate-Extra-example.com%2fa', 'x'])).toBe('impersonate:user-info zoe system:authenticated');
});

test('accounts and nodes have modes of their own, in which only their names can be chosen', async () => {
  const robot = user('system:serviceaccount:team:robot');
  const accounts = [on('serviceaccount'), rule('impersonate:serviceaccount', 'serviceaccounts', ['robot'])];
  expect(await constrained([robot], accounts)).toBe(
    'impersonate:serviceaccount system:serviceaccount:team:robot system:serviceaccounts system:serviceaccounts:team system:authenticated',
  );
  expect(await constrained([robot, group('crew')], accounts)).toMatch(/^403/);
  const userInfo = [on('user-info'), rule('impersonate:user-info', 'users')];
  expect(await constrained([robot], userInfo)).toMatch(/^403/);
  expect(await constrained([user(node)], userInfo)).toMatch(/^403/);
  const nodes = [on('arbitrary-node'), rule('impersonate:arbitrary-node', 'nodes', ['n1'])];
  expect(await constrained([user(node)], nodes)).toBe(`impersonate:arbitrary-node ${node} system:nodes system:authenticated`);
  expect(await constrained([user('system:node:n2')], nodes)).toMatch(/^403/);
});

test('an account may be its own node wherever it runs', async () => {
  const rules = [on('associated-node'), rule('impersonate:associated-node', 'nodes')];
  expect(await constrained([user(node)], rules, agent)).toBe(`impersonate:associated-node ${node} system:nodes system:authenticated`);
  expect(await constrained([user('system:node:n2')], rules, agent)).toMatch(/^403/);
  expect(await constrained([user(node)], rules)).toMatch(/^403/);
  const named = [on('associated-node'), rule('impersonate:associated-node', 'nodes', ['n1'])];
  expect(await constrained([user(node)], named, agent)).toMatch(/^403/);
});

test('the right to impersonate for all requests goes on to be enough', async () => {
  expect(await constrained([user('zoe')], [imp('users', ['zoe'])])).toBe('undefined zoe system:authenticated');
  expect(await constrained([user('zoe'), group('')], [imp('users'), imp('groups')])).toBe('undefined zoe  system:authenticated');
});

test('the refusal is that of the mode by which the caller impersonated last', async () => {
  const last = newLastModes();
  expect(await constrained([user('max')], [imp('users', ['zoe'])], alice, last)).toMatch(/^403 pods is forbidden/);
  expect(await constrained([user('zoe')], [imp('users', ['zoe'])], alice, last)).toMatch(/^undefined zoe/);
  expect(await constrained([user('max')], [imp('users', ['zoe'])], alice, last)).toMatch(
    /^403 users "max" is forbidden: .*cannot impersonate resource/,
  );
});

import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { RoleBasedAccess } from '../auth/authz/rbac.ts';
import { superuser } from '../auth/authz/simple.ts';
import { type Authorizer, type Decision, noChanges, noOpinion, type User, unionAuthorizer } from '../auth/types.ts';
import type { Context } from '../context.ts';
import type { Catalog, Resource } from '../registry/catalog.ts';
import { authorize } from '../steps/authorize.ts';
import { Routes } from './route.ts';

const pods = '/api/v1/namespaces/a/pods';

test('the route of a URL that comes again is the same, by method; the query and the escapes are read as ever', () => {
  const routes = new Routes();
  routes.of('GET', `${pods}?limit=5`);
  const route = routes.of('GET', `${pods}?limit=5`);
  expect(routes.of('GET', `${pods}?limit=5`)).toBe(route);
  expect(routes.of('DELETE', `${pods}?limit=5`)).not.toBe(route);
  expect([route.path, route.search, route.param('limit'), route.info.verb]).toEqual([pods, 'limit=5', '5', 'list']);
  expect(routes.of('DELETE', `${pods}?limit=5`).info.verb).toBe('deletecollection');
  expect(routes.of('GET', '/api/v1/namespaces/%61/pods/b%2Fc').path).toBe('/api/v1/namespaces/a/pods/b/c');
  expect(routes.of('GET', '/%zz').path).toBe('/%zz');
});

test('the key of an object is that of its path', () => {
  const route = new Routes().of('GET', `${pods}/one`);
  expect([route.key(true), route.key(false), route.key(true)]).toEqual(['a/one', 'one', 'a/one']);
});

test('URLs that come once, long ones, odd methods and the oldest of too many are not kept', () => {
  const routes = new Routes();
  const isKept = (method: string, url: string): boolean => {
    const before = routes.of(method, url);
    return routes.of(method, url) === before;
  };
  expect(isKept('GET', pods)).toBe(false);
  expect(isKept('GET', pods)).toBe(true);
  for (const url of [`/${'x'.repeat(300)}`, `${pods}?labelSelector=${'x'.repeat(300)}`])
    for (let i = 0; i < 3; i++) expect(isKept('GET', url)).toBe(false);
  for (let i = 0; i < 3; i++) expect(isKept('ODD', pods)).toBe(false);
  for (let i = 0; i < 1000; i++) for (let times = 0; times < 2; times++) routes.of('GET', `${pods}/p${i}`);
  expect(isKept('GET', pods)).toBe(false);
});

test('the resource of a route follows the kinds that are served', () => {
  const resource = { kind: { plural: 'lamps' } } as Resource;
  let served: Resource | undefined;
  let lookups = 0;
  const catalog = {
    generation: 1,
    find: (...names: string[]) => {
      lookups++;
      return names.join('/') === 'example.com/v1/lamps' ? served : undefined;
    },
  };
  const route = new Routes().of('GET', '/apis/example.com/v1/lamps');
  const find = () => route.resource(catalog as unknown as Catalog);
  expect([find(), find(), lookups]).toEqual([undefined, undefined, 1]);
  served = resource;
  catalog.generation++;
  expect([find(), find(), lookups]).toEqual([resource, resource, 2]);
  served = undefined;
  catalog.generation++;
  expect(find()).toBe(undefined);
});

/** Whether a user may take a route of these. */
function asking(authorizer: Authorizer) {
  const routes = new Routes();
  const step = authorize(authorizer);
  return (user: User, url: string): boolean => {
    const route = routes.of('GET', url);
    try {
      step({ route, user, info: route.info } as unknown as Context);
      return true;
    } catch {
      return false;
    }
  };
}
const alice: User = { name: 'alice', groups: ['dev'] };
const bob: User = { name: 'bob', groups: [] };

test('what is allowed is not asked again until something changes; what is not allowed always is, and so is what may change at any time', () => {
  let changes = 0;
  let allows = true;
  let asked = 0;
  const authorizer: Authorizer = {
    name: 'test',
    authorize: () => {
      asked++;
      return allows ? { decision: 'allow', reason: '' } : noOpinion;
    },
    changes: (user) => (user === bob ? undefined : () => changes),
    rulesFor: async () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  };
  const may = asking(authorizer);
  const askedFor = (user: User, times: number): number => {
    const before = asked;
    for (let i = 0; i < times; i++) expect(may(user, pods)).toBe(allows);
    return asked - before;
  };
  askedFor(alice, 2);
  expect(askedFor(alice, 5)).toBe(0);
  changes++;
  allows = false;
  expect(askedFor(alice, 5)).toBe(5);
  changes++;
  allows = true;
  expect(askedFor(alice, 5)).toBe(1);
  expect(askedFor(bob, 5)).toBe(5);
  // The notes are of one user at a time.
  expect(askedFor(alice, 5)).toBe(1);
});

test('several authorizers change when one of them does, and at any time if one of them does so', () => {
  const counts = [0, 0];
  const counting = (i: number): Authorizer => ({ ...superuser, changes: () => () => counts[i] as number });
  const both = unionAuthorizer([superuser, counting(0), counting(1)]).changes?.(alice);
  expect(both?.()).toBe(0);
  counts[1] = 3;
  expect(both?.()).toBe(3);
  expect(unionAuthorizer([superuser]).changes?.(alice)).toBe(noChanges);
  const { changes: _, ...silent } = superuser;
  expect(unionAuthorizer([superuser, silent]).changes?.(alice)).toBe(undefined);
});

test('whatever changes of roles and bindings, a route allows what the authorizer does', () => {
  const group = 'rbac.authorization';
  const names = fc.constantFrom('one', 'two');
  const change = fc.record({
    what: fc.constantFrom('role', 'binding'),
    namespace: fc.constantFrom('', 'a'),
    name: names,
    role: names,
    user: fc.constantFrom('alice', 'bob'),
    verbs: fc.constantFrom(['list'], ['get'], []),
    gone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (all) => {
      const store = new FakeStore();
      const authorizer = unionAuthorizer([superuser, new RoleBasedAccess(store.live, kubernetes)]);
      const may = asking(authorizer);
      for (const { what, namespace, name, role, user, verbs, gone } of all) {
        const plural = `${namespace === '' ? 'cluster' : ''}${what === 'role' ? 'roles' : 'rolebindings'}`;
        const metadata = { name, ...(namespace !== '' && { namespace }) };
        const rules = [{ verbs, apiGroups: [''], resources: ['pods'] }];
        const roleRef = { apiGroup: `${group}.k8s.io`, kind: namespace === '' ? 'ClusterRole' : 'Role', name: role };
        const subjects = [{ apiGroup: `${group}.k8s.io`, kind: 'User', name: user }];
        if (gone) store.remove(group, plural, namespace, name);
        else store.put(group, plural, { metadata, ...(what === 'role' ? { rules } : { roleRef, subjects }) } as never);
        for (const who of [alice, alice, bob, bob])
          for (const url of [pods, '/api/v1/pods']) {
            const { info } = new Routes().of('GET', url);
            const { decision } = authorizer.authorize({ ...info, user: who } as never) as Decision;
            expect(may(who, url)).toBe(decision === 'allow');
          }
      }
    }),
    { numRuns: rounds(60) },
  );
});

import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { expect, test } from 'vitest';
import type { User } from '../auth/types.ts';
import type { Context } from '../context.ts';
import { requestInfo } from '../request/request-info.ts';
import { Routes } from '../request/route.ts';
import { Flows } from './request-flow.ts';

const GROUP = 'flowcontrol.apiserver';
const user = (name: string, ...groups: string[]): User => ({ name, groups: [...groups, 'system:authenticated'] });

interface Rule {
  subjects: object[];
  resourceRules?: object[];
  nonResourceRules?: object[];
}
function schema(name: string, level: string, precedence: number, ...rules: Rule[]) {
  return {
    metadata: { name, uid: `fs-${name}` },
    spec: { priorityLevelConfiguration: { name: level }, matchingPrecedence: precedence, rules },
  };
}
const level = (name: string) => ({ metadata: { name, uid: `pl-${name}` }, spec: { type: 'Limited' } });
const everyone = [
  { kind: 'Group', group: { name: 'system:authenticated' } },
  { kind: 'Group', group: { name: 'system:unauthenticated' } },
];
const anyResource = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
const anyPath = { verbs: ['*'], nonResourceURLs: ['*'] };

/** A small copy of what a server has at first start. */
function store(): FakeStore {
  const made = new FakeStore();
  for (const name of ['exempt', 'system', 'leader-election', 'global-default', 'catch-all'])
    made.put(GROUP, 'prioritylevelconfigurations', level(name));
  const put = (s: ReturnType<typeof schema>) => made.put(GROUP, 'flowschemas', s);
  put(schema('catch-all', 'catch-all', 10000, { subjects: everyone, resourceRules: [anyResource], nonResourceRules: [anyPath] }));
  put(schema('global-default', 'global-default', 9900, { subjects: everyone, resourceRules: [anyResource], nonResourceRules: [anyPath] }));
  put(
    schema('exempt', 'exempt', 1, {
      subjects: [{ kind: 'Group', group: { name: 'system:masters' } }],
      resourceRules: [anyResource],
      nonResourceRules: [anyPath],
    }),
  );
  put(
    schema('probes', 'exempt', 2, {
      subjects: everyone,
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/debug/*'] }],
    }),
  );
  put(
    schema('elections', 'leader-election', 100, {
      subjects: [
        { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } },
        { kind: 'User', user: { name: 'scheduler' } },
      ],
      resourceRules: [{ verbs: ['get', 'update'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['kube-system'] }],
    }),
  );
  put(
    schema('nodes', 'system', 500, {
      subjects: [{ kind: 'Group', group: { name: 'system:nodes' } }],
      resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['nodes', 'pods/status'], clusterScope: true, namespaces: ['*'] }],
    }),
  );
  return made;
}

/** Kept over all changes, as those of a server. */
const routes = new Routes();
function flowOf(flows: Flows, who: User, method: string, path: string): string {
  const route = routes.of(method, path);
  const ctx = { user: who, route, info: route.info, headers: [] as string[] } as unknown as Context;
  flows.step(ctx);
  return ctx.headers.join(' ');
}
const headers = (name: string, levelName: string) =>
  `X-Kubernetes-Pf-Flowschema-Uid fs-${name} X-Kubernetes-Pf-Prioritylevel-Uid pl-${levelName}`;
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a';

test('the first schema in the order of precedence whose rules fit is taken', () => {
  const flows = new Flows(store().live);
  const expected: [User, string, string, string][] = [
    [user('admin', 'system:masters'), 'GET', '/api/v1/pods', headers('exempt', 'exempt')],
    [user('alice'), 'GET', '/api/v1/namespaces/a/pods', headers('global-default', 'global-default')],
    [user('alice'), 'GET', '/healthz', headers('probes', 'exempt')],
    [user('alice'), 'GET', '/debug/heap', headers('probes', 'exempt')],
    [user('alice'), 'GET', '/healthz/ping', headers('global-default', 'global-default')],
    [user('alice'), 'POST', '/healthz', headers('global-default', 'global-default')],
    [user('system:serviceaccount:kube-system:any'), 'PUT', lease, headers('elections', 'leader-election')],
    [user('system:serviceaccount:other:any'), 'PUT', lease, headers('global-default', 'global-default')],
    [user('scheduler'), 'GET', lease, headers('elections', 'leader-election')],
    [user('scheduler'), 'DELETE', lease, headers('global-default', 'global-default')],
    [user('scheduler'), 'GET', lease.replace('kube-system', 'default'), headers('global-default', 'global-default')],
    [user('node-1', 'system:nodes'), 'GET', '/api/v1/nodes/one', headers('nodes', 'system')],
    [user('node-1', 'system:nodes'), 'PATCH', '/api/v1/namespaces/a/pods/one/status', headers('nodes', 'system')],
    [user('node-1', 'system:nodes'), 'PATCH', '/api/v1/namespaces/a/pods/one', headers('global-default', 'global-default')],
  ];
  for (const [who, method, path, wanted] of expected)
    expect([who.name, method, path, flowOf(flows, who, method, path)]).toEqual([who.name, method, path, wanted]);
});

test('changes are seen at once, and a schema without its level is passed over', () => {
  const objects = store();
  const flows = new Flows(objects.live);
  const alice = user('alice');
  const seen = () => flowOf(flows, alice, 'GET', '/api/v1/pods?changes');
  seen();
  seen();
  expect(seen()).toBe(headers('global-default', 'global-default'));
  objects.put(
    GROUP,
    'flowschemas',
    schema('mine', 'absent', 50, { subjects: [{ kind: 'User', user: { name: 'alice' } }], resourceRules: [anyResource] }),
  );
  expect(seen()).toBe(headers('global-default', 'global-default'));
  objects.put(GROUP, 'prioritylevelconfigurations', level('absent'));
  expect(seen()).toBe(headers('mine', 'absent'));
  objects.remove(GROUP, 'flowschemas', '', 'mine');
  expect(seen()).toBe(headers('global-default', 'global-default'));
});

test('without any schema the headers are left out', () => {
  expect(flowOf(new Flows(new FakeStore().live), user('alice'), 'GET', '/api')).toBe('');
});

test('all flows of a user have one part of the event loop, whatever the schema and the namespace', () => {
  const objects = store();
  const byNamespace = schema('spread', 'system', 600, {
    subjects: [{ kind: 'User', user: { name: 'alice' } }],
    resourceRules: [{ ...anyResource, resources: ['pods'] }],
  });
  objects.put(GROUP, 'flowschemas', {
    ...byNamespace,
    spec: { ...byNamespace.spec, distinguisherMethod: { type: 'ByNamespace' } },
  } as typeof byNamespace);
  const flows = new Flows(objects.live);
  const find = (name: string, path: string) =>
    flows.find(
      user(name),
      requestInfo('GET', path, () => undefined),
    );
  const alice = ['a/pods', 'b/pods', 'a/secrets', 'c/pods'].map((rest) => find('alice', `/api/v1/namespaces/${rest}`));
  expect(alice.map((flow) => `${flow.schema.name} ${flow.distinguisher}`)).toEqual(['spread a', 'spread b', 'global-default ', 'spread c']);
  expect(new Set(alice.map(({ share }) => share)).size).toBe(1);
  expect(find('bob', '/api/v1/namespaces/a/pods').share).not.toBe(alice[0]?.share);
});

test('another user on the same route has a flow of its own', () => {
  const flows = new Flows(store().live);
  const [alice, admin] = [user('alice'), user('admin', 'system:masters')];
  const found = [alice, alice, admin, admin, alice].map((who) => flowOf(flows, who, 'GET', '/api/v1/pods?users'));
  const [plain, exempt] = [headers('global-default', 'global-default'), headers('exempt', 'exempt')];
  expect(found).toEqual([plain, plain, exempt, exempt, plain]);
});

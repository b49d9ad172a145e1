/** `why not deleted`: constructed cases, each with the cause that is named first. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Loose, TestServer } from '../support/server.ts';
import { askWhy, owner, pod, type Question, startWorldServer, World } from './world.ts';

interface Case {
  readonly title: string;
  /** Constructs the state and answers what to ask about. */
  readonly make: (world: World) => Promise<Question>;
  readonly reason: string;
  /** What the message says. */
  readonly message: RegExp;
  readonly command: RegExp;
  /** Another cause that is named. */
  readonly also?: string;
}

const hold = 'example.com/hold';
const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };

async function deletedConfigMap(world: World, metadata: object): Promise<Question> {
  await world.put('configmaps', { metadata: { name: 'settings', ...metadata } });
  await world.remove('configmaps', 'settings');
  return { resource: 'configmaps', namespace: world.ns, name: 'settings' };
}
/** A pod on a node, deleted. */
async function deletedPod(world: World, nodeName: string, metadata: object = {}, options: object = {}): Promise<Question> {
  await world.put('pods', pod('web', { nodeName }, metadata));
  await world.remove('pods', 'web', options);
  return { resource: 'pods', namespace: world.ns, name: 'web' };
}
async function terminatingNamespace(world: World): Promise<Question> {
  await world.remove('namespaces', world.ns);
  return { resource: 'namespaces', name: world.ns };
}
async function foreground(world: World, plural: string, name: string): Promise<void> {
  await world.remove(plural, name, { propagationPolicy: 'Foreground' });
}
const definition = (group: string): Loose => ({
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});
const webhook = (name: string, operations: string[], more: object = {}): Loose => ({
  metadata: { name },
  webhooks: [
    {
      name: 'guard.example.com',
      clientConfig: { service: { namespace: 'default', name: 'guard' } },
      rules: [{ operations, apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    },
  ],
});

const cases: readonly Case[] = [
  {
    title: 'nobody has deleted it',
    make: async (world) => {
      await world.put('configmaps', { metadata: { name: 'settings' } });
      return { resource: 'configmaps', namespace: world.ns, name: 'settings' };
    },
    reason: 'NotDeleting',
    message: /^configmaps\/settings is not being deleted/,
    command: /^delete configmaps\/settings -n /,
  },
  {
    title: 'an unknown finalizer: its domain and who set it',
    make: (world) => deletedConfigMap(world, { finalizers: [hold] }),
    reason: 'Finalizer',
    message: /^It has the finalizer example.com\/hold. It was set by \S+; a controller of example.com has to remove it.$/,
    command:
      /^patch configmaps\/settings -n \S+ --type=json -p '\[\{"op":"test","path":"\/metadata\/finalizers\/0","value":"example.com\/hold"\},/,
  },
  {
    title: 'a finalizer of a known controller',
    make: (world) => deletedConfigMap(world, { finalizers: ['resources-finalizer.argocd.argoproj.io/x'] }),
    reason: 'Finalizer',
    message: /It is removed by the application controller of Argo CD.$/,
    command: /^patch /,
  },
  {
    title: 'an orphaning deletion waits for the garbage collector',
    make: async (world) => {
      await world.put('configmaps', { metadata: { name: 'settings' } });
      await world.remove('configmaps', 'settings', { propagationPolicy: 'Orphan' });
      return { resource: 'configmaps', namespace: world.ns, name: 'settings' };
    },
    reason: 'Finalizer',
    message: /finalizer orphan. It is removed by the garbage collector, when all dependents are released/,
    command: /^get configmaps\/settings -n \S+ --watch$/,
  },
  {
    title: 'foreground: a dependent that blocks',
    make: async (world) => {
      const parent = await world.put('configmaps', { metadata: { name: 'parent' } });
      const ownerReferences = [owner(parent, { blockOwnerDeletion: true })];
      await world.put('secrets', { metadata: { name: 'child', ownerReferences } });
      await foreground(world, 'configmaps', 'parent');
      return { resource: 'configmaps', namespace: world.ns, name: 'parent' };
    },
    reason: 'DependentBlocks',
    message: /^Its dependent secrets\/child blocks its deletion and is not being deleted yet.$/,
    command: /^why not deleted secrets\/child -n /,
  },
  {
    title: 'foreground: what keeps the dependent of a dependent',
    make: async (world) => {
      const parent = await world.put('configmaps', { metadata: { name: 'parent' } });
      const middle = await world.put('configmaps', {
        metadata: { name: 'middle', ownerReferences: [owner(parent, { blockOwnerDeletion: true })] },
      });
      const ownerReferences = [owner(middle, { blockOwnerDeletion: true })];
      await world.put('secrets', { metadata: { name: 'leaf', ownerReferences, finalizers: [hold] } });
      await foreground(world, 'configmaps', 'parent');
      await foreground(world, 'configmaps', 'middle');
      await world.remove('secrets', 'leaf');
      return { resource: 'configmaps', namespace: world.ns, name: 'parent' };
    },
    reason: 'Finalizer',
    message: /finalizer example.com\/hold/,
    command: /^patch secrets\/leaf /,
  },
  {
    title: 'foreground: dependents that do not block do not count',
    make: async (world) => {
      const parent = await world.put('configmaps', { metadata: { name: 'parent' } });
      await world.put('secrets', { metadata: { name: 'child', ownerReferences: [owner(parent)] } });
      await foreground(world, 'configmaps', 'parent');
      return { resource: 'configmaps', namespace: world.ns, name: 'parent' };
    },
    reason: 'Finalizer',
    message: /finalizer foregroundDeletion. It is removed by the garbage collector/,
    command: /./,
  },
  {
    title: 'a claim that a pod uses',
    make: async (world) => {
      const metadata = { name: 'data', finalizers: ['kubernetes.io/pvc-protection'] };
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      await world.put('persistentvolumeclaims', { metadata, spec });
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
      await world.put('pods', pod('db', { nodeName: 'n1', volumes }));
      await world.put('pods', pod('other', { nodeName: 'n1' }));
      await world.remove('persistentvolumeclaims', 'data');
      return { resource: 'persistentvolumeclaims', namespace: world.ns, name: 'data' };
    },
    reason: 'ClaimInUse',
    message: /^It is in use: the pod db uses the claim.$/,
    command: /^delete pods\/db -n /,
  },
  {
    title: 'a claim that nothing uses waits for its controller',
    make: async (world) => {
      const metadata = { name: 'data', finalizers: ['kubernetes.io/pvc-protection'] };
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      await world.put('persistentvolumeclaims', { metadata, spec });
      await world.remove('persistentvolumeclaims', 'data');
      return { resource: 'persistentvolumeclaims', namespace: world.ns, name: 'data' };
    },
    reason: 'Finalizer',
    message: /removed by the controller pvc-protection, when no pod uses the claim/,
    command: /./,
  },
  {
    title: 'a volume that is bound',
    make: async (world) => {
      const name = world.name('v');
      await world.put('persistentvolumes', {
        metadata: { name, finalizers: ['kubernetes.io/pv-protection'] },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/x' },
          claimRef: { namespace: world.ns, name: 'data' },
        },
        status: { phase: 'Bound' },
      });
      await world.remove('persistentvolumes', name);
      return { resource: 'persistentvolumes', name };
    },
    reason: 'VolumeBound',
    message: /^It is bound to the claim \S+\/data.$/,
    command: /^delete persistentvolumeclaims\/data -n /,
  },
  {
    title: 'a pod whose grace period runs',
    make: async (world) => {
      await world.put('nodes', { metadata: { name: 'n-ready' }, ...ready });
      return deletedPod(world, 'n-ready', {}, { gracePeriodSeconds: 3600 });
    },
    reason: 'GracePeriodRunning',
    message: /^Its containers have time to end until /,
    command: /--watch$/,
  },
  {
    title: 'a pod whose node is gone',
    make: (world) => deletedPod(world, 'n-gone', { finalizers: [hold] }, { gracePeriodSeconds: 3600 }),
    reason: 'NodeGone',
    message: /^Its node n-gone does not exist any more/,
    command: /^delete pods\/web -n \S+ --force --grace-period=0$/,
  },
  {
    title: 'a pod whose node does not answer',
    make: async (world) => {
      const conditions = [{ type: 'Ready', status: 'Unknown', message: 'Kubelet stopped posting node status.' }];
      await world.put('nodes', { metadata: { name: 'n-silent' }, status: { conditions } });
      return deletedPod(world, 'n-silent');
    },
    reason: 'NodeNotReady',
    message: /^Its node n-silent is not ready .*: Kubelet stopped posting node status\.$/,
    command: /^why not ready nodes\/n-silent$/,
  },
  {
    title: 'a pod that its node has ended, with a finalizer',
    make: async (world) => {
      await world.put('pods', pod('web', {}, { finalizers: ['batch.kubernetes.io/job-tracking'] }));
      await world.remove('pods', 'web', { gracePeriodSeconds: 0 });
      return { resource: 'pods', namespace: world.ns, name: 'web' };
    },
    reason: 'Finalizer',
    message: /removed by the job controller/,
    command: /^patch pods\/web /,
  },
  {
    title: 'a pod that is only evicted, against its budget',
    make: async (world) => {
      await world.put('pods', pod('web', { nodeName: 'n1' }, { labels: { app: 'web' } }));
      await world.put('poddisruptionbudgets', {
        metadata: { name: 'web' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
      });
      return { resource: 'pods', namespace: world.ns, name: 'web' };
    },
    also: 'BudgetRefusesEviction',
    reason: 'NotDeleting',
    message: /./,
    command: /./,
  },
  {
    title: 'a namespace with an object that has a finalizer',
    make: async (world) => {
      await world.put('configmaps', { metadata: { name: 'a-free' } });
      await world.put('secrets', { metadata: { name: 'held', finalizers: [hold] } });
      return terminatingNamespace(world);
    },
    reason: 'FinalizerOnContent',
    message: /^1 secret \(held\) has the finalizer example.com\/hold. /,
    command: /^why not deleted secrets\/held -n /,
  },
  {
    title: 'a namespace with objects, counted',
    make: async (world) => {
      for (const name of ['a', 'b', 'c', 'd']) await world.put('configmaps', { metadata: { name } });
      return terminatingNamespace(world);
    },
    reason: 'ContentRemains',
    message: /^4 configmaps remain \(a, b, c and 1 other\), not being deleted yet.$/,
    command: /^why not deleted configmaps\/a -n /,
  },
  {
    title: 'a namespace while an API does not answer',
    make: async (world) => {
      await world.put('configmaps', { metadata: { name: 'a', finalizers: [hold] } });
      await world.put('apiservices', {
        metadata: { name: 'v1.metrics.example.com' },
        spec: {
          group: 'metrics.example.com',
          version: 'v1',
          groupPriorityMinimum: 100,
          versionPriority: 10,
          service: { namespace: 'default', name: 'gone' },
        },
      });
      const path = world.path('apiservices', 'v1.metrics.example.com');
      await expect.poll(async () => (await world.server.admin.ok('GET', path)).status.conditions?.[0].status).toBe('False');
      return terminatingNamespace(world);
    },
    reason: 'APIUnavailable',
    message: /^The API v1.metrics.example.com does not answer, .*: service\/gone in "default" is not present\.$/,
    command: /^why not ready apiservices\/v1.metrics.example.com$/,
  },
  {
    title: 'a namespace with a pod whose node is gone',
    make: async (world) => {
      await deletedPod(world, 'n-gone', {}, { gracePeriodSeconds: 3600 });
      return terminatingNamespace(world);
    },
    reason: 'NodeGone',
    message: /^Its node n-gone does not exist/,
    command: /^delete pods\/web .* --force/,
  },
  {
    title: 'an empty namespace waits for its controller',
    make: terminatingNamespace,
    reason: 'WaitsForController',
    message: /^It is empty./,
    command: /--watch$/,
  },
  {
    title: 'a namespace with a finalizer of its own',
    make: async (world) => {
      const path = world.path('namespaces', world.ns);
      const stored = await world.server.admin.ok('GET', path);
      await world.server.admin.ok('PUT', `${path}/finalize`, { ...stored, spec: { finalizers: ['kubernetes', hold] } });
      return terminatingNamespace(world);
    },
    reason: 'NamespaceFinalizer',
    message: /^Its spec has the finalizer example.com\/hold/,
    command: /finalize -f -$/,
  },
  {
    title: 'a definition with objects that have finalizers',
    make: async (world) => {
      const group = `${world.name('g')}.example.com`;
      await world.put('customresourcedefinitions', definition(group));
      const custom = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'one', finalizers: [hold] } };
      await expect.poll(async () => (await world.server.admin.get(`/apis/${group}/v1/widgets`)).status).toBe(200);
      await world.put('widgets', custom, `${group}/v1`);
      await world.remove('customresourcedefinitions', `widgets.${group}`);
      return { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', name: `widgets.${group}` };
    },
    reason: 'FinalizerOnContent',
    message: /^1 widget \(one\) has the finalizer example.com\/hold/,
    command: /^why not deleted widgets\.\S+\.example\.com\/one -n /,
  },
  {
    title: 'a webhook whose service is gone refuses the update that removes the finalizer',
    make: async (world) => {
      const question = await deletedConfigMap(world, { finalizers: [hold] });
      await world.put('validatingwebhookconfigurations', webhook('guard', ['UPDATE']));
      return question;
    },
    reason: 'WebhookUnreachable',
    message:
      /^The webhook guard.example.com of validatingwebhookconfigurations\/guard is asked before the update .* its service default\/guard does not exist.$/,
    command: /^get services -n default$/,
  },
  {
    title: 'a name that the shell of who types the command must not run',
    make: async (world) => {
      const question = await deletedConfigMap(world, { finalizers: [hold] });
      const clientConfig = { service: { namespace: '$(id)', name: 'guard' } };
      await world.put('validatingwebhookconfigurations', webhook('guard', ['UPDATE'], { clientConfig }));
      return question;
    },
    reason: 'WebhookUnreachable',
    message: /./,
    command: /^get services -n '\$\(id\)'$/,
  },
  {
    title: 'a webhook whose service has no endpoints',
    make: async (world) => {
      await world.put('services', { metadata: { name: 'guard' }, spec: { selector: { app: 'guard' }, ports: [{ port: 443 }] } });
      await world.put('configmaps', { metadata: { name: 'settings' } });
      const clientConfig = { service: { namespace: world.ns, name: 'guard' } };
      await world.put('validatingwebhookconfigurations', webhook('guard', ['DELETE'], { clientConfig }));
      return { resource: 'configmaps', namespace: world.ns, name: 'settings' };
    },
    also: 'NotDeleting',
    reason: 'WebhookUnreachable',
    message: /is asked before the deletion, and its service \S+\/guard has no ready endpoints.$/,
    command: /^why not ready services\/guard -n /,
  },
  {
    title: 'a webhook that can be called comes after what is known',
    make: async (world) => {
      const question = await deletedConfigMap(world, { finalizers: [hold] });
      const clientConfig = { url: 'https://guard.example.com/' };
      await world.put('validatingwebhookconfigurations', webhook('guard', ['UPDATE'], { clientConfig }));
      return question;
    },
    also: 'WebhookMayRefuse',
    reason: 'Finalizer',
    message: /./,
    command: /./,
  },
  {
    title: 'a webhook of other namespaces does not matter',
    make: async (world) => {
      const question = await deletedConfigMap(world, { finalizers: [hold] });
      const namespaceSelector = { matchLabels: { guarded: 'yes' } };
      await world.put('mutatingwebhookconfigurations', webhook('guard', ['UPDATE', 'DELETE'], { namespaceSelector }));
      return question;
    },
    reason: 'Finalizer',
    message: /./,
    command: /./,
  },
];

let server: TestServer;
beforeAll(async () => {
  server = await startWorldServer();
});
afterAll(() => server.close());

describe('the first cause', () => {
  test.each(cases)('$title', async ({ make, reason, message, command, also = reason }) => {
    const world = new World(server, await server.namespace());
    try {
      const { causes, deleting } = await askWhy(server.admin, 'deletionexplanations', await make(world));
      expect(causes[0]).toMatchObject({ reason, message: expect.stringMatching(message), command: expect.stringMatching(command) });
      expect(causes.map((cause: Loose) => cause.reason)).toContain(also);
      expect(deleting).toBe(reason !== 'NotDeleting' && also !== 'NotDeleting');
    } finally {
      await world.close();
    }
  });
});

describe('rights', () => {
  let world: World;
  let grant: (name: string, rules: object[]) => Promise<void>;
  beforeAll(async () => {
    world = new World(server, await server.namespace());
    grant = async (name, rules) => {
      await world.put('roles', { metadata: { name }, rules });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
      await world.put('rolebindings', { metadata: { name }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] });
    };
    const rules = [{ verbs: ['create'], apiGroups: ['explain.k8s.io'], resources: ['*'] }];
    await world.put('clusterroles', { metadata: { name: 'asks' }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'asks' };
    await world.put('clusterrolebindings', { metadata: { name: 'asks' }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] });
  });
  afterAll(() => world.close());

  test('who may not get an object is not told about it, whether it is there or not', async () => {
    await deletedConfigMap(world, { finalizers: [hold] });
    const about = (name: string) => askWhy(server.alice, 'deletionexplanations', { resource: 'configmaps', namespace: world.ns, name });
    await expect(about('settings')).rejects.toThrow(/^403 configmaps "settings" is forbidden: User "alice" cannot get/);
    await expect(about('absent')).rejects.toThrow(/^403 configmaps "absent" is forbidden: User "alice" cannot get/);
    await grant('reads-settings', [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }]);
    await expect(about('absent')).rejects.toThrow('404 configmaps "absent" not found');
    expect((await about('settings')).causes[0].reason).toBe('Finalizer');
  });

  test('what the caller may not read changes nothing in the answer', async () => {
    const parent = await world.put('configmaps', { metadata: { name: 'parent' } });
    await foreground(world, 'configmaps', 'parent');
    const about = { resource: 'configmaps', namespace: world.ns, name: 'parent' };
    const without = await askWhy(server.alice, 'deletionexplanations', about);
    await world.put('secrets', { metadata: { name: 'hidden-child', ownerReferences: [owner(parent, { blockOwnerDeletion: true })] } });
    await world.put('validatingwebhookconfigurations', webhook('hidden-guard', ['DELETE', 'UPDATE']));
    expect(await askWhy(server.alice, 'deletionexplanations', about)).toEqual(without);
    expect(without.incomplete).toContain(`you may not list secrets in namespace ${world.ns}`);
    expect(without.incomplete).toContain('you may not list validatingwebhookconfigurations');
    expect(JSON.stringify(await askWhy(server.admin, 'deletionexplanations', about))).toContain('hidden-child');
  });

  test('of a namespace only what it says itself, where its content may not be listed', async () => {
    await world.put('clusterroles', {
      metadata: { name: 'gets-ns' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['namespaces'] }],
    });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'gets-ns' };
    await world.put('clusterrolebindings', { metadata: { name: 'gets-ns' }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] });
    const other = new World(server, await server.namespace());
    const about = await terminatingNamespace(other);
    const withoutContent = await askWhy(server.alice, 'deletionexplanations', about);
    expect(withoutContent.causes).toMatchObject([{ reason: 'NothingFound' }]);
    const message = 'Some resources are remaining: secrets. has 1 resource instances';
    const conditions = [{ type: 'NamespaceContentRemaining', status: 'True', reason: 'SomeResourcesRemain', message }];
    const path = other.path('namespaces', other.ns);
    const stored = await server.admin.ok('GET', path);
    await server.admin.ok('PUT', `${path}/status`, { ...stored, status: { phase: 'Terminating', conditions } });
    const { causes } = await askWhy(server.alice, 'deletionexplanations', about);
    expect(causes[0].message).toBe(`Its condition NamespaceContentRemaining is True: SomeResourcesRemain: ${message}.`);
  });

  test('an object that is referred to is counted, and its state is not said', async () => {
    await grant('reads-pods', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]);
    const about = await deletedPod(world, 'n-secret', {}, { gracePeriodSeconds: 3600 });
    const withoutNode = await askWhy(server.alice, 'deletionexplanations', about);
    expect(withoutNode).toMatchObject({ unread: 1, causes: [{ reason: 'GracePeriodRunning' }] });
    await world.put('nodes', { metadata: { name: 'n-secret' } });
    expect(await askWhy(server.alice, 'deletionexplanations', about)).toEqual(withoutNode);
  });
});

test('bad questions are refused, each with its field', async () => {
  const ask = (spec: object) => server.admin.post('/apis/explain.k8s.io/v1alpha1/deletionexplanations', { spec });
  const messages = [];
  for (const spec of [{}, { resource: 'pods', name: 'a' }, { resource: 'none', name: 'a' }, { group: 'apps', resource: 'pods', name: 'a' }])
    messages.push([(await ask(spec)).status, (await ask(spec)).json.message.split(' is invalid: ')[1]]);
  expect(messages).toEqual([
    [422, '[spec.resource: Required value, spec.name: Required value]'],
    [422, 'spec.namespace: Required value'],
    [422, 'spec.resource: Invalid value: "none": there is no such resource in the group'],
    [422, 'spec.resource: Invalid value: "pods": there is no such resource in the group'],
  ]);
});

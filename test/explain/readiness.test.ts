/** `why not ready`: constructed cases, each with the cause that is named first, down the tree. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Loose, TestServer } from '../support/server.ts';
import { askWhy, container, owner, pod, type Question, startWorldServer, World } from './world.ts';

interface Case {
  readonly title: string;
  readonly make: (world: World) => Promise<Question>;
  readonly reason: string;
  readonly message: RegExp;
  readonly command: RegExp;
  /** `deployments/web → replicasets/web-1 → pods/web-1-x`: from the object of the question to that of the cause. */
  readonly chain?: string;
}

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const selector = { matchLabels: labels };
const ready = [{ type: 'Ready', status: 'True' }];
const running = (more: object = {}): object => ({
  name: 'main',
  image: container.image,
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { running: {} },
  ...more,
});
const waiting = (reason: string, more: object = {}): object => running({ state: { waiting: { reason } }, ...more });
const readyNode = { metadata: { name: 'n1' }, status: { conditions: ready } };

/** A pod on a node, with containers in a state. */
const podOn = (name: string, containerStatuses: object[], more: Loose = {}): Loose => ({
  ...pod(name, { nodeName: 'n1', ...more.spec }, { labels, ...more.metadata }),
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }], containerStatuses, ...more.status },
});
async function replicaSet(world: World, status: object = {}, metadata: object = {}): Promise<Loose> {
  const spec = { replicas: 1, selector, template };
  return world.put('replicasets', {
    metadata: { name: 'web-1', ...metadata },
    spec,
    status: { replicas: 1, observedGeneration: 1, ...status },
  });
}
/** A deployment, its replica set and the pod of that. */
async function deployment(world: World, statuses: object[], spec: object = {}, status: object = {}): Promise<Question> {
  await world.put('nodes', readyNode);
  const parent = await world.put('deployments', {
    metadata: { name: 'web' },
    spec: { replicas: 1, selector, template, ...spec },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, ...status },
  });
  const set = await replicaSet(world, {}, { ownerReferences: [owner(parent, { controller: true })] });
  await world.put('pods', podOn('web-1-x', statuses, { metadata: { ownerReferences: [owner(set, { controller: true })] } }));
  return { group: 'apps', resource: 'deployments', namespace: world.ns, name: 'web' };
}
async function event(world: World, object: Loose, reason: string, message: string): Promise<void> {
  const involvedObject = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    namespace: world.ns,
    name: object.metadata.name,
    uid: object.metadata.uid,
  };
  await world.put('events', { metadata: { name: world.name('e') }, involvedObject, type: 'Warning', reason, message });
}
const service = (spec: object = {}): Loose => ({ metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }], ...spec } });
const core = (world: World, resource: string, name: string): Question => ({ resource, namespace: world.ns, name });
const ingress = (port: object, more: object = {}): Loose => ({
  metadata: { name: 'web' },
  spec: { defaultBackend: { service: { name: 'web', port } }, ...more },
});
const ingressQuestion = (world: World): Question => ({
  group: 'networking.k8s.io',
  resource: 'ingresses',
  namespace: world.ns,
  name: 'web',
});

const cases: readonly Case[] = [
  {
    title: 'a deployment whose image cannot be pulled',
    make: (world) => deployment(world, [waiting('ErrImagePull')], {}, {}),
    reason: 'ImagePull',
    message: /^The image registry.test\/app:1 of the container main cannot be pulled \(ErrImagePull\).$/,
    command: /^describe pods\/web-1-x -n /,
    chain: 'deployments/web → replicasets/web-1 → pods/web-1-x',
  },
  {
    title: 'a deployment whose container crashes',
    make: (world) =>
      deployment(world, [waiting('CrashLoopBackOff', { restartCount: 4, lastState: { terminated: { exitCode: 3, reason: 'Error' } } })]),
    reason: 'Crash',
    message: /^The container main ends with exit code 3, 4 times so far.$/,
    command: /^logs web-1-x -n \S+ -c main --previous$/,
    chain: 'deployments/web → replicasets/web-1 → pods/web-1-x',
  },
  {
    title: 'a container that needs more memory than its limit',
    make: (world) =>
      deployment(world, [waiting('CrashLoopBackOff', { lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } })]),
    reason: 'OutOfMemory',
    message: /^The container main used more memory than its limit and was killed.$/,
    command: /./,
  },
  {
    title: 'a rollout that is paused',
    make: (world) =>
      deployment(world, [running({ ready: true })], { paused: true }, { updatedReplicas: 0, readyReplicas: 1, availableReplicas: 1 }),
    reason: 'Paused',
    message: /^Its rollout is paused.$/,
    command: /^rollout resume deployments\/web -n /,
  },
  {
    title: 'a deployment that no controller has seen',
    make: async (world) => {
      await world.put('deployments', { metadata: { name: 'web' }, spec: { selector, template } });
      return { group: 'apps', resource: 'deployments', namespace: world.ns, name: 'web' };
    },
    reason: 'NotObserved',
    message: /^Its controller has not looked at its newest spec/,
    command: /./,
  },
  {
    title: 'pods that a quota refuses',
    make: async (world) => {
      const message = 'pods "web-1-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0';
      const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }];
      await replicaSet(world, { replicas: 0, conditions });
      return { group: 'apps', resource: 'replicasets', namespace: world.ns, name: 'web-1' };
    },
    reason: 'QuotaExceeded',
    message: /^Its pods are refused: .*exceeded quota: small/,
    command: /^describe resourcequotas -n /,
  },
  {
    title: 'pods of a stateful set that a webhook refuses, by the newest event',
    make: async (world) => {
      const set = await world.put('statefulsets', {
        metadata: { name: 'db' },
        spec: { serviceName: 'db', selector, template },
        status: { observedGeneration: 1, replicas: 0 },
      });
      await event(world, set, 'FailedCreate', 'create Pod db-0 failed: admission webhook "guard.example.com" denied the request: no');
      return { group: 'apps', resource: 'statefulsets', namespace: world.ns, name: 'db' };
    },
    reason: 'WebhookRefuses',
    message: /guard.example.com/,
    command: /^describe statefulsets\/db -n /,
  },
  {
    title: 'a stateful set: the first of its pods that is not ready',
    make: async (world) => {
      await world.put('nodes', readyNode);
      const set = await world.put('statefulsets', {
        metadata: { name: 'db' },
        spec: { replicas: 3, serviceName: 'db', selector, template },
        status: { observedGeneration: 1, replicas: 2, readyReplicas: 1 },
      });
      const metadata = { ownerReferences: [owner(set, { controller: true })] };
      await world.put('pods', podOn('db-1', [waiting('ErrImagePull')], { metadata }));
      await world.put('pods', podOn('db-0', [running({ ready: true })], { metadata, status: { conditions: ready } }));
      return { group: 'apps', resource: 'statefulsets', namespace: world.ns, name: 'db' };
    },
    reason: 'ImagePull',
    message: /./,
    command: /./,
    chain: 'statefulsets/db → pods/db-1',
  },
  {
    title: 'a daemon set that no node matches',
    make: async (world) => {
      const status = { observedGeneration: 1, currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
      await world.put('daemonsets', { metadata: { name: 'agent' }, spec: { selector, template }, status });
      return { group: 'apps', resource: 'daemonsets', namespace: world.ns, name: 'agent' };
    },
    reason: 'NoNodesMatch',
    message: /^No node matches its selector and tolerations.$/,
    command: /^get nodes --show-labels$/,
  },
  {
    title: 'a job that has failed: how its last pod ended',
    make: async (world) => {
      const jobTemplate = { spec: { restartPolicy: 'Never', containers: [container] } };
      const job = await world.put('jobs', {
        metadata: { name: 'load' },
        spec: { template: jobTemplate },
        status: {
          failed: 1,
          conditions: [
            { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' },
          ],
        },
      });
      const metadata = { ownerReferences: [owner(job, { controller: true })] };
      const ended = running({ state: { terminated: { exitCode: 2 } } });
      await world.put('pods', podOn('load-x', [ended], { metadata, spec: { restartPolicy: 'Never' }, status: { phase: 'Failed' } }));
      return { group: 'batch', resource: 'jobs', namespace: world.ns, name: 'load' };
    },
    reason: 'Crash',
    message: /^The container main ends with exit code 2.$/,
    command: /^logs load-x -n \S+ -c main$/,
    chain: 'jobs/load → pods/load-x',
  },
  {
    title: 'a job that is suspended',
    make: async (world) => {
      await world.put('jobs', {
        metadata: { name: 'load' },
        spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [container] } } },
      });
      return { group: 'batch', resource: 'jobs', namespace: world.ns, name: 'load' };
    },
    reason: 'Suspended',
    message: /^It is suspended.$/,
    command: /^patch jobs\/load -n \S+ -p /,
  },
  {
    title: 'a pod whose readiness probe fails: what the node reported',
    make: async (world) => {
      await world.put('nodes', readyNode);
      const containers = [{ ...container, readinessProbe: { httpGet: { path: '/', port: 80 } } }];
      const stored = await world.put('pods', podOn('web', [running({ started: true })], { spec: { containers } }));
      await event(world, stored, 'Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
      return core(world, 'pods', 'web');
    },
    reason: 'ReadinessProbe',
    message: /^The readiness probe of the container main does not succeed: Readiness probe failed: .*503.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a pod whose startup probe has not succeeded',
    make: async (world) => {
      await world.put('nodes', readyNode);
      const containers = [{ ...container, startupProbe: { httpGet: { path: '/', port: 80 } } }];
      await world.put('pods', podOn('web', [running({ started: false })], { spec: { containers } }));
      return core(world, 'pods', 'web');
    },
    reason: 'StartupProbe',
    message: /^The startup probe of the container main does not succeed.$/,
    command: /./,
  },
  {
    title: 'a readiness gate that nobody has set',
    make: async (world) => {
      await world.put('nodes', readyNode);
      const spec = { readinessGates: [{ conditionType: 'example.com/attached' }] };
      await world.put('pods', podOn('web', [running({ ready: true })], { spec }));
      return core(world, 'pods', 'web');
    },
    reason: 'ReadinessGate',
    message: /^Its readiness gate example.com\/attached is not set/,
    command: /./,
  },
  {
    title: 'a pod that was evicted',
    make: async (world) => {
      await world.put(
        'pods',
        podOn('web', [], { status: { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' } }),
      );
      return core(world, 'pods', 'web');
    },
    reason: 'Evicted',
    message: /^It failed \(Evicted\): The node was low on resource: memory.$/,
    command: /./,
  },
  {
    title: 'a pod that needs a config map that is missing, below a deployment',
    make: async (world) => {
      const question = await deployment(world, [running({ ready: true })]);
      const set = await world.server.admin.ok('GET', world.path('replicasets', 'web-1'));
      const metadata = { ownerReferences: [owner(set, { controller: true })] };
      const spec = { volumes: [{ name: 'c', configMap: { name: 'settings' } }] };
      await world.server.admin.ok('DELETE', `${world.path('pods', 'web-1-x')}?gracePeriodSeconds=0`);
      await world.put('pods', podOn('web-1-y', [waiting('ContainerCreating')], { metadata, spec, status: { phase: 'Pending' } }));
      return question;
    },
    reason: 'ConfigMapMissing',
    message: /^The config map settings does not exist.$/,
    command: /^get configmaps -n /,
    chain: 'deployments/web → replicasets/web-1 → pods/web-1-y',
  },
  {
    title: 'a service whose selector matches no pods',
    make: async (world) => {
      await world.put('services', service());
      await world.put('pods', pod('other', {}, { labels: { app: 'other' } }));
      return core(world, 'services', 'web');
    },
    reason: 'SelectorMatchesNothing',
    message: /^No pods have the labels of its selector \(app=web\).$/,
    command: /^get pods -n \S+ --show-labels$/,
  },
  {
    title: 'a service whose port the pods do not have',
    make: async (world) => {
      await world.put('services', service({ ports: [{ port: 80, targetPort: 'http' }] }));
      await world.put('pods', podOn('web', [running({ ready: true })], { status: { conditions: ready } }));
      return core(world, 'services', 'web');
    },
    reason: 'PortMissing',
    message: /^Its port leads to the container port http, which its pods do not have.$/,
    command: /./,
  },
  {
    title: 'an ingress whose service does not exist',
    make: async (world) => {
      await world.put('ingresses', ingress({ number: 80 }));
      return ingressQuestion(world);
    },
    reason: 'ServiceMissing',
    message: /^Its service web does not exist.$/,
    command: /^get services -n /,
  },
  {
    title: 'an ingress whose service has another port',
    make: async (world) => {
      await world.put('services', service());
      await world.put('ingresses', ingress({ number: 8080 }));
      return ingressQuestion(world);
    },
    reason: 'ServicePortMissing',
    message: /^Its service web has no port 8080.$/,
    command: /^describe services\/web -n /,
  },
  {
    title: 'an ingress whose service has pods that crash',
    make: async (world) => {
      await world.put('nodes', readyNode);
      await world.put('services', service());
      await world.put('ingresses', ingress({ number: 80 }));
      await world.put('pods', podOn('web', [waiting('CrashLoopBackOff')]));
      return ingressQuestion(world);
    },
    reason: 'Crash',
    message: /^The container main ends.$/,
    command: /^logs web /,
    chain: 'ingresses/web → services/web → pods/web',
  },
  {
    title: 'a claim that waits for its first consumer',
    make: async (world) => {
      await world.put('storageclasses', {
        metadata: { name: 'late' },
        provisioner: 'disks.example.com',
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      const spec = { storageClassName: 'late', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      await world.put('persistentvolumeclaims', { metadata: { name: 'data' }, spec });
      return core(world, 'persistentvolumeclaims', 'data');
    },
    reason: 'WaitsForConsumer',
    message: /^The claim data is bound when a pod uses it \(storage class late\).$/,
    command: /./,
  },
  {
    title: 'an API whose service has no pods',
    make: async (world) => {
      await world.put('services', { metadata: { name: 'metrics' }, spec: { selector: { app: 'metrics' }, ports: [{ port: 443 }] } });
      await world.put('apiservices', {
        metadata: { name: 'v1.metrics.example.com' },
        spec: {
          group: 'metrics.example.com',
          version: 'v1',
          groupPriorityMinimum: 100,
          versionPriority: 10,
          service: { namespace: world.ns, name: 'metrics' },
        },
      });
      const path = world.path('apiservices', 'v1.metrics.example.com');
      await expect.poll(async () => (await world.server.admin.ok('GET', path)).status.conditions?.[0].status).toBe('False');
      return { group: 'apiregistration.k8s.io', resource: 'apiservices', name: 'v1.metrics.example.com' };
    },
    reason: 'SelectorMatchesNothing',
    message: /app=metrics/,
    command: /./,
    chain: 'apiservices/v1.metrics.example.com → services/metrics',
  },
  {
    title: 'a node whose agent does not report',
    make: async (world) => {
      const conditions = [
        { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' },
      ];
      await world.put('nodes', { metadata: { name: 'n-silent' }, status: { conditions } });
      return { resource: 'nodes', name: 'n-silent' };
    },
    reason: 'NodeSilent',
    message: /^Its agent does not report: Kubelet stopped posting node status.$/,
    command: /^get leases\/n-silent -n kube-node-lease -o yaml$/,
  },
  {
    title: 'a definition whose names are taken',
    make: async (world) => {
      const group = `${world.name('g')}.example.com`;
      const make = async (plural: string, kind: string): Promise<void> => {
        const names = { plural, singular: plural, kind, listKind: `${kind}List` };
        const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
        await world.put('customresourcedefinitions', {
          metadata: { name: `${plural}.${group}` },
          spec: { group, scope: 'Cluster', names, versions },
        });
      };
      await make('widgets', 'Widget');
      await make('gadgets', 'Widget');
      const path = world.path('customresourcedefinitions', `gadgets.${group}`);
      await expect.poll(async () => (await world.server.admin.ok('GET', path)).status.conditions?.length ?? 0).toBeGreaterThan(0);
      return { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', name: `gadgets.${group}` };
    },
    reason: 'NamesConflict',
    message: /^Its condition NamesAccepted is False: \S+: .*already in use.$/,
    command: /./,
  },
  {
    title: 'a custom object: the owned deployment that is the cause',
    make: async (world) => {
      const group = `${world.name('g')}.example.com`;
      const names = { plural: 'sites', singular: 'site', kind: 'Site', listKind: 'SiteList' };
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
      const versions = [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }];
      await world.put('customresourcedefinitions', {
        metadata: { name: `sites.${group}` },
        spec: { group, scope: 'Namespaced', names, versions },
      });
      await expect.poll(async () => (await world.server.admin.get(`/apis/${group}/v1/sites`)).status).toBe(200);
      const conditions = [{ type: 'Ready', status: 'False', reason: 'Waiting', message: 'deployment is not available' }];
      const site = await world.put(
        'sites',
        { apiVersion: `${group}/v1`, kind: 'Site', metadata: { name: 'shop' }, status: { conditions } },
        `${group}/v1`,
      );
      await deployment(world, [waiting('ErrImagePull')]);
      const patch = { metadata: { ownerReferences: [owner(site)] } };
      const headers = { 'content-type': 'application/merge-patch+json' };
      await world.server.admin.send('PATCH', world.path('deployments', 'web'), { headers, body: patch });
      return { group, resource: 'sites', namespace: world.ns, name: 'shop' };
    },
    reason: 'ImagePull',
    message: /./,
    command: /./,
    chain: 'sites/shop → deployments/web → replicasets/web-1 → pods/web-1-x',
  },
  {
    title: 'a budget that is used up',
    make: async (world) => {
      const status = { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 2 };
      await world.put('poddisruptionbudgets', { metadata: { name: 'web' }, spec: { minAvailable: 1, selector }, status });
      return { group: 'policy', resource: 'poddisruptionbudgets', namespace: world.ns, name: 'web' };
    },
    reason: 'BudgetUsed',
    message: /^It allows no disruption: 1 of 2 pods are healthy, and 1 must be.$/,
    command: /./,
  },
];

let server: TestServer;
beforeAll(async () => {
  server = await startWorldServer();
});
afterAll(() => server.close());

const nameOf = ({ resource, name }: Loose): string => `${resource}/${name}`;

describe('the first cause', () => {
  test.each(cases)('$title', async ({ make, reason, message, command, chain }) => {
    const world = new World(server, await server.namespace());
    try {
      const answer = await askWhy(server.admin, 'readinessexplanations', await make(world));
      expect(answer.causes[0]).toMatchObject({ reason, message: expect.stringMatching(message), command: expect.stringMatching(command) });
      expect(answer.ready).toBe(false);
      const { path = [], object } = answer.causes[0];
      if (chain !== undefined) expect([...path, object].map(nameOf).join(' → ')).toBe(chain);
    } finally {
      await world.close();
    }
  });
});

test('what is ready has no causes', async () => {
  const world = new World(server, await server.namespace());
  try {
    await world.put('pods', podOn('web', [running({ ready: true })], { status: { conditions: ready } }));
    await world.put('services', service());
    await world.put('configmaps', { metadata: { name: 'settings' } });
    for (const [resource, name] of [
      ['pods', 'web'],
      ['services', 'web'],
      ['configmaps', 'settings'],
    ] as const)
      expect(await askWhy(server.admin, 'readinessexplanations', core(world, resource, name))).toEqual({ ready: true });
  } finally {
    await world.close();
  }
});

test('a workload whose pods are refused is pending for that reason', async () => {
  const world = new World(server, await server.namespace());
  const conditions = [
    { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'pods "web-1-" is forbidden: exceeded quota: small' },
  ];
  await replicaSet(world, { replicas: 0, conditions });
  const about = { group: 'apps', resource: 'replicasets', namespace: world.ns, name: 'web-1' };
  expect(await askWhy(server.admin, 'pendingexplanations', about)).toMatchObject({ pending: true, causes: [{ reason: 'QuotaExceeded' }] });
});

test('without the right to list pods nothing is said about them, whether they are there or not', async () => {
  const world = new World(server, await server.namespace());
  try {
    const apiGroup = 'rbac.authorization.k8s.io';
    await world.put('clusterroles', {
      metadata: { name: 'asks' },
      rules: [
        { verbs: ['create'], apiGroups: ['explain.k8s.io'], resources: ['*'] },
        { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['services', 'deployments', 'replicasets'] },
      ],
    });
    const subjects = [{ kind: 'User', name: 'alice' }];
    await world.put('clusterrolebindings', {
      metadata: { name: 'asks' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'asks' },
      subjects,
    });
    await world.put('services', service());
    const aboutService = core(world, 'services', 'web');
    const emptyService = await askWhy(server.alice, 'readinessexplanations', aboutService);
    const aboutDeployment = await deployment(world, [waiting('ErrImagePull')]);
    expect(await askWhy(server.alice, 'readinessexplanations', aboutService)).toEqual(emptyService);
    const answer = await askWhy(server.alice, 'readinessexplanations', aboutDeployment);
    expect(JSON.stringify(answer)).not.toContain('web-1-x');
    expect(answer).toMatchObject({ ready: false, incomplete: [`you may not list pods in namespace ${world.ns}`] });
    await server.admin.ok('DELETE', `${world.path('pods', 'web-1-x')}?gracePeriodSeconds=0`);
    expect(await askWhy(server.alice, 'readinessexplanations', aboutDeployment)).toEqual(answer);
  } finally {
    await world.close();
  }
});

/** Workloads in a test's own process: what is deployed becomes ready, is changed and goes, with no container and no node. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { startTestServer, type TestClient, type TestServer } from '../../packages/testing/src/index.ts';

const labels = { app: 'web' };
const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'main', image }] } });

describe.each(['plat', 'kubernetes'])('%s', (identity) => {
  let server: TestServer;
  let client: TestClient;
  beforeAll(async () => {
    server = await startTestServer({ identity, workloads: true });
    client = server.client();
    await client.core.v1.namespaces().create({ metadata: { name: 'shop' } });
  });
  afterAll(() => server.close());

  // Under its own names rollouts.test.ts and jobs.test.ts show these two.
  if (identity === 'kubernetes')
    test('a deployment becomes available, is scaled and updated, and leaves nothing behind', async () => {
      const deployments = client.apps.v1.deployments('shop');
      const made = await deployments.create({
        metadata: { name: 'web' },
        spec: { replicas: 3, selector: { matchLabels: labels }, template: template('web:1') },
      });
      await client.waitFor(made, 'Available');
      const pods = client.core.v1.pods('shop');
      const first = await pods.list({ labelSelector: 'app=web' });
      expect(first.items.map(({ status }) => status?.phase)).toEqual(['Running', 'Running', 'Running']);
      expect(new Set(first.items.map(({ status }) => status?.podIP)).size).toBe(3);
      await deployments.scale('web', 5);
      await client.waitFor(made, (now) => now?.status?.availableReplicas === 5);
      await deployments.patch('web', { spec: { template: template('web:2') } });
      await client.waitFor(
        made,
        (now) =>
          now?.status?.observedGeneration === 3 &&
          now.status.updatedReplicas === 5 &&
          now.status.replicas === 5 &&
          now.status.availableReplicas === 5,
      );
      const second = await pods.list({ labelSelector: 'app=web' });
      const live = second.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      expect(live.map(({ spec }) => spec?.containers?.[0]?.image)).toEqual(Array(5).fill('web:2'));
      await deployments.delete('web', { propagationPolicy: 'Foreground' });
      await client.waitFor(made, 'delete');
      await client.waitFor(first.items[0] as never, 'delete');
      for (const pod of second.items) await client.waitFor(pod, 'delete');
    });

  if (identity === 'kubernetes')
    test('a job completes', async () => {
      const job = await client.batch.v1.jobs('shop').create({
        metadata: { name: 'once' },
        spec: {
          completions: 3,
          parallelism: 2,
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'job' }] } },
        },
      });
      const done = await client.waitFor(job, 'Complete');
      expect(done?.status?.succeeded).toBe(3);
    });

  test('a stateful set and a daemon set become ready', async () => {
    const spec = { selector: { matchLabels: { app: 'set' } }, template: { ...template('set'), metadata: { labels: { app: 'set' } } } };
    const set = await client.apps.v1
      .statefulsets('shop')
      .create({ metadata: { name: 'db' }, spec: { ...spec, serviceName: 'db', replicas: 2 } });
    await client.waitFor(set, (now) => now?.status?.readyReplicas === 2);
    const nodes = await client.core.v1.nodes().list();
    expect(nodes.items).toHaveLength(3);
    const daemons = await client.apps.v1.daemonsets('shop').create({ metadata: { name: 'agent' }, spec });
    await client.waitFor(daemons, (now) => now?.status?.numberReady === 3);
  });
});

test('parts of it can be left out: a pod is scheduled and does not start', async () => {
  const server = await startTestServer({ identity: 'kubernetes', workloads: ['scheduler'] });
  try {
    const client = server.client();
    await client.core.v1.nodes().create({ metadata: { name: 'mine' }, status: { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } } });
    const pod = await client.core.v1
      .pods('default')
      .create({ metadata: { name: 'a' }, spec: { tolerations: [{ operator: 'Exists' }], containers: [{ name: 'main', image: 'a' }] } });
    const bound = await client.waitFor(pod, (now) => (now?.spec?.nodeName ?? '') !== '');
    expect([bound?.spec?.nodeName, bound?.status?.phase]).toEqual(['mine', 'Pending']);
    await server.settled();
    expect((await client.core.v1.pods('default').get('a')).status?.phase).toBe('Pending');
  } finally {
    await server.close();
  }
});

test('a definition that an older release left behind is replaced', async () => {
  const kind = { kind: 'PodLifecycle', plural: 'podlifecycles', singular: 'podlifecycle', listKind: 'PodLifecycleList' };
  const schema = { openAPIV3Schema: { type: 'object' as const, properties: { spec: { type: 'object' as const } } } };
  const name = 'podlifecycles.simulation.k8s.io';
  const old = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, annotations: { 'api-approved.kubernetes.io': 'unapproved, part of the simulation of nodes' } },
    spec: {
      group: 'simulation.k8s.io',
      names: kind,
      scope: 'Cluster',
      versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
    },
  };
  const before = await startTestServer({ identity: 'kubernetes', crds: old });
  const server = await (await before.snapshot()).fork({ workloads: ['nodes'] });
  const updates = ({ requests }: TestServer): number =>
    requests.filter({ verb: 'update', resource: 'customresourcedefinitions', name, subresource: '' }).length;
  try {
    await server.client().waitFor(old, (now) => JSON.stringify(now?.spec.versions).includes('"stages"'));
    await server.settled();
    expect(updates(server)).toBe(1);
    const again = await (await server.snapshot()).fork();
    try {
      await again.settled();
      expect(updates(again)).toBe(0);
    } finally {
      await again.close();
    }
  } finally {
    await Promise.all([server, before].map((one) => one.close()));
  }
});

test('a fake clock drives the hours of a cron job', async () => {
  const clock = new FakeClock(Date.UTC(2024, 0, 1));
  const server = await startTestServer({ identity: 'kubernetes', workloads: true, clock });
  try {
    const client = server.client();
    await server.settled();
    const cron = await client.batch.v1.cronjobs('default').create({
      metadata: { name: 'hourly' },
      spec: {
        schedule: '0 * * * *',
        jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'job' }] } } } },
      },
    });
    for (let hour = 0; hour < 4; hour++) {
      await server.clock.advance('1h');
      await server.settled();
    }
    const now = await client.batch.v1.cronjobs('default').get(cron.metadata.name as string);
    expect(now.status?.lastScheduleTime).toBe('2024-01-01T04:00:00Z');
    const jobs = await client.batch.v1.jobs('default').list();
    // The history limit of successful jobs.
    expect(jobs.items.filter(({ status }) => status?.succeeded === 1)).toHaveLength(3);
  } finally {
    await server.close();
  }
});

test('nothing ticks on a server on which nothing happens: a day passes in a moment', async () => {
  const clock = new FakeClock(Date.UTC(2024, 0, 1));
  const server = await startTestServer({ identity: 'kubernetes', workloads: true, clock });
  try {
    await server.clock.advance('1h');
    server.requests.clear();
    let moments = 0;
    clock.settling.add(async () => {
      moments++;
    });
    await server.clock.advance('24h');
    // Leases and conditions of three nodes a few times, and the compaction of these writes for five minutes each.
    expect(server.requests.length).toBeLessThan(50);
    expect(moments).toBeLessThan(600);
  } finally {
    await server.close();
  }
});

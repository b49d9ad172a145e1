/**
 * A rollout goes on where it was: after a server was killed and started again, and when another server takes over. Only servers that
 * are killed have processes of their own.
 */
import { afterEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { type KilledServer, startServerChild, until } from '../controllers/support.ts';
import { BinaryClient } from '../support/binary-client.ts';
import type { Client } from '../support/client.ts';
import { etcdMissing, startEtcd } from '../support/etcd.ts';
import { programMissing } from '../support/program.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const SIZE = 3;
const workloads: ('controllers' | 'scheduler' | 'nodes')[] = ['controllers', 'scheduler', 'nodes'];
const labels = { app: 'web' };
const web = '/apis/apps/v1/namespaces/default/deployments/web';
const job = '/apis/batch/v1/namespaces/default/jobs/once';
/** The second version waits for a config map, so that a rollout stays in the middle until there is one. */
const template = (image: string): Loose => ({
  metadata: { labels },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image, ...(image === 'v2' && { envFrom: [{ configMapRef: { name: 'go' } }] }) }],
  },
});
async function update(client: Client): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const { status, text } = await client.send('PATCH', web, { headers, body: { spec: { template: template('v2') } } });
  expect(status, text).toBe(200);
}
const goOn = (client: Client): Promise<Loose> => client.ok('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'go' } });

/** A server that outlives the other. */
async function startSurvivor(options: Parameters<typeof startTestServer>[0]): Promise<TestServer> {
  const server = await startTestServer(options);
  cleanups.push(() => server.close());
  return server;
}
/** Servers of either kind. */
type Used = Pick<KilledServer, 'admin'>;
async function isDone(server: Used): Promise<boolean> {
  const { status, metadata } = await server.admin.ok('GET', web);
  const { observedGeneration, updatedReplicas, availableReplicas, replicas } = status;
  return observedGeneration === metadata.generation && [updatedReplicas, availableReplicas, replicas].every((count) => count === SIZE);
}
/** A deployment of the first version and a job, both done; then a rollout of the second, in the middle. */
async function beginRollout(server: Used): Promise<void> {
  const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  await until(
    'the account is there',
    async () => (await server.admin.get('/api/v1/namespaces/default/serviceaccounts/default')).status === 200,
  );
  await server.admin.ok('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'web' },
    spec: { replicas: SIZE, selector: { matchLabels: labels }, strategy, template: template('v1') },
  });
  await server.admin.ok('POST', '/apis/batch/v1/namespaces/default/jobs', {
    metadata: { name: 'once' },
    spec: { completions: 2, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'job' }] } } },
  });
  await until('the first version is available', () => isDone(server));
  await until('the job is done', async () => (await server.admin.ok('GET', job)).status.succeeded === 2);
  await update(server.admin);
  await until('the rollout has begun', async () => {
    const { updatedReplicas = 0 } = (await server.admin.ok('GET', web)).status;
    return updatedReplicas > 0;
  });
  expect(await isDone(server)).toBe(false);
}
/** The rollout is complete, and nothing was made twice. */
async function endRollout(server: Used): Promise<void> {
  await goOn(server.admin);
  await until('the second version is available', () => isDone(server), 100);
  const pods = async (): Promise<Loose[]> => (await server.admin.ok('GET', '/api/v1/namespaces/default/pods')).items;
  const current = await until('old pods are gone', async () => {
    const all = (await pods()).filter(({ metadata }) => metadata.labels.app === 'web');
    return all.every(({ metadata }) => metadata.deletionTimestamp === undefined) && all;
  });
  expect(current.map(({ spec }: Loose) => spec.containers[0].image)).toEqual(Array(SIZE).fill('v2'));
  const sets = (await server.admin.ok('GET', '/apis/apps/v1/namespaces/default/replicasets')).items;
  expect(sets.map(({ spec }: Loose) => spec.replicas).sort()).toEqual([0, SIZE]);
  const ofJob = (await pods()).filter(({ metadata }) => metadata.labels['job-name'] === 'once');
  expect([ofJob.length, (await server.admin.ok('GET', job)).status.succeeded]).toEqual([2, 2]);
}

const because = programMissing === undefined ? '' : ` (skipped: ${programMissing})`;
const missing = etcdMissing ?? programMissing;

test.skipIf(programMissing !== undefined)(
  `a server that is killed in the middle of a rollout completes it when it is started again${because}`,
  async () => {
    const dataDir = temporaryDirectory('plat-rollout');
    const options = { store: 'lmdb', identity: 'kubernetes', workloads } as const;
    const first = await startServerChild(dataDir, options);
    cleanups.push(() => first.kill());
    await beginRollout(first);
    await first.kill();
    await endRollout(await startSurvivor({ ...options, dataDir }));
  },
  180_000,
);

test.skipIf(missing !== undefined)(
  `another server takes over from a leader that is killed in the middle of a rollout (${missing ?? 'with etcd'})`,
  async () => {
    const etcd = await startEtcd();
    cleanups.push(() => etcd.stop());
    const times = { leaderElectLeaseDuration: 3000, leaderElectRenewDeadline: 2000, leaderElectRetryPeriod: 500 };
    const options = { store: 'etcd', etcdServers: [etcd.endpoint], identity: 'kubernetes', workloads, ...times } as const;
    const leader = await startServerChild(temporaryDirectory('plat-rollout'), options);
    cleanups.push(() => leader.kill());
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
    await until('the first leads', async () => (await leader.admin.get(lease)).status === 200);
    const other = await startSurvivor(options);
    await beginRollout(other);
    const before = await other.admin.ok('GET', lease);
    await leader.kill();
    await endRollout(other);
    expect((await other.admin.ok('GET', lease)).spec.holderIdentity).not.toBe(before.spec.holderIdentity);
  },
  180_000,
);

test('clients of the binary form see a rollout', async () => {
  const server = await startTestServer({ identity: 'kubernetes', store: 'memory', workloads });
  cleanups.push(() => server.close());
  const binary = new BinaryClient(server);
  const pods = await binary.watch('/api/v1/namespaces/default/pods?watch=1');
  const deployments = await binary.watch('/apis/apps/v1/namespaces/default/deployments?watch=1');
  await binary.send('POST', '/apis/apps/v1/namespaces/default/deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: template('v1') },
  });
  const isAvailable = ({ value }: Loose): boolean => value.status.availableReplicas === 2;
  await deployments.until(isAvailable);
  await update(server.admin);
  await goOn(server.admin);
  await deployments.until((event) => isAvailable(event) && event.value.status.updatedReplicas === 2 && event.value.status.replicas === 2);
  const ready = new Set<string>();
  const isReady = ({ value }: Loose): boolean =>
    value.status.conditions?.some((one: Loose) => one.type === 'Ready' && one.status === 'True');
  await pods.until((event) => {
    if (event.value.spec.containers[0].image === 'v2' && isReady(event)) ready.add(event.value.metadata.name);
    return ready.size === 2;
  });
  pods.close();
  deployments.close();
});

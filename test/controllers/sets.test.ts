/** Stateful sets and daemon sets within a real server, under both identities. The test plays the scheduler and the nodes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { domainName } from '../../packages/meta/src/identity.ts';
import { startTestServer, type TestServer } from '../../packages/testing/src/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test looks at has no type until it has looked.
type Loose = any;

describe.each(['kubernetes', 'plat'])('%s', (identity) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ identity, clock: 'fake', workloads: ['controllers'] });
    for (const name of ['n1', 'n2']) {
      await call('POST', '/api/v1/nodes', { metadata: { name } });
      const allocatable = { cpu: '8', memory: '16Gi', pods: '110' };
      const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }];
      await patch(`/api/v1/nodes/${name}/status`, { status: { capacity: allocatable, allocatable, conditions } });
    }
    await server.settled();
  });
  afterAll(() => server.close());

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Loose> {
    const answer = await server.request(method, path, { body, headers });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }
  const patch = (path: string, body: unknown): Promise<Loose> =>
    call('PATCH', path, body, { 'content-type': 'application/merge-patch+json' });
  const pods = async (namespace: string): Promise<Loose[]> => (await call('GET', `/api/v1/namespaces/${namespace}/pods`)).items;

  /** Pods are bound, run and are ready, and those that are being deleted end, until nothing changes any more. */
  async function live(namespace: string): Promise<void> {
    for (let i = 0; i < 50; i++) {
      // Time for a retry after a conflict, and not enough for a node to be missed.
      await server.clock.advance('100ms');
      const all = await pods(namespace);
      const pod = all.find(({ metadata, status }) => metadata.deletionTimestamp !== undefined || status.phase !== 'Running');
      if (pod === undefined) return;
      const path = `/api/v1/namespaces/${namespace}/pods/${pod.metadata.name}`;
      if (pod.metadata.deletionTimestamp !== undefined) await call('DELETE', `${path}?gracePeriodSeconds=0`);
      else if (pod.spec.nodeName === undefined) {
        const [name] = pod.spec.affinity?.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]
          .values ?? ['n1'];
        await call('POST', `${path}/binding`, { metadata: { name: pod.metadata.name }, target: { kind: 'Node', name } });
      } else {
        await patch(`${path}/status`, { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } });
      }
    }
    throw new Error('the pods do not settle');
  }
  const template = (image: string): Loose => ({ metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'main', image }] } });
  const images = async (namespace: string): Promise<string[]> => (await pods(namespace)).map(({ spec }) => spec.containers[0].image);
  const revisions = async (namespace: string): Promise<Loose[]> =>
    (await call('GET', `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`)).items;
  const reasons = async (namespace: string): Promise<string[]> =>
    (await call('GET', `/api/v1/namespaces/${namespace}/events`)).items.map(({ message }: Loose) => message);

  test('a stateful set is created, updated, scaled and deleted', async () => {
    const namespace = 'stateful';
    await call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    await server.settled();
    const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
    const volumeClaimTemplates = [
      { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    ];
    await call('POST', path, {
      metadata: { name: 'web' },
      spec: { serviceName: 'web', replicas: 2, selector: { matchLabels: { app: 'x' } }, template: template('one'), volumeClaimTemplates },
    });
    await live(namespace);
    const [first] = await pods(namespace);
    expect(first.metadata.labels).toMatchObject({ [domainName(server.identity, 'pod-name', 'statefulset')]: 'web-0' });
    expect(first.spec).toMatchObject({ hostname: 'web-0', subdomain: 'web' });
    const whole = await call('GET', `${path}/web`);
    expect(whole.status).toMatchObject({ replicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1, collisionCount: 0 });
    await patch(`${path}/web`, { spec: { template: { spec: { containers: [{ name: 'main', image: 'two' }] } } } });
    await live(namespace);
    expect(await images(namespace)).toEqual(['two', 'two']);
    const [old, updated] = (await revisions(namespace)).sort((a, b) => a.revision - b.revision);
    expect([old.revision, updated.revision, updated.metadata.name]).toEqual([
      1,
      2,
      (await call('GET', `${path}/web`)).status.currentRevision,
    ]);
    expect(updated.data).toEqual({ spec: { template: { ...(await call('GET', `${path}/web`)).spec.template, $patch: 'replace' } } });
    await patch(`${path}/web/scale`, { spec: { replicas: 1 } });
    await live(namespace);
    expect((await pods(namespace)).map(({ metadata }) => metadata.name)).toEqual(['web-0']);
    expect(await reasons(namespace)).toEqual(
      expect.arrayContaining([
        'create Pod web-1 in StatefulSet web successful',
        'create Claim data-web-1 Pod web-1 in StatefulSet web success',
        'delete Pod web-1 in StatefulSet web successful',
      ]),
    );
    await call('DELETE', `${path}/web`);
    await live(namespace);
    expect([await pods(namespace), await revisions(namespace)]).toEqual([[], []]);
    expect((await call('GET', `/api/v1/namespaces/${namespace}/persistentvolumeclaims`)).items).toHaveLength(2);
  });

  test('a daemon set runs on every node, is updated and deleted', async () => {
    const namespace = 'daemons';
    await call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    await server.settled();
    const path = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
    await call('POST', path, { metadata: { name: 'agent' }, spec: { selector: { matchLabels: { app: 'x' } }, template: template('one') } });
    await live(namespace);
    expect((await pods(namespace)).map(({ spec }) => spec.nodeName).sort()).toEqual(['n1', 'n2']);
    expect((await call('GET', `${path}/agent`)).status).toEqual({
      observedGeneration: 1,
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      numberMisscheduled: 0,
      updatedNumberScheduled: 2,
      numberReady: 2,
      numberAvailable: 2,
    });
    await patch(`${path}/agent`, { spec: { template: { spec: { containers: [{ name: 'main', image: 'two' }] } } } });
    await live(namespace);
    expect(await images(namespace)).toEqual(['two', 'two']);
    await patch(`${path}/agent`, { spec: { template: { spec: { containers: [{ name: 'main', image: 'one' }] } } } });
    await live(namespace);
    expect((await revisions(namespace)).map(({ revision }) => revision).sort()).toEqual([2, 3]);
    await patch('/api/v1/nodes/n2', { spec: { taints: [{ key: 'x', effect: 'NoExecute' }] } });
    await live(namespace);
    expect((await pods(namespace)).map(({ spec }) => spec.nodeName)).toEqual(['n1']);
    await patch('/api/v1/nodes/n2', { spec: { taints: null } });
    await live(namespace);
    expect(await pods(namespace)).toHaveLength(2);
    await call('DELETE', `${path}/agent`);
    await live(namespace);
    expect([await pods(namespace), await revisions(namespace)]).toEqual([[], []]);
  });
});

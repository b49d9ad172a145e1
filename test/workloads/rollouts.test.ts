/** Deployments, replica sets and replication controllers through the API of a server, with the rights of their own accounts. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { startTestServer } from '../../packages/testing/src/server.ts';
import type { TestServer } from '../../packages/testing/src/test-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test looks at has no type until it has looked.
type Loose = any;
const start = '2026-01-01T00:00:00Z';
const labels = { app: 'web' };
const templateOf = (image: string): Loose => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } });

describe.each(['kubernetes', 'plat'])('identity %s', (identity) => {
  let server: TestServer;
  let serial = 0;
  let namespace = '';
  beforeAll(async () => {
    server = await startTestServer({ identity, clock: start, workloads: ['controllers'] });
  });
  afterAll(() => server.close());

  async function good(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Loose> {
    const answer = await server.request(method, path, { ...(body !== undefined && { body }), ...(headers && { headers }) });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  }
  const core = (name: string): string => `/api/v1/namespaces/${namespace}/${name}`;
  const apps = (name: string): string => `/apis/apps/v1/namespaces/${namespace}/${name}`;
  const list = async (path: string): Promise<Loose[]> => (await good('GET', path)).items;
  const patch = (path: string, body: unknown): Promise<Loose> =>
    good('PATCH', path, body, { 'content-type': 'application/merge-patch+json' });
  async function begin(): Promise<void> {
    namespace = `n${serial++}`;
    await good('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    await server.settled();
  }
  const deploy = (replicas: number, more: Loose = {}): Promise<Loose> =>
    good('POST', apps('deployments'), {
      metadata: { name: 'web' },
      spec: { replicas, selector: { matchLabels: labels }, template: templateOf('v1'), ...more },
    });
  const web = (): Promise<Loose> => good('GET', apps('deployments/web'));
  /** What a node does: pods that run nowhere become ready, and those that terminate end. */
  async function nodes(): Promise<void> {
    for (const { metadata, status } of await list(core('pods'))) {
      const path = core(`pods/${metadata.name}`);
      if (metadata.deletionTimestamp !== undefined) await good('DELETE', `${path}?gracePeriodSeconds=0`);
      else if (status.phase === 'Pending') {
        const conditions = [
          { type: 'Ready', status: 'True', lastTransitionTime: new Date(server.clock.now()).toISOString().replace('.000', '') },
        ];
        await patch(`${path}/status`, { status: { phase: 'Running', conditions } });
      }
    }
  }
  /** Until the pods stay the same. */
  async function settle(): Promise<void> {
    for (let before = ''; ; ) {
      await server.clock.advance('1s');
      const now = jsonText((await list(core('pods'))).map(({ metadata }) => metadata.resourceVersion));
      if (now === before) return;
      before = now;
      await nodes();
      await server.settled();
    }
  }
  const images = async (): Promise<string[]> => (await list(core('pods'))).map(({ spec }) => spec.containers[0].image);
  const condition = (object: Loose, type: string): string | undefined => {
    const found = (object.status.conditions ?? []).find((one: Loose) => one.type === type);
    return found === undefined ? undefined : `${found.status} ${found.reason}`;
  };
  const revision = (object: Loose): string | undefined =>
    Object.entries(object.metadata.annotations ?? {}).find(([name]) => /^deployment\..*\/revision$/.test(name))?.[1] as string | undefined;

  test('a deployment becomes available, rolls out, is rolled back and scaled, and leaves nothing behind', async () => {
    await begin();
    await deploy(3);
    await settle();
    let object = await web();
    expect(object.status).toMatchObject({ observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 });
    expect([condition(object, 'Available'), condition(object, 'Progressing'), revision(object)]).toEqual([
      'True MinimumReplicasAvailable',
      'True NewReplicaSetAvailable',
      '1',
    ]);
    await patch(apps('deployments/web'), { spec: { template: templateOf('v2') } });
    await settle();
    expect([await images(), revision(await web())]).toEqual([['v2', 'v2', 'v2'], '2']);
    await patch(apps('deployments/web'), { spec: { template: templateOf('v1') } });
    await settle();
    const sets = await list(apps('replicasets'));
    expect([sets.length, await images(), revision(await web())]).toEqual([2, ['v1', 'v1', 'v1'], '3']);
    await patch(apps('deployments/web/scale'), { spec: { replicas: 5 } });
    await settle();
    object = await web();
    expect([(await images()).length, object.status.availableReplicas, object.status.observedGeneration]).toEqual([
      5,
      5,
      object.metadata.generation,
    ]);
    const reports = (await list(core('events'))).filter(({ reason }) => reason === 'ScalingReplicaSet');
    expect(reports.at(0)).toMatchObject({
      involvedObject: { kind: 'Deployment', name: 'web' },
      source: { component: 'deployment-controller' },
    });
    await good('DELETE', apps('deployments/web'));
    await settle();
    expect([await list(apps('replicasets')), await list(core('pods'))]).toEqual([[], []]);
  });

  // The names of an identity play no role in the others.
  if (identity === 'plat') return;

  test('a quota that is too small is a condition, and a larger one lets it go on', async () => {
    await begin();
    await good('POST', core('resourcequotas'), { metadata: { name: 'q' }, spec: { hard: { pods: '2' } } });
    await server.settled();
    await deploy(3);
    await settle();
    expect([(await images()).length, condition(await web(), 'ReplicaFailure')]).toEqual([2, 'True FailedCreate']);
    await patch(core('resourcequotas/q'), { spec: { hard: { pods: '10' } } });
    await server.clock.advance('10s');
    await settle();
    const object = await web();
    expect([object.status.availableReplicas, condition(object, 'ReplicaFailure')]).toEqual([3, undefined]);
  });

  test('a replication controller adopts and releases pods', async () => {
    await begin();
    await good('POST', core('pods'), { metadata: { name: 'bare', labels }, spec: templateOf('v1').spec });
    await good('POST', core('replicationcontrollers'), {
      metadata: { name: 'old' },
      spec: { replicas: 2, selector: labels, template: templateOf('v1') },
    });
    await settle();
    const owners = async (): Promise<unknown> =>
      (await good('GET', core('pods/bare'))).metadata.ownerReferences?.map(({ kind, name }: Loose) => `${kind}/${name}`);
    expect([await owners(), (await images()).length]).toEqual([['ReplicationController/old'], 2]);
    await patch(core('pods/bare'), { metadata: { labels: { app: 'other' } } });
    await settle();
    expect([await owners(), (await images()).length]).toEqual([undefined, 3]);
    expect((await good('GET', core('replicationcontrollers/old'))).status).toMatchObject({ replicas: 2, availableReplicas: 2 });
  });

  test('a namespace with deployments goes', async () => {
    await begin();
    await deploy(2);
    await settle();
    await good('DELETE', `/api/v1/namespaces/${namespace}`);
    for (let i = 0; i < 5 && (await server.request('GET', `/api/v1/namespaces/${namespace}`)).status === 200; i++) {
      await nodes();
      await server.clock.advance('1m');
    }
    expect((await server.request('GET', `/api/v1/namespaces/${namespace}`)).status).toBe(404);
  });
});

/** The scheduler within a real server: with its own user and rights, and rules of pods and nodes that only a server has. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { domainName, groupName, kubernetes, plat } from '../../packages/meta/src/identity.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { until } from './support.ts';

describe.each([kubernetes, plat])('identity $name', (identity) => {
  let server: TestServer;
  let pods: string;
  beforeAll(async () => {
    // Delays between decisions are fifty times shorter.
    server = await startTestServer({ direct: true, identity: identity.name, workloads: ['scheduler'], timeFactor: 50 });
    const namespace = await server.namespace();
    pods = `/api/v1/namespaces/${namespace}/pods`;
    await until('there is an account', async () => (await ask(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)).status === 200);
    for (const name of ['n1', 'n2']) {
      await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name } });
      const status = { allocatable: { cpu: '2', memory: '4Gi', pods: '10' }, capacity: { cpu: '2', memory: '4Gi', pods: '10' } };
      await server.admin.patch(`/api/v1/nodes/${name}/status`, { status });
      // A pod for this node alone shows that the scheduler has seen it.
      const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }];
      const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
      await pod(`probe-${name}`, '1', { affinity, tolerations: [{ operator: 'Exists' }] });
      await placed(`probe-${name}`);
      await server.admin.ok('DELETE', `${pods}/probe-${name}?gracePeriodSeconds=0`);
    }
  });
  afterAll(() => server.close());

  const ask = (path: string) => server.admin.get(path);
  const pod = (name: string, cpu: string, more: object = {}): Promise<Loose> =>
    server.admin.ok('POST', pods, {
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'app', resources: { requests: { cpu } } }], ...more },
    });
  const condition = ({ status }: Loose): Loose => status.conditions?.find(({ type }: Loose) => type === 'PodScheduled');
  const podWhen = (name: string, what: string, holds: (found: Loose) => boolean): Promise<Loose> =>
    until(`${name} ${what}`, async () => {
      const found = await ask(`${pods}/${name}`);
      return found.status === 200 && holds(found.json) ? found.json : undefined;
    });
  const placed = (name: string): Promise<Loose> => podWhen(name, 'has a node', ({ spec }) => spec.nodeName !== undefined);
  const eventsOf = (name: string, reason: string): Promise<Loose[]> =>
    until(`there is an event ${reason}`, async () => {
      const { items } = await server.admin.ok('GET', pods.replace(/pods$/, 'events'));
      const found = items.filter((event: Loose) => event.involvedObject.name === name && event.reason === reason);
      return found.length > 0 && found;
    });

  test('pods wait for nodes that are ready, and then are spread over them', async () => {
    await pod('early', '2');
    const waiting = await podWhen('early', 'is reported', (found) => condition(found)?.status === 'False');
    const taint = `node(s) had untolerated taint {${domainName(identity, 'not-ready', 'node')}: }`;
    expect(condition(waiting)).toMatchObject({
      reason: 'Unschedulable',
      message: `0/2 nodes are available: 2 ${taint}. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.`,
    });
    expect(await eventsOf('early', 'FailedScheduling')).toHaveLength(1);
    for (const name of ['n1', 'n2']) await server.admin.patch(`/api/v1/nodes/${name}`, { spec: { taints: null } });
    const early = await placed('early');
    expect(condition(early)).toMatchObject({ status: 'True' });
    await pod('late', '2');
    expect((await placed('late')).spec.nodeName).not.toBe(early.spec.nodeName);
    const [event] = await eventsOf('late', 'Scheduled');
    expect(event.source.component).toBe('default-scheduler');
    await pod('other', '2', { schedulerName: 'mine' });
    for (const name of ['early', 'late', 'other']) await server.admin.ok('DELETE', `${pods}/${name}?gracePeriodSeconds=0`);
  });

  test('a pod of higher priority displaces others', async () => {
    const classes = `/apis/${groupName(identity, 'scheduling')}/v1/priorityclasses`;
    await server.admin.ok('POST', classes, { metadata: { name: 'high' }, value: 1000 });
    for (const name of ['low-1', 'low-2']) await pod(name, '2');
    const victims = [await placed('low-1'), await placed('low-2')];
    await pod('high', '1', { priorityClassName: 'high' });
    const { status } = await podWhen('high', 'is nominated', (found) => found.status.nominatedNodeName !== undefined);
    const victim = victims.find(({ spec }) => spec.nodeName === status.nominatedNodeName)?.metadata.name;
    await podWhen(victim, 'is going', ({ metadata }) => metadata.deletionTimestamp !== undefined);
    const [event] = await eventsOf(victim, 'Preempted');
    expect(event.message).toContain('/high on node ');
    // No agent of a node ends it.
    await server.admin.ok('DELETE', `${pods}/${victim}?gracePeriodSeconds=0`);
    expect((await placed('high')).spec.nodeName).toBe(status.nominatedNodeName);
    for (const name of ['high', ...victims.map(({ metadata }) => metadata.name)].filter((name) => name !== victim))
      await server.admin.ok('DELETE', `${pods}/${name}?gracePeriodSeconds=0`);
  });

  test('a claim that waits for its consumer gets a node, and the pod follows', async () => {
    const claims = pods.replace(/pods$/, 'persistentvolumeclaims');
    const late = { metadata: { name: 'late' }, provisioner: 'example.com/disk', volumeBindingMode: 'WaitForFirstConsumer' };
    await server.admin.ok('POST', `/apis/${groupName(identity, 'storage')}/v1/storageclasses`, late);
    const resources = { requests: { storage: '1Gi' } };
    await server.admin.ok('POST', claims, {
      metadata: { name: 'data' },
      spec: { storageClassName: 'late', accessModes: ['ReadWriteOnce'], resources },
    });
    await pod('db', '1', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] });
    const selected = domainName(identity, 'selected-node', 'volume');
    const node = await until(
      'a node is chosen',
      async () => (await server.admin.ok('GET', `${claims}/data`)).metadata.annotations?.[selected],
    );
    await server.admin.patch(`${claims}/data`, {
      metadata: { annotations: { [domainName(identity, 'bind-completed', 'pv')]: 'yes' } },
      spec: { volumeName: 'pv-1' },
    });
    expect((await placed('db')).spec.nodeName).toBe(node);
  });
});

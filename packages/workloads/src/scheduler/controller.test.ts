import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { jsonText } from '@plat-dev/lib/json-text';
import { domainName, type Identity, kubernetes, plat } from '@plat-dev/meta/identity';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { schedulerController } from './controller.ts';
import { MAX_BINDINGS } from './effects.ts';
import { type NodeOptions, type PodOptions, testNode, testPod } from './world.testing.ts';

const kindOf = (group: string, name: string, kind: string, namespaced = true) => ({ group, version: 'v1', name, kind, namespaced });
const kindsOf = ({ groupSuffix }: Identity) => ({
  ...fakeKinds,
  nodes: kindOf('', 'nodes', 'Node', false),
  events: kindOf('', 'events', 'Event'),
  services: kindOf('', 'services', 'Service'),
  replications: kindOf('', 'replicationcontrollers', 'ReplicationController'),
  claims: kindOf('', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  volumes: kindOf('', 'persistentvolumes', 'PersistentVolume', false),
  replicaSets: kindOf('apps', 'replicasets', 'ReplicaSet'),
  statefulSets: kindOf('apps', 'statefulsets', 'StatefulSet'),
  budgets: kindOf('policy', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  classes: kindOf(`storage.${groupSuffix}`, 'storageclasses', 'StorageClass', false),
  drivers: kindOf(`storage.${groupSuffix}`, 'csinodes', 'CSINode', false),
  driverInfos: kindOf(`storage.${groupSuffix}`, 'csidrivers', 'CSIDriver', false),
  capacities: kindOf(`storage.${groupSuffix}`, 'csistoragecapacities', 'CSIStorageCapacity'),
});

let kinds: ReturnType<typeof kindsOf>;
let api: FakeApi;
let run: TestRun;
function begin(identity: Identity = kubernetes): void {
  kinds = kindsOf(identity);
  api = new FakeApi(Object.values(kinds));
}
const start = (identity: Identity = kubernetes): void => {
  run = runControllers(api, [schedulerController()], identity);
};
beforeEach(() => {
  begin();
  start();
});
afterEach(() => run.stop());

const node = (name: string, options?: NodeOptions): void => void api.put(kinds.nodes, testNode(name, options));
function pod(name: string, options?: PodOptions): void {
  const { uid: _uid, ...metadata } = testPod(name, options).metadata;
  api.put(kinds.pods, { ...testPod(name, options), metadata });
}
const get = (name: string): Loose => api.get(kinds.pods, 'default', name);
const nodeOf = (name: string): string | undefined => get(name)?.spec.nodeName;
const events = (reason: string): Loose[] => api.all(kinds.events).filter((event) => event.reason === reason);
const requests = (pattern: RegExp): string[] => api.calls.filter((call) => pattern.test(call));

test('a pod is bound, and an event says so', async () => {
  node('n1');
  pod('a');
  await run.idle();
  expect(nodeOf('a')).toBe('n1');
  expect(events('Scheduled')).toEqual([
    expect.objectContaining({
      type: 'Normal',
      message: 'Successfully assigned default/a to n1',
      involvedObject: expect.objectContaining({ kind: 'Pod', name: 'a', namespace: 'default' }),
      source: { component: 'default-scheduler' },
    }),
  ]);
  expect(requests(/binding/)).toEqual(['POST /api/v1/namespaces/default/pods/a/binding']);
  expect(run.failures).toEqual([]);
});

test('a pod that fits nowhere has a condition and an event, each once', async () => {
  node('n1', { cpu: '1' });
  pod('a', { cpu: '2' });
  await run.idle();
  const message =
    '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';
  expect(get('a').status.conditions).toEqual([
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastProbeTime: null,
      lastTransitionTime: '2024-01-01T00:00:00Z',
    },
  ]);
  expect(events('FailedScheduling')).toEqual([expect.objectContaining({ type: 'Warning', message })]);
  // An event that does not help it is followed by a decision of the same result: nothing is written but the count of the event.
  node('n2', { cpu: '1', taints: [{ key: 'x', effect: 'NoSchedule' }] });
  await run.pass(60_000);
  expect(requests(/^PATCH .*pods\/a\/status/)).toHaveLength(1);
  node('n2', { cpu: '2' });
  await run.pass(2000);
  expect(nodeOf('a')).toBe('n2');
});

test('a pod is decided again five minutes later even without an event', async () => {
  node('n1', { cpu: '1' });
  pod('a', { cpu: '2' });
  await run.pass(299_000);
  expect(events('FailedScheduling')[0].count).toBe(1);
  await run.pass(1000);
  expect(events('FailedScheduling')[0].count).toBe(2);
});

test('a binding that is refused is retried, with a condition meanwhile', async () => {
  node('n1');
  let refuse = true;
  api.before = (_method, path) => {
    if (refuse && path.endsWith('/binding')) FakeApi.refuse(403, 'Forbidden', 'quota of bindings');
  };
  pod('a');
  await run.idle();
  expect(nodeOf('a')).toBeUndefined();
  expect(get('a').status.conditions[0]).toMatchObject({ reason: 'SchedulerError', message: 'binding rejected: quota of bindings' });
  refuse = false;
  await run.pass(999);
  expect(nodeOf('a')).toBeUndefined();
  await run.pass(1);
  expect(nodeOf('a')).toBe('n1');
});

/** Turns of the event loop, while a request is held and the queues cannot be idle. */
async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

test('a report that a pod has no node never arrives after its node', async () => {
  node('n1', { cpu: '1' });
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  api.before = (method, path) => (method === 'PATCH' && path.endsWith('/a/status') ? held : undefined);
  pod('a', { cpu: '2' });
  await turns();
  node('n1', { cpu: '2' });
  await run.clock.advance(1000);
  await turns();
  expect(requests(/a\/status$|a\/binding$/)).toEqual(['PATCH /api/v1/namespaces/default/pods/a/status']);
  release();
  await run.idle();
  expect(requests(/a\/binding$/)).toHaveLength(1);
  expect(nodeOf('a')).toBe('n1');
});

test('a pod that is deleted while it is bound leaves nothing behind', async () => {
  node('n1', { cpu: '1' });
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  api.before = (_method, path) => (path.endsWith('/a/binding') ? held : undefined);
  pod('a', { cpu: '1' });
  await turns();
  await api.remove(kinds.pods, 'default', 'a');
  pod('b', { cpu: '1' });
  release();
  await run.idle();
  expect(nodeOf('b')).toBe('n1');
  expect(events('FailedScheduling')).toEqual([]);
  expect(run.failures).toEqual([]);
});

test('many pods are bound, several at a time', async () => {
  for (let i = 0; i < 20; i++) node(`n${i}`);
  let open = 0;
  let most = 0;
  api.before = async (_method, path) => {
    if (!path.endsWith('/binding')) return;
    most = Math.max(most, ++open);
    await new Promise((resolve) => setImmediate(resolve));
    open--;
  };
  const count = MAX_BINDINGS + 100;
  for (let i = 0; i < count; i++) pod(`p${i}`);
  await run.idle();
  expect(api.all(kinds.pods).filter(({ spec }) => spec.nodeName === undefined)).toEqual([]);
  expect(most).toBeGreaterThan(8);
  expect(most).toBeLessThanOrEqual(MAX_BINDINGS);
});

test('victims are deleted with an event, and the pod names its node until it gets it', async () => {
  node('n1', { cpu: '1' });
  pod('low', { cpu: '1', node: 'n1' });
  api.put(kinds.pods, { ...get('low'), metadata: { ...get('low').metadata, finalizers: ['example.com/wait'] } });
  pod('high', { cpu: '1', priority: 10 });
  await run.idle();
  expect(get('low').metadata.deletionTimestamp).toBeDefined();
  expect(get('high').status.nominatedNodeName).toBe('n1');
  expect(events('Preempted')).toEqual([
    expect.objectContaining({
      type: 'Normal',
      message: 'Preempted by default/high on node n1',
      involvedObject: expect.objectContaining({ name: 'low' }),
    }),
  ]);
  await run.pass(30_000);
  expect(requests(/^DELETE/)).toHaveLength(1);
  expect(nodeOf('high')).toBeUndefined();
  const { finalizers: _finalizers, ...metadata } = get('low').metadata;
  await api.request({ method: 'PUT', path: '/api/v1/namespaces/default/pods/low', body: jsonText({ ...get('low'), metadata }) });
  await run.pass(10_000);
  expect(nodeOf('high')).toBe('n1');
});

test('a scheduler that starts later goes on where another ended', async () => {
  node('n1', { cpu: '1' });
  node('n2', { cpu: '1' });
  pod('a', { cpu: '1' });
  await run.idle();
  await run.stop();
  pod('b', { cpu: '1' });
  pod('c', { cpu: '1' });
  start();
  await run.idle();
  expect([nodeOf('a'), nodeOf('b') ?? nodeOf('c')].sort()).toEqual(['n1', 'n2']);
  expect(['b', 'c'].filter((name) => nodeOf(name) === undefined)).toHaveLength(1);
});

describe('claims', () => {
  const spec = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] };
  const storageClass = (options: object = {}): void =>
    void api.put(kinds.classes, {
      metadata: { name: 'local' },
      provisioner: 'example.com/disk',
      volumeBindingMode: 'WaitForFirstConsumer',
      ...options,
    });
  const claim = (more: Loose = {}, annotations: Record<string, string> = {}): void =>
    void api.put(kinds.claims, {
      metadata: { name: 'data', namespace: 'default', annotations },
      spec: { storageClassName: 'local', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more.spec },
      status: { phase: 'Pending', ...more.status },
    });
  const bind = (volumeName: string): void => {
    const data = api.get(kinds.claims, 'default', 'data');
    api.put(kinds.claims, { ...data, spec: { ...data.spec, volumeName }, status: { phase: 'Bound' } });
  };
  const annotations = (): Loose => api.get(kinds.claims, 'default', 'data').metadata.annotations;

  test.each([kubernetes, plat])(
    'that wait for a consumer get the chosen node, and the pod waits for the volume ($name)',
    async (identity) => {
      await run.stop();
      begin(identity);
      start(identity);
      const selected = domainName(identity, 'selected-node', 'volume');
      storageClass();
      claim();
      node('n1');
      pod('a', { spec });
      await run.idle();
      expect(annotations()).toEqual({ [selected]: 'n1' });
      expect(nodeOf('a')).toBeUndefined();
      // Another pod is not held up by this one.
      pod('b');
      await run.idle();
      expect(nodeOf('b')).toBe('n1');
      bind('pv-1');
      await run.idle();
      expect(nodeOf('a')).toBe('n1');
      expect(run.failures).toEqual([]);
    },
  );
  test('that a provisioner gives back are decided again', async () => {
    storageClass();
    claim();
    node('n1');
    pod('a', { spec });
    await run.idle();
    claim();
    await run.idle();
    expect(get('a').status.conditions[0].message).toBe('binding rejected: binding volumes: provisioning failed for PVC "data"');
    await run.pass(1000);
    expect(Object.values(annotations())).toEqual(['n1']);
  });
  test('that are not bound in time are given up', async () => {
    storageClass();
    claim();
    node('n1');
    pod('a', { spec });
    await run.pass(600_000);
    expect(get('a').status.conditions[0].message).toContain('timed out waiting for the condition');
  });
  test('of a pod that is deleted do not keep a volume', async () => {
    storageClass({ provisioner: domainName(kubernetes, 'no-provisioner') });
    claim();
    node('n1');
    const volume = {
      spec: { storageClassName: 'local', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
      status: { phase: 'Available' },
    };
    api.put(kinds.volumes, { metadata: { name: 'pv-1' }, ...volume });
    pod('a', { spec });
    await run.idle();
    const bound = api.get(kinds.volumes, '', 'pv-1');
    expect(bound.spec.claimRef).toMatchObject({ namespace: 'default', name: 'data' });
    expect(bound.metadata.annotations).toEqual({ [domainName(kubernetes, 'bound-by-controller', 'pv')]: 'yes' });
    await api.remove(kinds.pods, 'default', 'a');
    await api.remove(kinds.claims, 'default', 'data');
    api.put(kinds.volumes, { metadata: { name: 'pv-1' }, ...volume });
    claim();
    pod('b', { spec });
    await run.idle();
    expect(api.get(kinds.volumes, '', 'pv-1').spec.claimRef.uid).toBe(api.get(kinds.claims, 'default', 'data').metadata.uid);
  });
  test('that are not there, or not bound, are waited for', async () => {
    node('n1');
    pod('a', { spec });
    await run.idle();
    expect(get('a').status.conditions[0].message).toBe(
      '0/1 nodes are available: 1 persistentvolumeclaim "data" not found. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    );
    claim({ spec: { storageClassName: 'fast' } });
    await run.idle();
    expect(get('a').status.conditions[0].message).toContain('1 pod has unbound immediate PersistentVolumeClaims');
    api.put(kinds.volumes, { metadata: { name: 'pv-1' }, spec: {} });
    bind('pv-1');
    // No node was tried before: there is no delay.
    await run.idle();
    expect(nodeOf('a')).toBe('n1');
  });
});

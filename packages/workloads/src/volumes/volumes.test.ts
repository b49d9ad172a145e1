import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { attachDetach, simulatedAttacher } from './attachment.ts';
import { volumeBinder } from './binder.ts';
import { ephemeralVolumes } from './ephemeral.ts';
import { mismatch } from './mismatch.ts';
import { simulatedProvisioner } from './provisioner.ts';
import { volumeNames } from './volume-objects.ts';

const claimKind = { group: '', version: 'v1', name: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true };
const volumeKind = { group: '', version: 'v1', name: 'persistentvolumes', kind: 'PersistentVolume', namespaced: false };
const eventKind = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true };

interface World {
  readonly api: FakeApi;
  readonly run: TestRun;
  claim(name: string, spec?: Loose, metadata?: Loose): Promise<Loose>;
  volume(name: string, spec?: Loose): Promise<void>;
  storageClass(name: string, more?: Loose): Promise<void>;
  /** Phase and volume of a claim. */
  state(name: string): string;
  /** Phase and claim of a volume. */
  volumeState(name: string): string;
  events(): string[];
}
function world(any = false, identity = kubernetes): World {
  const classKind = {
    group: `storage.${identity.groupSuffix}`,
    version: 'v1',
    name: 'storageclasses',
    kind: 'StorageClass',
    namespaced: false,
  };
  const api = new FakeApi([claimKind, volumeKind, classKind, eventKind, fakeKinds.pods]);
  const run = runControllers(
    api,
    [volumeBinder({ deletesAny: any }), simulatedProvisioner({ any, defaultClass: any }), ephemeralVolumes],
    identity,
  );
  return {
    api,
    run,
    async claim(name, spec = {}, metadata = {}) {
      const before = api.get(claimKind, 'a', name);
      const made = api.put(claimKind, {
        metadata: { name, namespace: 'a', ...before?.metadata, resourceVersion: undefined, ...metadata },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...before?.spec, ...spec },
        status: before?.status ?? {},
      });
      await run.pass(1000);
      return made;
    },
    async volume(name, spec = {}) {
      api.put(volumeKind, {
        metadata: { name },
        spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, persistentVolumeReclaimPolicy: 'Retain', ...spec },
        status: {},
      });
      await run.pass(1000);
    },
    async storageClass(name, more = {}) {
      api.put(classKind, { metadata: { name }, provisioner: volumeNames(identity).simulated, reclaimPolicy: 'Delete', ...more });
      await run.pass(1000);
    },
    state(name) {
      const { spec, status } = api.get(claimKind, 'a', name);
      return `${status.phase} ${spec.volumeName ?? ''}`.trim();
    },
    volumeState(name) {
      const found = api.get(volumeKind, '', name);
      return found === undefined ? 'gone' : `${found.status.phase} ${found.spec.claimRef?.name ?? ''}`.trim();
    },
    events: () => api.all(eventKind).map(({ reason, message }) => `${reason}: ${message}`),
  };
}

test('why a volume does not fit a claim that names it', () => {
  const claim = { metadata: {}, spec: { resources: { requests: { storage: '2Gi' } }, accessModes: ['ReadWriteMany'] } } as Loose;
  const volume = (spec: Loose, metadata: Loose = {}): Loose => ({
    metadata,
    spec: { capacity: { storage: '2Gi' }, accessModes: ['ReadWriteMany'], ...spec },
  });
  const none = { claim: '', volume: '' };
  expect(mismatch(claim, volume({}), none)).toBeUndefined();
  expect(mismatch(claim, volume({}, { deletionTimestamp: 'x' }), none)).toContain('deletion');
  expect(mismatch(claim, volume({ capacity: { storage: '1Gi' } }), none)).toBe('requested PV is too small');
  expect(mismatch(claim, volume({}), { claim: 'a', volume: '' })).toBe('storageClassName does not match');
  expect(mismatch(claim, volume({ volumeMode: 'Block' }), none)).toBe('incompatible volumeMode');
  expect(mismatch(claim, volume({ accessModes: ['ReadWriteOnce'] }), none)).toBe('incompatible accessMode');
});

test('a claim gets the smallest volume that fits, and waits where there is none', async () => {
  const { api, run, claim, volume, state, volumeState, events } = world();
  await claim('one');
  expect([state('one'), events()]).toEqual([
    'Pending',
    ['FailedBinding: no persistent volumes available for this claim and no storage class is set'],
  ]);
  await volume('small', { capacity: { storage: '100Mi' } });
  await volume('other', { storageClassName: 'fast' });
  expect([state('one'), volumeState('small'), volumeState('other')]).toEqual(['Pending', 'Available', 'Available']);
  await volume('big', { capacity: { storage: '5Gi' } });
  await volume('right');
  expect([state('one'), volumeState('big'), volumeState('right')]).toEqual(['Bound big', 'Bound one', 'Available']);
  await claim('two');
  expect([state('two'), volumeState('right')]).toEqual(['Bound right', 'Bound two']);
  const names = volumeNames(kubernetes);
  const bound = api.get(claimKind, 'a', 'two');
  expect(bound.metadata.annotations).toEqual({ [names.bindCompleted]: 'yes', [names.boundByController]: 'yes' });
  expect(bound.status).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } });
  expect(api.get(volumeKind, '', 'right').spec.claimRef).toMatchObject({
    kind: 'PersistentVolumeClaim',
    namespace: 'a',
    name: 'two',
    uid: bound.metadata.uid,
  });
  await run.stop();
});

test('claims that come together never share a volume', async () => {
  const { api, run, volumeState, volume } = world();
  for (let i = 0; i < 5; i++) await volume(`v${i}`);
  for (let i = 0; i < 8; i++)
    api.put(claimKind, {
      metadata: { name: `c${i}`, namespace: 'a' },
      spec: { accessModes: [], resources: { requests: { storage: '1Gi' } } },
      status: {},
    });
  await run.pass(1000);
  await run.pass(60_000);
  const bound = [0, 1, 2, 3, 4].map((i) => volumeState(`v${i}`));
  expect(bound.every((one) => one.startsWith('Bound c'))).toBe(true);
  expect(new Set(bound).size).toBe(5);
  expect(api.all(claimKind).filter(({ status }) => status.phase === 'Pending')).toHaveLength(3);
  await run.stop();
});

test('a claim and a volume that name each other, on either side', async () => {
  const { run, claim, volume, state, volumeState, events } = world();
  await claim('names', { volumeName: 'v' });
  expect(state('names')).toBe('Pending v');
  await volume('v', { accessModes: ['ReadOnlyMany'] });
  expect([state('names'), events()]).toEqual([
    'Pending v',
    ['VolumeMismatch: Cannot bind to requested volume "v": incompatible accessMode'],
  ]);
  await volume('v');
  expect([state('names'), volumeState('v')]).toEqual(['Bound v', 'Bound names']);
  await volume('kept', { claimRef: { namespace: 'a', name: 'named' } });
  await claim('stranger');
  expect([volumeState('kept'), state('stranger')]).toEqual(['Available named', 'Pending']);
  await claim('named');
  expect([volumeState('kept'), state('named')]).toEqual(['Bound named', 'Bound kept']);
  await run.stop();
});

test('labels of volumes are selected', async () => {
  const { api, run, claim, volume, state } = world();
  await volume('plain');
  await claim('picky', { selector: { matchLabels: { disk: 'fast' } } });
  expect(state('picky')).toBe('Pending');
  api.put(volumeKind, { ...api.get(volumeKind, '', 'plain'), metadata: { name: 'plain', labels: { disk: 'fast' } } });
  await run.pass(1000);
  expect(state('picky')).toBe('Bound plain');
  await run.stop();
});

test('what becomes of a volume whose claim is gone, and of a claim whose volume is gone', async () => {
  for (const [policy, any, expected] of [
    ['Retain', false, 'Released c'],
    ['Recycle', false, 'Failed c'],
    ['Delete', false, 'Failed c'],
    ['Delete', true, 'gone'],
  ] as const) {
    const { api, run, claim, volume, volumeState } = world(any);
    await volume('v', { persistentVolumeReclaimPolicy: policy });
    await claim('c');
    await api.remove(claimKind, 'a', 'c');
    await run.pass(1000);
    expect([policy, any, volumeState('v')]).toEqual([policy, any, expected]);
    // A new claim of the same name does not get the old data.
    await claim('c');
    expect(api.get(claimKind, 'a', 'c').status.phase).toBe('Pending');
    await run.stop();
  }
  const { api, run, claim, volume, state, events } = world();
  await volume('v');
  await claim('c');
  await api.remove(volumeKind, '', 'v');
  await run.pass(1000);
  expect([state('c'), events()]).toEqual(['Lost v', ['ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!']]);
  await run.stop();
});

test('a class has its volumes made, and deleted with their claims', async () => {
  for (const identity of [kubernetes, plat]) {
    const { api, run, claim, storageClass, state, volumeState, events } = world(false, identity);
    await claim('early', { storageClassName: 'fast', resources: { requests: { storage: '3Gi' } } });
    expect(events()).toEqual([`ProvisioningFailed: storageclass.storage.${identity.groupSuffix} "fast" not found`]);
    await storageClass('fast', { mountOptions: ['ro'] });
    const name = `pvc-${api.get(claimKind, 'a', 'early').metadata.uid}`;
    expect([state('early'), volumeState(name)]).toEqual([`Bound ${name}`, 'Bound early']);
    expect(api.get(volumeKind, '', name)).toMatchObject({
      metadata: { annotations: { [volumeNames(identity).provisionedBy]: volumeNames(identity).simulated } },
      spec: { capacity: { storage: '3Gi' }, storageClassName: 'fast', persistentVolumeReclaimPolicy: 'Delete', mountOptions: ['ro'] },
    });
    expect(events()).toContain(`ProvisioningSucceeded: Successfully provisioned volume ${name}`);
    await api.remove(claimKind, 'a', 'early');
    await run.pass(1000);
    expect(volumeState(name)).toBe('gone');
    await run.stop();
  }
});

test('classes of other provisioners are simulated where nodes are, except those that provision nothing', async () => {
  for (const [any, provisioner, expected] of [
    [false, 'ebs.example.com', 'Pending'],
    [true, 'ebs.example.com', 'Bound'],
    [true, 'example.com/nfs', 'Bound'],
    [true, 'kubernetes.io/no-provisioner', 'Pending'],
  ] as const) {
    const { api, run, claim, storageClass } = world(any);
    await storageClass('cloud', { provisioner });
    await claim('c', { storageClassName: 'cloud' });
    expect(api.get(claimKind, 'a', 'c').status.phase).toBe(expected);
    // The name of a driver is a DNS name.
    for (const { spec } of api.all(volumeKind)) expect(spec.csi.driver).toMatch(/^(ebs\.example\.com|simulated\.storage\.k8s\.io)$/);
    await run.stop();
  }
});

test('a class that waits for a pod binds when the scheduler has chosen a node', async () => {
  const { api, run, claim, volume, storageClass, state, events } = world();
  await storageClass('late', { volumeBindingMode: 'WaitForFirstConsumer' });
  await volume('free', { storageClassName: 'late' });
  await claim('c', { storageClassName: 'late', resources: { requests: { storage: '9Gi' } } });
  await claim('d', { storageClassName: 'late' });
  expect([state('c'), state('d'), events()[0]]).toEqual([
    'Pending',
    'Pending',
    'WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ]);
  await claim('c', {}, { annotations: { [volumeNames(kubernetes).selectedNode]: 'n' } });
  expect(state('c')).toMatch(/^Bound pvc-/);
  // The scheduler has chosen the volume that exists.
  const { uid } = api.get(claimKind, 'a', 'd').metadata;
  await volume('free', { storageClassName: 'late', claimRef: { namespace: 'a', name: 'd', uid } });
  expect(state('d')).toBe('Bound free');
  await run.stop();
});

test('a claim that asks for more gets it where its class allows it', async () => {
  for (const allowVolumeExpansion of [false, true]) {
    const { api, run, claim, storageClass } = world();
    await storageClass('fast', { allowVolumeExpansion });
    await claim('c', { storageClassName: 'fast' });
    await claim('c', { resources: { requests: { storage: '2Gi' } } });
    const { spec, status } = api.get(claimKind, 'a', 'c');
    const expected = allowVolumeExpansion ? '2Gi' : '1Gi';
    expect([status.phase, status.capacity.storage, api.get(volumeKind, '', spec.volumeName).spec.capacity.storage]).toEqual([
      'Bound',
      expected,
      expected,
    ]);
    await run.stop();
  }
});

test('an ephemeral volume has a claim that the pod owns, and no one else', async () => {
  const { api, run, claim, events } = world();
  const template = {
    metadata: { labels: { x: 'y' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const pod = (name: string): Loose => ({
    metadata: { name, namespace: 'a' },
    spec: { volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: template } }] },
  });
  const made = api.put(fakeKinds.pods, pod('p'));
  await run.pass(1000);
  expect(api.get(claimKind, 'a', 'p-scratch')).toMatchObject({
    metadata: { labels: { x: 'y' }, ownerReferences: [{ kind: 'Pod', name: 'p', uid: made.metadata.uid, controller: true }] },
    spec: template.spec,
  });
  await api.remove(claimKind, 'a', 'p-scratch');
  await run.pass(1000);
  expect(api.get(claimKind, 'a', 'p-scratch')).toBeDefined();
  await claim('q-scratch');
  api.put(fakeKinds.pods, pod('q'));
  await run.pass(1000);
  expect(new Set(events().filter((one) => one.includes('ephemeral')))).toEqual(
    new Set(['FailedBinding: ephemeral volume scratch: PVC "a/q-scratch" was not created for pod "a/q" (pod is not owner)']),
  );
  await run.stop();
});

test('a server without classes gets a default one where nodes are simulated', async () => {
  const classKind = { group: 'storage.k8s.io', version: 'v1', name: 'storageclasses', kind: 'StorageClass', namespaced: false };
  for (const present of [false, true]) {
    const api = new FakeApi([claimKind, volumeKind, classKind, eventKind, fakeKinds.pods]);
    if (present) api.put(classKind, { metadata: { name: 'mine' }, provisioner: 'x' });
    const run = runControllers(api, [simulatedProvisioner({ any: true, defaultClass: true })]);
    await run.idle();
    expect(api.all(classKind).map(({ metadata }) => metadata.name)).toEqual([present ? 'mine' : 'standard']);
    await run.stop();
  }
});

test('volumes of the pods of a node are attached to it, and detached after the last pod', async () => {
  const kind = (name: string, of: string): Loose => ({ group: 'storage.k8s.io', version: 'v1', name, kind: of, namespaced: false });
  const attachmentKind = kind('volumeattachments', 'VolumeAttachment');
  const driverKind = kind('csidrivers', 'CSIDriver');
  const nodeKind = { group: '', version: 'v1', name: 'nodes', kind: 'Node', namespaced: false };
  const api = new FakeApi([
    claimKind,
    volumeKind,
    kind('storageclasses', 'StorageClass'),
    attachmentKind,
    driverKind,
    nodeKind,
    fakeKinds.pods,
  ]);
  api.put(nodeKind, { metadata: { name: 'n' }, status: {} });
  api.put(driverKind, { metadata: { name: 'plain' }, spec: { attachRequired: false } });
  for (const [name, driver] of [
    ['one', 'disk'],
    ['two', 'plain'],
  ]) {
    api.put(volumeKind, { metadata: { name: `v-${name}` }, spec: { csi: { driver, volumeHandle: name } }, status: {} });
    api.put(claimKind, { metadata: { name, namespace: 'a' }, spec: { volumeName: `v-${name}` }, status: {} });
  }
  const volumes = ['one', 'two'].map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  for (const name of ['p', 'q'])
    api.put(fakeKinds.pods, { metadata: { name, namespace: 'a' }, spec: { nodeName: 'n', volumes }, status: { phase: 'Running' } });
  const run = runControllers(api, [attachDetach, simulatedAttacher({ any: true })]);
  await run.pass(1000);
  expect(api.all(attachmentKind)).toMatchObject([
    { spec: { attacher: 'disk', nodeName: 'n', source: { persistentVolumeName: 'v-one' } }, status: { attached: true } },
  ]);
  expect(api.all(attachmentKind)[0].metadata.name).toMatch(/^csi-[0-9a-f]{64}$/);
  expect(api.get(nodeKind, '', 'n').status.volumesAttached).toEqual([{ name: 'kubernetes.io/csi/disk^one', devicePath: '' }]);
  await api.remove(fakeKinds.pods, 'a', 'p');
  await run.pass(1000);
  expect(api.all(attachmentKind)).toHaveLength(1);
  api.put(fakeKinds.pods, { ...api.get(fakeKinds.pods, 'a', 'q'), status: { phase: 'Succeeded' } });
  await run.pass(1000);
  expect([api.all(attachmentKind), api.get(nodeKind, '', 'n').status.volumesAttached]).toEqual([[], []]);
  await run.stop();
});

import { domainName, kubernetes } from '@plat-dev/meta/identity';
import { beforeEach, describe, expect, test } from 'vitest';
import { fitsNowhere, type PodOptions, World, zone } from '../world.testing.ts';
import { conflict, disksOf } from './disks.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
const put = (store: keyof World['volumes'], object: object): void => {
  world.volumes[store].objects.push(object as never);
  const { name } = (object as { metadata: { name: string } }).metadata;
  world.scheduler.volumesChanged(store === 'claims' ? { namespace: 'default', name } : undefined);
};
const uses = (...claims: string[]): PodOptions => ({
  spec: { volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) },
});
const claim = (name: string, spec: object = {}, more: { status?: object; metadata?: object } = {}): void =>
  put('claims', {
    metadata: { name, namespace: 'default', ...more.metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, storageClassName: 'late', ...spec },
    status: { phase: 'Pending', ...more.status },
  });
const bound = (name: string, volumeName: string): void => claim(name, { volumeName }, { status: { phase: 'Bound' } });
const volume = (name: string, spec: object = {}, metadata: object = {}, phase = 'Available'): void =>
  put('volumes', {
    metadata: { name, ...metadata },
    spec: { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: 'late', ...spec },
    status: { phase },
  });
const on = (...names: string[]) => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: names }] }] } },
});
const late = (more: object = {}): void =>
  put('classes', { metadata: { name: 'late' }, provisioner: 'example.com/disk', volumeBindingMode: 'WaitForFirstConsumer', ...more });
const noProvisioner = { provisioner: domainName(kubernetes, 'no-provisioner') };

describe('bound volumes', () => {
  beforeEach(() => {
    world.node('n1', { labels: { [zone]: 'a' } });
    world.node('n2', { labels: { [zone]: 'b' } });
  });
  test('bring the pod to their node', () => {
    volume('pv', on('n2'), {}, 'Bound');
    bound('c', 'pv');
    expect(world.place('a', uses('c'))).toBe('n2');
    volume('far', on('n9'), {}, 'Bound');
    bound('d', 'far');
    expect(world.place('b', uses('d'))).toBe(fitsNowhere(2, '2 node(s) had volume node affinity conflict'));
  });
  test('bring the pod to their zone, by labels', () => {
    volume('pv', {}, { labels: { [zone]: 'b__c' } }, 'Bound');
    bound('c', 'pv');
    expect(world.place('a', uses('c'))).toBe('n2');
    volume('far', {}, { labels: { [zone]: 'z' } }, 'Bound');
    bound('d', 'far');
    expect(world.place('b', uses('d'))).toBe(fitsNowhere(2, '2 node(s) had no available volume zone'));
  });
  test('must be there', () => {
    bound('c', 'lost');
    expect(world.place('a', uses('c'))).toBe(fitsNowhere(2, '2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'));
  });
  test('are attached to a node up to the limit of its driver, each once', () => {
    world = new World();
    world.node('n1');
    put('drivers', { metadata: { name: 'n1' }, spec: { drivers: [{ name: 'example.com/disk', allocatable: { count: 2 } }] } });
    for (const name of ['1', '2', '3', '4']) {
      volume(`pv-${name}`, { csi: { driver: name === '4' ? 'example.com/other' : 'example.com/disk', volumeHandle: name } }, {}, 'Bound');
      bound(`c-${name}`, `pv-${name}`);
    }
    expect(world.place('a', uses('c-1', 'c-2'))).toBe('n1');
    expect(world.place('b', uses('c-2'))).toBe('n1');
    expect(world.place('c', uses('c-3'))).toContain('1 node(s) exceed max volume count');
    expect(world.place('d', uses('c-4'))).toBe('n1');
  });
});

describe('claims that wait for a consumer', () => {
  test('take the smallest volume that fits, on the node that has it', () => {
    late(noProvisioner);
    for (const name of ['n1', 'n2', 'n3']) world.node(name);
    volume('small', { ...on('n1'), capacity: { storage: '1Gi' } });
    volume('large', { ...on('n2'), capacity: { storage: '20Gi' } });
    volume('other', { ...on('n3'), storageClassName: 'other' });
    volume('shared', { ...on('n3'), accessModes: ['ReadOnlyMany'] });
    volume('block', { ...on('n3'), volumeMode: 'Block' });
    volume('used', { ...on('n3'), claimRef: { namespace: 'default', name: 'x' } });
    volume('fresh', on('n3'), {}, 'Pending');
    volume('going', on('n3'), { deletionTimestamp: '2024-01-01T00:00:00Z' });
    claim('c');
    expect(world.place('a', uses('c'))).toBe('n2');
  });
  test('take the volume that names them', () => {
    late(noProvisioner);
    world.node('n1');
    world.node('n2');
    volume('free', on('n1'));
    volume('named', { ...on('n2'), claimRef: { namespace: 'default', name: 'c' } });
    claim('c');
    expect(world.place('a', uses('c'))).toBe('n2');
  });
  test('select volumes by labels', () => {
    late(noProvisioner);
    world.node('n1');
    world.node('n2');
    volume('plain', on('n1'));
    volume('gold', on('n2'), { labels: { tier: 'gold' } });
    claim('c', { selector: { matchLabels: { tier: 'gold' } } });
    expect(world.place('a', uses('c'))).toBe('n2');
  });
  test('do not take one volume twice', () => {
    late(noProvisioner);
    world.node('n1');
    volume('only', on('n1'));
    claim('c');
    claim('d');
    expect(world.place('a', uses('c', 'd'))).toBe(fitsNowhere(1, "1 node(s) didn't find available persistent volumes to bind"));
  });
  test('are provisioned where the class allows it', () => {
    late({ allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['b', 'c'] }] }] });
    world.node('n1', { labels: { [zone]: 'a' } });
    world.node('n2', { labels: { [zone]: 'b' } });
    claim('c');
    expect(world.place('a', uses('c'))).toBe('n2');
  });
  test('are provisioned where the driver has room, if it reports its room', async () => {
    late();
    put('driverInfos', { metadata: { name: 'example.com/disk' }, spec: { storageCapacity: true } });
    const room = (value: string, sizes: object): void =>
      put('capacities', {
        metadata: { name: value, namespace: 'x' },
        storageClassName: 'late',
        nodeTopology: { matchLabels: { [zone]: value } },
        ...sizes,
      });
    world.node('n1', { labels: { [zone]: 'a' } });
    world.node('n2', { labels: { [zone]: 'b' } });
    room('a', { capacity: '100Gi', maximumVolumeSize: '1Gi' });
    claim('c');
    expect(world.place('a', uses('c'))).toBe(fitsNowhere(2, '2 node(s) did not have enough free storage'));
    room('b', { capacity: '5Gi' });
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/a')).toBe('n2');
  });
  test('stay with the node that was chosen before', () => {
    late();
    world.node('n1');
    world.node('n2');
    claim('c', {}, { metadata: { annotations: { [domainName(kubernetes, 'selected-node', 'volume')]: 'n2' } } });
    for (let i = 0; i < 4; i++) expect(world.place(`a-${i}`, uses('c'))).toBe('n2');
  });
});

describe('claims that no node can help', () => {
  beforeEach(() => world.node('n1'));
  test('are lost, going, or named in vain', () => {
    claim('lost', { volumeName: 'pv' }, { status: { phase: 'Lost' } });
    expect(world.place('a', uses('lost'))).toBe(
      fitsNowhere(1, '1 persistentvolumeclaim "lost" bound to non-existent persistentvolume "pv"'),
    );
    claim('going', {}, { metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' } });
    expect(world.place('b', uses('going'))).toBe(fitsNowhere(1, '1 persistentvolumeclaim "going" is being deleted'));
    late();
    claim('named', { volumeName: 'pv' });
    expect(world.place('c', uses('named'))).toBe(fitsNowhere(1, '1 pod has unbound immediate PersistentVolumeClaims'));
  });
  test('are for one pod alone, and another has it', async () => {
    volume('pv', {}, {}, 'Bound');
    claim('c', { volumeName: 'pv', accessModes: ['ReadWriteOncePod'] }, { status: { phase: 'Bound' } });
    expect(world.place('a', uses('c'))).toBe('n1');
    expect(world.place('b', uses('c'))).toBe(
      fitsNowhere(1, '1 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'),
    );
    world.remove('a');
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/b')).toBe('n1');
  });
  test('belong to the pod, if they are made for it', async () => {
    const ephemeral: PodOptions = { spec: { volumes: [{ name: 'tmp', ephemeral: { volumeClaimTemplate: { spec: {} } } }] } };
    expect(world.place('a', ephemeral)).toBe(
      fitsNowhere(1, '1 waiting for ephemeral volume controller to create the persistentvolumeclaim "a-tmp"'),
    );
    volume('pv', {}, {}, 'Bound');
    bound('a-tmp', 'pv');
    await world.clock.advance(10_000);
    world.run();
    expect(world.reports.at(-1)?.message).toContain('PVC default/a-tmp was not created for pod default/a (pod is not owner)');
    world.volumes.claims.objects.length = 0;
    claim(
      'a-tmp',
      { volumeName: 'pv' },
      { status: { phase: 'Bound' }, metadata: { ownerReferences: [{ controller: true, uid: 'uid-default-a' }] } },
    );
    await world.clock.advance(10_000);
    world.run();
    expect(world.placed.get('default/a')).toBe('n1');
  });
});

describe('disks that pods name', () => {
  const disks = (source: object) => disksOf({ volumes: [{ name: 'v', ...source }] } as never);
  const conflicts = (a: object, b: object): boolean => disks(a).some((one) => disks(b).some((other) => conflict(one, other)));
  const rbd = (monitors: string[], image: string, readOnly = false) => ({ rbd: { monitors, image, pool: 'p', readOnly } });
  test.each([
    [
      'one of a cloud',
      { awsElasticBlockStore: { volumeID: 'x', readOnly: true } },
      { awsElasticBlockStore: { volumeID: 'x', readOnly: true } },
      true,
    ],
    ['two of a cloud', { awsElasticBlockStore: { volumeID: 'x' } }, { awsElasticBlockStore: { volumeID: 'y' } }, false],
    ['one of two kinds', { awsElasticBlockStore: { volumeID: 'x' } }, { gcePersistentDisk: { pdName: 'x' } }, false],
    ['read by both', { iscsi: { iqn: 'x', readOnly: true } }, { iscsi: { iqn: 'x', readOnly: true } }, false],
    ['written by one', { iscsi: { iqn: 'x', readOnly: true } }, { iscsi: { iqn: 'x' } }, true],
    ['with a common monitor', rbd(['a', 'b'], 'i'), rbd(['b', 'c'], 'i'), true],
    ['without a common monitor', rbd(['a'], 'i'), rbd(['b'], 'i'), false],
    ['of other images', rbd(['a'], 'i'), rbd(['a'], 'j'), false],
  ])('%s', (_name, a, b, expected) => {
    expect(conflicts(a, b)).toBe(expected);
  });
});

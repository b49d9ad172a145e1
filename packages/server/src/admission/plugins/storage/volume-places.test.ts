import { jsonText } from '@plat-dev/lib/json-text';
import { expect, test } from 'vitest';
import { refusalOf, World } from '../../testing.ts';
import { persistentVolumeLabel } from './persistent-volume-label.ts';

const zone = 'topology.kubernetes.io/zone';
const region = 'topology.kubernetes.io/region';
const configured = (more: object) => ({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'PersistentVolumeLabelConfiguration', ...more });

async function label(configuration: object | undefined, spec: object, labels?: object, world = new World()) {
  const plugin = await world.plugin(persistentVolumeLabel, configuration as never);
  const request = world.request('persistentvolumes', { metadata: { name: 'v', ...(labels && { labels }) }, spec });
  expect(await refusalOf(plugin, request)).toBeUndefined();
  const volume = request.object as unknown as {
    metadata: { labels?: object };
    spec: { nodeAffinity?: { required: { nodeSelectorTerms: object[] } } };
  };
  return { labels: volume.metadata.labels, terms: volume.spec.nodeAffinity?.required.nodeSelectorTerms };
}
const terms = (r: string, ...zones: string[]) => [
  {
    matchExpressions: [
      { key: region, operator: 'In', values: [r] },
      { key: zone, operator: 'In', values: zones },
    ],
  },
];

test.each([
  ['csi', { csi: { driver: 'd', volumeHandle: 'vol-1' } }],
  ['awsElasticBlockStore', { awsElasticBlockStore: { volumeID: 'vol-1' } }],
  ['gcePersistentDisk', { gcePersistentDisk: { pdName: 'vol-1' } }],
  ['azureDisk', { azureDisk: { diskName: 'vol-1', diskURI: 'u' } }],
  ['cinder', { cinder: { volumeID: 'vol-1' } }],
  ['vsphereVolume', { vsphereVolume: { volumePath: 'vol-1' } }],
])('a volume of %s is labelled by its handle, whatever it said itself', async (_, spec) => {
  const table = configured({ volumes: { 'vol-1': { region: 'eu', zone: 'eu-a' } } });
  expect(await label(table, spec, { [zone]: 'mine', other: 'x' })).toEqual({
    labels: { [zone]: 'eu-a', [region]: 'eu', other: 'x' },
    terms: terms('eu', 'eu-a'),
  });
});

test('a zone that the volume names has its region in the table', async () => {
  const table = configured({ zones: { a: 'eu', b: 'eu', c: 'us' } });
  expect(await label(table, { hostPath: { path: '/x' } }, { [zone]: 'b__a' })).toEqual({
    labels: { [zone]: 'b__a', [region]: 'eu' },
    terms: terms('eu', 'a', 'b'),
  });
  for (const unclear of ['a__c', 'nowhere'])
    expect((await label(table, { hostPath: { path: '/x' } }, { [zone]: unclear })).terms).toBeUndefined();
  expect(await label(table, { hostPath: { path: '/x' } })).toEqual({ labels: undefined, terms: undefined });
});

test('the topology of the storage class says where its volumes are', async () => {
  const world = () =>
    new World().with('storage/storageclasses', {
      metadata: { name: 'fast' },
      provisioner: 'p',
      allowedTopologies: [
        { matchLabelExpressions: [{ key: zone, values: ['b', 'a'] }] },
        { matchLabelExpressions: [{ key: region, values: ['eu'] }] },
      ],
    });
  const spec = { storageClassName: 'fast', hostPath: { path: '/x' } };
  expect(await label(configured({ storageClassTopology: true }), spec, undefined, world())).toEqual({
    labels: { [zone]: 'a__b', [region]: 'eu' },
    terms: terms('eu', 'a', 'b'),
  });
  expect((await label(configured({ zones: { a: 'eu' } }), spec, undefined, world())).labels).toBeUndefined();
  expect(
    (await label(configured({ storageClassTopology: true }), { ...spec, storageClassName: 'other' }, undefined, world())).labels,
  ).toBeUndefined();
});

test('without a configuration nothing is labelled, and the start warns of that', async () => {
  const world = new World();
  const warned: string[] = [];
  Object.assign(world.env.log, { warn: (message: string, details: object) => warned.push(`${message} ${jsonText(details)}`) });
  expect(await label(undefined, { csi: { driver: 'd', volumeHandle: 'vol-1' } }, undefined, world)).toEqual({
    labels: undefined,
    terms: undefined,
  });
  expect(warned).toEqual([expect.stringMatching(/^admission plug-in without configuration labels no volumes .*PersistentVolumeLabel/)]);
  await label(configured({ zones: { a: 'b' } }), { hostPath: { path: '/x' } }, undefined, world);
  expect(warned).toHaveLength(1);
});

test.each([
  [{}, 'one of volumes, zones and storageClassTopology is needed'],
  [{ volumes: { v: { region: 'eu' } } }, 'volumes[v].zone must be a text'],
  [{ zones: { a: 5 } }, 'zones[a] must be a text'],
  [{ storageClassTopology: 'yes' }, 'storageClassTopology must be true or false'],
])('a configuration that says nothing or something wrong is refused: %j', async (more, why) => {
  await expect(new World().plugin(persistentVolumeLabel, configured(more) as never)).rejects.toThrow(why);
});

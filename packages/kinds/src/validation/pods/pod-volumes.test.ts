import { expect, test } from 'vitest';
import { PodKind } from '../../core/pods/pod.ts';
import { create, type Loose, withFeatures } from '../kinds.testing.ts';

const spec = (volumes: Loose[], fields: Loose = {}): Loose => ({
  metadata: { name: 'p' },
  spec: { serviceAccountName: 'default', containers: [{ name: 'c', image: 'i', ...fields }], volumes },
});
/** Causes about one volume, without its place in front. */
const volume = (source: Loose): string[] =>
  create(PodKind, spec([{ name: 'v', ...source }])).errors.map((text) => text.replace(/^spec\.volumes\[0\]\.?/, ''));
const mounts = (
  fields: Loose,
  volumes: Loose[] = [{ name: 'a' }, { name: 'b' }, { name: 'claim', persistentVolumeClaim: { claimName: 'x' } }],
): string[] => create(PodKind, spec(volumes, fields)).errors.map((text) => text.replace(/^spec\.containers\[0\]\./, ''));

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const iqn = 'iqn.2001-04.com.example:storage';

test.each<[string, Loose]>([
  ['nothing', {}],
  ['emptyDir', { emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }],
  ['hostPath', { hostPath: { path: '/data', type: 'Directory' } }],
  ['gitRepo', { gitRepo: { repository: 'r', directory: 'd' } }],
  ['gcePersistentDisk', { gcePersistentDisk: { pdName: 'p', partition: 3 } }],
  ['awsElasticBlockStore', { awsElasticBlockStore: { volumeID: 'v' } }],
  ['secret', { secret: { secretName: 's', items: [{ key: 'k', path: 'a/b', mode: 0o400 }] } }],
  ['nfs', { nfs: { server: 's', path: '/x' } }],
  ['iscsi', { iscsi: { targetPortal: '1.2.3.4', iqn, lun: 0, initiatorName: 'eui.0123456789abcdef' } }],
  ['glusterfs', { glusterfs: { endpoints: 'e', path: 'p' } }],
  ['flocker', { flocker: { datasetName: 'd' } }],
  ['rbd', { rbd: { monitors: ['m'], image: 'i' } }],
  ['cinder', { cinder: { volumeID: 'v', secretRef: { name: 's' } } }],
  ['cephfs', { cephfs: { monitors: ['m'] } }],
  ['quobyte', { quobyte: { registry: 'a:1,[::1]:2', volume: 'v' } }],
  ['fc', { fc: { wwids: ['w'] } }],
  ['flexVolume', { flexVolume: { driver: 'd', options: { 'example.com/a': 'b' } } }],
  ['configMap', { configMap: { name: 'c' } }],
  ['azureFile', { azureFile: { secretName: 's', shareName: 'f' } }],
  ['vsphereVolume', { vsphereVolume: { volumePath: 'p' } }],
  ['photonPersistentDisk', { photonPersistentDisk: { pdID: 'p' } }],
  ['portworxVolume', { portworxVolume: { volumeID: 'v' } }],
  ['azureDisk', { azureDisk: { diskName: 'd', diskURI: 'https://blob/d' } }],
  ['storageos', { storageos: { volumeName: 'v' } }],
  [
    'projected',
    {
      projected: {
        sources: [
          { serviceAccountToken: { path: 't' } },
          { downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } },
        ],
      },
    },
  ],
  ['scaleIO', { scaleIO: { gateway: 'g', system: 's', volumeName: 'v', secretRef: { name: 'x' } } }],
  ['csi', { csi: { driver: 'd.example.com', nodePublishSecretRef: { name: 's' } } }],
  ['ephemeral', { ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' } }, spec: claim } } }],
])('a good volume has no causes: %s', (_name, source) => {
  expect(volume(source)).toEqual([]);
});

test.each<[string, Loose, string[]]>([
  [
    'size below nothing',
    { emptyDir: { sizeLimit: '-1' } },
    ['emptyDir.sizeLimit | Forbidden | Forbidden: SizeLimit field must be a valid resource quantity'],
  ],
  ['path upwards', { hostPath: { path: '/a/../b' } }, ['hostPath.path | Invalid | Invalid value: "/a/../b": must not contain \'..\'']],
  ['type of path', { hostPath: { path: '/a', type: 'Pipe' } }, ['hostPath.type | NotSupported']],
  ['git', { gitRepo: { directory: '/abs' } }, ['gitRepo.repository | Required', 'gitRepo.directory | Invalid']],
  [
    'gce',
    { gcePersistentDisk: { partition: 256 } },
    ['persistentDisk.pdName | Required', 'persistentDisk.partition | Invalid | Invalid value: 256: must be between 1 and 255, inclusive'],
  ],
  [
    'secret',
    { secret: { defaultMode: 0o1000, items: [{}] } },
    ['secret.secretName | Required', 'secret.defaultMode | Invalid', 'secret.items[0].key | Required', 'secret.items[0].path | Required'],
  ],
  [
    'file of the node',
    { configMap: { name: 'c', items: [{ key: 'k', path: '..data' }] } },
    ['configMap.items[0].path | Invalid | Invalid value: "..data": must not start with \'..\''],
  ],
  ['nfs', { nfs: { path: 'rel' } }, ['nfs.server | Required', 'nfs.path | Invalid | Invalid value: "rel": must be an absolute path']],
  [
    'iscsi',
    { iscsi: { iqn: 'x', lun: 256, chapAuthSession: true } },
    [
      'iscsi.targetPortal | Required',
      'iscsi.iqn | Invalid | Invalid value: "x": must be valid format starting with iqn, eui, or naa',
      'iscsi.lun | Invalid',
      'iscsi.secretRef | Required',
    ],
  ],
  ['iscsi too long', { iscsi: { targetPortal: 'x'.repeat(64), iqn, lun: 0, initiatorName: iqn } }, ['name | Invalid']],
  ['fc without ports', { fc: {} }, ['fc.targetWWNs | Required']],
  ['fc with both', { fc: { targetWWNs: ['a'], wwids: ['b'] } }, ['fc.targetWWNs | Invalid', 'fc.lun | Required']],
  ['quobyte', { quobyte: { registry: 'nope', volume: 'v' } }, ['quobyte.registry | Invalid']],
  ['flocker', { flocker: { datasetName: 'a/b', datasetUUID: 'u' } }, ['flocker | Invalid', 'flocker.datasetName | Invalid']],
  [
    'flex',
    { flexVolume: { driver: 'd', options: { 'kubernetes.io/a': 'b', 'x.k8s.io/c': 'd' } } },
    ['flexVolume.options[kubernetes.io/a] | Invalid', 'flexVolume.options[x.k8s.io/c] | Invalid'],
  ],
  [
    'azure disk',
    { azureDisk: { diskName: 'd', diskURI: 'x', kind: 'Managed', cachingMode: 'All' } },
    ['azureDisk.cachingMode | NotSupported', 'azureDisk.diskURI | NotSupported'],
  ],
  [
    'storageos',
    { storageos: { volumeName: 'V', secretRef: {} } },
    ['storageos.volumeName | Invalid', 'storageos.secretRef.name | Required'],
  ],
  ['csi', { csi: { driver: 'UP_', nodePublishSecretRef: {} } }, ['csi.driver | Invalid', 'csi.nodePublishSecretRef.name | Required']],
  [
    'token of a moment',
    { projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 5 } }] } },
    ['projected.sources[0].serviceAccountToken.expirationSeconds | Invalid'],
  ],
  [
    'two files of one name',
    {
      projected: {
        sources: [
          { secret: { name: 'a', items: [{ key: 'k', path: 'x' }] } },
          { configMap: { name: 'b', items: [{ key: 'k', path: 'x' }] } },
        ],
      },
    },
    ['projected | Invalid | Invalid value: "b": conflicting duplicate paths'],
  ],
  [
    'two sources in one',
    { projected: { sources: [{ secret: { name: 'a' }, configMap: { name: 'b' } }] } },
    ['projected.sources[0] | Forbidden'],
  ],
  [
    'claim',
    {
      ephemeral: {
        volumeClaimTemplate: { metadata: { name: 'x' }, spec: { accessModes: ['Always'], resources: { requests: { storage: '0' } } } },
      },
    },
    [
      'ephemeral.volumeClaimTemplate.metadata.name | Forbidden',
      'ephemeral.volumeClaimTemplate.spec.accessModes | NotSupported',
      'ephemeral.volumeClaimTemplate.spec.resources[storage] | Invalid',
    ],
  ],
  [
    'two sources',
    { emptyDir: {}, cephfs: { monitors: ['m'] }, nfs: {} },
    ['nfs | Forbidden | Forbidden: may not specify more than 1 volume type', 'cephFS | Forbidden'],
  ],
])('a bad volume: %s', (_name, source, causes) => {
  expect(volume(source)).toEqual(causes.map((text) => expect.stringContaining(text)));
});

test('names are unique labels; a volume that is wrong cannot be mounted', () => {
  expect(create(PodKind, spec([{ name: 'a' }, { name: 'a' }])).errors).toEqual(['spec.volumes[1].name | Duplicate | Duplicate value: "a"']);
  expect(create(PodKind, spec([{ name: 'V' }], { volumeMounts: [{ name: 'V', mountPath: '/x' }] })).errors).toEqual([
    expect.stringContaining('spec.volumes[0].name | Invalid'),
    'spec.containers[0].volumeMounts[0].name | NotFound | Not found: "V"',
  ]);
});

test('a claim that the pod will make cannot be mounted as if it were there', () => {
  const volumes = [
    { name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim } } },
    { name: 'w', persistentVolumeClaim: { claimName: 'p-v' } },
  ];
  expect(create(PodKind, spec(volumes)).errors).toEqual([
    'spec.volumes[1].persistentVolumeClaim.claimName | Invalid | Invalid value: "p-v": must not reference a PVC that gets created for an ephemeral volume',
  ]);
});

test('the mode for one pod is known when its feature is on', () => {
  const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: { ...claim, accessModes: ['ReadWriteOncePod'] } } } }];
  expect(create(PodKind, spec(volumes)).errors).toHaveLength(1);
  expect(create(PodKind, spec(volumes), withFeatures('ReadWriteOncePod')).errors).toEqual([]);
});

test('a pod without an account has no token', () => {
  const body = spec([{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }]);
  delete body.spec.serviceAccountName;
  expect(create(PodKind, body).errors).toEqual([
    'spec.volumes[0].projected.sources[0].serviceAccountToken | Forbidden | Forbidden: must not be specified when serviceAccountName is not set',
  ]);
});

test.each<[string, Loose, string[]]>([
  ['no volume', { volumeMounts: [{ name: 'none', mountPath: '/x' }] }, ['volumeMounts[0].name | NotFound | Not found: "none"']],
  ['no path', { volumeMounts: [{ name: 'a' }] }, ['volumeMounts[0].mountPath | Required | Required value']],
  [
    'path taken',
    {
      volumeMounts: [
        { name: 'a', mountPath: '/x' },
        { name: 'b', mountPath: '/x' },
      ],
    },
    ['volumeMounts[1].mountPath | Invalid | Invalid value: "/x": must be unique'],
  ],
  ['part outside', { volumeMounts: [{ name: 'a', mountPath: '/x', subPath: '../up' }] }, ['volumeMounts.subPath | Invalid']],
  [
    'two parts',
    { volumeMounts: [{ name: 'a', mountPath: '/x', subPath: 'p', subPathExpr: '$(Q)' }] },
    ['volumeMounts[0].subPathExpr | Invalid'],
  ],
  [
    'propagation',
    { volumeMounts: [{ name: 'a', mountPath: '/x', mountPropagation: 'Sideways' }] },
    ['volumeMounts.mountPropagation | NotSupported'],
  ],
  [
    'propagation without rights',
    { volumeMounts: [{ name: 'a', mountPath: '/x', mountPropagation: 'Bidirectional' }] },
    ['volumeMounts.mountPropagation | Forbidden'],
  ],
  ['device of a directory', { volumeDevices: [{ name: 'a', devicePath: '/dev/x' }] }, ['volumeDevices[0].name | Invalid']],
  [
    'device twice',
    {
      volumeDevices: [
        { name: 'claim', devicePath: '/dev/x' },
        { name: 'claim', devicePath: '/dev/x' },
      ],
    },
    ['volumeDevices[1].name | Invalid', 'volumeDevices[1].devicePath | Invalid'],
  ],
  [
    'device upwards',
    { volumeDevices: [{ name: 'claim', devicePath: '/dev/../x' }] },
    ['volumeDevices[0].devicePath | Invalid | Invalid value: "/dev/../x": can not contain backsteps (\'..\')'],
  ],
  [
    'device and mount',
    { volumeDevices: [{ name: 'claim', devicePath: '/x' }], volumeMounts: [{ name: 'claim', mountPath: '/x' }] },
    [
      'volumeMounts[0].name | Invalid',
      'volumeMounts[0].mountPath | Invalid',
      'volumeDevices[0].name | Invalid',
      'volumeDevices[0].devicePath | Invalid',
    ],
  ],
])('mounts: %s', (_name, fields, causes) => {
  expect(mounts(fields)).toEqual(causes.map((text) => expect.stringContaining(text)));
});

/** The sources of volumes: what each is, and its fields with the names that pages have for them. */
import { own } from '@plat-dev/lib/own';
import { compareQuantities } from '@plat-dev/meta/quantity';
import type { Cell } from './page.ts';
import { bracketed, mapText } from './values.ts';

type Values = Readonly<Record<string, unknown>>;
type Reading = (value: unknown, inPod: boolean) => Cell;
/** Label, field of the source, and what is shown of it. */
type Row = readonly [label: string, field: string, read: Reading];
export interface Source {
  /** `NFS (an NFS mount …)` */
  readonly type: string;
  readonly rows: readonly Row[];
  /** Fields of a source in a persistent volume, where they differ. */
  readonly inVolume?: readonly Row[];
}

const text: Reading = (value) => (value ?? '') as string;
const number: Reading = (value) => (value ?? 0) as number;
const flag: Reading = (value) => value === true;
const list: Reading = (value) => bracketed((value ?? []) as string[]);
const pairs: Reading = (value) => mapText((value ?? {}) as Record<string, string>);
const or =
  (missing: string): Reading =>
  (value) =>
    (value ?? missing) as string;
/** References are shown as the stock client prints its own structures. */
const secret: Reading = (value, inPod) => {
  if (value === undefined) return 'nil';
  const { name = '', namespace = '' } = value as { name?: string; namespace?: string };
  return inPod ? `&LocalObjectReference{Name:${name},}` : `&SecretReference{Name:${name},Namespace:${namespace},}`;
};
const sizeLimit: Reading = (value) => (value !== undefined && compareQuantities(value as string, '0') > 0 ? (value as string) : '<unset>');
const joined: Reading = (value) => ((value ?? []) as string[]).join(', ');
const partOf =
  (field: string): Reading =>
  (value) =>
    (own(value as Values | undefined, field) ?? '') as string;

const disk = (id: Row): Row[] => [id, ['FSType', 'fsType', text], ['Partition', 'partition', number], ['ReadOnly', 'readOnly', flag]];
const scaleIO = (secretRows: readonly Row[]): Row[] => [
  ['Gateway', 'gateway', text],
  ['System', 'system', text],
  ['Protection Domain', 'protectionDomain', text],
  ['Storage Pool', 'storagePool', text],
  ['Storage Mode', 'storageMode', text],
  ['VolumeName', 'volumeName', text],
  ...secretRows,
  ['FSType', 'fsType', text],
  ['ReadOnly', 'readOnly', flag],
];

/** By the name of the field, for pods and for persistent volumes. */
export const sources: Readonly<Record<string, Source>> = {
  hostPath: {
    type: 'HostPath (bare host directory volume)',
    rows: [
      ['Path', 'path', text],
      ['HostPathType', 'type', or('<none>')],
    ],
  },
  emptyDir: {
    type: "EmptyDir (a temporary directory that shares a pod's lifetime)",
    rows: [
      ['Medium', 'medium', text],
      ['SizeLimit', 'sizeLimit', sizeLimit],
    ],
  },
  gcePersistentDisk: {
    type: 'GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)',
    rows: disk(['PDName', 'pdName', text]),
  },
  awsElasticBlockStore: {
    type: 'AWSElasticBlockStore (a Persistent Disk resource in AWS)',
    rows: disk(['VolumeID', 'volumeID', text]),
  },
  gitRepo: {
    type: 'GitRepo (a volume that is pulled from git when the pod is created)',
    rows: [
      ['Repository', 'repository', text],
      ['Revision', 'revision', text],
    ],
  },
  secret: {
    type: 'Secret (a volume populated by a Secret)',
    rows: [
      ['SecretName', 'secretName', text],
      ['Optional', 'optional', flag],
    ],
  },
  configMap: {
    type: 'ConfigMap (a volume populated by a ConfigMap)',
    rows: [
      ['Name', 'name', text],
      ['Optional', 'optional', flag],
    ],
  },
  nfs: {
    type: 'NFS (an NFS mount that lasts the lifetime of a pod)',
    rows: [
      ['Server', 'server', text],
      ['Path', 'path', text],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  iscsi: {
    type: "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)",
    rows: [
      ['TargetPortal', 'targetPortal', text],
      ['IQN', 'iqn', text],
      ['Lun', 'lun', number],
      ['ISCSIInterface', 'iscsiInterface', text],
      ['FSType', 'fsType', text],
      ['ReadOnly', 'readOnly', flag],
      ['Portals', 'portals', list],
      ['DiscoveryCHAPAuth', 'chapAuthDiscovery', flag],
      ['SessionCHAPAuth', 'chapAuthSession', flag],
      ['SecretRef', 'secretRef', secret],
      ['InitiatorName', 'initiatorName', or('<none>')],
    ],
  },
  glusterfs: {
    type: "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
    rows: [
      ['EndpointsName', 'endpoints', text],
      ['Path', 'path', text],
      ['ReadOnly', 'readOnly', flag],
    ],
    inVolume: [
      ['EndpointsName', 'endpoints', text],
      ['EndpointsNamespace', 'endpointsNamespace', or('<unset>')],
      ['Path', 'path', text],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  persistentVolumeClaim: {
    type: 'PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)',
    rows: [
      ['ClaimName', 'claimName', text],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  rbd: {
    type: "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
    rows: [
      ['CephMonitors', 'monitors', list],
      ['RBDImage', 'image', text],
      ['FSType', 'fsType', text],
      ['RBDPool', 'pool', text],
      ['RadosUser', 'user', text],
      ['Keyring', 'keyring', text],
      ['SecretRef', 'secretRef', secret],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  quobyte: {
    type: "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
    rows: [
      ['Registry', 'registry', text],
      ['Volume', 'volume', text],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  azureDisk: {
    type: 'AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)',
    rows: [
      ['DiskName', 'diskName', text],
      ['DiskURI', 'diskURI', text],
      ['Kind', 'kind', text],
      ['FSType', 'fsType', text],
      ['CachingMode', 'cachingMode', text],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  vsphereVolume: {
    type: 'vSphereVolume (a Persistent Disk resource in vSphere)',
    rows: [
      ['VolumePath', 'volumePath', text],
      ['FSType', 'fsType', text],
      ['StoragePolicyName', 'storagePolicyName', text],
    ],
  },
  cinder: {
    type: 'Cinder (a Persistent Disk resource in OpenStack)',
    rows: [
      ['VolumeID', 'volumeID', text],
      ['FSType', 'fsType', text],
      ['ReadOnly', 'readOnly', flag],
      ['SecretRef', 'secretRef', secret],
    ],
  },
  photonPersistentDisk: {
    type: 'PhotonPersistentDisk (a Persistent Disk resource in photon platform)',
    rows: [
      ['PdID', 'pdID', text],
      ['FSType', 'fsType', text],
    ],
  },
  portworxVolume: { type: 'PortworxVolume (a Portworx Volume resource)', rows: [['VolumeID', 'volumeID', text]] },
  scaleIO: {
    type: 'ScaleIO (a persistent volume backed by a block device in ScaleIO)',
    rows: scaleIO([]),
    inVolume: scaleIO([
      ['SecretName', 'secretRef', partOf('name')],
      ['SecretNamespace', 'secretRef', partOf('namespace')],
    ]),
  },
  local: { type: 'LocalVolume (a persistent volume backed by local storage on a node)', rows: [['Path', 'path', text]] },
  cephfs: {
    type: "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
    rows: [
      ['Monitors', 'monitors', list],
      ['Path', 'path', text],
      ['User', 'user', text],
      ['SecretFile', 'secretFile', text],
      ['SecretRef', 'secretRef', secret],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  storageos: {
    type: 'StorageOS (a StorageOS Persistent Disk resource)',
    rows: [
      ['VolumeName', 'volumeName', text],
      ['VolumeNamespace', 'volumeNamespace', text],
      ['FSType', 'fsType', text],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  fc: {
    type: 'FC (a Fibre Channel disk)',
    rows: [
      ['TargetWWNs', 'targetWWNs', joined],
      ['LUN', 'lun', or('<none>')],
      ['FSType', 'fsType', text],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  azureFile: {
    type: 'AzureFile (an Azure File Service mount on the host and bind mount to the pod)',
    rows: [
      ['SecretName', 'secretName', text],
      ['ShareName', 'shareName', text],
      ['ReadOnly', 'readOnly', flag],
    ],
    inVolume: [
      ['SecretName', 'secretName', text],
      ['SecretNamespace', 'secretNamespace', text],
      ['ShareName', 'shareName', text],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
  flexVolume: {
    type: 'FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)',
    rows: [
      ['Driver', 'driver', text],
      ['FSType', 'fsType', text],
      ['SecretRef', 'secretRef', secret],
      ['ReadOnly', 'readOnly', flag],
      ['Options', 'options', pairs],
    ],
  },
  flocker: {
    type: 'Flocker (a Flocker volume mounted by the Flocker agent)',
    rows: [
      ['DatasetName', 'datasetName', text],
      ['DatasetUUID', 'datasetUUID', text],
    ],
  },
  csi: {
    type: 'CSI (a Container Storage Interface (CSI) volume source)',
    rows: [
      ['Driver', 'driver', text],
      ['FSType', 'fsType', text],
      ['ReadOnly', 'readOnly', flag],
    ],
    inVolume: [
      ['Driver', 'driver', text],
      ['FSType', 'fsType', text],
      ['VolumeHandle', 'volumeHandle', text],
      ['ReadOnly', 'readOnly', flag],
    ],
  },
};

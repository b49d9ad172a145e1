/** Persistent volumes. */
import { always, type Infer, inline, list, map, message, object, opt, ptr, quantity, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../../meta.ts';
import { NodeSelector } from '../pods/scheduling.ts';
import { ObjectReference } from '../references.ts';
import {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  HostPathVolumeSource,
  NFSVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from './disks.ts';
import {
  AzureFilePersistentVolumeSource,
  CephFSPersistentVolumeSource,
  CinderPersistentVolumeSource,
  CSIPersistentVolumeSource,
  FlexPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  RBDPersistentVolumeSource,
  ScaleIOPersistentVolumeSource,
  StorageOSPersistentVolumeSource,
} from './network-disks.ts';
import { accessModes, volumeModes } from './persistent-volume-claims.ts';

const LocalVolumeSource = message('core.v1.LocalVolumeSource', {
  path: req(1, string),
  fsType: ptr(2, string),
});

export const PersistentVolumeSource = message('core.v1.PersistentVolumeSource', {
  gcePersistentDisk: ptr(1, GCEPersistentDiskVolumeSource),
  awsElasticBlockStore: ptr(2, AWSElasticBlockStoreVolumeSource),
  hostPath: ptr(3, HostPathVolumeSource),
  glusterfs: ptr(4, GlusterfsPersistentVolumeSource),
  nfs: ptr(5, NFSVolumeSource),
  rbd: ptr(6, RBDPersistentVolumeSource),
  iscsi: ptr(7, ISCSIPersistentVolumeSource),
  cinder: ptr(8, CinderPersistentVolumeSource),
  cephfs: ptr(9, CephFSPersistentVolumeSource),
  fc: ptr(10, FCVolumeSource),
  flocker: ptr(11, FlockerVolumeSource),
  flexVolume: ptr(12, FlexPersistentVolumeSource),
  azureFile: ptr(13, AzureFilePersistentVolumeSource),
  vsphereVolume: ptr(14, VsphereVirtualDiskVolumeSource),
  quobyte: ptr(15, QuobyteVolumeSource),
  azureDisk: ptr(16, AzureDiskVolumeSource),
  photonPersistentDisk: ptr(17, PhotonPersistentDiskVolumeSource),
  portworxVolume: ptr(18, PortworxVolumeSource),
  scaleIO: ptr(19, ScaleIOPersistentVolumeSource),
  local: ptr(20, LocalVolumeSource),
  storageos: ptr(21, StorageOSPersistentVolumeSource),
  csi: ptr(22, CSIPersistentVolumeSource),
});
export type PersistentVolumeSource = Infer<typeof PersistentVolumeSource>;

export const VolumeNodeAffinity = message('core.v1.VolumeNodeAffinity', {
  required: ptr(1, NodeSelector),
});
export type VolumeNodeAffinity = Infer<typeof VolumeNodeAffinity>;

export const PersistentVolumeSpec = message('core.v1.PersistentVolumeSpec', {
  capacity: opt(1, map(quantity)),
  persistentVolumeSource: inline(2, PersistentVolumeSource),
  accessModes: opt(3, list(string), accessModes),
  claimRef: ptr(4, ObjectReference),
  persistentVolumeReclaimPolicy: opt(5, string, { enum: ['Delete', 'Recycle', 'Retain'] }),
  storageClassName: opt(6, string),
  mountOptions: opt(7, list(string)),
  volumeMode: ptr(8, string, volumeModes),
  nodeAffinity: ptr(9, VolumeNodeAffinity),
  volumeAttributesClassName: ptr(10, string, { since: '1.29', gate: 'VolumeAttributesClass' }),
});
export type PersistentVolumeSpec = Infer<typeof PersistentVolumeSpec>;

const PersistentVolumeStatus = message('core.v1.PersistentVolumeStatus', {
  phase: opt(1, string, { default: 'Pending', enum: ['Available', 'Bound', 'Failed', 'Pending', 'Released'] }),
  message: opt(2, string),
  reason: opt(3, string),
  lastPhaseTransitionTime: ptr(4, time, { since: '1.28', gate: 'PersistentVolumeLastPhaseTransitionTime' }),
});

export const PersistentVolume = object('core.v1.PersistentVolume', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PersistentVolumeSpec),
  status: always(3, PersistentVolumeStatus),
});
export type PersistentVolume = Infer<typeof PersistentVolume>;

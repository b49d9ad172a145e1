/** Storage classes, drivers and attachments of volumes. */
import {
  always,
  bool,
  type Infer,
  int32,
  int64,
  list,
  map,
  message,
  object,
  opt,
  ptr,
  quantity,
  req,
  string,
  time,
} from '@plat-dev/schema/types';
import { TopologySelectorTerm } from '../../core/schema/pods/scheduling.ts';
import { PersistentVolumeSpec } from '../../core/schema/volumes/persistent-volumes.ts';
import { LabelSelector, ObjectMeta } from '../../meta.ts';
import { pointerValues } from '../../published-values.ts';

export const TokenRequest = message('storage.v1.TokenRequest', {
  audience: req(1, string),
  expirationSeconds: ptr(2, int64),
});
export type TokenRequest = Infer<typeof TokenRequest>;

export const CSIDriverSpec = message('storage.v1.CSIDriverSpec', {
  attachRequired: ptr(1, bool, { default: true }),
  podInfoOnMount: ptr(2, bool, { default: false }),
  volumeLifecycleModes: opt(3, list(string, 'set'), { gate: 'CSIInlineVolume' }),
  storageCapacity: ptr(4, bool, { default: false }),
  fsGroupPolicy: ptr(5, string, { default: 'ReadWriteOnceWithFSType' }),
  tokenRequests: opt(6, list(TokenRequest)),
  requiresRepublish: ptr(7, bool, { default: false }),
  seLinuxMount: ptr(8, bool, { since: '1.25', gate: 'SELinuxMountReadWriteOncePod' }),
  nodeAllocatableUpdatePeriodSeconds: ptr(9, int64, { since: '1.33', gate: 'MutableCSINodeAllocatableCount' }),
  serviceAccountTokenInSecrets: ptr(10, bool, { since: '1.35', gate: 'CSIServiceAccountTokenSecrets' }),
  preventPodSchedulingIfMissing: ptr(11, bool, { since: '1.36', gate: 'VolumeLimitScaling' }),
});
export type CSIDriverSpec = Infer<typeof CSIDriverSpec>;

export const CSIDriver = object('storage.v1.CSIDriver', {
  metadata: always(1, ObjectMeta),
  spec: req(2, CSIDriverSpec),
});
export type CSIDriver = Infer<typeof CSIDriver>;

const VolumeNodeResources = message('storage.v1.VolumeNodeResources', {
  count: ptr(1, int32),
});

export const CSINodeDriver = message('storage.v1.CSINodeDriver', {
  name: req(1, string),
  nodeID: req(2, string),
  topologyKeys: always(3, list(string)),
  allocatable: ptr(4, VolumeNodeResources),
});
export type CSINodeDriver = Infer<typeof CSINodeDriver>;

const CSINodeSpec = message('storage.v1.CSINodeSpec', {
  drivers: req(1, list(CSINodeDriver, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
});

export const CSINode = object('storage.v1.CSINode', {
  metadata: always(1, ObjectMeta),
  spec: req(2, CSINodeSpec),
});
export type CSINode = Infer<typeof CSINode>;

export const CSIStorageCapacity = object('storage.v1.CSIStorageCapacity', {
  metadata: always(1, ObjectMeta),
  nodeTopology: ptr(2, LabelSelector),
  storageClassName: req(3, string),
  capacity: ptr(4, quantity),
  maximumVolumeSize: ptr(5, quantity),
});
export type CSIStorageCapacity = Infer<typeof CSIStorageCapacity>;

export const StorageClass = object('storage.v1.StorageClass', {
  metadata: always(1, ObjectMeta),
  provisioner: req(2, string),
  parameters: opt(3, map(string)),
  reclaimPolicy: ptr(4, string, { default: 'Delete', ...pointerValues('Delete', 'Recycle', 'Retain') }),
  mountOptions: opt(5, list(string)),
  allowVolumeExpansion: ptr(6, bool),
  volumeBindingMode: ptr(7, string, { default: 'Immediate', ...pointerValues('Immediate', 'WaitForFirstConsumer') }),
  allowedTopologies: opt(8, list(TopologySelectorTerm)),
});
export type StorageClass = Infer<typeof StorageClass>;

export const VolumeAttachmentSource = message('storage.v1.VolumeAttachmentSource', {
  persistentVolumeName: ptr(1, string),
  inlineVolumeSpec: ptr(2, PersistentVolumeSpec, { gate: 'CSIMigration' }),
});
export type VolumeAttachmentSource = Infer<typeof VolumeAttachmentSource>;

const VolumeAttachmentSpec = message('storage.v1.VolumeAttachmentSpec', {
  attacher: req(1, string),
  source: req(2, VolumeAttachmentSource),
  nodeName: req(3, string),
});

export const VolumeError = message('storage.v1.VolumeError', {
  time: always(1, time),
  message: opt(2, string),
  errorCode: ptr(3, int32, { since: '1.33', gate: 'MutableCSINodeAllocatableCount' }),
});
export type VolumeError = Infer<typeof VolumeError>;

const VolumeAttachmentStatus = message('storage.v1.VolumeAttachmentStatus', {
  attached: req(1, bool),
  attachmentMetadata: opt(2, map(string)),
  attachError: ptr(3, VolumeError),
  detachError: ptr(4, VolumeError),
});

export const VolumeAttachment = object('storage.v1.VolumeAttachment', {
  metadata: always(1, ObjectMeta),
  spec: req(2, VolumeAttachmentSpec),
  status: always(3, VolumeAttachmentStatus),
});
export type VolumeAttachment = Infer<typeof VolumeAttachment>;

/** Volume sources that come in two forms: in a pod the secret is in the same namespace, in a persistent volume it is named in full. */
import { always, bool, type Infer, int32, list, map, message, opt, ptr, req, string } from '@plat-dev/schema/types';
import { LocalObjectReference, ObjectReference, SecretReference } from '../references.ts';

export const AzureFilePersistentVolumeSource = message('core.v1.AzureFilePersistentVolumeSource', {
  secretName: req(1, string),
  shareName: req(2, string),
  readOnly: opt(3, bool),
  secretNamespace: always(4, string, { nullable: true }),
});
export type AzureFilePersistentVolumeSource = Infer<typeof AzureFilePersistentVolumeSource>;

export const AzureFileVolumeSource = message('core.v1.AzureFileVolumeSource', {
  secretName: req(1, string),
  shareName: req(2, string),
  readOnly: opt(3, bool),
});
export type AzureFileVolumeSource = Infer<typeof AzureFileVolumeSource>;

export const CephFSPersistentVolumeSource = message('core.v1.CephFSPersistentVolumeSource', {
  monitors: req(1, list(string)),
  path: opt(2, string),
  user: opt(3, string),
  secretFile: opt(4, string),
  secretRef: ptr(5, SecretReference),
  readOnly: opt(6, bool),
});
export type CephFSPersistentVolumeSource = Infer<typeof CephFSPersistentVolumeSource>;

export const CephFSVolumeSource = message('core.v1.CephFSVolumeSource', {
  monitors: req(1, list(string)),
  path: opt(2, string),
  user: opt(3, string),
  secretFile: opt(4, string),
  secretRef: ptr(5, LocalObjectReference),
  readOnly: opt(6, bool),
});
export type CephFSVolumeSource = Infer<typeof CephFSVolumeSource>;

export const CinderPersistentVolumeSource = message('core.v1.CinderPersistentVolumeSource', {
  volumeID: req(1, string),
  fsType: opt(2, string),
  readOnly: opt(3, bool),
  secretRef: ptr(4, SecretReference),
});
export type CinderPersistentVolumeSource = Infer<typeof CinderPersistentVolumeSource>;

export const CinderVolumeSource = message('core.v1.CinderVolumeSource', {
  volumeID: req(1, string),
  fsType: opt(2, string),
  readOnly: opt(3, bool),
  secretRef: ptr(4, LocalObjectReference),
});
export type CinderVolumeSource = Infer<typeof CinderVolumeSource>;

export const CSIPersistentVolumeSource = message('core.v1.CSIPersistentVolumeSource', {
  driver: req(1, string),
  volumeHandle: req(2, string),
  readOnly: opt(3, bool),
  fsType: opt(4, string),
  volumeAttributes: opt(5, map(string)),
  controllerPublishSecretRef: ptr(6, SecretReference),
  nodeStageSecretRef: ptr(7, SecretReference),
  nodePublishSecretRef: ptr(8, SecretReference),
  controllerExpandSecretRef: ptr(9, SecretReference),
  nodeExpandSecretRef: ptr(10, SecretReference, { since: '1.25', gate: 'CSINodeExpandSecret' }),
});
export type CSIPersistentVolumeSource = Infer<typeof CSIPersistentVolumeSource>;

export const CSIVolumeSource = message('core.v1.CSIVolumeSource', {
  driver: req(1, string),
  readOnly: ptr(2, bool),
  fsType: ptr(3, string),
  volumeAttributes: opt(4, map(string)),
  nodePublishSecretRef: ptr(5, LocalObjectReference),
});
export type CSIVolumeSource = Infer<typeof CSIVolumeSource>;

export const FlexPersistentVolumeSource = message('core.v1.FlexPersistentVolumeSource', {
  driver: req(1, string),
  fsType: opt(2, string),
  secretRef: ptr(3, SecretReference),
  readOnly: opt(4, bool),
  options: opt(5, map(string)),
});
export type FlexPersistentVolumeSource = Infer<typeof FlexPersistentVolumeSource>;

export const FlexVolumeSource = message('core.v1.FlexVolumeSource', {
  driver: req(1, string),
  fsType: opt(2, string),
  secretRef: ptr(3, LocalObjectReference),
  readOnly: opt(4, bool),
  options: opt(5, map(string)),
});
export type FlexVolumeSource = Infer<typeof FlexVolumeSource>;

export const GlusterfsPersistentVolumeSource = message('core.v1.GlusterfsPersistentVolumeSource', {
  endpoints: req(1, string),
  path: req(2, string),
  readOnly: opt(3, bool),
  endpointsNamespace: ptr(4, string),
});
export type GlusterfsPersistentVolumeSource = Infer<typeof GlusterfsPersistentVolumeSource>;

export const GlusterfsVolumeSource = message('core.v1.GlusterfsVolumeSource', {
  endpoints: req(1, string),
  path: req(2, string),
  readOnly: opt(3, bool),
});
export type GlusterfsVolumeSource = Infer<typeof GlusterfsVolumeSource>;

export const ISCSIPersistentVolumeSource = message('core.v1.ISCSIPersistentVolumeSource', {
  targetPortal: req(1, string),
  iqn: req(2, string),
  lun: req(3, int32),
  iscsiInterface: opt(4, string, { default: 'default' }),
  fsType: opt(5, string),
  readOnly: opt(6, bool),
  portals: opt(7, list(string)),
  chapAuthDiscovery: opt(8, bool),
  chapAuthSession: opt(11, bool),
  secretRef: ptr(10, SecretReference),
  initiatorName: ptr(12, string),
});
export type ISCSIPersistentVolumeSource = Infer<typeof ISCSIPersistentVolumeSource>;

export const ISCSIVolumeSource = message('core.v1.ISCSIVolumeSource', {
  targetPortal: req(1, string),
  iqn: req(2, string),
  lun: req(3, int32),
  iscsiInterface: opt(4, string, { default: 'default' }),
  fsType: opt(5, string),
  readOnly: opt(6, bool),
  portals: opt(7, list(string)),
  chapAuthDiscovery: opt(8, bool),
  chapAuthSession: opt(11, bool),
  secretRef: ptr(10, LocalObjectReference),
  initiatorName: ptr(12, string),
});
export type ISCSIVolumeSource = Infer<typeof ISCSIVolumeSource>;

export const RBDPersistentVolumeSource = message('core.v1.RBDPersistentVolumeSource', {
  monitors: req(1, list(string)),
  image: req(2, string),
  fsType: opt(3, string),
  pool: opt(4, string, { default: 'rbd' }),
  user: opt(5, string, { default: 'admin' }),
  keyring: opt(6, string, { default: '/etc/ceph/keyring' }),
  secretRef: ptr(7, SecretReference),
  readOnly: opt(8, bool),
});
export type RBDPersistentVolumeSource = Infer<typeof RBDPersistentVolumeSource>;

export const RBDVolumeSource = message('core.v1.RBDVolumeSource', {
  monitors: req(1, list(string)),
  image: req(2, string),
  fsType: opt(3, string),
  pool: opt(4, string, { default: 'rbd' }),
  user: opt(5, string, { default: 'admin' }),
  keyring: opt(6, string, { default: '/etc/ceph/keyring' }),
  secretRef: ptr(7, LocalObjectReference),
  readOnly: opt(8, bool),
});
export type RBDVolumeSource = Infer<typeof RBDVolumeSource>;

export const ScaleIOPersistentVolumeSource = message('core.v1.ScaleIOPersistentVolumeSource', {
  gateway: req(1, string),
  system: req(2, string),
  secretRef: req(3, SecretReference, { nullable: true }),
  sslEnabled: opt(4, bool),
  protectionDomain: opt(5, string),
  storagePool: opt(6, string),
  storageMode: opt(7, string, { default: 'ThinProvisioned' }),
  volumeName: opt(8, string),
  fsType: opt(9, string, { default: 'xfs' }),
  readOnly: opt(10, bool),
});
export type ScaleIOPersistentVolumeSource = Infer<typeof ScaleIOPersistentVolumeSource>;

export const ScaleIOVolumeSource = message('core.v1.ScaleIOVolumeSource', {
  gateway: req(1, string),
  system: req(2, string),
  secretRef: req(3, LocalObjectReference, { nullable: true }),
  sslEnabled: opt(4, bool),
  protectionDomain: opt(5, string),
  storagePool: opt(6, string),
  storageMode: opt(7, string, { default: 'ThinProvisioned' }),
  volumeName: opt(8, string),
  fsType: opt(9, string, { default: 'xfs' }),
  readOnly: opt(10, bool),
});
export type ScaleIOVolumeSource = Infer<typeof ScaleIOVolumeSource>;

export const StorageOSPersistentVolumeSource = message('core.v1.StorageOSPersistentVolumeSource', {
  volumeName: opt(1, string),
  volumeNamespace: opt(2, string),
  fsType: opt(3, string),
  readOnly: opt(4, bool),
  secretRef: ptr(5, ObjectReference),
});
export type StorageOSPersistentVolumeSource = Infer<typeof StorageOSPersistentVolumeSource>;

export const StorageOSVolumeSource = message('core.v1.StorageOSVolumeSource', {
  volumeName: opt(1, string),
  volumeNamespace: opt(2, string),
  fsType: opt(3, string),
  readOnly: opt(4, bool),
  secretRef: ptr(5, LocalObjectReference),
});
export type StorageOSVolumeSource = Infer<typeof StorageOSVolumeSource>;

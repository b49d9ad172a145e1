/** Volumes of a pod. */
import {
  always,
  bool,
  type Infer,
  inline,
  int32,
  int64,
  list,
  map,
  message,
  opt,
  ptr,
  quantity,
  req,
  string,
} from '@plat-dev/schema/types';
import { LabelSelector, ObjectMeta } from '../../../meta.ts';
import { KeyToPath, LocalObjectReference, ObjectFieldSelector, ResourceFieldSelector } from '../references.ts';
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
  AzureFileVolumeSource,
  CephFSVolumeSource,
  CinderVolumeSource,
  CSIVolumeSource,
  FlexVolumeSource,
  GlusterfsVolumeSource,
  ISCSIVolumeSource,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  StorageOSVolumeSource,
} from './network-disks.ts';
import { PersistentVolumeClaimSpec } from './persistent-volume-claims.ts';

const ConfigMapProjection = message('core.v1.ConfigMapProjection', {
  localObjectReference: inline(1, LocalObjectReference),
  items: opt(2, list(KeyToPath)),
  optional: ptr(4, bool),
});

export const ConfigMapVolumeSource = message('core.v1.ConfigMapVolumeSource', {
  localObjectReference: inline(1, LocalObjectReference),
  items: opt(2, list(KeyToPath)),
  defaultMode: ptr(3, int32),
  optional: ptr(4, bool),
});
export type ConfigMapVolumeSource = Infer<typeof ConfigMapVolumeSource>;

const SecretProjection = message('core.v1.SecretProjection', {
  localObjectReference: inline(1, LocalObjectReference),
  items: opt(2, list(KeyToPath)),
  optional: ptr(4, bool),
});

export const SecretVolumeSource = message('core.v1.SecretVolumeSource', {
  secretName: opt(1, string),
  items: opt(2, list(KeyToPath)),
  defaultMode: ptr(3, int32),
  optional: ptr(4, bool),
});
export type SecretVolumeSource = Infer<typeof SecretVolumeSource>;

export const DownwardAPIVolumeFile = message('core.v1.DownwardAPIVolumeFile', {
  path: req(1, string),
  fieldRef: ptr(2, ObjectFieldSelector),
  resourceFieldRef: ptr(3, ResourceFieldSelector),
  mode: ptr(4, int32),
});
export type DownwardAPIVolumeFile = Infer<typeof DownwardAPIVolumeFile>;

const DownwardAPIProjection = message('core.v1.DownwardAPIProjection', {
  items: opt(1, list(DownwardAPIVolumeFile)),
});

export const DownwardAPIVolumeSource = message('core.v1.DownwardAPIVolumeSource', {
  items: opt(1, list(DownwardAPIVolumeFile)),
  defaultMode: ptr(2, int32),
});
export type DownwardAPIVolumeSource = Infer<typeof DownwardAPIVolumeSource>;

export const ServiceAccountTokenProjection = message('core.v1.ServiceAccountTokenProjection', {
  audience: opt(1, string),
  expirationSeconds: ptr(2, int64),
  path: req(3, string),
});
export type ServiceAccountTokenProjection = Infer<typeof ServiceAccountTokenProjection>;

const ClusterTrustBundleProjection = message('core.v1.ClusterTrustBundleProjection', {
  name: ptr(1, string),
  signerName: ptr(2, string),
  labelSelector: ptr(3, LabelSelector),
  optional: ptr(5, bool),
  path: req(4, string),
});

const PodCertificateProjection = message('core.v1.PodCertificateProjection', {
  signerName: opt(1, string, { required: true }),
  keyType: opt(2, string, { required: true }),
  maxExpirationSeconds: ptr(3, int32),
  credentialBundlePath: opt(4, string),
  keyPath: opt(5, string),
  certificateChainPath: opt(6, string),
  userAnnotations: opt(7, map(string), { since: '1.35' }),
});

export const VolumeProjection = message('core.v1.VolumeProjection', {
  secret: ptr(1, SecretProjection),
  downwardAPI: ptr(2, DownwardAPIProjection),
  configMap: ptr(3, ConfigMapProjection),
  serviceAccountToken: ptr(4, ServiceAccountTokenProjection),
  clusterTrustBundle: ptr(5, ClusterTrustBundleProjection, { since: '1.29', gate: 'ClusterTrustBundleProjection' }),
  podCertificate: ptr(6, PodCertificateProjection, { since: '1.34', gate: 'PodCertificateRequest' }),
});
export type VolumeProjection = Infer<typeof VolumeProjection>;

export const ProjectedVolumeSource = message('core.v1.ProjectedVolumeSource', {
  sources: always(1, list(VolumeProjection)),
  defaultMode: ptr(2, int32),
});
export type ProjectedVolumeSource = Infer<typeof ProjectedVolumeSource>;

const EmptyDirVolumeSource = message('core.v1.EmptyDirVolumeSource', {
  medium: opt(1, string),
  sizeLimit: ptr(2, quantity, { gate: 'LocalStorageCapacityIsolation' }),
});

const PersistentVolumeClaimTemplate = message('core.v1.PersistentVolumeClaimTemplate', {
  metadata: always(1, ObjectMeta),
  spec: req(2, PersistentVolumeClaimSpec),
});

const EphemeralVolumeSource = message('core.v1.EphemeralVolumeSource', {
  volumeClaimTemplate: ptr(1, PersistentVolumeClaimTemplate),
});

const GitRepoVolumeSource = message('core.v1.GitRepoVolumeSource', {
  repository: req(1, string),
  revision: opt(2, string),
  directory: opt(3, string),
});

const PersistentVolumeClaimVolumeSource = message('core.v1.PersistentVolumeClaimVolumeSource', {
  claimName: req(1, string),
  readOnly: opt(2, bool),
});

const ImageVolumeSource = message('core.v1.ImageVolumeSource', {
  reference: opt(1, string),
  pullPolicy: opt(2, string, { enum: ['Always', 'IfNotPresent', 'Never'] }),
});

export const VolumeSource = message('core.v1.VolumeSource', {
  hostPath: ptr(1, HostPathVolumeSource),
  emptyDir: ptr(2, EmptyDirVolumeSource),
  gcePersistentDisk: ptr(3, GCEPersistentDiskVolumeSource),
  awsElasticBlockStore: ptr(4, AWSElasticBlockStoreVolumeSource),
  gitRepo: ptr(5, GitRepoVolumeSource),
  secret: ptr(6, SecretVolumeSource),
  nfs: ptr(7, NFSVolumeSource),
  iscsi: ptr(8, ISCSIVolumeSource),
  glusterfs: ptr(9, GlusterfsVolumeSource),
  persistentVolumeClaim: ptr(10, PersistentVolumeClaimVolumeSource),
  rbd: ptr(11, RBDVolumeSource),
  flexVolume: ptr(12, FlexVolumeSource),
  cinder: ptr(13, CinderVolumeSource),
  cephfs: ptr(14, CephFSVolumeSource),
  flocker: ptr(15, FlockerVolumeSource),
  downwardAPI: ptr(16, DownwardAPIVolumeSource),
  fc: ptr(17, FCVolumeSource),
  azureFile: ptr(18, AzureFileVolumeSource),
  configMap: ptr(19, ConfigMapVolumeSource),
  vsphereVolume: ptr(20, VsphereVirtualDiskVolumeSource),
  quobyte: ptr(21, QuobyteVolumeSource),
  azureDisk: ptr(22, AzureDiskVolumeSource),
  photonPersistentDisk: ptr(23, PhotonPersistentDiskVolumeSource),
  projected: ptr(26, ProjectedVolumeSource),
  portworxVolume: ptr(24, PortworxVolumeSource),
  scaleIO: ptr(25, ScaleIOVolumeSource),
  storageos: ptr(27, StorageOSVolumeSource),
  csi: ptr(28, CSIVolumeSource, { gate: 'CSIInlineVolume' }),
  ephemeral: ptr(29, EphemeralVolumeSource),
  // Without the gate the whole volume goes (pod-gates.ts).
  image: ptr(30, ImageVolumeSource, { since: '1.31' }),
});
export type VolumeSource = Infer<typeof VolumeSource>;

export const Volume = message('core.v1.Volume', {
  name: req(1, string),
  volumeSource: inline(2, VolumeSource),
});
export type Volume = Infer<typeof Volume>;

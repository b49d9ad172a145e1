/** Volume sources that pods and persistent volumes share: disks and shares of one system each. */
import { bool, type Infer, int32, list, message, opt, ptr, req, string } from '@plat-dev/schema/types';

export const AWSElasticBlockStoreVolumeSource = message('core.v1.AWSElasticBlockStoreVolumeSource', {
  volumeID: req(1, string),
  fsType: opt(2, string),
  partition: opt(3, int32),
  readOnly: opt(4, bool),
});
export type AWSElasticBlockStoreVolumeSource = Infer<typeof AWSElasticBlockStoreVolumeSource>;

export const AzureDiskVolumeSource = message('core.v1.AzureDiskVolumeSource', {
  diskName: req(1, string),
  diskURI: req(2, string),
  cachingMode: ptr(3, string, { default: 'ReadWrite' }),
  fsType: ptr(4, string, { default: 'ext4' }),
  readOnly: ptr(5, bool, { default: false }),
  kind: ptr(6, string, { default: 'Shared' }),
});
export type AzureDiskVolumeSource = Infer<typeof AzureDiskVolumeSource>;

export const FCVolumeSource = message('core.v1.FCVolumeSource', {
  targetWWNs: opt(1, list(string)),
  lun: ptr(2, int32),
  fsType: opt(3, string),
  readOnly: opt(4, bool),
  wwids: opt(5, list(string)),
});
export type FCVolumeSource = Infer<typeof FCVolumeSource>;

export const FlockerVolumeSource = message('core.v1.FlockerVolumeSource', {
  datasetName: opt(1, string),
  datasetUUID: opt(2, string),
});
export type FlockerVolumeSource = Infer<typeof FlockerVolumeSource>;

export const GCEPersistentDiskVolumeSource = message('core.v1.GCEPersistentDiskVolumeSource', {
  pdName: req(1, string),
  fsType: opt(2, string),
  partition: opt(3, int32),
  readOnly: opt(4, bool),
});
export type GCEPersistentDiskVolumeSource = Infer<typeof GCEPersistentDiskVolumeSource>;

export const HostPathVolumeSource = message('core.v1.HostPathVolumeSource', {
  path: req(1, string),
  type: ptr(2, string, { default: '' }),
});
export type HostPathVolumeSource = Infer<typeof HostPathVolumeSource>;

export const NFSVolumeSource = message('core.v1.NFSVolumeSource', {
  server: req(1, string),
  path: req(2, string),
  readOnly: opt(3, bool),
});
export type NFSVolumeSource = Infer<typeof NFSVolumeSource>;

export const PhotonPersistentDiskVolumeSource = message('core.v1.PhotonPersistentDiskVolumeSource', {
  pdID: req(1, string),
  fsType: opt(2, string),
});
export type PhotonPersistentDiskVolumeSource = Infer<typeof PhotonPersistentDiskVolumeSource>;

export const PortworxVolumeSource = message('core.v1.PortworxVolumeSource', {
  volumeID: req(1, string),
  fsType: opt(2, string),
  readOnly: opt(3, bool),
});
export type PortworxVolumeSource = Infer<typeof PortworxVolumeSource>;

export const QuobyteVolumeSource = message('core.v1.QuobyteVolumeSource', {
  registry: req(1, string),
  volume: req(2, string),
  readOnly: opt(3, bool),
  user: opt(4, string),
  group: opt(5, string),
  tenant: opt(6, string),
});
export type QuobyteVolumeSource = Infer<typeof QuobyteVolumeSource>;

export const VsphereVirtualDiskVolumeSource = message('core.v1.VsphereVirtualDiskVolumeSource', {
  volumePath: req(1, string),
  fsType: opt(2, string),
  storagePolicyName: opt(3, string),
  storagePolicyID: opt(4, string),
});
export type VsphereVirtualDiskVolumeSource = Infer<typeof VsphereVirtualDiskVolumeSource>;

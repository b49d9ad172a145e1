import type { Descriptions } from '../../../description-texts.ts';
import { shared } from './disks.descriptions.ts';

const azureFile = {
  secretName: 'Name of the Secret with the name and the key of the storage account.',
  shareName: 'Name of the Azure share.',
  readOnly: shared.readOnly,
};
const cephfs = {
  monitors: 'Addresses of the Ceph monitors.',
  path: 'Directory of the Ceph tree to mount. Defaults to its root, /.',
  user: 'Ceph user. Defaults to admin.',
  secretFile: 'Path of the key ring of the user on the node. Defaults to /etc/ceph/user.secret.',
  secretRef: 'Secret with the key of the user, instead of secretFile. Defaults to empty.',
  readOnly: shared.readOnly,
};
const cinder = {
  ...shared,
  volumeID: 'ID of the volume in Cinder.',
  secretRef: 'Secret with the parameters to connect to OpenStack.',
};
const flex = {
  driver: 'Name of the plug-in that handles the volume.',
  fsType: 'File system to mount, such as ext4. The default depends on the plug-in.',
  secretRef: 'Secret that is passed to the plug-in, which may hold credentials.',
  readOnly: shared.readOnly,
  options: 'Additional options for the plug-in, by name.',
};
const gluster = {
  endpoints: 'Name of the Endpoints object that lists the Gluster servers.',
  path: 'Name of the Gluster volume.',
  readOnly: shared.readOnly,
};
const iscsi = {
  ...shared,
  targetPortal: 'Address of the iSCSI target portal, with a port if it is not the default 3260.',
  iqn: 'Qualified name of the iSCSI target.',
  lun: 'Logical unit number of the disk at the target, from 0 to 255.',
  iscsiInterface: 'Initiator interface to use. Defaults to default, which is TCP.',
  portals: 'Further portals of the same target, for multiple paths.',
  chapAuthDiscovery: 'Whether CHAP authentication is used for discovery.',
  chapAuthSession: 'Whether CHAP authentication is used for the session.',
  secretRef: 'Secret with the CHAP credentials of target and initiator.',
  initiatorName: 'Initiator name to use, instead of that of the node. A new interface is created for it.',
};
const rbd = {
  ...shared,
  monitors: 'Addresses of the Ceph monitors.',
  image: 'Name of the RBD image.',
  pool: 'Ceph pool that holds the image. Defaults to rbd.',
  user: 'RADOS user. Defaults to admin.',
  keyring: 'Path of the key ring on the node. Defaults to /etc/ceph/keyring.',
  secretRef: 'Secret with the key of the RADOS user; it wins over keyring.',
};
const scaleIO = {
  gateway: 'Address of the ScaleIO API gateway.',
  system: 'Name of the storage system, as ScaleIO is configured.',
  secretRef: 'Secret with the ScaleIO user and password. Required to log in.',
  sslEnabled: 'Connect to the gateway over TLS. Defaults to false.',
  protectionDomain: 'ScaleIO protection domain of the storage.',
  storagePool: 'ScaleIO pool in the protection domain.',
  storageMode: 'Whether the storage is ThickProvisioned or ThinProvisioned. Defaults to ThinProvisioned.',
  volumeName: 'Name of an existing volume in the ScaleIO system.',
  fsType: 'File system to mount, such as ext4. Defaults to xfs.',
  readOnly: shared.readOnly,
};
const storageOS = {
  ...shared,
  volumeName: 'Readable name of the volume, unique within its StorageOS namespace.',
  volumeNamespace: 'StorageOS namespace of the volume. Defaults to the namespace of the pod.',
  secretRef: 'Secret with the credentials for the StorageOS API. Without it defaults are tried.',
};
const csi = {
  driver: 'Name of the CSI driver that handles the volume, as it is registered in the cluster.',
  volumeAttributes: 'Properties of the volume that are passed to the driver; see its documentation.',
};

/** Sources whose credentials are in the namespace of the pod, or for persistent volumes in any namespace. */
export const networkDisks: Descriptions = {
  'core.AzureFileVolumeSource': { $: 'An Azure Files share, mounted into a pod.', ...azureFile },
  'core.AzureFilePersistentVolumeSource': {
    $: 'An Azure Files share behind a persistent volume.',
    ...azureFile,
    secretNamespace: 'Namespace that the Secret is in. Defaults to that of the pod.',
  },
  'core.CephFSVolumeSource': { $: 'A Ceph file system, mounted into a pod.', ...cephfs },
  'core.CephFSPersistentVolumeSource': { $: 'A Ceph file system behind a persistent volume.', ...cephfs },
  'core.CinderVolumeSource': { $: 'An OpenStack Cinder volume, in the region of the node.', ...cinder },
  'core.CinderPersistentVolumeSource': { $: 'An OpenStack Cinder volume behind a persistent volume.', ...cinder },
  'core.CSIVolumeSource': {
    $: 'An ephemeral volume that a CSI driver creates for a pod and removes with it.',
    ...csi,
    fsType: 'File system to mount, such as ext4. If it is empty the driver decides.',
    readOnly: 'Mount the volume read-only. Defaults to false.',
    nodePublishSecretRef: 'Secret that the driver gets when it publishes and unpublishes the volume on the node.',
  },
  'core.CSIPersistentVolumeSource': {
    $: 'Storage of a CSI driver behind a persistent volume.',
    ...csi,
    volumeHandle: 'Name by which the driver knows the volume, as its create call returned it. Cannot be changed.',
    readOnly: 'Publish the volume read-only. Defaults to false.',
    fsType: 'File system to mount, such as ext4. If it is empty the driver decides.',
    controllerPublishSecretRef: 'Secret that the driver gets when it attaches and detaches the volume.',
    nodeStageSecretRef: 'Secret that the driver gets when it stages the volume on a node.',
    nodePublishSecretRef: 'Secret that the driver gets when it publishes the volume on a node.',
    controllerExpandSecretRef: 'Secret that the driver gets when it expands the volume.',
    nodeExpandSecretRef: 'Secret that the driver gets when it expands the volume on a node.',
  },
  'core.FlexVolumeSource': { $: 'A volume of an exec based plug-in, mounted into a pod. Deprecated.', ...flex },
  'core.FlexPersistentVolumeSource': { $: 'A volume of an exec based plug-in behind a persistent volume. Deprecated.', ...flex },
  'core.GlusterfsVolumeSource': { $: 'A Gluster volume, mounted into a pod.', ...gluster },
  'core.GlusterfsPersistentVolumeSource': {
    $: 'A Gluster volume behind a persistent volume.',
    ...gluster,
    endpointsNamespace: 'Namespace that the Endpoints object is in. Defaults to that of the bound claim.',
  },
  'core.ISCSIVolumeSource': { $: 'An iSCSI disk, mounted into a pod. It can be mounted for writing by one node at a time.', ...iscsi },
  'core.ISCSIPersistentVolumeSource': { $: 'An iSCSI disk behind a persistent volume.', ...iscsi },
  'core.RBDVolumeSource': { $: 'A Ceph block device, mounted into a pod.', ...rbd },
  'core.RBDPersistentVolumeSource': { $: 'A Ceph block device behind a persistent volume.', ...rbd },
  'core.ScaleIOVolumeSource': { $: 'A ScaleIO volume, mounted into a pod. Deprecated.', ...scaleIO },
  'core.ScaleIOPersistentVolumeSource': { $: 'A ScaleIO volume behind a persistent volume. Deprecated.', ...scaleIO },
  'core.StorageOSVolumeSource': { $: 'A StorageOS volume, mounted into a pod. Deprecated.', ...storageOS },
  'core.StorageOSPersistentVolumeSource': { $: 'A StorageOS volume behind a persistent volume. Deprecated.', ...storageOS },
};

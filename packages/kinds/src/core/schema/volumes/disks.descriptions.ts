import type { Descriptions } from '../../../description-texts.ts';

/** Storage systems that a volume can come from, by the field that names them. */
export const systems = {
  gcePersistentDisk: 'A Google Compute Engine disk that is attached to the node.',
  awsElasticBlockStore: 'An AWS Elastic Block Store disk that is attached to the node.',
  hostPath: 'A file or directory of the node itself. It exposes the node, and data does not follow a pod to another one.',
  glusterfs: 'A Gluster volume, mounted from its servers.',
  nfs: 'A directory that an NFS server exports.',
  rbd: 'A Ceph block device image.',
  iscsi: 'A disk that is attached over iSCSI.',
  cinder: 'An OpenStack Cinder volume that is attached to the node.',
  cephfs: 'A directory of a Ceph file system.',
  fc: 'A disk that is attached over Fibre Channel.',
  flocker: 'A dataset of a Flocker control service. Deprecated.',
  flexVolume: 'A volume of an exec based plug-in that is installed on the nodes. Deprecated: use a CSI driver.',
  azureFile: 'An Azure Files share.',
  vsphereVolume: 'A vSphere virtual disk that is attached to the node.',
  quobyte: 'A Quobyte volume. Deprecated.',
  azureDisk: 'An Azure data disk that is attached to the node.',
  photonPersistentDisk: 'A Photon Controller disk that is attached to the node.',
  portworxVolume: 'A Portworx volume that is attached to the node.',
  scaleIO: 'A ScaleIO volume that is attached to the node. Deprecated.',
  storageos: 'A StorageOS volume. Deprecated.',
  csi: 'Storage that an external CSI driver handles.',
  local: 'Storage that is attached to one node directly.',
};

/** Fields that several systems have. */
export const shared = {
  fsType: 'File system of the volume, such as ext4 or xfs; the operating system of the node must support it. Defaults to ext4.',
  readOnly: 'Force the volume to be mounted read-only. Defaults to false.',
};
const partition = 'Number of the partition to mount. 0, the default, means the whole disk.';

/** Disks and shares that persistent volumes and volumes of pods name alike. */
export const disks: Descriptions = {
  'core.AWSElasticBlockStoreVolumeSource': {
    $: 'An AWS Elastic Block Store disk, in the zone of the node. It can be mounted for writing by one node at a time.',
    ...shared,
    volumeID: 'Unique ID of the EBS volume.',
    partition,
  },
  'core.AzureDiskVolumeSource': {
    $: 'An Azure data disk that is mounted into a pod.',
    ...shared,
    diskName: 'Name of the data disk in the blob storage.',
    diskURI: 'URI of the data disk in the blob storage.',
    cachingMode: 'Host caching: None, ReadOnly or ReadWrite. Defaults to ReadWrite.',
    kind: 'Shared (several disks an account), Dedicated (one) or Managed. Defaults to Shared.',
  },
  'core.FCVolumeSource': {
    $: 'A disk on a Fibre Channel network. Either targetWWNs with lun, or wwids are set.',
    ...shared,
    targetWWNs: 'World wide names of the targets.',
    lun: 'Logical unit number of the disk at the target.',
    wwids: 'World wide identifiers of the disk, instead of targetWWNs and lun.',
  },
  'core.FlockerVolumeSource': {
    $: 'A dataset of a Flocker control service; one of name and UUID is set. Deprecated.',
    datasetName: 'Name of the dataset, kept in its metadata. Deprecated.',
    datasetUUID: 'Unique identifier of the dataset.',
  },
  'core.GCEPersistentDiskVolumeSource': {
    $: 'A Google Compute Engine disk, in the zone of the node. It can be mounted for writing by one node at a time.',
    ...shared,
    pdName: 'Name of the disk resource in GCE.',
    partition,
  },
  'core.HostPathVolumeSource': {
    $: 'A file or directory of the node that is mounted into a pod.',
    path: 'Path on the node. A symbolic link is followed.',
    type: 'What must exist: Directory, File, Socket, CharDevice or BlockDevice; DirectoryOrCreate and FileOrCreate create it. Empty checks nothing.',
  },
  'core.NFSVolumeSource': {
    $: 'A directory that an NFS server exports, mounted into a pod.',
    server: 'Host name or IP address of the NFS server.',
    path: 'Absolute path that the server exports.',
    readOnly: shared.readOnly,
  },
  'core.PhotonPersistentDiskVolumeSource': {
    $: 'A Photon Controller disk.',
    pdID: 'ID of the Photon Controller disk.',
    fsType: shared.fsType,
  },
  'core.PortworxVolumeSource': {
    $: 'A Portworx volume, which is attached to the node and mounted into a pod.',
    ...shared,
    volumeID: 'Unique ID of the Portworx volume.',
  },
  'core.QuobyteVolumeSource': {
    $: 'A Quobyte volume, mounted into a pod. Deprecated.',
    readOnly: shared.readOnly,
    registry: 'Quobyte registry services as host:port pairs, separated by commas.',
    volume: 'Name of an existing Quobyte volume.',
    user: 'User to map access to. Defaults to the user of the service account.',
    group: 'Group to map access to. Defaults to no group.',
    tenant: 'Tenant that owns the volume in the backend; set by the plug-in for volumes that it provisions.',
  },
  'core.VsphereVirtualDiskVolumeSource': {
    $: 'A vSphere virtual disk, which is attached to the node and mounted into a pod.',
    volumePath: 'Path that identifies the virtual disk in vSphere.',
    fsType: shared.fsType,
    storagePolicyName: 'Name of the storage profile (SPBM) that the disk follows.',
    storagePolicyID: 'ID of the profile that storagePolicyName names.',
  },
};

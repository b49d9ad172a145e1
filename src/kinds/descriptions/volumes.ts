import type { Descriptions } from '../descriptions.ts';

/** Systems that a volume can come from, by the field that names them. */
const systems = {
  gcePersistentDisk: 'A disk of Google Compute Engine.',
  awsElasticBlockStore: 'A disk of Amazon Elastic Block Store.',
  hostPath: 'A path of the node.',
  glusterfs: 'A Gluster volume.',
  nfs: 'A share of an NFS server.',
  rbd: 'An image of a Ceph block device.',
  iscsi: 'A disk reached over iSCSI.',
  cinder: 'A volume of OpenStack Cinder.',
  cephfs: 'A path of a Ceph file system.',
  fc: 'A disk reached over Fibre Channel.',
  flocker: 'A Flocker dataset.',
  flexVolume: 'A volume of a driver that is a program on the node.',
  azureFile: 'A share of Azure Files.',
  vsphereVolume: 'A disk of vSphere.',
  quobyte: 'A Quobyte volume.',
  azureDisk: 'A disk of Azure.',
  photonPersistentDisk: 'A disk of Photon Controller.',
  portworxVolume: 'A Portworx volume.',
  scaleIO: 'A ScaleIO volume.',
  storageos: 'A StorageOS volume.',
  csi: 'A volume of a storage driver.',
  local: 'A disk or directory of one node.',
};

const ofPods = {
  emptyDir: 'A directory that begins empty and goes with the pod.',
  gitRepo: 'A copy of a git repository; use an init container instead.',
  secret: 'The entries of a secret as files.',
  persistentVolumeClaim: 'The volume that a claim of the namespace is bound to.',
  downwardAPI: 'Facts about the pod as files.',
  configMap: 'The entries of a config map as files.',
  projected: 'Several sources in one directory.',
  ephemeral: 'A volume with a claim that is made for the pod and goes with it.',
};

const cephfs = {
  path: 'The path that is mounted; the root where none is given.',
  secretFile: 'The key file on the node.',
};
const iscsi = {
  targetPortal: 'The address of the target.',
  iqn: 'The name of the target.',
  lun: 'The number of the disk at the target.',
  iscsiInterface: 'The interface that is used.',
  portals: 'Further addresses of the target.',
  chapAuthDiscovery: 'Whether discovery authenticates with CHAP.',
  chapAuthSession: 'Whether sessions authenticate with CHAP.',
  initiatorName: 'The name under which the node speaks.',
};
const rbd = { image: 'The image.', pool: 'The pool that holds the image.', keyring: 'The key ring file on the node.' };
const scaleIO = {
  gateway: 'The address of the gateway.',
  system: 'The name of the storage system.',
  sslEnabled: 'Whether the gateway is spoken to over TLS.',
  protectionDomain: 'The protection domain.',
  storagePool: 'The storage pool.',
  storageMode: 'Whether storage is set aside thick or thin.',
};
const storageOS = { volumeNamespace: 'The namespace of the volume within StorageOS.' };
const gluster = { endpoints: 'The endpoints object that lists the servers.', path: 'The name of the volume.' };
const flex = { driver: 'The name of the driver.', options: 'Options for the driver.' };
const azureFile = { secretName: 'The secret with the name and key of the account.', shareName: 'The name of the share.' };

/** Volumes of pods, and the systems that they come from. */
export const volumes: Descriptions = {
  'core.Volume': {
    $: 'A volume of a pod; exactly one source is given.',
    name: 'The name by which containers mount it.',
    ...systems,
    ...ofPods,
  },
  'core.VolumeSource': { $: 'Where a volume of a pod comes from.', ...systems, ...ofPods },
  'core.PersistentVolumeSource': { $: 'Where a persistent volume comes from.', ...systems },
  'core.PersistentVolumeSpec': {
    $: 'What a persistent volume is.',
    ...systems,
    capacity: 'How much storage it has.',
    claimRef: 'The claim that it is bound to.',
    persistentVolumeReclaimPolicy: 'What happens when the claim is gone: Retain, Delete or Recycle.',
    nodeAffinity: 'From which nodes it can be reached.',
  },
  'core.PersistentVolume': { $: 'A piece of storage of the cluster.' },
  'core.PersistentVolumeStatus': { $: 'What is seen of a persistent volume.', phase: 'Pending, Available, Bound, Released or Failed.' },
  'core.VolumeNodeAffinity': { $: 'From which nodes a volume can be reached.', required: 'Requirements on the node.' },
  'core.PersistentVolumeClaim': { $: 'A wish of a namespace for storage.' },
  'core.PersistentVolumeClaimSpec': {
    $: 'What storage is wished for.',
    selector: 'The labels of volumes that will do.',
    resources: 'How much storage.',
    volumeName: 'The volume that the claim is bound to.',
    storageClassName: 'The class that the volume must have.',
    dataSource: 'A snapshot or claim of the namespace whose data the new volume starts with.',
    dataSourceRef: 'Any object of the namespace from which the new volume is filled.',
  },
  'core.PersistentVolumeClaimStatus': {
    $: 'What is seen of a claim.',
    phase: 'Pending, Bound or Lost.',
    capacity: 'How much storage it has been given.',
    allocatedResources: 'How much storage is set aside, which may be more while it grows.',
    resizeStatus: 'How far growing has come.',
  },
  'core.PersistentVolumeClaimCondition': { $: 'One aspect of the state of a claim.' },
  'core.PersistentVolumeClaimTemplate': { $: 'What a claim is made from.', metadata: 'Labels and annotations that the claim gets.' },
  'core.PersistentVolumeClaimVolumeSource': { $: 'The volume of a claim.', claimName: 'The claim, in the namespace of the pod.' },

  'core.ConfigMapVolumeSource': {
    $: 'The entries of a config map as files.',
    name: 'The name of the config map.',
    items: 'Which entries, and as which files; all when none are given.',
  },
  'core.ConfigMapProjection': {
    $: 'The entries of a config map as files.',
    name: 'The name of the config map.',
    items: 'Which entries, and as which files; all when none are given.',
  },
  'core.SecretVolumeSource': {
    $: 'The entries of a secret as files.',
    items: 'Which entries, and as which files; all when none are given.',
  },
  'core.SecretProjection': {
    $: 'The entries of a secret as files.',
    name: 'The name of the secret.',
    items: 'Which entries, and as which files; all when none are given.',
  },
  'core.KeyToPath': { $: 'An entry as a file.', key: 'The entry.', path: 'The file, relative to the directory of the volume.' },
  'core.DownwardAPIVolumeSource': { $: 'Facts about the pod as files.', items: 'The files.' },
  'core.DownwardAPIProjection': { $: 'Facts about the pod as files.', items: 'The files.' },
  'core.DownwardAPIVolumeFile': {
    $: 'A fact about the pod as a file.',
    path: 'The file, relative to the directory of the volume.',
    fieldRef: 'A field of the pod.',
    resourceFieldRef: 'A request or limit of a container.',
  },
  'core.ServiceAccountTokenProjection': {
    $: 'A token of the service account as a file.',
    audience: 'For whom the token is meant.',
    expirationSeconds: 'How many seconds the token is valid; it is renewed in time.',
    path: 'The file, relative to the directory of the volume.',
  },
  'core.VolumeProjection': {
    $: 'One of several sources in a directory.',
    ...ofPods,
    serviceAccountToken: 'A token of the service account.',
  },
  'core.ProjectedVolumeSource': { $: 'Several sources in one directory.', sources: 'The sources.' },
  'core.EmptyDirVolumeSource': {
    $: 'A directory that begins empty and goes with the pod.',
    medium: 'Where it is kept: empty for the disk of the node, Memory for memory.',
    sizeLimit: 'How much it may hold.',
  },
  'core.EphemeralVolumeSource': {
    $: 'A volume with a claim that goes with the pod.',
    volumeClaimTemplate: 'What the claim is made from.',
  },
  'core.GitRepoVolumeSource': {
    $: 'A copy of a git repository.',
    repository: 'The address of the repository.',
    revision: 'The commit.',
    directory: 'The directory into which it is copied.',
  },

  'core.AWSElasticBlockStoreVolumeSource': { $: systems.awsElasticBlockStore, partition: 'The number of the partition.' },
  'core.AzureDiskVolumeSource': {
    $: systems.azureDisk,
    diskName: 'The name of the disk.',
    diskURI: 'The address of the disk.',
    cachingMode: 'How the host caches: None, ReadOnly or ReadWrite.',
    kind: 'Shared, Dedicated or Managed.',
  },
  'core.AzureFileVolumeSource': { $: systems.azureFile, ...azureFile },
  'core.AzureFilePersistentVolumeSource': { $: systems.azureFile, ...azureFile, secretNamespace: 'The namespace of the secret.' },
  'core.CephFSVolumeSource': { $: systems.cephfs, ...cephfs },
  'core.CephFSPersistentVolumeSource': { $: systems.cephfs, ...cephfs },
  'core.CinderVolumeSource': { $: systems.cinder },
  'core.CinderPersistentVolumeSource': { $: systems.cinder },
  'core.CSIVolumeSource': {
    $: 'A volume of a storage driver, made for the pod.',
    driver: 'The name of the driver.',
    volumeAttributes: 'What the driver wants to know about the volume.',
    nodePublishSecretRef: 'The secret for making the volume appear on the node.',
  },
  'core.CSIPersistentVolumeSource': {
    $: systems.csi,
    driver: 'The name of the driver.',
    volumeHandle: 'The name by which the driver knows the volume.',
    volumeAttributes: 'What the driver wants to know about the volume.',
    controllerPublishSecretRef: 'The secret for attaching the volume.',
    nodeStageSecretRef: 'The secret for preparing the volume on a node.',
    nodePublishSecretRef: 'The secret for making the volume appear on a node.',
    controllerExpandSecretRef: 'The secret for growing the volume.',
  },
  'core.FCVolumeSource': {
    $: systems.fc,
    targetWWNs: 'The world wide names of the targets.',
    lun: 'The number of the disk at the target.',
    wwids: 'The world wide ids of the disk, instead of targets and number.',
  },
  'core.FlexVolumeSource': { $: systems.flexVolume, ...flex },
  'core.FlexPersistentVolumeSource': { $: systems.flexVolume, ...flex },
  'core.FlockerVolumeSource': { $: systems.flocker, datasetName: 'The name of the dataset.', datasetUUID: 'The id of the dataset.' },
  'core.GCEPersistentDiskVolumeSource': {
    $: systems.gcePersistentDisk,
    pdName: 'The name of the disk.',
    partition: 'The number of the partition.',
  },
  'core.GlusterfsVolumeSource': { $: systems.glusterfs, ...gluster },
  'core.GlusterfsPersistentVolumeSource': {
    $: systems.glusterfs,
    ...gluster,
    endpointsNamespace: 'The namespace of the endpoints object; that of the claim where none is given.',
  },
  'core.HostPathVolumeSource': {
    $: systems.hostPath,
    path: 'The path on the node.',
    type: 'What must be there, or is made when it is missing, such as DirectoryOrCreate.',
  },
  'core.ISCSIVolumeSource': { $: systems.iscsi, ...iscsi },
  'core.ISCSIPersistentVolumeSource': { $: systems.iscsi, ...iscsi },
  'core.LocalVolumeSource': { $: systems.local, path: 'The path on the node.' },
  'core.NFSVolumeSource': { $: systems.nfs, server: 'The server.', path: 'The path that the server exports.' },
  'core.PhotonPersistentDiskVolumeSource': { $: systems.photonPersistentDisk, pdID: 'The id of the disk.' },
  'core.PortworxVolumeSource': { $: systems.portworxVolume },
  'core.QuobyteVolumeSource': {
    $: systems.quobyte,
    registry: 'The addresses of the registry.',
    volume: 'The name of the volume.',
    user: 'The user as whom it is mounted.',
    group: 'The group as which it is mounted.',
    tenant: 'The tenant that owns the volume.',
  },
  'core.RBDVolumeSource': { $: systems.rbd, ...rbd },
  'core.RBDPersistentVolumeSource': { $: systems.rbd, ...rbd },
  'core.ScaleIOVolumeSource': { $: systems.scaleIO, ...scaleIO },
  'core.ScaleIOPersistentVolumeSource': { $: systems.scaleIO, ...scaleIO },
  'core.StorageOSVolumeSource': { $: systems.storageos, ...storageOS },
  'core.StorageOSPersistentVolumeSource': { $: systems.storageos, ...storageOS },
  'core.VsphereVirtualDiskVolumeSource': {
    $: systems.vsphereVolume,
    volumePath: 'The path of the disk.',
    storagePolicyName: 'The name of the storage policy.',
    storagePolicyID: 'The id of the storage policy.',
  },
};

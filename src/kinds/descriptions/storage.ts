import type { Descriptions } from '../descriptions.ts';

/** Storage classes, drivers, and attachments of volumes. */
export const storage: Descriptions = {
  'storage.StorageClass': {
    $: 'A sort of storage, and how volumes of it are made.',
    provisioner: 'The provisioner that makes volumes.',
    parameters: 'What the provisioner is told.',
    reclaimPolicy: 'What happens to a volume when its claim is gone.',
    mountOptions: 'Options for mounting volumes of the class.',
    allowVolumeExpansion: 'Whether claims may grow.',
    volumeBindingMode: 'Whether volumes are made at once, or when the first pod needs them: Immediate or WaitForFirstConsumer.',
    allowedTopologies: 'In which places volumes may be made.',
  },
  'storage.CSIDriver': { $: 'A storage driver of the cluster.' },
  'storage.CSIDriverSpec': {
    $: 'What the cluster must know about a storage driver.',
    attachRequired: 'Whether volumes must be attached to a node before they are mounted.',
    podInfoOnMount: 'Whether the driver is told about the pod when it mounts a volume.',
    volumeLifecycleModes: 'The sorts of volumes: Persistent, Ephemeral or both.',
    storageCapacity: 'Whether the driver reports how much storage is left where.',
    fsGroupPolicy: 'Whether the owner of files on a volume may be changed.',
    tokenRequests: 'Tokens of the service account that the driver wants for mounting.',
    requiresRepublish: 'Whether mounted volumes are published again from time to time.',
  },
  'storage.TokenRequest': {
    $: 'A token that a driver wants.',
    audience: 'For whom the token is meant; empty for this server.',
    expirationSeconds: 'How many seconds the token is valid.',
  },
  'storage.CSINode': { $: 'The storage drivers that are installed on a node.' },
  'storage.CSINodeSpec': { $: 'The drivers of a node.', drivers: 'The drivers.' },
  'storage.CSINodeDriver': {
    $: 'A driver on a node.',
    name: 'The name of the driver.',
    nodeID: 'The name by which the driver knows the node.',
    topologyKeys: 'The labels by which the driver tells places apart.',
    allocatable: 'How much the driver can handle on the node.',
  },
  'storage.VolumeNodeResources': { $: 'How much a driver can handle on a node.', count: 'How many volumes.' },
  'storage.CSIStorageCapacity': {
    $: 'How much storage of a class is left in some part of the cluster.',
    nodeTopology: 'The labels of nodes in that part.',
    capacity: 'How much is left.',
    maximumVolumeSize: 'How big a single volume can be.',
  },
  'storage.VolumeAttachment': { $: 'Asks for a volume to be attached to a node.' },
  'storage.VolumeAttachmentSpec': {
    $: 'Which volume is to be attached where.',
    attacher: 'The driver that does it.',
    source: 'The volume.',
    nodeName: 'The node.',
  },
  'storage.VolumeAttachmentSource': {
    $: 'A volume.',
    persistentVolumeName: 'The name of the persistent volume.',
    inlineVolumeSpec: 'The volume itself, when it is not an object of its own.',
  },
  'storage.VolumeAttachmentStatus': {
    $: 'What is seen of an attachment.',
    attached: 'Whether the volume is attached.',
    attachmentMetadata: 'What later steps need to know.',
    attachError: 'What went wrong when attaching.',
    detachError: 'What went wrong when detaching.',
  },
  'storage.VolumeError': { $: 'Something that went wrong with a volume.', time: 'When it went wrong.' },
};

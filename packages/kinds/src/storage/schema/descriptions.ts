import type { Descriptions } from '../../description-texts.ts';

export const storage: Descriptions = {
  'storage.StorageClass': {
    $: 'A class of storage from which volumes are provisioned for claims that request it.',
    provisioner: 'Provisioner that creates the volumes. Cannot be changed.',
    parameters: 'Parameters for the provisioner, at most 512 with 256 KiB in all. Cannot be changed.',
    reclaimPolicy: 'What happens to a provisioned volume when its claim is deleted: Delete or Retain. Defaults to Delete.',
    mountOptions: 'Mount options of provisioned volumes, such as ro or soft. They are not validated.',
    allowVolumeExpansion: 'Whether claims of the class can be made larger. Defaults to false.',
    volumeBindingMode:
      'Immediate provisions and binds at once; WaitForFirstConsumer waits until a pod that uses the claim is scheduled. Defaults to Immediate.',
    allowedTopologies: 'Parts of the cluster in which volumes can be provisioned. Empty means everywhere.',
  },
  'storage.CSIDriver': {
    $: 'A CSI volume driver that is installed in the cluster. Its name is that of the object.',
    spec: 'What the cluster has to know about the driver.',
  },
  'storage.CSIDriverSpec': {
    $: 'The properties of a CSI driver.',
    attachRequired:
      'Whether volumes must be attached before they are mounted, through VolumeAttachment objects. Defaults to true; cannot be changed.',
    podInfoOnMount:
      'Pass name, namespace, UID and service account of the pod to the driver when it mounts. Defaults to false; cannot be changed.',
    volumeLifecycleModes:
      'Kinds of volumes that the driver supports: Persistent, Ephemeral or both. Defaults to Persistent; cannot be changed.',
    storageCapacity: 'Whether pods wait until the driver reports enough free capacity in CSIStorageCapacity objects. Defaults to false.',
    fsGroupPolicy:
      'Whether the ownership of volumes is changed before mounting: ReadWriteOnceWithFSType, File or None. Defaults to ReadWriteOnceWithFSType; cannot be changed.',
    tokenRequests: 'Service account tokens of the pod that are passed to the driver when it publishes a volume, with distinct audiences.',
    requiresRepublish: 'Publish mounted volumes again from time to time, so that the driver can update them. Defaults to false.',
    seLinuxMount:
      'Whether volumes of the driver may be mounted with an SELinux context, so that files need not be relabelled. Defaults to false.',
    nodeAllocatableUpdatePeriodSeconds:
      'Seconds after which node agents ask the driver again how many volumes a node can have, at least 10. Without it they ask only when they start and when a node is full.',
    serviceAccountTokenInSecrets:
      'Whether the driver gets tokens of service accounts among the secrets of a call, rather than in the volume context. Only allowed with tokenRequests. Defaults to false.',
    preventPodSchedulingIfMissing:
      'Whether pods with volumes of the driver are kept from nodes on which it is not installed. Defaults to false.',
  },
  'storage.TokenRequest': {
    $: 'A service account token that a driver needs.',
    audience: 'Audience that the token is meant for. Empty means the API server.',
    expirationSeconds: 'Requested lifetime of the token, at least 600 seconds. Defaults to that of TokenRequest.',
  },
  'storage.CSINode': {
    $: 'The CSI drivers that are installed on the node of the same name.',
    spec: 'Installed drivers of the node.',
  },
  'storage.CSINodeSpec': { $: 'The CSI drivers of a node.', drivers: 'Every driver on the node. Empty once all are uninstalled.' },
  'storage.CSINodeDriver': {
    $: 'A CSI driver on a node.',
    name: 'Name of the driver, as it reports it itself.',
    nodeID: 'Name by which the driver knows the node.',
    topologyKeys: 'Keys of node labels that the driver uses for topology. It may support none.',
    allocatable: 'How much the driver can handle on the node.',
  },
  'storage.VolumeNodeResources': {
    $: 'Limits of a driver on a node.',
    count: 'Most distinct volumes of the driver that the node can use. Without it there is no limit.',
  },
  'storage.CSIStorageCapacity': {
    $: 'How much storage of a class is free in one part of the cluster. Drivers publish it for the scheduler.',
    nodeTopology: 'Selects the nodes that can reach the storage. Without it none can; empty means all. Cannot be changed.',
    storageClassName: 'Storage class that the capacity is of. Cannot be changed.',
    capacity: 'Free amount as the driver reported it. Without it the amount is not known.',
    maximumVolumeSize: 'Largest volume that can be created. Without it capacity is the bound.',
  },
  'storage.VolumeAttachment': {
    $: 'Asks for a volume to be attached to a node, or to be detached when it is deleted.',
    spec: 'The volume, the node that it is attached to, and the attacher. Cannot be changed.',
    status: 'Result of the attach or detach operation.',
  },
  'storage.VolumeAttachmentSpec': {
    $: 'A volume and the node that it is attached to.',
    attacher: 'CSI driver that carries the request out.',
    source: 'Volume that is to be attached.',
    nodeName: 'Node that the volume is to be attached to.',
  },
  'storage.VolumeAttachmentSource': {
    $: 'The volume to attach; exactly one field is set.',
    persistentVolumeName: 'Name of the persistent volume to attach.',
    inlineVolumeSpec: 'Spec of a volume that a pod names directly, translated for a CSI driver. Used by migration.',
  },
  'storage.VolumeAttachmentStatus': {
    $: 'The result of an attach or detach operation.',
    attached: 'Whether the volume is attached.',
    attachmentMetadata: 'What the attach operation returned for the mount operation.',
    attachError: 'Last error of the attach operation, if it failed.',
    detachError: 'Last error of the detach operation, if it failed.',
  },
  'storage.VolumeError': {
    $: 'An error of a volume operation.',
    time: 'When the error occurred.',
    message: 'What went wrong. It may be logged, so it must not hold secrets.',
    errorCode: 'The gRPC code of the error, for errors that came from a driver.',
  },
};

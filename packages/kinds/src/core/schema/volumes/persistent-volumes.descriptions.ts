import type { Descriptions } from '../../../description-texts.ts';
import { systems } from './disks.descriptions.ts';

const accessModes =
  'ReadWriteOnce (one node), ReadOnlyMany (many nodes, reading), ReadWriteMany (many nodes) or ReadWriteOncePod (a single pod).';
const volumeMode = 'Whether the volume is used with a file system or as a raw block device: Filesystem or Block. Defaults to Filesystem.';

export const persistentVolumes: Descriptions = {
  'core.PersistentVolume': {
    $: 'A piece of storage of the cluster, provided by an administrator or by a storage class. It is not namespaced and outlives pods.',
    spec: 'Where the storage is, how much there is, and how it may be used.',
    status: 'Whether the volume is available, bound or released.',
  },
  'core.PersistentVolumeSpec': {
    $: 'The storage behind a persistent volume. Exactly one source is set, and it cannot be changed.',
    ...systems,
    capacity: 'Size of the volume, under the resource storage.',
    accessModes: `Ways in which the volume can be mounted: ${accessModes}`,
    claimRef: 'Claim that the volume is bound to; it is set by the binding, or beforehand to reserve the volume for a claim.',
    persistentVolumeReclaimPolicy:
      'What happens to the volume when its claim is deleted: Retain keeps it, Delete removes it, Recycle (deprecated) empties it. Defaults to Retain.',
    storageClassName: 'Storage class that the volume belongs to. Empty means none; only claims of the same class bind it.',
    mountOptions: 'Mount options, such as ro or soft. They are not validated: mounting fails if one is wrong.',
    volumeMode,
    nodeAffinity: 'Nodes from which the volume can be reached. Pods that use it are only scheduled there.',
    volumeAttributesClassName:
      'Class of the mutable attributes of the volume. Claims of the same class bind it, and it follows that of its claim.',
  },
  'core.VolumeNodeAffinity': {
    $: 'The nodes from which a volume can be reached.',
    required: 'Requirements that such a node must meet.',
  },
  'core.PersistentVolumeStatus': {
    $: 'The observed state of a persistent volume.',
    phase: 'Pending, Available (free to be claimed), Bound, Released (its claim is gone) or Failed (reclaiming failed).',
    message: 'Why the volume is in this phase, for people to read.',
    reason: 'Why reclaiming failed, in one CamelCase word.',
    lastPhaseTransitionTime: 'When the volume came into its phase. The server sets it.',
  },
  'core.LocalVolumeSource': {
    $: 'Storage that is attached to one node. The volume must have a node affinity.',
    path: 'Path on the node: a directory, or a block device.',
    fsType: 'File system to mount a block device with, such as ext4. Chosen by default if it is empty.',
  },
  'core.PersistentVolumeClaim': {
    $: 'A request for storage by a user, which is bound to a persistent volume.',
    spec: 'What storage is requested.',
    status: 'What the claim is bound to, and how large it is.',
  },
  'core.PersistentVolumeClaimTemplate': {
    $: 'A template from which claims of pods are created.',
    metadata: 'Labels and annotations that the claim gets. No other fields are allowed.',
    spec: 'What storage the claim requests. It is copied unchanged.',
  },
  'core.PersistentVolumeClaimSpec': {
    $: 'The storage that a claim requests. Once created, only the requested size can be changed, and only to grow.',
    accessModes: `Ways in which the volume must be mountable: ${accessModes}`,
    selector: 'Labels of the volumes that are considered for binding.',
    resources: 'Least size of the volume, as the request storage. It can be raised if the storage class allows expansion.',
    volumeName: 'Volume that the claim is bound to, or is to be bound to.',
    storageClassName:
      'Storage class of the requested volume. The empty text asks for a volume without a class; without it the default class applies.',
    volumeMode,
    dataSource: 'Snapshot or claim of the same namespace whose data the new volume starts with.',
    dataSourceRef:
      'Object of the same namespace that fills the new volume; any kind with a populator is allowed, but of the core group only claims are.',
    volumeAttributesClassName: 'Class of the mutable attributes of the volume. It can be changed; the driver then modifies the volume.',
  },
  'core.PersistentVolumeClaimStatus': {
    $: 'The observed state of a claim.',
    phase: 'Pending, Bound, or Lost if its volume no longer exists.',
    accessModes: 'Ways in which the bound volume can be mounted.',
    capacity: 'Actual size of the bound volume.',
    conditions: 'Observed conditions; Resizing and FileSystemResizePending report an expansion.',
    allocatedResources:
      'Size that has been allocated for the claim; it may exceed capacity while an expansion is in progress. An alpha feature.',
    resizeStatus: 'How far an expansion has come, or where it failed. Empty if none is in progress. An alpha feature.',
    allocatedResourceStatuses:
      'How far an expansion has come, by resource. A driver does not try again once it is Infeasible, until a smaller size is requested.',
    currentVolumeAttributesClassName: 'Class of the attributes that the volume has at present.',
    modifyVolumeStatus: 'How far a change of the attributes has come. Absent if none is in progress.',
  },
  'core.ModifyVolumeStatus': {
    $: 'How far a change of the attributes of a volume has come.',
    targetVolumeAttributesClassName: 'Class that the volume is being changed to.',
    status: 'Pending (the class does not exist yet), InProgress, or Infeasible: the driver refused it.',
  },
  'core.PersistentVolumeClaimCondition': {
    $: 'One observed aspect of the state of a claim.',
    type: 'Resizing, or FileSystemResizePending while the file system waits to be grown on a node.',
  },
};

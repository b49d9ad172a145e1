/** Persistent volumes. */

import { ageAt } from '@plat-dev/meta/age';
import { domainName } from '@plat-dev/meta/identity';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { oncePod } from '../validation/volumes/claim-spec.ts';
import { validateVolume, validateVolumeUpdate } from '../validation/volumes/persistent-volume.ts';
import { accessModesText } from './access-modes.ts';
import { PersistentVolume } from './schema/volumes/persistent-volumes.ts';

/** The class of a volume or claim; the deprecated annotation takes precedence. */
export function storageClassOf(
  object: { metadata: { annotations?: Record<string, string> }; spec: { storageClassName?: string } },
  env: KindEnv,
): string {
  return object.metadata.annotations?.[domainName(env.identity, 'storage-class', 'volume.beta')] ?? object.spec.storageClassName ?? '';
}

/** These defaults are not in the schema of the spec, because attachments use that, too. */
function defaults({ spec }: PersistentVolume): void {
  if ((spec.persistentVolumeReclaimPolicy ?? '') === '') spec.persistentVolumeReclaimPolicy = 'Retain';
  spec.volumeMode ??= 'Filesystem';
}

export const PersistentVolumeKind = kind<PersistentVolume>({
  group: '',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  short: ['pv'],
  scope: 'Cluster',
  versions: { v1: { schema: PersistentVolume, defaults } },
  hub: 'v1',
  deleteReturnsObject: true,
  strategy: {
    prepareForUpdate: (volume, old) => {
      volume.status = old.status;
    },
    validate: validateVolume,
    validateUpdate: validateVolumeUpdate,
    resetFields: [['status']],
  },
  gated: [oncePod(({ spec }) => spec.accessModes)],
  subresources: {
    status: status<PersistentVolume>({
      prepareForUpdate: (volume, old) => {
        volume.spec = old.spec;
      },
      validateUpdate: metadataUpdateAgain,
      resetFields: [['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'Capacity', type: 'string', description: 'How much storage the volume has.' },
    { name: 'Access Modes', type: 'string', description: 'In which ways the volume can be mounted.' },
    { name: 'Reclaim Policy', type: 'string', description: 'What happens to the volume when its claim is gone.' },
    { name: 'Status', type: 'string', description: 'Whether the volume is free, bound, released or has failed.' },
    { name: 'Claim', type: 'string', description: 'The claim that the volume is bound to.' },
    { name: 'StorageClass', type: 'string', description: 'The storage class that the volume belongs to.' },
    { name: 'Reason', type: 'string', description: 'A short reason for the state of the volume.' },
    ageColumn,
    { name: 'VolumeMode', type: 'string', priority: 1, description: 'Whether the volume is used as a file system or as a block device.' },
  ],
  cells: (volume, env) => {
    const { metadata, spec, status } = volume;
    return [
      metadata.name ?? '',
      spec.capacity?.storage ?? '0',
      accessModesText(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? '',
      metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
      spec.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`,
      storageClassOf(volume, env),
      status.reason ?? '',
      ageAt(env.now(), metadata.creationTimestamp),
      spec.volumeMode ?? '<unset>',
    ];
  },
});

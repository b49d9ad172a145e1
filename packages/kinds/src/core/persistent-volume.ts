/** Persistent volumes. */

import { ageAt } from '@plat-dev/meta/age';
import { domainName } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { oncePod } from '../validation/volumes/claim-spec.ts';
import { validateVolume, validateVolumeUpdate } from '../validation/volumes/persistent-volume.ts';
import { volumeWarnings } from '../validation/volumes/volume-warnings.ts';
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

type Status = PersistentVolume['status'];
/** When the volume came into its phase. */
const phaseTime = (env: KindEnv): Pick<Status, 'lastPhaseTransitionTime'> =>
  env.feature('PersistentVolumeLastPhaseTransitionTime') ? { lastPhaseTransitionTime: formatTime(env.now()) } : {};

/** A client may set the time itself; a new phase whose time it left as it was gets that of the server. */
function keepPhaseTime(status: Status, old: Status, env: KindEnv): void {
  const { lastPhaseTransitionTime: time } = status;
  if (!env.since('1.28')) return;
  if (status.phase !== old.phase) {
    const { lastPhaseTransitionTime: now } = phaseTime(env);
    if ((time === undefined || time === old.lastPhaseTransitionTime) && now !== undefined) status.lastPhaseTransitionTime = now;
  } else if (time === undefined && old.lastPhaseTransitionTime !== undefined) status.lastPhaseTransitionTime = old.lastPhaseTransitionTime;
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
    prepareForCreate: (volume, env) => {
      if (env.since('1.28')) volume.status = { phase: 'Pending', ...phaseTime(env) };
    },
    prepareForUpdate: (volume, old) => {
      volume.status = old.status;
    },
    validate: validateVolume,
    validateUpdate: validateVolumeUpdate,
    warnings: volumeWarnings,
    resetFields: [['status']],
  },
  gated: [oncePod(({ spec }) => spec.accessModes)],
  subresources: {
    status: status<PersistentVolume>({
      prepareForUpdate: (volume, old, env) => {
        volume.spec = old.spec;
        keepPhaseTime(volume.status, old.status, env);
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

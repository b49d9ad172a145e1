/** Sources of persistent volumes. Most rules are those of pods; secrets are named in full here. */
import { own } from '@plat-dev/lib/own';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Label, nameIsLabel, rangeProblem } from '@plat-dev/meta/names';
import type { SecretReference } from '../../core/schema/references.ts';
import type { CSIPersistentVolumeSource, ISCSIPersistentVolumeSource } from '../../core/schema/volumes/network-disks.ts';
import type { PersistentVolumeSource, PersistentVolumeSpec } from '../../core/schema/volumes/persistent-volumes.ts';
import type { KindEnv } from '../../kind.ts';
import { report, required } from '../field-checks.ts';
import { noBacksteps } from '../paths.ts';
import * as disks from './volume-disks.ts';

type SourceName = keyof PersistentVolumeSource;
interface Place {
  readonly env: KindEnv;
  readonly volume: string;
  readonly spec: PersistentVolumeSpec;
}
type SourceRule<K extends SourceName> = (
  source: NonNullable<PersistentVolumeSource[K]>,
  at: Path,
  errors: FieldErrors,
  place: Place,
) => void;
interface SourceEntry {
  readonly name: SourceName;
  /** The path in errors about the source and about a second source, as in stock servers. */
  readonly at: string;
  readonly again: string;
  readonly rule: SourceRule<SourceName>;
}
function source<K extends SourceName>(name: K, rule: SourceRule<K>, at: string = name, again: string = name): SourceEntry {
  return { name, at, again, rule: rule as SourceRule<SourceName> };
}
const needs =
  <K extends SourceName>(...fields: (keyof NonNullable<PersistentVolumeSource[K]> & string)[]): SourceRule<K> =>
  (source, at, errors) => {
    for (const field of fields) {
      const value = own(source as Readonly<Record<string, unknown>>, field);
      if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) errors.required(at.child(field));
    }
  };

function secretInFull(secret: { name?: string; namespace?: string } | undefined, at: Path, errors: FieldErrors): void {
  if (secret === undefined) return;
  required(secret.name, at.child('secretRef'), 'name', errors);
  required(secret.namespace, at.child('secretRef'), 'namespace', errors);
}

function validateISCSI(iscsi: ISCSIPersistentVolumeSource, at: Path, errors: FieldErrors, { volume }: Place): void {
  required(iscsi.targetPortal, at, 'targetPortal', errors);
  if (iscsi.initiatorName !== undefined && volume.length + 1 + iscsi.targetPortal.length > 64)
    errors.invalid(
      at.child('targetportal'),
      iscsi.targetPortal,
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
    );
  if (iscsi.iqn === '') errors.required(at.child('iqn'));
  else disks.validateQualifiedInitiator(iscsi.iqn, at.child('iqn'), errors, true);
  if (iscsi.lun < 0 || iscsi.lun > 255) errors.invalid(at.child('lun'), iscsi.lun, rangeProblem(0, 255));
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && iscsi.secretRef === undefined) errors.required(at.child('secretRef'));
  if (iscsi.secretRef !== undefined) required(iscsi.secretRef.name, at.child('secretRef'), 'name', errors);
  if (iscsi.initiatorName !== undefined) disks.validateQualifiedInitiator(iscsi.initiatorName, at.child('initiatorname'), errors, true);
}

function validateCSISecret(secret: SecretReference | undefined, field: string, at: Path, errors: FieldErrors): void {
  if (secret === undefined) return;
  for (const part of ['name', 'namespace'] as const) {
    const value = secret[part] ?? '';
    if (value === '') errors.required(at.child(field).child(part));
    else report(errors, at.child(part), value, dns1123Label(value));
  }
}

function validateCSI(csi: CSIPersistentVolumeSource, at: Path, errors: FieldErrors, { env }: Place): void {
  disks.validateCSIDriverName(csi.driver, at.child('driver'), errors, env);
  required(csi.volumeHandle, at, 'volumeHandle', errors);
  for (const field of ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef'] as const)
    validateCSISecret(csi[field], field, at, errors);
}

/** All sources, in the order of a stock server: the first one counts, each further one is refused. */
const sources: readonly SourceEntry[] = [
  source('hostPath', disks.validateHostPath),
  source('gcePersistentDisk', disks.validateGCEDisk, 'persistentDisk'),
  source('awsElasticBlockStore', disks.validateAWSDisk),
  source('glusterfs', (glusterfs, at, errors) => {
    required(glusterfs.endpoints, at, 'endpoints', errors);
    required(glusterfs.path, at, 'path', errors);
    const { endpointsNamespace } = glusterfs;
    if (endpointsNamespace === undefined) return;
    const problems =
      endpointsNamespace === '' ? ['if the endpointnamespace is set, it must be a valid namespace name'] : nameIsLabel(endpointsNamespace);
    report(errors, at.child('endpointsNamespace'), endpointsNamespace, problems);
  }),
  source('flocker', disks.validateFlocker),
  source('nfs', disks.validateNFS),
  source('rbd', needs<'rbd'>('monitors', 'image')),
  source('quobyte', disks.validateQuobyte),
  source('cephfs', needs<'cephfs'>('monitors'), 'cephfs', 'cephFS'),
  source('iscsi', validateISCSI),
  source('cinder', (cinder, at, errors) => {
    required(cinder.volumeID, at, 'volumeID', errors);
    secretInFull(cinder.secretRef, at, errors);
  }),
  source('fc', disks.validateFC),
  source('flexVolume', (flex, at, errors, { env }) => disks.validateFlex(flex, at, errors, env.identity)),
  source('azureFile', (share, at, errors) => {
    required(share.secretName, at, 'secretName', errors);
    required(share.shareName, at, 'shareName', errors);
    if (share.secretNamespace === '') errors.required(at.child('secretNamespace'));
  }),
  source('vsphereVolume', needs<'vsphereVolume'>('volumePath')),
  source('photonPersistentDisk', needs<'photonPersistentDisk'>('pdID')),
  source('portworxVolume', needs<'portworxVolume'>('volumeID')),
  source('azureDisk', disks.validateAzureDisk),
  source('scaleIO', needs<'scaleIO'>('gateway', 'system', 'volumeName')),
  source('local', ({ path }, at, errors) => {
    if (path === '') errors.required(at.child('path'));
    else noBacksteps(path, at.child('path'), errors);
  }),
  source('storageos', (volume, at, errors) => {
    const { secretRef } = volume;
    disks.validateStorageOS(volume, at, errors);
    if (secretRef !== undefined) required(secretRef.namespace, at.child('secretRef'), 'namespace', errors);
  }),
  source('csi', validateCSI),
];

export const volumeSourceNames: readonly SourceName[] = sources.map(({ name }) => name);

/** Exactly one valid source. */
export function validateVolumeSource(spec: PersistentVolumeSpec, volume: string, at: Path, errors: FieldErrors, env: KindEnv): void {
  let count = 0;
  for (const { name, at: where, again, rule } of sources) {
    const source = spec[name];
    if (source === undefined) continue;
    // Stock servers accept a flex volume in addition to others.
    if (count > 0 && name !== 'flexVolume') errors.forbidden(at.child(again), 'may not specify more than 1 volume type');
    else {
      count++;
      rule(source as never, at.child(where), errors, { env, volume, spec });
      if (name === 'local' && spec.nodeAffinity === undefined)
        errors.required(at.child('nodeAffinity'), 'Local volume requires node affinity');
    }
  }
  if (count === 0) errors.required(at, 'must specify a volume type');
}

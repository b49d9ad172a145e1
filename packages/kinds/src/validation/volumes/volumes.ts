/** Validation of the volumes of a pod: each has a unique name and exactly one source. */
import { own } from '@plat-dev/lib/own';
import { FieldErrors, type Path } from '@plat-dev/meta/field';
import { validateLabels } from '@plat-dev/meta/labels';
import { dns1123Label, dns1123Subdomain } from '@plat-dev/meta/names';
import type { Volume, VolumeSource } from '../../core/schema/volumes/volumes.ts';
import type { KindEnv } from '../../kind.ts';
import { report, required, word } from '../field-checks.ts';
import { validateAnnotations } from '../metadata.ts';
import { descendingPath } from '../paths.ts';
import type { Volumes } from '../pods/mounts.ts';
import { amount } from '../resources.ts';
import { validateClaimSpec } from './claim-spec.ts';
import * as disks from './volume-disks.ts';
import * as files from './volume-files.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const onlyOne = 'may not specify more than 1 volume type';

type SourceName = keyof VolumeSource;
type SourceRule<K extends SourceName> = (source: NonNullable<VolumeSource[K]>, at: Path, errors: FieldErrors, env: KindEnv) => void;
interface SourceEntry {
  readonly name: SourceName;
  /** The path in errors about the source if it is not its own name, as in stock servers. */
  readonly at: string;
  /** The path in errors about a second source. */
  readonly again: string;
  readonly rule: SourceRule<SourceName>;
}
function source<K extends SourceName>(name: K, rule: SourceRule<K>, at: string = name, again: string = name): SourceEntry {
  return { name, at, again, rule: rule as SourceRule<SourceName> };
}
/** A rule for sources that only have some required texts. */
const needs =
  <K extends SourceName>(...fields: (keyof NonNullable<VolumeSource[K]> & string)[]): SourceRule<K> =>
  (source, at, errors) => {
    for (const field of fields) {
      const value = own(source as Readonly<Record<string, unknown>>, field);
      if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) errors.required(at.child(field));
    }
  };

/** All sources, in the order of a stock server: the first one counts, each further one is refused. */
const sources: readonly SourceEntry[] = [
  source('emptyDir', ({ sizeLimit }, at, errors) => {
    if (sizeLimit !== undefined && amount(sizeLimit).sign < 0)
      errors.forbidden(at.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity');
  }),
  source('hostPath', disks.validateHostPath),
  source('gitRepo', (git, at, errors) => {
    required(git.repository, at, 'repository', errors);
    descendingPath(git.directory ?? '', at.child('directory'), errors);
  }),
  source('gcePersistentDisk', disks.validateGCEDisk, 'persistentDisk'),
  source('awsElasticBlockStore', disks.validateAWSDisk),
  source('secret', files.validateSecretVolume),
  source('nfs', disks.validateNFS),
  source('iscsi', disks.validateISCSI),
  source('glusterfs', needs<'glusterfs'>('endpoints', 'path')),
  source('flocker', disks.validateFlocker),
  source('persistentVolumeClaim', needs<'persistentVolumeClaim'>('claimName')),
  source('rbd', needs<'rbd'>('monitors', 'image')),
  source('cinder', (cinder, at, errors) => {
    required(cinder.volumeID, at, 'volumeID', errors);
    if (cinder.secretRef !== undefined) required(cinder.secretRef.name, at.child('secretRef'), 'name', errors);
  }),
  source('cephfs', needs<'cephfs'>('monitors'), 'cephfs', 'cephFS'),
  source('quobyte', disks.validateQuobyte),
  source('downwardAPI', files.validateDownwardVolume, 'downwardAPI', 'downwarAPI'),
  source('fc', disks.validateFC),
  source('flexVolume', (flex, at, errors, env) => disks.validateFlex(flex, at, errors, env.identity)),
  source('configMap', files.validateConfigMapVolume),
  source('azureFile', needs<'azureFile'>('secretName', 'shareName')),
  source('vsphereVolume', needs<'vsphereVolume'>('volumePath')),
  source('photonPersistentDisk', needs<'photonPersistentDisk'>('pdID')),
  source('portworxVolume', needs<'portworxVolume'>('volumeID')),
  source('azureDisk', disks.validateAzureDisk),
  source('storageos', disks.validateStorageOS),
  source('projected', files.validateProjectedVolume),
  source('scaleIO', needs<'scaleIO'>('gateway', 'system', 'volumeName')),
  source('csi', disks.validateCSI),
  source('ephemeral', (ephemeral, at, errors, env) => {
    const template = ephemeral.volumeClaimTemplate;
    const here = at.child('volumeClaimTemplate');
    if (template === undefined) errors.required(here);
    else {
      validateClaimMetadata(template.metadata, here.child('metadata'), errors);
      validateClaimSpec(template.spec, here.child('spec'), errors, env);
    }
  }),
  source('image', (image, at, errors) => {
    word(image.pullPolicy, pullPolicies, at.child('pullPolicy'), errors);
  }),
];

/** The metadata of an ephemeral claim may have labels and annotations only. */
function validateClaimMetadata(metadata: Readonly<Record<string, unknown>>, at: Path, errors: FieldErrors): void {
  validateAnnotations(metadata.annotations as Record<string, string> | undefined, at.child('annotations'), errors);
  validateLabels(metadata.labels as Record<string, string> | undefined, at.child('labels'), errors);
  for (const field of Object.keys(metadata))
    if (field !== 'annotations' && field !== 'labels' && metadata[field] !== undefined)
      errors.forbidden(at.child(field), 'cannot be set for an ephemeral volume');
}

/** `podName` is undefined in templates, where the names of ephemeral claims are unknown. */
export function validateVolumes(
  volumes: readonly Volume[],
  podName: string | undefined,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
): Volumes {
  const good = new Map<string, Volume>();
  const podClaims = claimsOf(volumes, podName);
  volumes.forEach((volume, i) => {
    if (errors.full) return;
    const here = at.index(i);
    const volumeErrors = new FieldErrors();
    validateSource(volume, podName, here, volumeErrors, env);
    if (volume.name === '') volumeErrors.required(here.child('name'));
    else report(volumeErrors, here.child('name'), volume.name, dns1123Label(volume.name));
    if (good.has(volume.name)) volumeErrors.duplicate(here.child('name'), volume.name);
    if (volumeErrors.empty) good.set(volume.name, volume);
    else errors.addAll(volumeErrors);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim !== undefined && podClaims?.has(claim))
      errors.invalid(
        here.child('persistentVolumeClaim').child('claimName'),
        claim,
        'must not reference a PVC that gets created for an ephemeral volume',
      );
  });
  return good;
}

/** Names of the claims that the pod's ephemeral volumes will have. */
function claimsOf(volumes: readonly Volume[], podName: string | undefined): ReadonlySet<string> | undefined {
  if (podName === undefined || podName === '' || !volumes.some((volume) => volume.ephemeral !== undefined)) return undefined;
  return new Set(volumes.filter((volume) => volume.ephemeral !== undefined).map((volume) => `${podName}-${volume.name}`));
}

function validateSource(volume: Volume, podName: string | undefined, at: Path, errors: FieldErrors, env: KindEnv): void {
  let hasSource = false;
  for (const entry of sources) {
    const source = volume[entry.name];
    if (source === undefined) continue;
    if (hasSource) errors.forbidden(at.child(entry.again), onlyOne);
    else {
      // Controllers may fill it in in the pods of a template.
      if (entry.name === 'image' && podName !== undefined) required(volume.image?.reference, at.child('image'), 'reference', errors);
      entry.rule(source, at.child(entry.at), errors, env);
      if (entry.name === 'ephemeral') validateClaimName(volume.name, podName, at, errors);
    }
    hasSource = true;
    if (entry.name === 'iscsi') validateInitiatorLength(volume, at, errors);
  }
  if (!hasSource) errors.required(at, 'must specify a volume type');
}

function validateClaimName(volumeName: string, podName: string | undefined, at: Path, errors: FieldErrors): void {
  if (podName === undefined || podName === '' || volumeName === '') return;
  const name = `${podName}-${volumeName}`;
  for (const text of dns1123Subdomain(name)) errors.invalid(at.child('name'), volumeName, `PVC name ${JSON.stringify(name)}: ${text}`);
}

function validateInitiatorLength({ name, iscsi }: Volume, at: Path, errors: FieldErrors): void {
  if (iscsi?.initiatorName !== undefined && `${name}:${iscsi.targetPortal}`.length > 64)
    errors.invalid(
      at.child('name'),
      name,
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
    );
}

/** Claims to persistent volumes. */

import { equal } from '@plat-dev/lib/equal';
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName, groupName, type QualifiedName } from '@plat-dev/meta/identity';
import { qualifiedName } from '@plat-dev/meta/names';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { immutable } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { amount } from '../validation/resources.ts';
import { oncePod, validateClaimSpec } from '../validation/volumes/claim-spec.ts';
import { claimWarnings } from '../validation/volumes/volume-warnings.ts';
import { accessModesText } from './access-modes.ts';
import { storageClassOf } from './persistent-volume.ts';
import { PersistentVolumeClaim, type PersistentVolumeClaimSpec } from './schema/volumes/persistent-volume-claims.ts';

const specPath = Path.of('spec');

/**
 * `dataSource` and `dataSourceRef` have the same value. Only `dataSourceRef` may name other objects than a claim or
 * a snapshot: `dataSource` has always dropped them.
 */
function normaliseDataSources(spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaimSpec | undefined, env: KindEnv): void {
  const { dataSource } = spec;
  const inUse = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
  if (!inUse && spec.dataSourceRef === undefined && dataSource !== undefined) {
    const { kind: of, apiGroup = '' } = dataSource;
    const snapshots = `snapshot.${groupName(env.identity, 'storage')}`;
    if (!(of === 'PersistentVolumeClaim' && apiGroup === '') && !(of === 'VolumeSnapshot' && apiGroup === snapshots))
      delete spec.dataSource;
  }
  copyDataSources(spec, env);
}
function copyDataSources(spec: PersistentVolumeClaimSpec, env: KindEnv): void {
  if (!env.feature('AnyVolumeDataSource')) return;
  if (spec.dataSource !== undefined && spec.dataSourceRef === undefined) spec.dataSourceRef = { ...spec.dataSource };
  else if (spec.dataSourceRef !== undefined && spec.dataSource === undefined) spec.dataSource = { ...spec.dataSourceRef };
}

const validate = (claim: PersistentVolumeClaim, errors: FieldErrors, env: KindEnv): void =>
  validateClaimSpec(claim.spec, specPath, errors, env);

function validateUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, errors: FieldErrors, env: KindEnv): void {
  const errorsBefore = errors.list.length;
  metadataAgain(claim, { namespaced: true }, errors, env);
  validate(claim, errors, env);
  metadataUpdateAgain(claim, old, errors, env);
  // Stock servers up to 1.34 validate the claim once more here, and clients see their errors twice.
  if (errors.list.length > errorsBefore && !env.since('1.35')) {
    metadataAgain(claim, { namespaced: true }, errors, env);
    validate(claim, errors, env);
  }
  validateClass(claim, old, errors, env);
  if (!equal(comparable(claim, old, env), comparable(old, old, env)))
    errors.forbidden(specPath, `spec is immutable after creation except ${mutableFields(env)} for bound claims`);
  validateSize(claim, old, errors, env);
  immutable(claim.spec.volumeMode, old.spec.volumeMode, Path.of('volumeMode'), errors);
  validateAttributesClass(claim, old, errors, env);
}
const mutableFields = (env: KindEnv): string =>
  env.since('1.29') ? 'resources.requests and volumeAttributesClassName' : 'resources.requests';

/** After a failed resize the size may be reduced, but not to the current capacity or less. */
function validateSize(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, errors: FieldErrors, env: KindEnv): void {
  const size = (of: PersistentVolumeClaim) => amount(of.spec.resources.requests?.storage ?? '0');
  if (size(claim).compare(size(old)) >= 0) return;
  const at = specPath.child('resources').child('requests').child('storage');
  if (!env.feature('RecoverVolumeExpansionFailure')) errors.forbidden(at, 'field can not be less than previous value');
  else if (size(claim).compare(amount(old.status.capacity?.storage ?? '0')) <= 0)
    errors.forbidden(at, 'field can not be less than status.capacity');
}

/** Attributes that were applied cannot be taken back, only changed. */
function validateAttributesClass(
  { spec: { volumeAttributesClassName: name } }: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  errors: FieldErrors,
  env: KindEnv,
): void {
  const { volumeAttributesClassName: oldName } = old.spec;
  if (name === oldName) return;
  const at = specPath.child('volumeAttributesClassName');
  if (!env.feature('VolumeAttributesClass'))
    errors.forbidden(at, 'update is forbidden when the VolumeAttributesClass feature gate is disabled');
  if (!env.since('1.34')) {
    if (oldName !== undefined && name === undefined) errors.forbidden(at, 'update from non-nil value to nil is forbidden');
    else if (oldName !== undefined && oldName !== '' && name === '')
      errors.forbidden(at, 'update from non-nil value to an empty string is forbidden');
  } else if (old.status.currentVolumeAttributesClassName !== undefined) {
    const applied = 'is forbidden when status.currentVolumeAttributesClassName is not nil';
    if (name === undefined) errors.forbidden(at, `update to nil ${applied}`);
    else if (name === '') errors.forbidden(at, `update to empty string ${applied}`);
  }
}

const classAnnotation = (env: KindEnv): QualifiedName => domainName(env.identity, 'storage-class', 'volume.beta');

/** A class may be moved from the annotation to the field, once. */
function movesClass(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, env: KindEnv): boolean {
  const annotation = classAnnotation(env);
  const was = old.metadata.annotations?.[annotation];
  const now = claim.metadata.annotations?.[annotation];
  return (
    was !== undefined &&
    old.spec.storageClassName === undefined &&
    claim.spec.storageClassName === was &&
    (now === undefined || now === was)
  );
}

/** Claims that waited without a class get the default one later. */
function getsClass(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, env: KindEnv): boolean {
  if (!env.since('1.25') || !env.feature('RetroactiveDefaultStorageClass')) return false;
  const annotation = old.metadata.annotations?.[classAnnotation(env)];
  const { storageClassName } = claim.spec;
  return (
    storageClassName !== undefined &&
    old.spec.storageClassName === undefined &&
    (annotation === undefined || annotation === storageClassName)
  );
}

function validateClass(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, errors: FieldErrors, env: KindEnv): void {
  if (movesClass(claim, old, env)) return;
  const annotation = classAnnotation(env);
  const now = claim.metadata.annotations?.[annotation] ?? '';
  immutable(now, old.metadata.annotations?.[annotation] ?? '', Path.of('metadata', 'annotations', annotation), errors);
}

/** The spec without the fields that may change: the volume if it was not set, the size of a bound claim. */
function comparable(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, env: KindEnv): PersistentVolumeClaimSpec {
  const spec: PersistentVolumeClaimSpec = { ...claim.spec };
  if ((old.spec.volumeName ?? '') === '') delete spec.volumeName;
  if (claim !== old && (movesClass(claim, old, env) || getsClass(claim, old, env))) {
    if (old.spec.storageClassName === undefined) delete spec.storageClassName;
    else spec.storageClassName = old.spec.storageClassName;
  }
  const requests = spec.resources.requests;
  if (claim.status.phase === 'Bound' && requests !== undefined)
    spec.resources = { ...spec.resources, requests: { ...requests, storage: old.spec.resources.requests?.storage ?? '0' } };
  if (claim.status.phase === 'Bound') delete spec.volumeAttributesClassName;
  return spec;
}

const resizeStates = [
  '',
  'ControllerExpansionFailed',
  'ControllerExpansionInProgress',
  'NodeExpansionFailed',
  'NodeExpansionInProgress',
  'NodeExpansionPending',
];

const newerResizeStates = (env: KindEnv): readonly string[] => {
  const end = env.since('1.31') ? 'Infeasible' : 'Failed';
  return ['ControllerResizeInProgress', `ControllerResize${end}`, 'NodeResizeInProgress', `NodeResize${end}`, 'NodeResizePending'];
};
/** The storage, or since 1.28 a resource of a driver: `example.com/iops`. */
const isClaimResource = (name: string, env: KindEnv): boolean =>
  name === 'storage' ||
  (env.since('1.28') &&
    name.includes('/') &&
    qualifiedName(name).length === 0 &&
    !name.slice(0, name.indexOf('/')).endsWith(env.identity.domain));

/** Validation of the status of a resize. */
function validateResize(status: PersistentVolumeClaim['status'], errors: FieldErrors, env: KindEnv): void {
  const { resizeStatus, allocatedResources, allocatedResourceStatuses } = status;
  if (resizeStatus !== undefined && !resizeStates.includes(resizeStatus))
    errors.notSupported(Path.of('status', 'resizeStatus'), resizeStatus, resizeStates);
  const statusesAt = Path.of('status', 'allocatedResourceStatuses');
  for (const name in allocatedResourceStatuses) {
    if (!isClaimResource(name, env)) errors.notSupported(statusesAt, name, ['storage']);
    const states = newerResizeStates(env);
    if (!states.includes(allocatedResourceStatuses[name] as string)) errors.notSupported(statusesAt, name, states);
  }
  const at = Path.of('status', 'allocatedResources');
  for (const name in allocatedResources) {
    const value = amount(allocatedResources[name] as string).value();
    if (!isClaimResource(name, env)) errors.notSupported(at, name, ['storage']);
    else if (value < 0n) errors.invalid(at.key(name), Number(value), 'must be a valid resource quantity');
  }
}

function validateStatusUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(claim, old, errors, env);
  if ((claim.spec.accessModes ?? []).length === 0) errors.required(Path.of('Spec', 'accessModes'));
  const at = Path.of('status', 'capacity');
  for (const name in claim.status.capacity) {
    const value = amount(claim.status.capacity[name] as string).value();
    if (value < 0n) errors.invalid(at.key(name), Number(value), 'must be a valid resource quantity');
  }
  if (env.feature('RecoverVolumeExpansionFailure')) validateResize(claim.status, errors, env);
}

export const PersistentVolumeClaimKind = kind<PersistentVolumeClaim>({
  group: '',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  short: ['pvc'],
  scope: 'Namespaced',
  versions: { v1: { schema: PersistentVolumeClaim } },
  hub: 'v1',
  deleteReturnsObject: true,
  strategy: {
    prepareForCreate: (claim, env) => {
      claim.status = { phase: 'Pending' };
      normaliseDataSources(claim.spec, undefined, env);
    },
    prepareForUpdate: (claim, old, env) => {
      claim.status = old.status;
      normaliseDataSources(claim.spec, old.spec, env);
      copyDataSources(old.spec, env);
    },
    validate,
    validateUpdate,
    warnings: claimWarnings,
    resetFields: [['status']],
  },
  gated: [oncePod(({ spec }) => spec.accessModes)],
  subresources: {
    status: status<PersistentVolumeClaim>({
      prepareForUpdate: (claim, old) => {
        claim.spec = old.spec;
      },
      validateUpdate: validateStatusUpdate,
      resetFields: [['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Whether the claim is waiting, bound or lost.' },
    { name: 'Volume', type: 'string', description: 'The volume that the claim is bound to.' },
    { name: 'Capacity', type: 'string', description: 'How much storage the claim has been given.' },
    { name: 'Access Modes', type: 'string', description: 'In which ways the volume can be mounted.' },
    { name: 'StorageClass', type: 'string', description: 'The requested storage class.' },
    ageColumn,
    { name: 'VolumeMode', type: 'string', priority: 1, description: 'Whether the volume is used as a file system or as a block device.' },
  ],
  cells: (claim, env) => {
    const { metadata, spec, status } = claim;
    const bound = (spec.volumeName ?? '') !== '';
    return [
      metadata.name ?? '',
      metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
      spec.volumeName ?? '',
      bound ? (status.capacity?.storage ?? '0') : '',
      bound ? accessModesText(status.accessModes) : '',
      storageClassOf(claim, env),
      ageAt(env.now(), metadata.creationTimestamp),
      spec.volumeMode ?? '<unset>',
    ];
  },
});

/** Rules of persistent volumes, and of the volumes that attachments carry inline. */

import { posix } from 'node:path';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import { immutableProblem } from '@plat-dev/meta/names';
import type { PersistentVolume, PersistentVolumeSpec } from '../../core/schema/volumes/persistent-volumes.ts';
import type { KindEnv, WriteRequest } from '../../kind.ts';
import { type BodyValue, bodyValueOf } from '../body-values.ts';
import { immutable, subdomain } from '../field-checks.ts';
import { resourceListText } from '../go-quantities.ts';
import { unsupportedText } from '../go-text.ts';
import { validateNodeSelector } from '../pods/affinity.ts';
import { newNodeLabels } from '../pods/pod-names.ts';
import { metadataAgain } from '../repeated-metadata.ts';
import { amount } from '../resources.ts';
import { validateAccessModes, volumeModes } from './claim-spec.ts';
import { validateVolumeSource, volumeSourceNames } from './persistent-volume-sources.ts';

const specPath = Path.of('spec');
const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];
const notInline = 'may not be specified in the context of inline volumes';

/** The context of the spec: that of a volume, or inline in an attachment. */
type Surroundings = { readonly inline: true } | { readonly inline: false; readonly bodyValue: BodyValue };

export function validateVolumeSpec(
  spec: PersistentVolumeSpec,
  volume: string,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
  place: Surroundings,
): void {
  const { inline } = place;
  if (inline) {
    if (spec.claimRef !== undefined) errors.forbidden(at.child('claimRef'), notInline);
    if (spec.capacity !== undefined) errors.forbidden(at.child('capacity'), notInline);
    if (spec.csi === undefined) errors.required(at.child('csi'), 'has to be specified in the context of inline volumes');
  }
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.required(at.child('accessModes'));
  validateAccessModes(modes, at.child('accessModes'), errors, env);
  if (!place.inline) validateCapacity(spec, at.child('capacity'), errors, place.bodyValue);
  validateReclaimPolicy(spec, at.child('persistentVolumeReclaimPolicy'), errors, inline);
  validateNodeAffinity(spec, at.child('nodeAffinity'), errors, inline);
  validateVolumeSource(spec, volume, at, errors, env);
  if (spec.hostPath !== undefined && posix.normalize(spec.hostPath.path) === '/' && spec.persistentVolumeReclaimPolicy === 'Recycle')
    errors.forbidden(at.child('persistentVolumeReclaimPolicy'), "may not be 'recycle' for a hostPath mount of '/'");
  const { storageClassName = '', volumeMode } = spec;
  if (storageClassName !== '') {
    if (inline) errors.forbidden(at.child('storageClassName'), notInline);
    else subdomain(storageClassName, at.child('storageClassName'), errors);
  }
  validateAttributesClass(spec, at, errors);
  if (volumeMode === undefined) return;
  if (!inline) {
    if (!volumeModes.includes(volumeMode)) errors.notSupported(at.child('volumeMode'), volumeMode, volumeModes);
  } else if (volumeMode !== 'Filesystem')
    errors.forbidden(at.child('volumeMode'), 'may not specify volumeMode other than Filesystem in the context of inline volumes');
}

function validateAttributesClass({ volumeAttributesClassName: name, csi }: PersistentVolumeSpec, at: Path, errors: FieldErrors): void {
  if (name === undefined) return;
  const nameAt = at.child('volumeAttributesClassName');
  if (name === '') errors.required(nameAt, 'an empty string is disallowed');
  else subdomain(name, nameAt, errors);
  if (csi === undefined) errors.required(at.child('csi'), 'has to be specified when using volumeAttributesClassName');
}

function validateCapacity({ capacity }: PersistentVolumeSpec, at: Path, errors: FieldErrors, bodyValue: BodyValue): void {
  const names = Object.keys(capacity ?? {});
  if (names.length === 0) errors.required(at);
  if (names.length !== 1 || names[0] !== 'storage')
    unsupportedText(errors, at, resourceListText(capacity, bodyValue('spec', 'capacity')), ['storage']);
  for (const name of names) {
    const text = own(capacity, name) as string;
    const value = amount(text);
    if (value.value() < 0n) errors.invalid(at.key(name), Number(value.value()), 'must be a valid resource quantity');
    if (value.sign <= 0) errors.invalid(at.key(name), text, 'must be greater than zero');
  }
}

function validateReclaimPolicy(spec: PersistentVolumeSpec, at: Path, errors: FieldErrors, inline: boolean): void {
  const { persistentVolumeReclaimPolicy: policy = '' } = spec;
  if (policy === '') return;
  if (!inline) {
    if (!reclaimPolicies.includes(policy)) errors.notSupported(at, policy, reclaimPolicies);
  } else if (policy !== 'Retain') errors.forbidden(at, 'may only be Retain in the context of inline volumes');
}

function validateNodeAffinity({ nodeAffinity }: PersistentVolumeSpec, at: Path, errors: FieldErrors, inline: boolean): void {
  if (nodeAffinity === undefined) return;
  if (inline) errors.forbidden(at, notInline);
  else if (nodeAffinity.required === undefined) errors.required(at.child('required'), 'must specify required node constraints');
  else validateNodeSelector(nodeAffinity.required, at.child('required'), errors);
}

/** Sources whose mount takes options. */
const mountable = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const;

function validateMountOptions(volume: PersistentVolume, errors: FieldErrors, env: KindEnv): void {
  const annotation = domainName(env.identity, 'mount-options', 'volume.beta');
  if (volume.metadata.annotations?.[annotation] === undefined || mountable.some((name) => volume.spec[name] !== undefined)) return;
  errors.forbidden(Path.of('metadata', 'annotations', annotation), 'may not specify mount options for this volume type');
}

export function validateVolume(volume: PersistentVolume, errors: FieldErrors, env: KindEnv, request?: WriteRequest): void {
  validateVolumeSpec(volume.spec, volume.metadata.name ?? '', specPath, errors, env, { inline: false, bodyValue: bodyValueOf(request) });
  validateMountOptions(volume, errors, env);
}

export function validateVolumeUpdate(
  volume: PersistentVolume,
  old: PersistentVolume,
  errors: FieldErrors,
  env: KindEnv,
  request?: WriteRequest,
): void {
  const errorsBefore = errors.list.length;
  metadataAgain(volume, { namespaced: false }, errors, env);
  validateVolume(volume, errors, env, request);
  // A stock server validates the volume once more here, and clients see its errors twice.
  if (errors.list.length > errorsBefore) {
    metadataAgain(volume, { namespaced: false }, errors, env);
    validateVolumeSpec(volume.spec, volume.metadata.name ?? '', specPath, errors, env, { inline: false, bodyValue: bodyValueOf(request) });
  }
  if (!sameSource(volume.spec, old.spec))
    errors.forbidden(specPath.child('persistentvolumesource'), 'spec.persistentvolumesource is immutable after creation');
  immutable(volume.spec.volumeMode, old.spec.volumeMode, Path.of('volumeMode'), errors);
  const { nodeAffinity, volumeAttributesClassName } = old.spec;
  if (nodeAffinity !== undefined && !(env.since('1.35') && env.feature('MutablePVNodeAffinity')))
    validateAffinityUpdate(volume.spec.nodeAffinity, nodeAffinity, errors, env);
  if (volume.spec.volumeAttributesClassName === volumeAttributesClassName) return;
  const at = specPath.child('volumeAttributesClassName');
  if (!env.feature('VolumeAttributesClass'))
    errors.forbidden(at, 'update is forbidden when the VolumeAttributesClass feature gate is disabled');
  if (volumeAttributesClassName !== undefined && volume.spec.volumeAttributesClassName === undefined)
    errors.forbidden(at, 'update from non-nil value to nil is forbidden');
}

/** Since 1.27 a label of nodes may be replaced by the name that it has now. */
function validateAffinityUpdate(
  affinity: PersistentVolumeSpec['nodeAffinity'],
  old: NonNullable<PersistentVolumeSpec['nodeAffinity']>,
  errors: FieldErrors,
  env: KindEnv,
): void {
  const at = Path.of('nodeAffinity');
  if (!env.since('1.27')) immutable(affinity, old, at, errors);
  else if (affinity === undefined || !equal(withNewLabels(affinity, old, env), old))
    errors.invalid(at, affinity, `${immutableProblem}, except for updating from beta label to GA`);
}
type Affinity = NonNullable<PersistentVolumeSpec['nodeAffinity']>;
/** The affinity with the older names of labels, where it has the newer name in the place of an older one. */
function withNewLabels(affinity: Affinity, old: Affinity, env: KindEnv): Affinity {
  const newNames = newNodeLabels(env.identity);
  return {
    ...affinity,
    ...(affinity.required && {
      required: {
        ...affinity.required,
        nodeSelectorTerms: (affinity.required.nodeSelectorTerms ?? []).map((term, i) => ({
          ...term,
          ...(term.matchExpressions && {
            matchExpressions: term.matchExpressions.map((expression, j) => {
              const oldKey = old.required?.nodeSelectorTerms?.[i]?.matchExpressions?.[j]?.key ?? '';
              return newNames.get(oldKey) === expression.key ? { ...expression, key: oldKey } : expression;
            }),
          }),
        })),
      },
    }),
  };
}

/** The source is immutable; only a secret for resizing may be added. */
function sameSource(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): boolean {
  return volumeSourceNames.every((name) => {
    if (name !== 'csi' || spec.csi === undefined || old.csi === undefined || old.csi.controllerExpandSecretRef !== undefined)
      return equal(spec[name], old[name]);
    const { controllerExpandSecretRef: _, ...rest } = spec.csi;
    return equal(rest, old.csi);
  });
}

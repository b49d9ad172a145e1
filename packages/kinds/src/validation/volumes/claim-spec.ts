/** Validation of the spec of a claim, also of ephemeral volumes in pods. */
import { equal } from '@plat-dev/lib/equal';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import type { TypedLocalObjectReference } from '../../core/schema/references.ts';
import type { PersistentVolumeClaimSpec } from '../../core/schema/volumes/persistent-volume-claims.ts';
import type { GateRule, KindEnv } from '../../kind.ts';
import { required, subdomain } from '../field-checks.ts';
import { amount } from '../resources.ts';

export const volumeModes = ['Block', 'Filesystem'];
const modes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce'];
const modesWithOncePod = [...modes, 'ReadWriteOncePod'];

/** An access mode that the stored object uses stays allowed. */
export const oncePod = <T>(modesOf: (object: T) => readonly string[] | undefined): GateRule<T> => ({
  gate: 'ReadWriteOncePod',
  uses: (object) => modesOf(object)?.includes('ReadWriteOncePod') ?? false,
});

/** Validation of access modes; `at` is the list. */
export function validateAccessModes(accessModes: readonly string[], at: Path, errors: FieldErrors, env: KindEnv): void {
  const allowed = env.feature('ReadWriteOncePod') ? modesWithOncePod : modes;
  for (const mode of accessModes) if (!allowed.includes(mode)) errors.notSupported(at, mode, allowed);
  if (accessModes.includes('ReadWriteOncePod') && accessModes.some((mode) => mode !== 'ReadWriteOncePod' && allowed.includes(mode)))
    errors.forbidden(at, 'may not use ReadWriteOncePod with other access modes');
}

export function validateClaimSpec(spec: PersistentVolumeClaimSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  const accessModes = spec.accessModes ?? [];
  if (accessModes.length === 0) errors.required(at.child('accessModes'), 'at least 1 access mode is required');
  validateLabelSelector(spec.selector, at.child('selector'), errors);
  validateAccessModes(accessModes, at.child('accessModes'), errors, env);
  const storage = spec.resources.requests?.storage;
  const storageAt = at.child('resources').key('storage');
  if (storage === undefined) errors.required(storageAt);
  else if (amount(storage).sign <= 0) errors.invalid(storageAt, storage, 'must be greater than zero');
  if (spec.storageClassName !== undefined && spec.storageClassName !== '')
    subdomain(spec.storageClassName, at.child('storageClassName'), errors);
  if (spec.volumeMode !== undefined && !volumeModes.includes(spec.volumeMode))
    errors.notSupported(at.child('volumeMode'), spec.volumeMode, volumeModes);
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined) validateDataSource(dataSource, at.child('dataSource'), errors);
  if (dataSourceRef !== undefined) validateDataSource(dataSourceRef, at.child('dataSourceRef'), errors);
  if (dataSource !== undefined && dataSourceRef !== undefined && !equal(dataSource, dataSourceRef))
    errors.invalid(at, String(at.child('dataSource')), 'must match dataSourceRef');
  const { volumeAttributesClassName: attributesClass = '' } = spec;
  if (attributesClass !== '') subdomain(attributesClass, at.child('volumeAttributesClassName'), errors);
}

/** Validation of the data source: another claim, or an object of a volume populator. */
function validateDataSource(source: TypedLocalObjectReference, at: Path, errors: FieldErrors): void {
  required(source.name, at, 'name', errors);
  required(source.kind, at, 'kind', errors);
  const group = source.apiGroup ?? '';
  if (group === '' && source.kind !== 'PersistentVolumeClaim')
    errors.invalid(at, source.kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
}

/** Classes of volume attributes. */
import { equal } from '@plat-dev/lib/equal';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { qualified } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateParameters } from './class-parameters.ts';
import { olderVolumeAttributesClass, VolumeAttributesClass } from './schema/volume-attributes-class.ts';

const parametersAt = Path.of('parameters');

function validate({ driverName, parameters = {} }: VolumeAttributesClass, errors: FieldErrors): void {
  const at = Path.of('driverName');
  if (driverName === '') errors.required(at);
  else qualified(driverName.toLowerCase(), at, errors);
  if (Object.keys(parameters).length === 0) errors.required(parametersAt, 'must contain at least one key/value pair');
  validateParameters(parameters, parametersAt, errors);
}

export const VolumeAttributesClassKind = kind<VolumeAttributesClass>({
  group: 'storage',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  short: ['vac'],
  scope: 'Cluster',
  versions: {
    v1: { schema: VolumeAttributesClass },
    v1beta1: { schema: olderVolumeAttributesClass('v1beta1') },
    v1alpha1: { schema: olderVolumeAttributesClass('v1alpha1') },
  },
  hub: 'v1',
  deleteReturnsObject: true,
  strategy: {
    validate,
    validateUpdate(attributes, old, errors, env) {
      metadataUpdateAgain(attributes, old, errors, env);
      for (const field of ['driverName', 'parameters'] as const)
        if (!equal(attributes[field], old[field])) errors.forbidden(Path.of(field), `updates to ${field} are forbidden.`);
      metadataAgain(attributes, { namespaced: false }, errors, env);
      validate(attributes, errors);
    },
  },
  columns: [nameColumn, { name: 'DriverName', type: 'string', description: 'The driver that the class is for.' }, ageColumn],
  cells: (attributes, env) => [nameCell(attributes), attributes.driverName, ageCell(attributes, env)],
});

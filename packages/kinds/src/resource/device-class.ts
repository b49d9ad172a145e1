/** Classes of devices: what a claim means by a name. */
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateClassSpec } from './request-rules.ts';
import { DeviceClass } from './schema/claims.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import * as v1beta2 from './schema/v1beta2.ts';

export const DeviceClassKind = kind<DeviceClass>({
  group: 'resource',
  kind: 'DeviceClass',
  plural: 'deviceclasses',
  scope: 'Cluster',
  versions: { v1: { schema: DeviceClass }, v1beta2: { schema: v1beta2.DeviceClass }, v1beta1: { schema: v1beta1.DeviceClass } },
  hub: 'v1',
  generation: true,
  deleteReturnsObject: true,
  strategy: {
    validate: ({ spec }, errors, env) => validateClassSpec(spec, errors, env),
    validateUpdate(deviceClass, old, errors, env) {
      metadataAgain(deviceClass, { namespaced: false }, errors, env);
      metadataUpdateAgain(deviceClass, old, errors, env);
      validateClassSpec(deviceClass.spec, errors, env);
    },
  },
  columns: [nameColumn, ageColumn],
  cells: (deviceClass, env) => [nameCell(deviceClass), ageCell(deviceClass, env)],
});

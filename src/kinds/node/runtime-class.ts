/** Runtime classes. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

export const RuntimeClassKind = kind<v1.RuntimeClass>({
  group: 'node',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  versions: {
    v1: { schema: v1.RuntimeClass },
    v1beta1: { schema: v1beta1.RuntimeClass, deprecation: { deprecated: '1.22', removed: '1.25' } },
  },
  hub: 'v1',
  createOnUpdate: true,
  updateNeedsVersion: true,
  columns: [
    nameColumn,
    { name: 'Handler', type: 'string', description: 'The name by which the container runtime knows the class.' },
    ageColumn,
  ],
});

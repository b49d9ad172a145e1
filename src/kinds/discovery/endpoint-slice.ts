/** Endpoint slices. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

export const EndpointSliceKind = kind<v1.EndpointSlice>({
  group: 'discovery',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
  versions: {
    v1: { schema: v1.EndpointSlice },
    v1beta1: {
      schema: v1beta1.EndpointSlice,
      deprecation: { deprecated: '1.21', removed: '1.25', replacement: { group: 'discovery', version: 'v1', kind: 'EndpointSlice' } },
    },
  },
  hub: 'v1',
  columns: [
    nameColumn,
    { name: 'AddressType', type: 'string', description: 'The kind of addresses in the slice.' },
    { name: 'Ports', type: 'string', description: 'The ports in the slice.' },
    { name: 'Endpoints', type: 'string', description: 'The first addresses in the slice.' },
    ageColumn,
  ],
});

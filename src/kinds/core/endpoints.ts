/** Endpoints of services. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { Endpoints } from './schema/service.ts';

export const EndpointsKind = kind<Endpoints>({
  group: '',
  kind: 'Endpoints',
  plural: 'endpoints',
  short: ['ep'],
  scope: 'Namespaced',
  versions: { v1: { schema: Endpoints } },
  hub: 'v1',
  createOnUpdate: true,
  columns: [nameColumn, { name: 'Endpoints', type: 'string', description: 'The first addresses and ports that are ready.' }, ageColumn],
});

/** Registrations of group versions, served here or by a server behind this one. */
import { pathSegmentName } from '../../meta/names.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { APIService } from './schema/v1.ts';

export const APIServiceKind = kind<APIService>({
  group: 'apiregistration',
  kind: 'APIService',
  plural: 'apiservices',
  categories: ['api-extensions'],
  scope: 'Cluster',
  versions: { v1: { schema: APIService } },
  hub: 'v1',
  nameRule: pathSegmentName,
  updateNeedsVersion: true,
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Service', type: 'string', description: 'The service that answers for the group version, or Local.' },
    { name: 'Available', type: 'string', description: 'Whether the group version can be reached.' },
    ageColumn,
  ],
});

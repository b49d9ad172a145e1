/** Service accounts. */
import { TokenRequest } from '../authentication/schema/v1.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { ServiceAccount } from './schema/config.ts';

export const ServiceAccountKind = kind<ServiceAccount>({
  group: '',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  short: ['sa'],
  scope: 'Namespaced',
  versions: { v1: { schema: ServiceAccount } },
  hub: 'v1',
  deleteReturnsObject: true,
  subresources: {
    token: {
      type: 'action',
      verbs: ['create'],
      kind: { group: 'authentication', version: 'v1', kind: 'TokenRequest' },
      schema: TokenRequest,
    },
  },
  columns: [nameColumn, { name: 'Secrets', type: 'string', description: 'How many secrets the account lists.' }, ageColumn],
});

/** Resource quotas. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { ResourceQuota } from './schema/quota.ts';

export const ResourceQuotaKind = kind<ResourceQuota>({
  group: '',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  short: ['quota'],
  scope: 'Namespaced',
  versions: { v1: { schema: ResourceQuota } },
  hub: 'v1',
  deleteReturnsObject: true,
  subresources: { status: status() },
  columns: [
    nameColumn,
    ageColumn,
    { name: 'Request', type: 'string', description: 'What is used and what is allowed of requested resources.' },
    { name: 'Limit', type: 'string', description: 'What is used and what is allowed of limits.' },
  ],
});

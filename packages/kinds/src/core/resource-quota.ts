/** Resource quotas. */
import { own } from '@plat-dev/lib/own';
import { ageAt } from '@plat-dev/meta/age';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { validateQuotaSpec, validateQuotaStatus, validateQuotaUpdate } from '../validation/quota.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { ResourceQuota } from './schema/quota.ts';

/** `pods: 1/4, requests.cpu: 0/2`, of the limits or of all others. */
function summary(quota: ResourceQuota, limits: boolean): string {
  const { hard = {}, used = {} } = quota.status;
  return Object.keys(hard)
    .filter((name) => name.startsWith('limits.') === limits)
    .sort()
    .map((name) => `${name}: ${own(used, name) ?? '0'}/${hard[name]}`)
    .join(', ');
}

export const ResourceQuotaKind = kind<ResourceQuota>({
  group: '',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  short: ['quota'],
  scope: 'Namespaced',
  versions: { v1: { schema: ResourceQuota } },
  hub: 'v1',
  deleteReturnsObject: true,
  strategy: {
    prepareForCreate: (quota) => {
      quota.status = {};
    },
    prepareForUpdate: (quota, old) => {
      quota.status = old.status;
    },
    validate: validateQuotaSpec,
    validateUpdate: (quota, old, errors, env) => {
      metadataUpdateAgain(quota, old, errors, env);
      validateQuotaUpdate(quota, old, errors, env);
    },
    resetFields: [['status']],
  },
  subresources: {
    status: status<ResourceQuota>({
      prepareForUpdate: (quota, old) => {
        quota.spec = old.spec;
      },
      validateUpdate: (quota, old, errors, env) => {
        metadataUpdateAgain(quota, old, errors, env);
        validateQuotaStatus(quota, errors, env);
      },
      resetFields: [['spec']],
    }),
  },
  columns: [
    nameColumn,
    { ...ageColumn, until: '1.32' },
    { name: 'Request', type: 'string', description: 'What is used and what is allowed of requested resources.' },
    { name: 'Limit', type: 'string', description: 'What is used and what is allowed of limits.' },
    { ...ageColumn, since: '1.33' },
  ],
  cells: (quota, env) => [
    quota.metadata.name ?? '',
    ageAt(env.now(), quota.metadata.creationTimestamp),
    summary(quota, false),
    summary(quota, true),
    ageAt(env.now(), quota.metadata.creationTimestamp),
  ],
});

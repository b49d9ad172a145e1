/** Requests to count the devices of pools. A controller answers once, in the status. */

import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Subdomain } from '@plat-dev/meta/names';
import { nameCell } from '../cells.ts';
import { nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { keepMetadata, status } from '../subresources.ts';
import { validateConditions } from '../validation/conditions.ts';
import { each } from '../validation/each.ts';
import { immutable, report } from '../validation/field-checks.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validatePoolName } from './names.ts';
import { type PoolStatus, ResourcePoolStatusRequest } from './schema/pool-status-request.ts';

const specAt = Path.of('spec');
const statusAt = Path.of('status');
const MAX_LIMIT = 1000;
const MAX_POOLS = 1000;
const MAX_CONDITIONS = 10;
const MAX_ERROR_BYTES = 256;

function validateDriver(driver: string, at: Path, errors: FieldErrors): void {
  if (driver === '') errors.required(at);
  else report(errors, at, driver, dns1123Subdomain(driver.toLowerCase()));
}
function atLeast(min: number, value: number | bigint | undefined, at: Path, errors: FieldErrors): void {
  if (value !== undefined && value < min) errors.invalid(at, value, `must be greater than or equal to ${min}`);
}

function validate({ spec }: ResourcePoolStatusRequest, errors: FieldErrors): void {
  validateDriver(spec.driver, specAt.child('driver'), errors);
  if (spec.poolName !== undefined) validatePoolName(spec.poolName, specAt.child('poolName'), errors);
  atLeast(1, spec.limit, specAt.child('limit'), errors);
  if ((spec.limit ?? 0) > MAX_LIMIT) errors.invalid(specAt.child('limit'), spec.limit, `must be less than or equal to ${MAX_LIMIT}`);
}

function validatePool(pool: PoolStatus, at: Path, errors: FieldErrors): void {
  validateDriver(pool.driver ?? '', at.child('driver'), errors);
  validatePoolName(pool.poolName ?? '', at.child('poolName'), errors);
  atLeast(1, pool.resourceSliceCount, at.child('resourceSliceCount'), errors);
  for (const field of ['generation', 'totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'] as const)
    atLeast(0, pool[field], at.child(field), errors);
  if (pool.nodeName !== undefined) report(errors, at.child('nodeName'), pool.nodeName, dns1123Subdomain(pool.nodeName));
  if (Buffer.byteLength(pool.validationError ?? '') > MAX_ERROR_BYTES) errors.tooLong(at.child('validationError'), MAX_ERROR_BYTES);
}

/** A status that is set stays. */
function validateStatus({ status: answer }: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest, errors: FieldErrors): void {
  if (old.status !== undefined) immutable(answer, old.status, statusAt, errors);
  else if (answer !== undefined) {
    const { conditions = [], pools = [], poolCount } = answer;
    validateConditions(conditions, statusAt.child('conditions'), errors);
    if (conditions.length > MAX_CONDITIONS) errors.tooMany(statusAt.child('conditions'), conditions.length, MAX_CONDITIONS);
    if (poolCount === undefined) errors.required(statusAt.child('poolCount'));
    atLeast(0, poolCount, statusAt.child('poolCount'), errors);
    if (pools.length > MAX_POOLS) errors.tooMany(statusAt.child('pools'), pools.length, MAX_POOLS);
    else each(pools, statusAt.child('pools'), (pool, at) => validatePool(pool, at, errors));
  }
}

function cells(request: ResourcePoolStatusRequest, env: KindEnv) {
  const { status: answer } = request;
  const { pools = [], poolCount = 0, conditions = [] } = answer ?? {};
  const isTrue = (name: string) => conditions.find(({ type, status: state }) => type === name && state === 'True');
  const [complete, failed] = [isTrue('Complete'), isTrue('Failed')];
  const isCounted = answer !== undefined && failed === undefined;
  const sum = (field: 'totalDevices' | 'availableDevices' | 'allocatedDevices' | 'unavailableDevices'): string =>
    isCounted ? String(pools.reduce((total, pool) => total + (pool[field] ?? 0), 0)) : '-';
  const faults = isCounted ? String(pools.filter(({ validationError }) => validationError !== undefined).length) : '-';
  const isPartial = complete !== undefined && poolCount > pools.length;
  const state = isPartial ? `Complete (${pools.length}/${poolCount} pools)` : complete ? 'Complete' : failed ? 'Failed' : 'Pending';
  const since = complete?.lastTransitionTime === undefined ? '<none>' : ageAt(env.now(), complete.lastTransitionTime);
  const counts = [sum('totalDevices'), sum('availableDevices'), sum('allocatedDevices'), sum('unavailableDevices')];
  return [nameCell(request), request.spec.driver, ...counts, faults, poolCount, state, since];
}

export const ResourcePoolStatusRequestKind = kind<ResourcePoolStatusRequest>({
  group: 'resource',
  kind: 'ResourcePoolStatusRequest',
  plural: 'resourcepoolstatusrequests',
  scope: 'Cluster',
  versions: { v1alpha3: { schema: ResourcePoolStatusRequest } },
  hub: 'v1alpha3',
  strategy: {
    prepareForCreate: (request) => {
      delete request.status;
    },
    prepareForUpdate: (request, old) => {
      delete request.status;
      if (old.status !== undefined) request.status = old.status;
    },
    validate,
    validateUpdate(request, old, errors, env) {
      metadataUpdateAgain(request, old, errors, env);
      immutable(request.spec, old.spec, specAt, errors);
    },
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate(request, old) {
        keepMetadata(request, old);
        request.spec = old.spec;
      },
      validateUpdate(request, old, errors, env) {
        metadataUpdateAgain(request, old, errors, env);
        validateStatus(request, old, errors);
      },
      resetFields: [['metadata'], ['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'Driver', type: 'string', description: 'The driver whose pools are counted.' },
    { name: 'Total', type: 'string', description: 'All devices.' },
    { name: 'Available', type: 'string', description: 'Devices that a claim can get.' },
    { name: 'Allocated', type: 'string', description: 'Devices that claims have.' },
    { name: 'Unavailable', type: 'string', description: 'Devices that no claim can get now.' },
    { name: 'Errors', type: 'string', description: 'Pools that are not valid.' },
    { name: 'Pools', type: 'integer', description: 'Pools that match.' },
    { name: 'Status', type: 'string', description: 'Whether the devices are counted.' },
    { name: 'Completed', type: 'string', description: 'How long ago they were counted.' },
  ],
  cells,
});

/** Requests to count the devices of pools, once. */
import { type Infer, int32, int64, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { Condition, ObjectMeta } from '../../meta.ts';

const version = 'resource.v1alpha3';

const ResourcePoolStatusRequestSpec = message(`${version}.ResourcePoolStatusRequestSpec`, {
  driver: req(1, string),
  poolName: ptr(2, string),
  limit: ptr(3, int32, { default: 100 }),
});

const PoolStatus = message(`${version}.PoolStatus`, {
  driver: opt(1, string, { required: true }),
  poolName: opt(2, string, { required: true }),
  generation: req(9, int64),
  resourceSliceCount: ptr(8, int32),
  totalDevices: ptr(4, int32),
  allocatedDevices: ptr(5, int32),
  availableDevices: ptr(6, int32),
  unavailableDevices: ptr(7, int32),
  nodeName: ptr(3, string),
  validationError: ptr(10, string),
});
export type PoolStatus = Infer<typeof PoolStatus>;

const ResourcePoolStatusRequestStatus = message(`${version}.ResourcePoolStatusRequestStatus`, {
  poolCount: ptr(6, int32, { required: true }),
  pools: opt(2, list(PoolStatus)),
  conditions: opt(3, list(Condition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});

export const ResourcePoolStatusRequest = object(`${version}.ResourcePoolStatusRequest`, {
  metadata: req(1, ObjectMeta),
  spec: req(2, ResourcePoolStatusRequestSpec),
  status: ptr(3, ResourcePoolStatusRequestStatus),
});
export type ResourcePoolStatusRequest = Infer<typeof ResourcePoolStatusRequest>;

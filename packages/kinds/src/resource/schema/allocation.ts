/** The status of a claim: which devices it was given, and who uses them. */
import { always, bool, type Infer, inline, list, map, message, opt, ptr, quantity, raw, req, string, time } from '@plat-dev/schema/types';
import { NodeSelector } from '../../core/schema/pods/scheduling.ts';
import { Condition } from '../../meta.ts';
import { DeviceConfiguration, DeviceToleration } from './device-parts.ts';

export const DeviceRequestAllocationResult = message('resource.v1.DeviceRequestAllocationResult', {
  request: req(1, string),
  driver: req(2, string),
  pool: req(3, string),
  device: req(4, string),
  adminAccess: always(5, bool, { nullable: true, since: '1.32', gate: 'DRAAdminAccess', from: { '1.34': { always: false } } }),
  tolerations: opt(6, list(DeviceToleration), { since: '1.33' }),
  bindingConditions: opt(7, list(string), { since: '1.34', gate: 'DRADeviceBindingConditions' }),
  bindingFailureConditions: opt(8, list(string), { since: '1.34', gate: 'DRADeviceBindingConditions' }),
  shareID: ptr(9, string, { since: '1.34', gate: 'DRAConsumableCapacity' }),
  consumedCapacity: opt(10, map(quantity), { since: '1.34', gate: 'DRAConsumableCapacity' }),
});
export type DeviceRequestAllocationResult = Infer<typeof DeviceRequestAllocationResult>;

const DeviceAllocationConfiguration = message('resource.v1.DeviceAllocationConfiguration', {
  source: req(1, string, { enum: ['FromClass', 'FromClaim'] }),
  requests: opt(2, list(string)),
  deviceConfiguration: inline(3, DeviceConfiguration),
});

const DeviceAllocationResult = message('resource.v1.DeviceAllocationResult', {
  results: opt(1, list(DeviceRequestAllocationResult)),
  config: opt(2, list(DeviceAllocationConfiguration)),
});

export const AllocationResult = message('resource.v1.AllocationResult', {
  devices: always(1, DeviceAllocationResult),
  nodeSelector: ptr(3, NodeSelector),
  allocationTimestamp: ptr(5, time, { since: '1.34' }),
});
export type AllocationResult = Infer<typeof AllocationResult>;

export const ResourceClaimConsumerReference = message('resource.v1.ResourceClaimConsumerReference', {
  apiGroup: opt(1, string),
  resource: req(3, string),
  name: req(4, string),
  uid: req(5, string),
});
export type ResourceClaimConsumerReference = Infer<typeof ResourceClaimConsumerReference>;

export const NetworkDeviceData = message('resource.v1.NetworkDeviceData', {
  interfaceName: opt(1, string),
  ips: opt(2, list(string)),
  hardwareAddress: opt(3, string),
});
export type NetworkDeviceData = Infer<typeof NetworkDeviceData>;

export const AllocatedDeviceStatus = message('resource.v1.AllocatedDeviceStatus', {
  driver: req(1, string),
  pool: req(2, string),
  device: req(3, string),
  shareID: ptr(7, string, { since: '1.34', gate: 'DRAConsumableCapacity' }),
  conditions: always(4, list(Condition, 'map', ['type'])),
  data: ptr(5, raw),
  networkData: ptr(6, NetworkDeviceData),
});
export type AllocatedDeviceStatus = Infer<typeof AllocatedDeviceStatus>;

export const ResourceClaimStatus = message('resource.v1.ResourceClaimStatus', {
  allocation: ptr(1, AllocationResult),
  reservedFor: opt(2, list(ResourceClaimConsumerReference, 'map', ['uid']), { patch: 'merge', mergeKey: 'uid' }),
  devices: opt(4, list(AllocatedDeviceStatus, 'map', ['driver', 'device', 'pool']), {
    since: '1.32',
    gate: 'DRAResourceClaimDeviceStatus',
    from: { '1.34': { type: list(AllocatedDeviceStatus, 'map', ['driver', 'device', 'pool', 'shareID']) } },
  }),
});
export type ResourceClaimStatus = Infer<typeof ResourceClaimStatus>;

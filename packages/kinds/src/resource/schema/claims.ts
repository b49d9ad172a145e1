/** Claims of devices, templates of claims, and classes of devices. */
import {
  always,
  bool,
  type Infer,
  inline,
  int64,
  list,
  map,
  message,
  object,
  opt,
  ptr,
  quantity,
  req,
  string,
} from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { ResourceClaimStatus } from './allocation.ts';
import { DeviceConfiguration, DeviceToleration } from './device-parts.ts';

const CELDeviceSelector = message('resource.v1.CELDeviceSelector', {
  expression: req(1, string),
});

export const DeviceSelector = message('resource.v1.DeviceSelector', {
  cel: ptr(1, CELDeviceSelector),
});
export type DeviceSelector = Infer<typeof DeviceSelector>;

const DeviceClassConfiguration = message('resource.v1.DeviceClassConfiguration', {
  deviceConfiguration: inline(1, DeviceConfiguration),
});

export const DeviceClassSpec = message('resource.v1.DeviceClassSpec', {
  selectors: opt(1, list(DeviceSelector)),
  config: opt(2, list(DeviceClassConfiguration)),
  extendedResourceName: ptr(4, string, { since: '1.34', gate: 'DRAExtendedResource' }),
});
export type DeviceClassSpec = Infer<typeof DeviceClassSpec>;

export const DeviceClass = object('resource.v1.DeviceClass', {
  metadata: always(1, ObjectMeta),
  spec: req(2, DeviceClassSpec),
});
export type DeviceClass = Infer<typeof DeviceClass>;

export const CapacityRequirements = message('resource.v1.CapacityRequirements', {
  requests: opt(1, map(quantity)),
});
export type CapacityRequirements = Infer<typeof CapacityRequirements>;

export const ExactDeviceRequest = message('resource.v1.ExactDeviceRequest', {
  deviceClassName: req(1, string),
  selectors: opt(2, list(DeviceSelector)),
  allocationMode: opt(3, string, { enum: ['ExactCount', 'All'] }),
  count: opt(4, int64),
  adminAccess: ptr(5, bool, { gate: 'DRAAdminAccess' }),
  tolerations: opt(6, list(DeviceToleration), { gate: 'DRADeviceTaints' }),
  capacity: ptr(7, CapacityRequirements, { since: '1.34', gate: 'DRAConsumableCapacity' }),
});
export type ExactDeviceRequest = Infer<typeof ExactDeviceRequest>;

export const DeviceSubRequest = message('resource.v1.DeviceSubRequest', {
  name: req(1, string),
  deviceClassName: req(2, string),
  selectors: opt(3, list(DeviceSelector)),
  allocationMode: opt(4, string, { enum: ['ExactCount', 'All'] }),
  count: opt(5, int64),
  tolerations: opt(6, list(DeviceToleration), { gate: 'DRADeviceTaints' }),
  capacity: ptr(7, CapacityRequirements, { since: '1.34', gate: 'DRAConsumableCapacity' }),
});
export type DeviceSubRequest = Infer<typeof DeviceSubRequest>;

export const DeviceRequest = message('resource.v1.DeviceRequest', {
  name: req(1, string),
  exactly: ptr(2, ExactDeviceRequest),
  firstAvailable: opt(3, list(DeviceSubRequest), { since: '1.33', gate: 'DRAPrioritizedList' }),
});
export type DeviceRequest = Infer<typeof DeviceRequest>;

export const DeviceConstraint = message('resource.v1.DeviceConstraint', {
  requests: opt(1, list(string)),
  matchAttribute: ptr(2, string),
  distinctAttribute: ptr(3, string, { since: '1.34', gate: 'DRAConsumableCapacity' }),
});
export type DeviceConstraint = Infer<typeof DeviceConstraint>;

export const DeviceClaimConfiguration = message('resource.v1.DeviceClaimConfiguration', {
  requests: opt(1, list(string)),
  deviceConfiguration: inline(2, DeviceConfiguration),
});
export type DeviceClaimConfiguration = Infer<typeof DeviceClaimConfiguration>;

export const DeviceClaim = message('resource.v1.DeviceClaim', {
  requests: always(1, list(DeviceRequest)),
  constraints: opt(2, list(DeviceConstraint)),
  config: opt(3, list(DeviceClaimConfiguration)),
});
export type DeviceClaim = Infer<typeof DeviceClaim>;

const ResourceClaimSpec = message('resource.v1.ResourceClaimSpec', {
  devices: always(1, DeviceClaim),
});

const ResourceClaimTemplateSpec = message('resource.v1.ResourceClaimTemplateSpec', {
  metadata: always(1, ObjectMeta),
  spec: req(2, ResourceClaimSpec),
});

export const ResourceClaimTemplate = object('resource.v1.ResourceClaimTemplate', {
  metadata: always(1, ObjectMeta),
  spec: req(2, ResourceClaimTemplateSpec),
});
export type ResourceClaimTemplate = Infer<typeof ResourceClaimTemplate>;

export const ResourceClaim = object('resource.v1.ResourceClaim', {
  metadata: always(1, ObjectMeta),
  spec: req(2, ResourceClaimSpec),
  status: always(3, ResourceClaimStatus),
});
export type ResourceClaim = Infer<typeof ResourceClaim>;

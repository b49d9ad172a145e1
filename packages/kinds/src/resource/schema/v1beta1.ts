/** Claims, templates, slices and classes of version 1beta1: a request and a device have their fields one level up or down. */
import { always, bool, type Infer, int64, list, map, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { NodeSelector } from '../../core/schema/pods/scheduling.ts';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as allocation from './allocation.ts';
import * as claims from './claims.ts';
import { DeviceToleration } from './device-parts.ts';
import * as slices from './slices.ts';

const version = 'resource.v1beta1';

export const DeviceClass = inVersion(claims.DeviceClass, version);

const DeviceSubRequest = message(`${version}.DeviceSubRequest`, {
  name: req(1, string),
  deviceClassName: req(2, string),
  selectors: opt(3, list(inVersion(claims.DeviceSelector, version))),
  allocationMode: opt(4, string, { enum: ['ExactCount', 'All'] }),
  count: opt(5, int64),
  tolerations: opt(7, list(inVersion(DeviceToleration, version))),
  capacity: ptr(8, inVersion(claims.CapacityRequirements, version), { since: '1.34' }),
});

/** The class is not empty where the request is for exactly one kind of device. */
export const DeviceRequest = message(`${version}.DeviceRequest`, {
  name: req(1, string),
  deviceClassName: req(2, string, { from: { '1.33': { required: false } } }),
  selectors: opt(3, list(inVersion(claims.DeviceSelector, version))),
  allocationMode: opt(4, string, { enum: ['ExactCount', 'All'] }),
  count: opt(5, int64),
  adminAccess: ptr(6, bool),
  firstAvailable: opt(7, list(DeviceSubRequest), { since: '1.33' }),
  tolerations: opt(8, list(inVersion(DeviceToleration, version)), { since: '1.33' }),
  capacity: ptr(9, inVersion(claims.CapacityRequirements, version), { since: '1.34' }),
});
export type DeviceRequest = Infer<typeof DeviceRequest>;

const DeviceClaim = message(`${version}.DeviceClaim`, {
  requests: always(1, list(DeviceRequest)),
  constraints: opt(2, list(inVersion(claims.DeviceConstraint, version))),
  config: opt(3, list(inVersion(claims.DeviceClaimConfiguration, version))),
});

const ResourceClaimSpec = message(`${version}.ResourceClaimSpec`, {
  devices: always(1, DeviceClaim),
});
export type ResourceClaimSpec = Infer<typeof ResourceClaimSpec>;

export const ResourceClaim = object(`${version}.ResourceClaim`, {
  metadata: always(1, ObjectMeta),
  spec: req(2, ResourceClaimSpec),
  status: always(3, inVersion(allocation.ResourceClaimStatus, version)),
});
export type ResourceClaim = Infer<typeof ResourceClaim>;

const ResourceClaimTemplateSpec = message(`${version}.ResourceClaimTemplateSpec`, {
  metadata: always(1, ObjectMeta),
  spec: req(2, ResourceClaimSpec),
});

export const ResourceClaimTemplate = object(`${version}.ResourceClaimTemplate`, {
  metadata: always(1, ObjectMeta),
  spec: req(2, ResourceClaimTemplateSpec),
});
export type ResourceClaimTemplate = Infer<typeof ResourceClaimTemplate>;

const BasicDevice = message(`${version}.BasicDevice`, {
  attributes: opt(1, map(inVersion(slices.DeviceAttribute, version))),
  capacity: opt(2, map(inVersion(slices.DeviceCapacity, version))),
  consumesCounters: opt(3, list(inVersion(slices.DeviceCounterConsumption, version)), { since: '1.33' }),
  nodeName: ptr(4, string, { since: '1.33' }),
  nodeSelector: ptr(5, NodeSelector, { since: '1.33' }),
  allNodes: ptr(6, bool, { since: '1.33' }),
  taints: opt(7, list(inVersion(slices.DeviceTaint, version)), { since: '1.33' }),
  bindsToNode: ptr(8, bool, { since: '1.34' }),
  bindingConditions: opt(9, list(string), { since: '1.34' }),
  bindingFailureConditions: opt(10, list(string), { since: '1.34' }),
  allowMultipleAllocations: ptr(11, bool, { since: '1.34' }),
  nodeAllocatableResourceMappings: opt(12, map(inVersion(slices.NodeAllocatableResourceMapping, version)), { since: '1.36' }),
});

const Device = message(`${version}.Device`, {
  name: req(1, string),
  basic: ptr(2, BasicDevice),
});
export type Device = Infer<typeof Device>;

const ResourceSliceSpec = message(`${version}.ResourceSliceSpec`, {
  driver: req(1, string),
  pool: req(2, inVersion(slices.ResourcePool, version)),
  nodeName: opt(3, string),
  nodeSelector: ptr(4, NodeSelector),
  allNodes: opt(5, bool),
  devices: always(6, list(Device), { from: { '1.35': { always: false } } }),
  perDeviceNodeSelection: ptr(7, bool, { since: '1.33' }),
  sharedCounters: opt(8, list(inVersion(slices.CounterSet, version)), { since: '1.33' }),
});

export const ResourceSlice = object(`${version}.ResourceSlice`, {
  metadata: always(1, ObjectMeta),
  spec: req(2, ResourceSliceSpec),
});
export type ResourceSlice = Infer<typeof ResourceSlice>;

/** Resource slices: the devices that drivers offer. */
import { always, bool, type Infer, int64, list, map, message, object, opt, ptr, quantity, req, string, time } from '@plat-dev/schema/types';
import { NodeSelector } from '../../core/schema/pods/scheduling.ts';
import { ObjectMeta } from '../../meta.ts';
import { taintEffects } from './device-parts.ts';

export const ResourcePool = message('resource.v1.ResourcePool', {
  name: req(1, string),
  generation: req(2, int64),
  resourceSliceCount: req(3, int64),
});
export type ResourcePool = Infer<typeof ResourcePool>;

export const DeviceAttribute = message('resource.v1.DeviceAttribute', {
  int: ptr(2, int64),
  bool: ptr(3, bool),
  string: ptr(4, string),
  version: ptr(5, string),
  ints: opt(6, list(int64), { since: '1.36', gate: 'DRAListTypeAttributes' }),
  bools: opt(7, list(bool), { since: '1.36', gate: 'DRAListTypeAttributes' }),
  strings: opt(8, list(string), { since: '1.36', gate: 'DRAListTypeAttributes' }),
  versions: opt(9, list(string), { since: '1.36', gate: 'DRAListTypeAttributes' }),
});
export type DeviceAttribute = Infer<typeof DeviceAttribute>;

export const CapacityRequestPolicyRange = message('resource.v1.CapacityRequestPolicyRange', {
  min: ptr(1, quantity, { required: true }),
  max: ptr(2, quantity),
  step: ptr(3, quantity),
});
export type CapacityRequestPolicyRange = Infer<typeof CapacityRequestPolicyRange>;

export const CapacityRequestPolicy = message('resource.v1.CapacityRequestPolicy', {
  default: always(1, quantity, { nullable: true }),
  validValues: opt(3, list(quantity)),
  validRange: ptr(4, CapacityRequestPolicyRange),
});
export type CapacityRequestPolicy = Infer<typeof CapacityRequestPolicy>;

export const DeviceCapacity = message('resource.v1.DeviceCapacity', {
  value: req(1, quantity),
  requestPolicy: ptr(2, CapacityRequestPolicy, { since: '1.34', gate: 'DRAConsumableCapacity' }),
});
export type DeviceCapacity = Infer<typeof DeviceCapacity>;

const Counter = message('resource.v1.Counter', {
  value: req(1, quantity),
});

export const DeviceCounterConsumption = message('resource.v1.DeviceCounterConsumption', {
  counterSet: req(1, string),
  counters: opt(2, map(Counter), { required: true }),
});
export type DeviceCounterConsumption = Infer<typeof DeviceCounterConsumption>;

export const DeviceTaint = message('resource.v1.DeviceTaint', {
  key: req(1, string),
  value: opt(2, string),
  effect: req(3, string, taintEffects),
  timeAdded: ptr(4, time),
});
export type DeviceTaint = Infer<typeof DeviceTaint>;

export const NodeAllocatableResourceMapping = message('resource.v1.NodeAllocatableResourceMapping', {
  capacityKey: ptr(1, string),
  allocationMultiplier: ptr(2, quantity),
});
export type NodeAllocatableResourceMapping = Infer<typeof NodeAllocatableResourceMapping>;

export const Device = message('resource.v1.Device', {
  name: req(1, string),
  attributes: opt(2, map(DeviceAttribute)),
  capacity: opt(3, map(DeviceCapacity)),
  consumesCounters: opt(4, list(DeviceCounterConsumption), { gate: 'DRAPartitionableDevices' }),
  nodeName: ptr(5, string, { gate: 'DRAPartitionableDevices' }),
  nodeSelector: ptr(6, NodeSelector, { gate: 'DRAPartitionableDevices' }),
  allNodes: ptr(7, bool, { gate: 'DRAPartitionableDevices' }),
  taints: opt(8, list(DeviceTaint), { gate: 'DRADeviceTaints' }),
  bindsToNode: ptr(9, bool, { since: '1.34', gate: 'DRADeviceBindingConditions' }),
  bindingConditions: opt(10, list(string), { since: '1.34', gate: 'DRADeviceBindingConditions' }),
  bindingFailureConditions: opt(11, list(string), { since: '1.34', gate: 'DRADeviceBindingConditions' }),
  allowMultipleAllocations: ptr(12, bool, { since: '1.34', gate: 'DRAConsumableCapacity' }),
  nodeAllocatableResourceMappings: opt(13, map(NodeAllocatableResourceMapping), { since: '1.36', gate: 'DRANodeAllocatableResources' }),
});
export type Device = Infer<typeof Device>;

export const CounterSet = message('resource.v1.CounterSet', {
  name: req(1, string),
  counters: opt(2, map(Counter), { required: true }),
});
export type CounterSet = Infer<typeof CounterSet>;

export const ResourceSliceSpec = message('resource.v1.ResourceSliceSpec', {
  driver: req(1, string),
  pool: req(2, ResourcePool),
  nodeName: ptr(3, string),
  nodeSelector: ptr(4, NodeSelector),
  allNodes: ptr(5, bool),
  devices: always(6, list(Device), { from: { '1.35': { always: false } } }),
  perDeviceNodeSelection: ptr(7, bool, { since: '1.33', gate: 'DRAPartitionableDevices' }),
  sharedCounters: opt(8, list(CounterSet), { since: '1.33', gate: 'DRAPartitionableDevices' }),
});
export type ResourceSliceSpec = Infer<typeof ResourceSliceSpec>;

export const ResourceSlice = object('resource.v1.ResourceSlice', {
  metadata: always(1, ObjectMeta),
  spec: req(2, ResourceSliceSpec),
});
export type ResourceSlice = Infer<typeof ResourceSlice>;

/** Validation of resource slices: which nodes reach the devices, and what the devices are. */
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { nameIsSubdomain } from '@plat-dev/meta/names';
import { parseQuantity } from '@plat-dev/meta/quantity';
import type { KindEnv } from '../kind.ts';
import { immutable, report } from '../validation/field-checks.ts';
import { validateNodeSelector } from '../validation/pods/affinity.ts';
import { isNativeResource } from '../validation/resources.ts';
import { eachOnceUpTo, eachUpTo } from './bounded-lists.ts';
import { validateAttribute, valuesIn } from './device-attributes.ts';
import { validateCapacity } from './device-capacities.ts';
import { validateTaint } from './device-taints.ts';
import { MAX_ATTRIBUTE_KEY, validateAttributeName, validateDriverName, validateLabel, validatePoolName } from './names.ts';
import type { Device, ResourceSlice, ResourceSliceSpec } from './schema/slices.ts';
import { validateBindingConditions } from './status-rules.ts';

const MAX_DEVICES = 128;
const MAX_LARGE_DEVICES = 64;
const MAX_COUNTER_SETS = 8;
const MAX_COUNTERS = 32;
const MAX_CONSUMED_SETS = 2;
const MAX_PARTS = 32;
const MAX_VALUES = 48;
const MAX_TAINTS = 16;
const at = Path.of('spec');
const union = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
const deviceUnion =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

export function validateSlice({ spec }: ResourceSlice, old: ResourceSlice | undefined, errors: FieldErrors, env: KindEnv): void {
  validateDriverName(spec.driver, at.child('driver'), errors);
  validatePool(spec, errors);
  if (old !== undefined) {
    immutable(spec.pool.name, old.spec.pool.name, at.child('pool').child('name'), errors);
    immutable(spec.driver, old.spec.driver, at.child('driver'), errors);
    immutable(spec.nodeName, old.spec.nodeName, at.child('nodeName'), errors);
  }
  validateNodes(spec, errors);
  if (spec.sharedCounters !== undefined && spec.devices !== undefined)
    errors.invalid(at, '', 'only one of `sharedCounters` or `devices` is allowed');
  validateDevices(spec, old?.spec, errors, env);
  eachOnceUpTo(
    MAX_COUNTER_SETS,
    spec.sharedCounters,
    at.child('sharedCounters'),
    errors,
    ({ name }) => name,
    ({ name, counters }, here) => {
      if (name === '') errors.required(here.child('name'));
      else validateLabel(name, here.child('name'), errors);
      validateCounters(counters, here.child('counters'), errors);
    },
  );
}

function validatePool({ pool }: ResourceSliceSpec, errors: FieldErrors): void {
  const here = at.child('pool');
  validatePoolName(pool.name, here.child('name'), errors);
  if (pool.resourceSliceCount <= 0) errors.invalid(here.child('resourceSliceCount'), pool.resourceSliceCount, 'must be greater than zero');
  if (pool.generation < 0) errors.invalid(here.child('generation'), pool.generation, 'must be greater than or equal to zero');
}

// ---- nodes -------------------------------------------------------------------------------------------------------

interface NodeChoice {
  readonly nodeName?: string;
  readonly nodeSelector?: Parameters<typeof validateNodeSelector>[0];
  readonly allNodes?: boolean;
}

/** Checks the fields that choose nodes, and returns the names of those that are set. */
function chosenFields(choice: NodeChoice, here: Path, errors: FieldErrors, emptyName: string): string[] {
  const { nodeName, nodeSelector, allNodes } = choice;
  const fields: string[] = [];
  if (nodeName === '') errors.invalid(here.child('nodeName'), '', emptyName);
  else if (nodeName !== undefined) {
    fields.push('`nodeName`');
    report(errors, here.child('nodeName'), nodeName, nameIsSubdomain(nodeName));
  }
  if (nodeSelector !== undefined) {
    fields.push('`nodeSelector`');
    validateNodeSelector(nodeSelector, here.child('nodeSelector'), errors);
  }
  if (allNodes === true) fields.push('`allNodes`');
  else if (allNodes === false) errors.invalid(here.child('allNodes'), false, 'must be either unset or set to true');
  return fields;
}

function validateNodes(spec: ResourceSliceSpec, errors: FieldErrors): void {
  const fields = chosenFields(spec, at, errors, 'must be either unset or set to a non-empty string');
  const { nodeSelector, perDeviceNodeSelection } = spec;
  const terms = nodeSelector?.nodeSelectorTerms ?? [];
  if (nodeSelector !== undefined && terms.length !== 1)
    errors.invalid(at.child('nodeSelector').child('nodeSelectorTerms'), terms, 'must have exactly one node selector term');
  if (perDeviceNodeSelection === true) fields.push('`perDeviceNodeSelection`');
  else if (perDeviceNodeSelection === false)
    errors.invalid(at.child('perDeviceNodeSelection'), false, 'must be either unset or set to true');
  if (fields.length === 0) errors.required(at, union);
  else if (fields.length > 1) errors.invalid(at, `{${fields.join(', ')}}`, `${union}, but multiple fields are set`);
}

function validateDeviceNodes(device: Device, perDevice: boolean, here: Path, errors: FieldErrors): void {
  if (!perDevice) {
    if (device.nodeName !== undefined || device.nodeSelector !== undefined || device.allNodes !== undefined)
      errors.invalid(
        here,
        null,
        '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      );
    return;
  }
  const fields = chosenFields(device, here, errors, 'must not be empty');
  if (fields.length === 0) errors.required(here, deviceUnion);
  else if (fields.length > 1) errors.invalid(here, `{${fields.join(', ')}}`, deviceUnion);
}

// ---- devices -----------------------------------------------------------------------------------------------------

/** Devices with taints, counters or lists of values are larger, so that a slice has fewer of them. */
const isLarge = ({ taints, consumesCounters, attributes = {} }: Device): boolean =>
  taints !== undefined || consumesCounters !== undefined || Object.values(attributes).some((one) => valuesIn(one) !== undefined);

function validateDevices(spec: ResourceSliceSpec, old: ResourceSliceSpec | undefined, errors: FieldErrors, env: KindEnv): void {
  const { devices = [], perDeviceNodeSelection = false } = spec;
  const oldDevices = new Map((old?.devices ?? []).map((device) => [device.name, device]));
  const most = devices.some(isLarge) ? MAX_LARGE_DEVICES : MAX_DEVICES;
  eachOnceUpTo(
    most,
    devices,
    at.child('devices'),
    errors,
    ({ name }) => name,
    (device, here) => {
      validateParts(device, here, errors);
      const oldTaints = oldDevices.get(device.name)?.taints;
      if (!equal(device.taints, oldTaints))
        eachUpTo(MAX_TAINTS, device.taints, here.child('taints'), errors, (taint, place) =>
          validateTaint(taint, undefined, place, errors, env),
        );
      validateConsumption(device, here.child('consumesCounters'), errors);
      validateDeviceNodes(device, perDeviceNodeSelection, here, errors);
      validateBindingConditions(device, here, errors);
      validateNodeResources(device, here.child('nodeAllocatableResourceMappings'), errors, env);
    },
  );
}

function validateParts(device: Device, here: Path, errors: FieldErrors): void {
  const { name, attributes = {}, capacity = {}, allowMultipleAllocations = false } = device;
  validateLabel(name, here.child('name'), errors);
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  if (count > MAX_PARTS) errors.invalid(here, count, `the total number of attributes and capacities must not exceed ${MAX_PARTS}`);
  const values = Object.values(attributes).reduce((sum, one) => sum + (valuesIn(one)?.length ?? 1), 0);
  if (values > MAX_VALUES) errors.invalid(here, values, `the total number of attribute values must not exceed ${MAX_VALUES}`);
  for (const [key, attribute] of Object.entries(attributes)) {
    validateAttributeName(key, here.child('attributes'), errors);
    validateAttribute(attribute, here.child('attributes').key(shortened(key)), errors);
  }
  for (const [key, one] of Object.entries(capacity)) {
    validateAttributeName(key, here.child('capacity'), errors);
    validateCapacity(one, allowMultipleAllocations, here.child('capacity').key(shortened(key)), errors);
  }
}

/** A key as paths show it: without the middle of one that is too long. */
function shortened(key: string): string {
  if (Buffer.byteLength(key) <= MAX_ATTRIBUTE_KEY) return key;
  const remaining = MAX_ATTRIBUTE_KEY - 3;
  return `${key.slice(0, (remaining + 1) >> 1)}...${key.slice(-(remaining >> 1))}`;
}

type Counters = Readonly<Record<string, unknown>>;
function validateCounters(counters: Counters | undefined, here: Path, errors: FieldErrors): void {
  const names = Object.keys(counters ?? {});
  if (names.length === 0) errors.required(here);
  else if (names.length > MAX_COUNTERS) errors.tooMany(here, names.length, MAX_COUNTERS);
  else for (const name of names) validateLabel(name, here, errors);
}

function validateConsumption({ consumesCounters }: Device, here: Path, errors: FieldErrors): void {
  eachOnceUpTo(
    MAX_CONSUMED_SETS,
    consumesCounters,
    here,
    errors,
    ({ counterSet }) => counterSet,
    ({ counterSet, counters }, place) => {
      if (counterSet === '') errors.required(place.child('counterSet'));
      else validateLabel(counterSet, place.child('counterSet'), errors);
      validateCounters(counters, place.child('counters'), errors);
    },
  );
}

/** Which resources of the node a device takes: by a factor, or as much as one of its capacities. */
function validateNodeResources(
  { nodeAllocatableResourceMappings: mappings = {}, capacity }: Device,
  here: Path,
  errors: FieldErrors,
  env: KindEnv,
): void {
  for (const [name, { allocationMultiplier: factor, capacityKey: key }] of Object.entries(mappings)) {
    const place = here.key(name);
    if (!isNativeResource(name, env.identity)) errors.invalid(place, name, 'must be a node allocatable resource name');
    if (factor === undefined && key === undefined)
      errors.invalid(place, '', 'at least one of allocationMultiplier or capacityKey must be set');
    if (factor !== undefined && parseQuantity(factor).unscaled <= 0n)
      errors.invalid(place.child('allocationMultiplier'), factor, 'must be positive');
    if (key === '') errors.invalid(place.child('capacityKey'), '', 'capacityKey must not be an empty string');
    else if (key !== undefined && own(capacity, key) === undefined) errors.notFound(place.child('capacityKey'), key);
  }
}

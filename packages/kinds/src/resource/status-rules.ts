/** Validation of the status of a claim: what the scheduler and drivers write. */
import { equal } from '@plat-dev/lib/equal';
import { jsonText } from '@plat-dev/lib/json-text';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { formatIP, parseCIDR } from '@plat-dev/meta/ip';
import type { KindEnv } from '../kind.ts';
import { validateConditions } from '../validation/conditions.ts';
import { each } from '../validation/each.ts';
import { immutable, required, word } from '../validation/field-checks.ts';
import { validateNodeSelector } from '../validation/pods/affinity.ts';
import { eachOnceUpTo, eachUpTo, itself } from './bounded-lists.ts';
import { validateDriverName, validateLabel, validateLabelKey, validatePoolName, validateShareId } from './names.ts';
import { validateJsonObject } from './opaque-values.ts';
import {
  MAX_CONFIGURATIONS,
  MAX_REQUESTS,
  type RequestNames,
  requestNames,
  validateConfiguration,
  validateReference,
  validateReferences,
} from './request-rules.ts';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from './schema/allocation.ts';
import type { ResourceClaim } from './schema/claims.ts';

const MAX_CONSUMERS = 256;
const MAX_OLDER_CONSUMERS = 32;
const MAX_CONDITIONS = 8;
const MAX_DATA_BYTES = 10 * 1024;
const MAX_INTERFACE_NAME = 256;
const MAX_HARDWARE_ADDRESS = 128;
const MAX_ADDRESSES = 16;
const MAX_BINDING_CONDITIONS = 4;
const statusAt = Path.of('status');

interface DeviceName {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}
/** A device as errors show it. */
const shownDevice = ({ driver, pool, device, shareID = '' }: DeviceName): object => ({
  Driver: driver,
  Pool: pool,
  Device: device,
  ShareID: shareID,
});
const deviceKey = (device: DeviceName): string => jsonText(shownDevice(device));
const allocatedDevices = ({ allocation }: ResourceClaimStatus): ReadonlySet<string> =>
  new Set((allocation?.devices.results ?? []).map(deviceKey));

/** Drops what drivers said of devices that are not allocated to the claim any more. */
export function dropFreedDevices({ status }: ResourceClaim, { status: old }: ResourceClaim): void {
  if (status.devices === undefined) return;
  const [oldDevices, newDevices] = [allocatedDevices(old), allocatedDevices(status)];
  const remaining = status.devices.filter((one) => !oldDevices.has(deviceKey(one)) || newDevices.has(deviceKey(one)));
  if (remaining.length === 0) delete status.devices;
  else status.devices = remaining;
}

export function validateClaimStatus(claim: ResourceClaim, old: ResourceClaim, errors: FieldErrors, env: KindEnv): void {
  const { status } = claim;
  const at = statusAt.child('reservedFor');
  const mostConsumers = env.since('1.33') ? MAX_CONSUMERS : MAX_OLDER_CONSUMERS;
  eachOnceUpTo(
    mostConsumers,
    status.reservedFor,
    at,
    errors,
    ({ uid }) => uid,
    (one, here) => validateConsumer(one, here, errors),
  );
  const allocated = allocatedDevices(status);
  validateDevices(status.devices, allocated, errors);
  validateReservations(claim, old, at, errors);
  const allocationAt = statusAt.child('allocation');
  if (status.allocation === undefined) return;
  if (old.status.allocation !== undefined) immutable(status.allocation, old.status.allocation, allocationAt, errors);
  else validateAllocation(status.allocation, requestNames(claim.spec.devices), allocationAt, errors);
}

function validateReservations({ metadata, status }: ResourceClaim, old: ResourceClaim, at: Path, errors: FieldErrors): void {
  const { reservedFor = [], allocation } = status;
  if (reservedFor.length === 0) return;
  if (allocation === undefined) errors.forbidden(at, 'may not be specified when `allocated` is not set');
  else if (metadata.deletionTimestamp !== undefined) {
    const { reservedFor: oldConsumers = [] } = old.status;
    const isNew = (one: ResourceClaimConsumerReference): boolean => !oldConsumers.some((other) => equal(one, other));
    if (reservedFor.some(isNew))
      errors.forbidden(at, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set');
  }
}

function validateConsumer({ resource, name, uid }: ResourceClaimConsumerReference, at: Path, errors: FieldErrors): void {
  required(resource, at, 'resource', errors);
  required(name, at, 'name', errors);
  required(uid, at, 'uid', errors);
}

// ---- what drivers say of devices ---------------------------------------------------------------------------------

function validateDevices(devices: readonly AllocatedDeviceStatus[] | undefined, allocated: ReadonlySet<string>, errors: FieldErrors): void {
  const at = statusAt.child('devices');
  each(devices, at, (device, here) => validateDevice(device, allocated, here, errors));
  const keys = new Set<string>();
  each(devices, at, (device, here) => {
    if (keys.has(deviceKey(device))) errors.duplicate(here, shownDevice(device));
    keys.add(deviceKey(device));
  });
}

function validateDevice(device: AllocatedDeviceStatus, allocated: ReadonlySet<string>, at: Path, errors: FieldErrors): void {
  const { driver, pool, device: name, shareID, conditions, data, networkData } = device;
  validateDriverName(driver, at.child('driver'), errors);
  validatePoolName(pool, at.child('pool'), errors);
  validateLabel(name, at.child('device'), errors);
  validateShareId(shareID, at.child('shareID'), errors);
  if (!allocated.has(deviceKey(device))) errors.invalid(at, shownDevice(device), 'must be an allocated device in the claim');
  const conditionsAt = at.child('conditions');
  if ((conditions?.length ?? 0) > MAX_CONDITIONS) errors.tooMany(conditionsAt, conditions?.length ?? 0, MAX_CONDITIONS);
  validateConditions(conditions, conditionsAt, errors);
  if (data !== undefined) validateJsonObject(data, MAX_DATA_BYTES, at.child('data'), errors);
  if (networkData !== undefined) validateNetworkData(networkData, at.child('networkData'), errors);
}

function validateNetworkData({ interfaceName = '', ips, hardwareAddress = '' }: NetworkDeviceData, at: Path, errors: FieldErrors): void {
  const text = (value: string, field: string, most: number): void => {
    if (Buffer.byteLength(value) > most) errors.tooLong(at.child(field), most);
  };
  text(interfaceName, 'interfaceName', MAX_INTERFACE_NAME);
  text(hardwareAddress, 'hardwareAddress', MAX_HARDWARE_ADDRESS);
  eachOnceUpTo(MAX_ADDRESSES, ips, at.child('ips'), errors, itself, (address, here) => validateAddress(address, here, errors));
}

/** An address with the length of its network, spelled as the server would. */
function validateAddress(address: string, at: Path, errors: FieldErrors): void {
  const cidr = parseCIDR(address);
  if (cidr === undefined) {
    errors.invalid(at, address, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)');
    return;
  }
  const canonical = `${formatIP(cidr.address)}/${cidr.bits}`;
  if (canonical !== address) errors.invalid(at, address, `must be in canonical form ("${canonical}")`);
}

// ---- allocation --------------------------------------------------------------------------------------------------

function validateAllocation({ devices, nodeSelector }: AllocationResult, names: RequestNames, at: Path, errors: FieldErrors): void {
  const here = at.child('devices');
  eachUpTo(MAX_REQUESTS, devices.results, here.child('results'), errors, (result, place) => validateResult(result, names, place, errors));
  eachUpTo(2 * MAX_CONFIGURATIONS, devices.config, here.child('config'), errors, (config, place) => {
    word(config.source, ['FromClaim', 'FromClass'], place.child('source'), errors);
    validateReferences(config.requests, names, place.child('requests'), errors);
    validateConfiguration(config, place, errors);
  });
  if (nodeSelector !== undefined) validateNodeSelector(nodeSelector, at.child('nodeSelector'), errors);
}

function validateResult(result: DeviceRequestAllocationResult, names: RequestNames, at: Path, errors: FieldErrors): void {
  validateReference(result.request, names, at.child('request'), errors);
  validateDriverName(result.driver, at.child('driver'), errors);
  validatePoolName(result.pool, at.child('pool'), errors);
  validateLabel(result.device, at.child('device'), errors);
  validateBindingConditions(result, at, errors);
  validateShareId(result.shareID, at.child('shareID'), errors);
}

interface Bindings {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}
/** Conditions that must hold before a pod is bound, and those that end the attempt: both or neither, without overlap. */
export function validateBindingConditions(
  { bindingConditions: conditions = [], bindingFailureConditions: failures = [] }: Bindings,
  at: Path,
  errors: FieldErrors,
): void {
  const [conditionsAt, failuresAt] = [at.child('bindingConditions'), at.child('bindingFailureConditions')];
  eachUpTo(MAX_BINDING_CONDITIONS, conditions, conditionsAt, errors, (one, here) => validateLabelKey(one, here, errors));
  eachUpTo(MAX_BINDING_CONDITIONS, failures, failuresAt, errors, (one, here) => validateLabelKey(one, here, errors));
  const conditionNames = new Set<string>();
  each(conditions, conditionsAt, (one, here) => {
    if (conditionNames.has(one)) errors.duplicate(here, one);
    conditionNames.add(one);
  });
  const failureNames = new Set<string>();
  each(failures, failuresAt, (one, here) => {
    if (failureNames.has(one)) errors.duplicate(here, one);
    failureNames.add(one);
    if (conditionNames.has(one)) errors.invalid(here, one, 'bindingFailureConditions must not overlap with bindingConditions');
  });
  if (conditions.length === 0 && failures.length > 0)
    errors.invalid(conditionsAt, null, 'bindingConditions are required to use bindingFailureConditions');
  if (failures.length === 0 && conditions.length > 0)
    errors.invalid(failuresAt, null, 'bindingFailureConditions are required to use bindingConditions');
}

/** Validation of one capacity of a device, and of the rules by which claims take parts of it. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { Quantity } from '@plat-dev/meta/quantity';
import { amount } from '../validation/resources.ts';
import { eachOnceUpTo } from './bounded-lists.ts';
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity } from './schema/slices.ts';

const MAX_VALUES = 10;

export function validateCapacity({ value, requestPolicy: policy }: DeviceCapacity, shared: boolean, at: Path, errors: FieldErrors): void {
  if (policy === undefined) return;
  const here = at.child('requestPolicy');
  if (!shared) errors.forbidden(here, 'allowMultipleAllocations must be true');
  else if ((policy.validValues ?? []).length > 0 && policy.validRange !== undefined)
    errors.forbidden(here, 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time');
  else validatePolicy(policy, amount(value), here, errors);
}

function validatePolicy(policy: CapacityRequestPolicy, capacity: Quantity, at: Path, errors: FieldErrors): void {
  const { default: usual, validValues = [], validRange } = policy;
  const field = validValues.length > 0 ? 'validValues' : validRange === undefined ? undefined : 'validRange';
  if (field === undefined) return;
  if (usual === undefined) errors.required(at.child('default'), `required when ${field} is defined`);
  else if (validRange !== undefined) validateRange(validRange, amount(usual), capacity, at.child(field), errors);
  else validateValues(validValues, amount(usual), capacity, at.child(field), errors);
}

function validateValues(values: readonly string[], usual: Quantity, capacity: Quantity, at: Path, errors: FieldErrors): void {
  values.forEach((value, i) => {
    const previous = values[i - 1];
    if (previous !== undefined && amount(previous).compare(amount(value)) > 0)
      errors.invalid(at.index(i), value, 'values must be sorted in ascending order');
  });
  eachOnceUpTo(
    MAX_VALUES,
    values,
    at,
    errors,
    (value) => String(amount(value).value()),
    (value, here) => {
      if (amount(value).compare(capacity) > 0) errors.invalid(here, value, `option is larger than capacity value: ${capacity}`);
    },
  );
  if (values.length > MAX_VALUES || !values.some((value) => amount(value).equals(usual)))
    errors.invalid(at, String(usual), 'default value is not valid according to the requestPolicy');
}

function validateRange(range: CapacityRequestPolicyRange, usual: Quantity, capacity: Quantity, at: Path, errors: FieldErrors): void {
  if (range.min === undefined) {
    errors.required(at.child('min'), 'required when validRange is defined');
    return;
  }
  const min = amount(range.min);
  const wrong = (field: string, value: Quantity, text: string): void => errors.invalid(at.child(field), String(value), text);
  if (min.compare(capacity) > 0) wrong('min', min, `min is larger than capacity value: ${capacity}`);
  if (usual.compare(min) < 0) wrong('min', usual, `default is less than min: ${min}`);
  const max = range.max === undefined ? undefined : amount(range.max);
  if (max !== undefined) {
    if (min.compare(max) > 0) wrong('max', min, `min is larger than max: ${max}`);
    if (max.compare(capacity) > 0) wrong('max', max, `max is larger than capacity value: ${capacity}`);
    if (usual.compare(max) > 0) wrong('max', usual, `default is more than max: ${max}`);
  }
  if (range.step === undefined) return;
  const step = amount(range.step);
  const next = min.add(step);
  if (next.compare(capacity) > 0) wrong('step', step, `one step ${next} is larger than capacity value: ${capacity}`);
  // A step of nothing divides nothing.
  for (const value of max === undefined ? [usual] : [usual, max])
    if (step.value() === 0n || (value.value() - min.value()) % step.value() !== 0n)
      wrong('step', value, `value is not a multiple of a given step (${step}) from (${min})`);
}

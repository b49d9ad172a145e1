/** Validation of limit ranges. */
import { own } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { qualifiedName } from '@plat-dev/meta/names';
import type { LimitRange, LimitRangeItem } from '../core/schema/quota.ts';
import type { KindEnv, WriteRequest } from '../kind.ts';
import { type BodyValue, bodyValueOf, spelling } from './body-values.ts';
import { report } from './field-checks.ts';
import { readQuantityText } from './go-quantities.ts';
import { invalidText } from './go-text.ts';
import { amount, mayOvercommit, validateContainerResourceName, validateResourceName } from './resources.ts';

const limits = Path.of('spec', 'limits');
const types = new Set(['Pod', 'Container', 'PersistentVolumeClaim']);

export function validateLimitRange(range: LimitRange, errors: FieldErrors, env: KindEnv, request?: WriteRequest): void {
  const visitedTypes = new Set<string>();
  const bodyValue = bodyValueOf(request);
  range.spec.limits?.forEach((item, i) => {
    const at = limits.index(i);
    validateType(item.type, at.child('type'), errors);
    if (visitedTypes.has(item.type)) errors.duplicate(at.child('type'), item.type);
    visitedTypes.add(item.type);
    const names = validateNames(item, at, errors, env);
    for (const name of names) {
      validateOrder(item, name, env, (field, text, of = field) => {
        const value = spelled(item, of, name, (...path) => bodyValue('spec', 'limits', i, ...path));
        invalidText(errors, at.child(field).key(name), readQuantityText(value), text);
      });
    }
  });
}

function validateType(type: string, at: Path, errors: FieldErrors): void {
  const problems = qualifiedName(type);
  report(errors, at, type, problems);
  if (problems.length === 0 && !type.includes('/') && !types.has(type))
    errors.invalid(at, type, 'must be a standard limit type or fully qualified');
}

/** Every resource that the item names. */
function validateNames(item: LimitRangeItem, at: Path, errors: FieldErrors, env: KindEnv): Set<string> {
  const names = new Set<string>();
  const ofPods = item.type === 'Pod' || item.type === 'Container';
  const check = (field: 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio'): void => {
    for (const name in item[field]) {
      const here = at.child(field).key(name);
      if (ofPods) validateContainerResourceName(name, here, errors, env.identity);
      else validateResourceName(name, here, errors);
      names.add(name);
    }
  };
  check('max');
  check('min');
  if (item.type === 'Pod') {
    for (const field of ['default', 'defaultRequest'] as const)
      if (item[field] !== undefined) errors.forbidden(at.child(field), "may not be specified when `type` is 'Pod'");
  } else {
    check('default');
    check('defaultRequest');
  }
  if (item.type === 'PersistentVolumeClaim' && item.min?.storage === undefined && item.max?.storage === undefined)
    errors.required(at.child('limits'), 'either minimum or maximum storage value is required, but neither was provided');
  check('maxLimitRequestRatio');
  return names;
}

/** The fields from which the server takes the default of an amount. */
const origins = {
  min: ['min'],
  max: ['max'],
  default: ['default', 'max'],
  defaultRequest: ['defaultRequest', 'default', 'max', 'min'],
  maxLimitRequestRatio: ['maxLimitRequestRatio'],
} as const satisfies Partial<Record<keyof LimitRangeItem, readonly string[]>>;
type AmountField = keyof typeof origins;

/** The amount of a resource in its original spelling. */
function spelled(item: LimitRangeItem, field: AmountField, name: string, writtenItem: BodyValue): string {
  const value = own(item[field], name) as string;
  const sentAmount = origins[field].map((origin) => writtenItem(origin, name)).find((text) => text !== undefined);
  return spelling(value, sentAmount);
}

/** Reports an amount at the path of one field; it may be that of another (`of`). */
type Fail = (field: AmountField, text: string, of?: AmountField) => void;

/** For one resource: min is at most max, and the defaults are between them. */
function validateOrder(item: LimitRangeItem, name: string, env: KindEnv, fail: Fail): void {
  const of = (map: Record<string, string> | undefined): string | undefined => own(map, name);
  const pod = item.type === 'Pod';
  const [min, max] = [of(item.min), of(item.max)];
  const [limit, request] = pod ? [undefined, undefined] : [of(item.default), of(item.defaultRequest)];
  const above = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && amount(a).compare(amount(b)) > 0;

  if (above(min, max)) fail('min', `min value ${min} is greater than max value ${max}`);
  if (above(min, request)) fail('defaultRequest', `min value ${min} is greater than default request value ${request}`);
  if (above(request, max)) fail('defaultRequest', `default request value ${request} is greater than max value ${max}`);
  if (above(request, limit)) fail('defaultRequest', `default request value ${request} is greater than default limit value ${limit}`);
  if (above(min, limit)) fail('default', `min value ${min} is greater than default value ${limit}`, 'min');
  if (above(limit, max)) fail('default', `default value ${limit} is greater than max value ${max}`, 'max');
  validateRatio(of(item.maxLimitRequestRatio), min, max, fail);
  if (!mayOvercommit(name, env.identity) && limit !== undefined && request !== undefined && amount(limit).compare(amount(request)) !== 0)
    fail('defaultRequest', `default value ${limit} must equal to defaultRequest value ${request} in ${name}`);
}

function validateRatio(ratio: string | undefined, min: string | undefined, max: string | undefined, fail: Fail): void {
  if (ratio === undefined) return;
  if (amount(ratio).millis() < 1000n) fail('maxLimitRequestRatio', `ratio ${ratio} is less than 1`);
  if (min === undefined || max === undefined) return;
  const most = Number(amount(max).millis()) / Number(amount(min).millis());
  if (amount(ratio).toNumber() > most) fail('maxLimitRequestRatio', `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`);
}

/**
 * Expressions that select devices. They see a variable `device`:
 *
 *   device.driver                                     'gpu.example.com'
 *   device.attributes['gpu.example.com'].model        'a', a bool, a number or a version
 *   device.capacity['gpu.example.com'].memory         a quantity
 *   device.allowMultipleAllocations                   with the gate DRAConsumableCapacity
 */
import { BOOL, CelError, type CelType, compile, DYN, mapOf, objectOf, type Program, QUANTITY, stringOf } from '@plat-dev/cel';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { KindEnv } from '../kind.ts';
import { eachUpTo } from './bounded-lists.ts';
import type { DeviceSelector } from './schema/claims.ts';

const MAX_SELECTORS = 32;
/** In UTF-8 bytes. */
const MAX_EXPRESSION_BYTES = 10 * 1024;
const MAX_COST = 1_000_000;
const MAX_DOMAIN = 63;
const MAX_ID = 32;
const MAX_ENTRIES = 32;

const parts: Readonly<Record<string, CelType>> = {
  driver: stringOf(MAX_DOMAIN),
  attributes: mapOf(stringOf(MAX_DOMAIN), mapOf(stringOf(MAX_ID), DYN, MAX_ENTRIES), MAX_ENTRIES),
  capacity: mapOf(stringOf(MAX_DOMAIN), mapOf(stringOf(MAX_ID), QUANTITY, MAX_ENTRIES), MAX_ENTRIES),
};
const device = { device: objectOf('DRADevice', parts) };
const sharedDevice = { device: objectOf('DRADevice', { ...parts, allowMultipleAllocations: BOOL }) };

/** Throws CelError. The result is a bool, or of a type that only the device decides. */
const compileSelector = (expression: string, env: Pick<KindEnv, 'feature'>): Program =>
  compile(expression, env.feature('DRAConsumableCapacity') ? sharedDevice : device);

export function validateSelectors(selectors: readonly DeviceSelector[] | undefined, at: Path, errors: FieldErrors, env: KindEnv): void {
  eachUpTo(MAX_SELECTORS, selectors, at, errors, ({ cel }, here) => {
    if (cel === undefined) errors.required(here.child('cel'));
    else validateExpression(cel.expression, here.child('cel').child('expression'), errors, env);
  });
}

function validateExpression(expression: string, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (Buffer.byteLength(expression) > MAX_EXPRESSION_BYTES) {
    errors.tooLong(at, MAX_EXPRESSION_BYTES);
    return;
  }
  try {
    const { type, estimateCost } = compileSelector(expression, env);
    if (type.kind !== 'bool' && type.kind !== 'dyn')
      errors.invalid(at, expression, `must evaluate to bool or the unknown type, not ${type.kind}`);
    else if (estimateCost().max > MAX_COST) errors.forbidden(at, 'too complex, exceeds cost limit');
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    errors.invalid(at, expression, `compilation failed: ${error.message}`);
  }
}

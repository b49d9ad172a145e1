/** Taints of devices and tolerations of requests. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { labelValue } from '@plat-dev/meta/names';
import { formatTime } from '@plat-dev/meta/time';
import type { KindEnv } from '../kind.ts';
import { report, word } from '../validation/field-checks.ts';
import { validateLabelKey } from './names.ts';
import type { DeviceToleration } from './schema/device-parts.ts';
import type { DeviceTaint } from './schema/slices.ts';

const operators = ['Equal', 'Exists'];

/** `None` reports a problem without any effect. */
const effectsIn = (env: KindEnv): readonly string[] =>
  env.since('1.35') ? ['NoExecute', 'NoSchedule', 'None'] : ['NoExecute', 'NoSchedule'];

const validateValue = (value: string, at: Path, errors: FieldErrors): void => report(errors, at, value, labelValue(value));

/** A taint that keeps its effect may keep one that is not known any more. */
export function validateTaint(taint: DeviceTaint, old: DeviceTaint | undefined, at: Path, errors: FieldErrors, env: KindEnv): void {
  validateLabelKey(taint.key, at.child('key'), errors);
  if (taint.value !== undefined && taint.value !== '') validateValue(taint.value, at.child('value'), errors);
  if (old?.effect !== taint.effect || old === undefined) word(taint.effect, effectsIn(env), at.child('effect'), errors);
}

export function stampTaint(taint: DeviceTaint, env: KindEnv): void {
  taint.timeAdded ??= formatTime(env.now());
}

export function validateToleration(toleration: DeviceToleration, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { key = '', operator, value = '', effect = '' } = toleration;
  if (key !== '') validateLabelKey(key, at.child('key'), errors);
  if (operator === 'Exists') {
    if (value !== '') errors.invalid(at.child('value'), value, 'must be empty for operator `Exists`');
  } else if (operator === 'Equal') validateValue(value, at.child('value'), errors);
  else word(operator, operators, at.child('operator'), errors);
  if (effect !== '') word(effect, effectsIn(env), at.child('effect'), errors);
}

/** Conditions of the common form: type, status, reason, message, and since when. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { labelKey, regexProblem } from '@plat-dev/meta/names';
import type { Condition } from '../meta.ts';
import { report } from './field-checks.ts';

const statuses = ['False', 'True', 'Unknown'];
const MAX_REASON_BYTES = 1024;
const MAX_MESSAGE_BYTES = 32 * 1024;
const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonRegex = new RegExp(`^${reasonPattern}$`);
const reasonProblem = regexProblem(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  reasonPattern,
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
);

export function validateConditions(conditions: readonly Condition[] | undefined, at: Path, errors: FieldErrors): void {
  const types = new Set<string>();
  conditions?.forEach((condition, i) => {
    if (types.has(condition.type)) errors.duplicate(at.index(i).child('type'), condition.type);
    types.add(condition.type);
    validateCondition(condition, at.index(i), errors);
  });
}

function validateCondition(condition: Condition, at: Path, errors: FieldErrors): void {
  const { type, status, observedGeneration = 0, lastTransitionTime, reason, message } = condition;
  report(errors, at.child('type'), type, labelKey(type));
  if (!statuses.includes(status)) errors.notSupported(at.child('status'), status, statuses);
  if (observedGeneration < 0) errors.invalid(at.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero');
  if (lastTransitionTime === undefined) errors.required(at.child('lastTransitionTime'), 'must be set');
  if (reason === '') errors.required(at.child('reason'), 'must be set');
  else if (!reasonRegex.test(reason)) errors.invalid(at.child('reason'), reason, reasonProblem);
  if (Buffer.byteLength(reason) > MAX_REASON_BYTES) errors.tooLong(at.child('reason'), MAX_REASON_BYTES);
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) errors.tooLong(at.child('message'), MAX_MESSAGE_BYTES);
}

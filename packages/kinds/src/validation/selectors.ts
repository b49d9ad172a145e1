/** Validation of the selectors of workloads. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { type LabelSelector as Compiled, fromLabelSelector, type Labels, noLabel, validateLabelSelector } from '@plat-dev/meta/labels';
import { labelKey, labelValue } from '@plat-dev/meta/names';
import type { LabelSelector } from '../meta.ts';
import { invalidText, mapText, selectorText } from './go-text.ts';

const isEmpty = (selector: LabelSelector): boolean =>
  Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;

/** The parsed selector: an absent one selects nothing. Undefined if it is invalid. */
export function compileSelector(selector: LabelSelector | undefined): Compiled | undefined {
  if (selector === undefined) return noLabel;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const works =
    Object.keys(matchLabels).every((key) => labelKey(key).length === 0 && labelValue(matchLabels[key] as string).length === 0) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const wantsValues = operator === 'In' || operator === 'NotIn';
      if (!wantsValues && operator !== 'Exists' && operator !== 'DoesNotExist') return false;
      return wantsValues === values.length > 0 && labelKey(key).length === 0 && values.every((value) => labelValue(value).length === 0);
    });
  return works ? fromLabelSelector(selector) : undefined;
}

/** The selector of a workload is required and must not be empty. `what` is the kind in the error. */
export function validateWorkloadSelector(selector: LabelSelector | undefined, what: string, at: Path, errors: FieldErrors): void {
  if (selector === undefined) errors.required(at);
  else {
    validateLabelSelector(selector, at, errors);
    validateSomeSelector(selector, what, at, errors);
  }
}

export function validateSomeSelector(selector: LabelSelector, what: string, at: Path, errors: FieldErrors): void {
  if (isEmpty(selector)) invalidText(errors, at, selectorText(selector), `empty selector is invalid for ${what}`);
}

/** The selector of a workload must match its template. `at` is the path of the template. */
export function validateSelected(selector: Compiled, labels: Labels | undefined, at: Path, errors: FieldErrors): void {
  if (selector.everything || selector.matches(labels)) return;
  invalidText(errors, at.child('metadata').child('labels'), mapText(labels), '`selector` does not match template `labels`');
}

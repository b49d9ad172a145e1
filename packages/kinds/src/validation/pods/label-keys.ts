/** Keys whose labels of the new pod become part of a selector: `app: a` and the key `app` make `app in (a)`. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { labelKey } from '@plat-dev/meta/names';
import type { LabelSelector } from '../../meta.ts';
import { report } from '../field-checks.ts';

interface KeyedSelector {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/** The rules where keys are merged into the selector, which has them by now. */
export function validateLabelKeys(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: KeyedSelector,
  at: Path,
  errors: FieldErrors,
): void {
  validateKeys(matchLabelKeys, labelSelector, at.child('matchLabelKeys'), errors);
  validateKeys(mismatchLabelKeys, labelSelector, at.child('mismatchLabelKeys'), errors);
  const indexes = new Map(matchLabelKeys.map((key, i) => [key, i]));
  // One requirement is that of the key itself.
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const i = indexes.get(key);
    if (i !== undefined && selected.has(key)) errors.invalid(at.index(i), key, 'exists in both matchLabelKeys and labelSelector');
    selected.add(key);
  }
  const mismatching = new Set(mismatchLabelKeys);
  matchLabelKeys.forEach((key, i) => {
    if (mismatching.has(key))
      errors.invalid(at.child('matchLabelKeys').index(i), key, 'exists in both matchLabelKeys and mismatchLabelKeys');
  });
}

function validateKeys(keys: readonly string[], selector: LabelSelector | undefined, at: Path, errors: FieldErrors): void {
  if (keys.length === 0) return;
  if (selector === undefined) {
    errors.forbidden(at, 'must not be specified when labelSelector is not set');
    return;
  }
  keys.forEach((key, i) => {
    report(errors, at.index(i), key, labelKey(key));
  });
}

/** The rules where the scheduler reads the keys, and the selector must not have them. `at` is the path of the keys. */
export function validateSeparateKeys(
  { labelSelector, matchLabelKeys = [] }: KeyedSelector,
  mayLackSelector: boolean,
  at: Path,
  errors: FieldErrors,
): void {
  if (matchLabelKeys.length === 0) return;
  if (labelSelector === undefined && !mayLackSelector) errors.forbidden(at, 'must not be specified when labelSelector is not set');
  const selected = selectedKeys(labelSelector);
  matchLabelKeys.forEach((key, i) => {
    report(errors, at.index(i), key, labelKey(key));
    if (selected.has(key)) errors.invalid(at.index(i), key, 'exists in both matchLabelKeys and labelSelector');
  });
}

/** The keys that a selector asks for. */
export function selectedKeys({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): ReadonlySet<string> {
  return new Set([...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)]);
}

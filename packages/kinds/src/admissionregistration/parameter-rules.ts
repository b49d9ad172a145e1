/** The parameters of policies: their kind in the policy, and a reference to them in the binding. */

import { isApiVersion, splitApiVersion } from '@plat-dev/meta/api-version';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { dns1035Label, dns1123Subdomain, pathSegmentName } from '@plat-dev/meta/names';
import type { ReleaseEnv } from '../kind.ts';
import { report, required } from '../validation/field-checks.ts';
import type { ParamKind, ParamRef } from './schema/policies.ts';

export function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, at: Path, errors: FieldErrors): void {
  const versionAt = at.child('apiVersion');
  if (apiVersion === '') errors.required(versionAt);
  else if (!isApiVersion(apiVersion)) errors.invalid(versionAt, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  else {
    const { group, version } = splitApiVersion(apiVersion);
    const joined = (value: string, problems: readonly string[]): void => {
      if (problems.length > 0) errors.invalid(versionAt, value, problems.join(','));
    };
    if (group !== '') joined(group, dns1123Subdomain(group));
    if (version === '') errors.invalid(versionAt, apiVersion, 'version must be specified');
    else joined(version, dns1035Label(version));
  }
  required(kind, at, 'kind', errors);
  const problems = kind === '' ? [] : dns1035Label(kind.toLowerCase());
  if (problems.length > 0) errors.invalid(at.child('kind'), kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
}

const notFoundActions = ['Deny', 'Allow'];
const EXCLUSIVE = 'name and selector are mutually exclusive';

export function validateParamRef(reference: ParamRef | undefined, at: Path, errors: FieldErrors, env: ReleaseEnv): void {
  if (reference === undefined) return;
  const { name = '', selector, parameterNotFoundAction = '' } = reference;
  if (name !== '') {
    report(errors, at.child('name'), name, pathSegmentName(name));
    if (selector !== undefined) errors.forbidden(at.child('name'), EXCLUSIVE);
  }
  if (selector !== undefined) {
    validateLabelSelector(selector, at.child('selector'), errors);
    if (name !== '') errors.forbidden(at.child('selector'), EXCLUSIVE);
  }
  if (!env.since('1.28')) {
    required(name, at, 'name', errors);
    return;
  }
  if (name === '' && selector === undefined) errors.required(at, 'one of name or selector must be specified');
  const actionAt = at.child('parameterNotFoundAction');
  if (parameterNotFoundAction === '') errors.required(actionAt);
  else if (!notFoundActions.includes(parameterNotFoundAction)) errors.notSupported(actionAt, parameterNotFoundAction, notFoundActions);
}

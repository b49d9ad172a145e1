/** References to other objects by group, kind and name. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { pathSegmentName } from '@plat-dev/meta/names';
import { report, subdomain } from './field-checks.ts';

/** A reference to an object of the same scope, with its kind. */
export function validateTypedReference(
  reference: { readonly apiGroup?: string; readonly kind: string; readonly name: string },
  at: Path,
  errors: FieldErrors,
): void {
  const { apiGroup, kind, name } = reference;
  if (apiGroup !== undefined) subdomain(apiGroup, at.child('apiGroup'), errors);
  if (kind === '') errors.required(at.child('kind'), 'kind is required');
  else report(errors, at.child('kind'), kind, pathSegmentName(kind));
  if (name === '') errors.required(at.child('name'), 'name is required');
  else report(errors, at.child('name'), name, pathSegmentName(name));
}

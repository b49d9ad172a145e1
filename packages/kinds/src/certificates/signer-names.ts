/** Names of signers: `example.com/signer-name`. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Label, dns1123Subdomain } from '@plat-dev/meta/names';

export function validateSignerName(name: string, at: Path, errors: FieldErrors): void {
  if (name === '') {
    errors.required(at, 'signerName must be provided');
    return;
  }
  const [domain = '', path = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    errors.invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  if (domain.length > MAX_SIGNER_PART) errors.tooLong(at, MAX_SIGNER_PART);
  const labels = domain.split('.');
  validateLabels(labels, dns1123Label, domain, at, errors);
  if (labels.length < 2) errors.invalid(at, domain, 'should be a domain with at least two segments separated by dots');
  validateLabels(path.split('.'), dns1123Subdomain, path, at, errors);
  if (name.length > MAX_SIGNER_NAME) errors.tooLong(at, MAX_SIGNER_NAME);
}
/** A domain, or the name of an object in a path. */
const MAX_SIGNER_PART = 253;
/** `<domain>/<namespace>.<name>` */
const MAX_SIGNER_NAME = MAX_SIGNER_PART + 1 + 63 + 1 + MAX_SIGNER_PART;

/** Reports the first invalid label only: the errors of the others would be the same. */
function validateLabels(
  labels: readonly string[],
  rule: (label: string) => readonly string[],
  whole: string,
  at: Path,
  errors: FieldErrors,
): void {
  const wrong = labels.find((label) => rule(label).length > 0);
  if (wrong === undefined) return;
  for (const text of rule(wrong)) errors.invalid(at, whole, `validating label ${JSON.stringify(wrong)}: ${text}`);
}

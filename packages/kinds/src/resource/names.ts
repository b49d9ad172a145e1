/** Names of drivers, pools, devices, attributes and requests. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Label, dns1123Subdomain, labelKey, regexProblem } from '@plat-dev/meta/names';
import { report } from '../validation/field-checks.ts';

const MAX_DRIVER_BYTES = 63;
const MAX_POOL_BYTES = 253;
const MAX_ID_BYTES = 32;
/** A domain, a slash and a name. */
export const MAX_ATTRIBUTE_KEY = MAX_DRIVER_BYTES + 1 + MAX_ID_BYTES;

const identifierPattern = '[A-Za-z_][A-Za-z0-9_]*';
const identifierRegex = new RegExp(`^${identifierPattern}$`);
const identifierProblem = regexProblem(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  identifierPattern,
  'my_name',
  'MY_NAME',
  'MyName',
);

export function validateDriverName(name: string, at: Path, errors: FieldErrors): void {
  if (name === '') errors.required(at);
  if (Buffer.byteLength(name) > MAX_DRIVER_BYTES) errors.tooLong(at, MAX_DRIVER_BYTES);
  if (name !== '') report(errors, at, name, dns1123Subdomain(name.toLowerCase()));
}

/** One or more domain names with slashes between them. */
export function validatePoolName(name: string, at: Path, errors: FieldErrors): void {
  if (name === '') {
    errors.required(at);
    return;
  }
  if (Buffer.byteLength(name) > MAX_POOL_BYTES) {
    errors.tooLong(at, MAX_POOL_BYTES);
    return;
  }
  for (const part of name.split('/')) report(errors, at, part, dns1123Subdomain(part));
}

/** Names of requests, devices, counters and sets of counters. */
export const validateLabel = (name: string, at: Path, errors: FieldErrors): void => report(errors, at, name, dns1123Label(name));

export const validateLabelKey = (key: string, at: Path, errors: FieldErrors): void => report(errors, at, key, labelKey(key));

function validateIdentifier(id: string, at: Path, errors: FieldErrors): void {
  if (Buffer.byteLength(id) > MAX_ID_BYTES) errors.tooLong(at, MAX_ID_BYTES);
  if (!identifierRegex.test(id)) errors.invalid(at, id, identifierProblem);
}

/** `model` or `gpu.example.com/model`. */
export function validateAttributeName(name: string, at: Path, errors: FieldErrors): void {
  const [first = '', second, ...rest] = name.split('/');
  if (rest.length > 0) return;
  if (second === undefined) {
    validateIdentifier(first, at, errors);
    return;
  }
  if (first === '') errors.invalid(at, '', 'the domain must not be empty');
  else validateDriverName(first, at, errors);
  if (second === '') errors.invalid(at, '', 'the name must not be empty');
  else validateIdentifier(second, at, errors);
}

/** A name with its domain. */
export function validateFullName(name: string, at: Path, errors: FieldErrors): void {
  validateAttributeName(name, at, errors);
  if (!name.includes('/')) errors.invalid(at, name, 'a fully qualified name must be a domain and a name separated by a slash');
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function validateShareId(id: string | undefined, at: Path, errors: FieldErrors): void {
  if (id === undefined || uuid.test(id)) return;
  errors.invalid(
    at,
    id,
    'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
  );
}

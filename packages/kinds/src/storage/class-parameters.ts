/** Parameters of storage classes and of classes of volume attributes, which only drivers understand. */
import { own } from '@plat-dev/lib/own';
import type { FieldErrors, Path } from '@plat-dev/meta/field';

const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 256 * 1024;

export function validateParameters(parameters: Readonly<Record<string, string>>, at: Path, errors: FieldErrors): void {
  const names = Object.keys(parameters);
  if (names.length > MAX_PARAMETERS) {
    errors.tooLong(at, MAX_PARAMETERS);
    return;
  }
  let size = 0;
  for (const name of names) {
    if (name === '') errors.invalid(at, name, 'field can not be empty.');
    size += Buffer.byteLength(name) + Buffer.byteLength(own(parameters, name) as string);
  }
  if (size > MAX_PARAMETER_BYTES) errors.tooLong(at, MAX_PARAMETER_BYTES);
}

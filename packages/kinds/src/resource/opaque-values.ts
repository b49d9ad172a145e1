/** Values that only drivers understand: JSON objects of a bounded size. */
import { jsonText } from '@plat-dev/lib/json-text';
import type { FieldErrors, Path } from '@plat-dev/meta/field';

export function validateJsonObject(value: unknown, maxBytes: number, at: Path, errors: FieldErrors): void {
  if (value === undefined || value === null) errors.required(at);
  else if (Buffer.byteLength(jsonText(value as never)) > maxBytes) errors.tooLong(at, maxBytes);
  else if (typeof value !== 'object' || Array.isArray(value)) errors.invalid(at, '<value omitted>', 'must be a valid JSON object');
}

/** Causes of an error of the server at the places of their fields. */
import type { ApiError } from '../../../api/api-error.ts';
import type { Fault } from './check-schema.ts';
import { fieldsOfMessage, parseField } from './field-path.ts';
import { parseText, rangeOf } from './places.ts';

export function faultsOfError({ causes, message }: Pick<ApiError, 'causes' | 'message'>, text: string): (Fault & { severity: 'error' })[] {
  const { root } = parseText(text);
  if (root === undefined) return [];
  const ofCauses = causes.map((cause) => ({ path: parseField(cause.field ?? ''), message: cause.message ?? cause.reason ?? '' }));
  const fields = ofCauses.length > 0 ? ofCauses : fieldsOfMessage(message);
  return fields.map((field) => ({ ...rangeOf(root, field.path), message: field.message, severity: 'error' }));
}

/**
 * What an audit log must not contain, whatever the policy: the data of Secrets, and tokens. Names, keys and
 * all other fields of such objects stay, so that one can see what was accessed.
 */
import { clientSideApply } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

const blank = '[redacted]';

export type Redaction = 'secret' | 'token';

/** The redacted fields of a resource. `group` is the full group name, `authentication` that of token reviews. */
export function redactionOf(
  { group, resource, subresource }: { readonly group: string; readonly resource: string; readonly subresource: string },
  authentication: string,
): Redaction | undefined {
  if (group === '' && resource === 'secrets') return 'secret';
  if (group === authentication && resource === 'tokenreviews') return 'token';
  return group === '' && resource === 'serviceaccounts' && subresource === 'token' ? 'token' : undefined;
}

/** Blanks redacted fields, in place: of an object, a list, a Table or a patch. */
export function redact(value: JsonValue, what: Redaction): void {
  if (Array.isArray(value)) {
    for (const operation of value) blankOperation(operation);
    return;
  }
  if (!isObject(value)) return;
  if (value.kind === 'Status') blankProblem(value);
  for (const item of arrayOf(value.items)) redact(item, what);
  // Rows of a Table hold objects, and cells without secrets.
  for (const row of arrayOf(value.rows)) if (isObject(row)) redact(row.object ?? null, what);
  if (what === 'token') {
    for (const part of [value.spec, value.status]) if (isObject(part) && part.token !== undefined) part.token = blank;
    return;
  }
  blankValues(value.data);
  blankValues(value.stringData);
  // The last-applied-configuration annotation repeats the whole object.
  const annotations = isObject(value.metadata) ? value.metadata.annotations : undefined;
  if (isObject(annotations) && annotations[clientSideApply.annotation] !== undefined) annotations[clientSideApply.annotation] = blank;
}

/** Error messages may quote the body. */
function blankProblem(status: JsonObject): void {
  if (!quotes(status.code)) return;
  delete status.message;
  if (isObject(status.details)) delete status.details.causes;
}
export const quotes = (code: JsonValue | undefined): boolean => code === 400 || code === 422;

/** Of JSON patches only harmless parts are shown. */
function blankOperation(operation: JsonValue): void {
  if (!isObject(operation) || operation.value === undefined) return;
  const { path } = operation;
  if (typeof path === 'string' && /^\/(type|immutable|metadata\/(labels|finalizers|ownerReferences)(\/.*)?)$/.test(path)) return;
  operation.value = blank;
}

function blankValues(value: JsonValue | undefined): void {
  if (isObject(value)) for (const key of Object.keys(value)) value[key] = blank;
}

/** Removes managedFields from an object, the items of a list or the rows of a Table, in place. */
export function dropManagedFields(value: JsonValue): void {
  if (!isObject(value)) return;
  if (isObject(value.metadata)) delete value.metadata.managedFields;
  for (const item of arrayOf(value.items)) dropManagedFields(item);
  for (const row of arrayOf(value.rows)) if (isObject(row)) dropManagedFields(row.object ?? null);
}

const arrayOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

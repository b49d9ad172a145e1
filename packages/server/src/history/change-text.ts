/**
 * What a change does, in one line: `spec.replicas 3 → 5`, `metadata.labels.app = web`, `spec.template.spec.containers.0 added`, and how
 * many more there are. Fields that people set come before those that the server counts.
 */
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { ChangeOperation } from '@plat-dev/patch';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

const SHOWN = 3;
const MAX_VALUE = 40;

/** `hidesValues`: only the names of fields are shown. */
export function changeText(operations: readonly ChangeOperation[], from: JsonObject, hidesValues: boolean): string {
  const telling = operations.filter(({ path }) => !impliedFields.has(path));
  if (telling.length === 0) return 'no field';
  const ordered = [...telling.filter((one) => !isStatus(one)), ...telling.filter(isStatus)];
  const shown = ordered.slice(0, SHOWN).map((operation) => operationText(operation, from, hidesValues));
  return ordered.length > SHOWN ? `${shown.join(', ')}, ${ordered.length - SHOWN} more` : shown.join(', ');
}

/** The generation counts changes of the spec, and the time of a deletion has its grace period in it: both are listed themselves. */
const impliedFields: ReadonlySet<string> = new Set(['/metadata/generation', '/metadata/deletionGracePeriodSeconds']);

const isStatus = ({ path }: ChangeOperation): boolean => path === '/status' || path.startsWith('/status/');

function operationText(operation: ChangeOperation, from: JsonObject, hidesValues: boolean): string {
  if (operation.path === '/metadata/deletionTimestamp' && operation.op === 'add') return 'marked for deletion';
  const names = operation.path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = names.length === 0 ? 'everything' : names.join('.');
  if (operation.op === 'remove') return `${path} removed`;
  if (hidesValues || isComposite(operation.value)) return `${path} ${operation.op === 'add' ? 'added' : 'changed'}`;
  const value = valueText(operation.value);
  return operation.op === 'add' ? `${path} = ${value}` : `${path} ${valueText(valueAt(from, names))} → ${value}`;
}

function valueAt(from: JsonObject, names: readonly string[]): JsonValue {
  let value: JsonValue = from;
  for (const name of names) {
    if (!isComposite(value)) return null;
    value = (own(value as JsonObject, name) as JsonValue | undefined) ?? null;
  }
  return value;
}

const isComposite = (value: JsonValue): value is JsonObject | JsonValue[] => typeof value === 'object' && value !== null;

function valueText(value: JsonValue): string {
  if (isComposite(value)) return '…';
  const text = typeof value === 'string' && value !== '' ? value : jsonText(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

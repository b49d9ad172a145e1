/**
 * What a change does, in one line: `spec.replicas: 3 → 5`, `metadata.labels.app: added`, and how many more there are.
 */
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { ChangeOperation } from '@plat-dev/patch';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

const SHOWN = 3;
const MAX_VALUE = 40;

export function changeText(operations: readonly ChangeOperation[], from: JsonObject): string {
  if (operations.length === 0) return 'no field';
  const shown = operations.slice(0, SHOWN).map((operation) => operationText(operation, from));
  return operations.length > SHOWN ? `${shown.join(', ')}, ${operations.length - SHOWN} more` : shown.join(', ');
}

function operationText(operation: ChangeOperation, from: JsonObject): string {
  const names = operation.path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = names.join('.');
  if (operation.op === 'remove') return `${path}: removed`;
  if (typeof operation.value === 'object' && operation.value !== null) return `${path}: ${operation.op === 'add' ? 'added' : 'changed'}`;
  const value = valueText(operation.value);
  return operation.op === 'add' ? `${path}: ${value}` : `${path}: ${valueText(valueAt(from, names))} → ${value}`;
}

function valueAt(from: JsonObject, names: readonly string[]): JsonValue {
  let value: JsonValue = from;
  for (const name of names) {
    if (typeof value !== 'object' || value === null) return null;
    value = (own(value as JsonObject, name) as JsonValue | undefined) ?? null;
  }
  return value;
}

function valueText(value: JsonValue): string {
  const text = typeof value === 'string' ? value : typeof value === 'object' && value !== null ? '…' : jsonText(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

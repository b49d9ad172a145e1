import { jsonText } from '@plat-dev/lib/json-text';
import type { JsonValue } from '@plat-dev/schema/types';

/** A value in an error, in the notation of a stock server: `map[string]interface {}{"n":1}`. */
export function goValue(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goValue).join(', ')}}`;
  if (typeof value !== 'object') return jsonText(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${goValue(value[key] as JsonValue)}`);
  return `map[string]interface {}{${entries.join(', ')}}`;
}

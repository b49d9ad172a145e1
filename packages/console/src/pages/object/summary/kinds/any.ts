/** Kinds that have no page of their own, custom ones among them: their fields as the schema has them. */

import { isMap, mapAt, type Value } from '../../../../api/values.ts';
import type { Schema } from '../../openapi/schema.ts';
import { propertiesOf } from '../../openapi/schema.ts';
import { code, type Fact, list, type Shown, type Summary, text } from '../summary.ts';

/** Shown elsewhere on the page. */
const elsewhere = new Set(['apiVersion', 'kind', 'metadata']);
/** Maps are opened so far; deeper ones stand in the tab with the YAML. */
const DEEPEST = 3;
/** More fields are in the YAML. */
const MOST_FACTS = 60;

export function anySummary(object: Value, schema: Schema | undefined): Summary {
  const facts = factsOf(mapAt(object), schema, '', 0).filter(({ label }) => !label.startsWith('status.conditions'));
  return { facts: facts.slice(0, MOST_FACTS), tables: [] };
}

function factsOf(map: Readonly<Record<string, Value>>, schema: Schema | undefined, prefix: string, depth: number): Fact[] {
  const properties = propertiesOf(schema);
  const order = [...properties.keys()];
  const keys = Object.keys(map).sort((one, other) => rank(order, one) - rank(order, other));
  return keys.flatMap((key) => {
    if (depth === 0 && elsewhere.has(key)) return [];
    const value = Object.hasOwn(map, key) ? map[key] : undefined;
    const property = properties.get(key);
    const label = `${prefix}${key}`;
    if (isMap(value) && depth < DEEPEST) return factsOf(value, property, `${label}.`, depth + 1);
    const shown = shownOf(value);
    return shown === undefined ? [] : [{ label, value: shown, hint: property?.description }];
  });
}

function rank(order: readonly string[], key: string): number {
  const at = order.indexOf(key);
  return at < 0 ? order.length : at;
}

function shownOf(value: Value): Shown | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) {
    if (value.length === 0) return undefined;
    return value.some((item) => typeof item === 'object') ? text(`${value.length} entries`) : list(value.map((item) => code(String(item))));
  }
  if (isMap(value)) return Object.keys(value).length === 0 ? undefined : text(`${Object.keys(value).length} fields`);
  return code(String(value));
}

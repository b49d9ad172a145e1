/**
 * The weight of a schema for a value: how much of the value it describes. If a value matches none of several alternatives, the
 * errors are those of the one with the highest weight, which is likely the intended one. The count is that of a stock server, so
 * that clients get the same errors.
 */

import { isNumeric } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import type { JsonValue } from '@plat-dev/schema/types';
import type { JSONSchemaProps } from '../schema/json-schema.ts';
import { spend } from './effort.ts';
import type { Extensions } from './node.ts';
import { formatOf, typeFault, typesOf } from './types.ts';

/** The cost of weighing a value; see `effort.ts`. */
const STEPS_OF_A_VALUE = 8;

export function weightOf(value: JsonValue, schema: JSONSchemaProps, x: Extensions): number {
  spend(STEPS_OF_A_VALUE);
  const format = formatOf(schema, x);
  const typed = typesOf(schema, x).length > 0 || format !== undefined;
  const rightType = typed && typeFault(value, schema, x) === undefined ? 1 : 0;
  if (value === null) return rightType;
  // One for the schema itself, two for its combinations, one for its enumeration.
  let weight = 4 + (typed ? 1 + rightType : 0);
  for (const part of schema.allOf ?? []) weight += weightOf(value, part, x);
  weight += heaviest(value, schema.anyOf, x) + heaviest(value, schema.oneOf, x);
  if (typeof value === 'string') weight += format === undefined ? 1 : 2;
  else if (isNumeric(value)) weight += 2;
  else if (Array.isArray(value)) weight += 2 + itemsWeight(value, schema, x);
  else if (typeof value === 'object') weight += 1 + fieldsWeight(value, schema, x);
  return weight;
}

function heaviest(value: JsonValue, schemas: readonly JSONSchemaProps[] | undefined, x: Extensions): number {
  let most = 0;
  for (const schema of schemas ?? []) most = Math.max(most, weightOf(value, schema, x));
  return most;
}

function itemsWeight(value: readonly JsonValue[], { items }: JSONSchemaProps, x: Extensions): number {
  if (items === undefined || Array.isArray(items)) return 0;
  return value.reduce((sum: number, item) => sum + weightOf(item, items, x), 0);
}

function fieldsWeight(value: { [key: string]: JsonValue }, schema: JSONSchemaProps, x: Extensions): number {
  const { properties = {}, additionalProperties } = schema;
  let weight = 0;
  for (const [key, item] of Object.entries(value)) {
    const field = own(properties, key) ?? additionalProperties;
    if (typeof field === 'object') weight += weightOf(item, field, x);
  }
  return weight;
}

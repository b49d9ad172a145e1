/** What a schema says against the values of a text, at their places. The server has the last word: this is for whoever types. */
import type { YamlNode } from '@plat-dev/schema/yaml/places';
import { partOf, propertiesOf, type Schema, typeText } from '../openapi/schema.ts';
import type { Range } from './places.ts';

export interface Fault extends Range {
  readonly message: string;
}
/** More faults say no more. */
const MOST_FAULTS = 100;

export function schemaFaults(root: YamlNode, schema: Schema): Fault[] {
  const faults: Fault[] = [];
  checkNode(root, schema, { from: root.start, to: root.start }, faults);
  return faults.slice(0, MOST_FAULTS);
}

function checkNode(node: YamlNode, schema: Schema, range: Range, faults: Fault[]): void {
  if (faults.length >= MOST_FAULTS || node.value === null) return;
  if (!hasType(node.value, schema)) {
    faults.push({ ...range, message: `Expected: ${typeText(schema)}.` });
    return;
  }
  const { enumeration } = schema;
  if (enumeration.length > 0 && !enumeration.includes(node.value))
    faults.push({ ...range, message: `Expected one of: ${enumeration.map(String).join(', ')}.` });
  for (const entry of node.entries) checkEntry(entry, schema, faults);
  node.items.forEach((item) => {
    const itemSchema = partOf(schema, 0);
    if (itemSchema !== undefined) checkNode(item, itemSchema, placeOf(item), faults);
  });
  if (node.type !== 'map' && node.type !== 'flowMap') return;
  for (const name of schema.required)
    if (!node.entries.some(({ key }) => key === name)) faults.push({ ...range, message: `The field ${name} is missing.` });
}

function checkEntry({ key, start, end, place }: YamlNode['entries'][number], schema: Schema, faults: Fault[]): void {
  const range = { from: start, to: end };
  const property = partOf(schema, key);
  if (property !== undefined) checkNode(place, property, range, faults);
  else if (!schema.isOpen && propertiesOf(schema).size > 0) faults.push({ ...range, message: `There is no field ${key} here.` });
}

const placeOf = (item: YamlNode): Range => {
  const [first] = item.entries;
  return first === undefined ? { from: item.start, to: item.end } : { from: first.start, to: first.end };
};

function hasType(value: unknown, { type, isIntOrString }: Schema): boolean {
  if (isIntOrString) return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
  if (type === 'object') return typeof value === 'object' && !Array.isArray(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'string') return typeof value === 'string';
  if (type === 'boolean') return typeof value === 'boolean';
  if (type === 'integer' || type === 'number') return typeof value === 'number' || typeof value === 'bigint';
  return true;
}

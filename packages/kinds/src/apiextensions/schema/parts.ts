/** The parts of a schema: the schemas that it is made of. */
import type { JSONSchemaProps } from './json-schema.ts';

/** Limit of parts of all schemas of a definition: each is compiled and kept. The largest public ones have some 15,000 per version. */
export const MAX_PARTS = 40_000;
/** Limit of parts in combinations (`allOf`, `anyOf`, `oneOf`, `not`): every value may be validated by each. */
export const MAX_COMBINED = 20_000;

export interface PartCount {
  parts: number;
  combined: number;
}

/** Adds the parts of a schema to a count, itself among them. */
export function countParts(schema: JSONSchemaProps, count: PartCount): void {
  const { allOf, anyOf, oneOf, not } = schema;
  count.parts++;
  count.combined += (allOf?.length ?? 0) + (anyOf?.length ?? 0) + (oneOf?.length ?? 0) + (not === undefined ? 0 : 1);
  eachPart(schema, (part) => countParts(part, count));
}

/** The direct subschemas. Those of keywords that no definition may have are left out. */
export function eachPart(schema: JSONSchemaProps, visit: (part: JSONSchemaProps) => void): void {
  const { properties, additionalProperties, items, allOf, anyOf, oneOf, not } = schema;
  if (properties !== undefined) for (const part of Object.values(properties)) visit(part);
  if (allOf !== undefined) for (const part of allOf) visit(part);
  if (anyOf !== undefined) for (const part of anyOf) visit(part);
  if (oneOf !== undefined) for (const part of oneOf) visit(part);
  if (typeof additionalProperties === 'object') visit(additionalProperties);
  if (Array.isArray(items)) for (const part of items) visit(part);
  else if (items !== undefined) visit(items);
  if (not !== undefined) visit(not);
}

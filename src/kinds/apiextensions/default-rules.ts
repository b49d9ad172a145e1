/** What defaults in the schema of a custom kind must be like: values that fit where they stand, without unknown fields. */
import type { FieldErrors, Path } from '../../meta/field.ts';
import { invalidText } from '../validation/go-text.ts';
import { goValue } from './go-value.ts';
import type { extensionNames, JSONSchemaProps } from './schema/json-schema.ts';
import { validateEmbedded } from './values/embedded.ts';
import { nodeOf } from './values/node.ts';
import { hasUnknownFields } from './values/prune.ts';
import { validateValue } from './values/validate.ts';

type Extensions = ReturnType<typeof extensionNames>;
const metaFields = new Set(['metadata', 'kind', 'apiVersion']);

/** The object itself is a resource, whether the schema says so or not. */
export function validateDefaults(schema: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors): void {
  walk(schema, at, x, errors, true, false);
}

function walk(schema: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors, resource: boolean, insideMeta: boolean): void {
  const value = schema.default;
  if (value !== undefined) {
    const here = at.child('default');
    const node = nodeOf(schema, x, resource ? 'inside' : undefined);
    if (!insideMeta && hasUnknownFields(node, value)) invalidText(errors, here, goValue(value), 'must not have unknown fields');
    const before = errors.list.length;
    if (!insideMeta) validateEmbedded(node, value, errors, here);
    if (errors.list.length === before) validateValue(value, schema, x, here, errors);
  }
  const { items, properties } = schema;
  if (items !== undefined && !Array.isArray(items))
    walk(items, at.child('items'), x, errors, items[x.embeddedResource] === true, insideMeta);
  if (properties === undefined) return;
  const fields = at.child('properties');
  for (const [key, field] of Object.entries(properties)) {
    const embedded = field[x.embeddedResource] === true;
    const meta = (insideMeta || (resource && metaFields.has(key))) && !embedded;
    walk(field, fields.key(key), x, errors, embedded, meta);
  }
}

/** Validation of defaults in the schema of a custom kind: values that match their schema, without unknown fields. */
import type { Work } from '@plat-dev/lib/slices';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { invalidText } from '../validation/go-text.ts';
import { goValue } from './go-value.ts';
import type { extensionNames, JSONSchemaProps } from './schema/json-schema.ts';
import { validateEmbedded } from './values/embedded.ts';
import { nodeOf } from './values/node.ts';
import { hasUnknownFields } from './values/prune.ts';
import { validateValue } from './values/validate.ts';

type Extensions = ReturnType<typeof extensionNames>;
const metaFields = new Set(['metadata', 'kind', 'apiVersion']);

/** The object itself is a resource, even if the schema does not declare it. */
export function validateDefaults(schema: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors): Work<void> {
  return walk(schema, at, x, errors, true, false);
}

/** Yields between the checks of a default, which may be most of the definition. */
function* walk(schema: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors, resource: boolean, insideMeta: boolean): Work<void> {
  const value = schema.default;
  if (value !== undefined) {
    const here = at.child('default');
    const node = yield* nodeOf(schema, x, resource ? 'inside' : undefined);
    if (!insideMeta && hasUnknownFields(node, value)) invalidText(errors, here, goValue(value), 'must not have unknown fields');
    yield;
    const errorsBefore = errors.list.length;
    if (!insideMeta) validateEmbedded(node, value, errors, here);
    yield;
    if (errors.list.length === errorsBefore) validateValue(value, schema, x, here, errors);
    yield;
  }
  const { items, properties } = schema;
  if (items !== undefined && !Array.isArray(items))
    yield* walk(items, at.child('items'), x, errors, items[x.embeddedResource] === true, insideMeta);
  if (properties === undefined) return;
  const fields = at.child('properties');
  for (const [key, field] of Object.entries(properties)) {
    const embedded = field[x.embeddedResource] === true;
    const meta = (insideMeta || (resource && metaFields.has(key))) && !embedded;
    yield* walk(field, fields.key(key), x, errors, embedded, meta);
  }
}

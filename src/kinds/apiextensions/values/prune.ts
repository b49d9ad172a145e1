/** What of a value a structural schema knows. */
import type { JsonObject, JsonValue } from '../../../schema/types.ts';
import type { extensionNames, JSONSchemaProps } from '../schema/json-schema.ts';

type Extensions = ReturnType<typeof extensionNames>;
const isObject = (value: JsonValue): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const metaFields = ['apiVersion', 'kind', 'metadata'];

/** Whether a value has fields that the schema does not name. `resource`: it is an object with a kind and metadata of its own. */
export function hasUnknownFields(value: JsonValue, schema: JSONSchemaProps | undefined, x: Extensions, resource = false): boolean {
  if (schema?.[x.preserveUnknownFields] === true) return hasUnknownWithin(value, schema, x);
  if (Array.isArray(value)) {
    const items = Array.isArray(schema?.items) ? undefined : schema?.items;
    return value.some((item) => hasUnknownFields(item, items, x, items?.[x.embeddedResource] === true));
  }
  if (!isObject(value)) return false;
  for (const [key, field] of Object.entries(value)) {
    if (resource && metaFields.includes(key)) continue;
    const known = fieldSchema(schema, key);
    if (known === undefined) return true;
    if (known !== true && hasUnknownFields(field, known, x, known[x.embeddedResource] === true)) return true;
  }
  return false;
}

/** Where unknown fields are kept, known ones are still looked into. */
function hasUnknownWithin(value: JsonValue, schema: JSONSchemaProps, x: Extensions): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, field]) => {
    const known = fieldSchema(schema, key);
    return known !== undefined && known !== true && hasUnknownFields(field, known, x, known[x.embeddedResource] === true);
  });
}

/** The schema of a field; true where any value is taken. */
function fieldSchema(schema: JSONSchemaProps | undefined, key: string): JSONSchemaProps | true | undefined {
  const { properties, additionalProperties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  if (additionalProperties === undefined || additionalProperties === false) return undefined;
  return additionalProperties;
}

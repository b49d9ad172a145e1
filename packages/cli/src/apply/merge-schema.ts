/**
 * The schema by which a client merges objects of a kind: that of this program, and that of the server where an object has
 * fields which this program does not know.
 */
import type { ApiResource } from '@plat-dev/client/discovery';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { isObject } from '@plat-dev/patch/shape';
import { ruleOf } from '@plat-dev/patch/strategic';
import {
  anyValue,
  lazy,
  list,
  type MessageType,
  map,
  type NamedField,
  type PatchStrategy,
  resolve,
  type Type,
} from '@plat-dev/schema/types';
import { type Schema, Schemas } from '../discovery/explain-schema.ts';
import type { Work } from '../work.ts';

/** Undefined for custom kinds: their lists are replaced as a whole. */
export async function mergeSchemaOf(
  work: Work,
  resource: ApiResource,
  object: unknown,
  askServer: boolean,
): Promise<MessageType | undefined> {
  const { schemaOfKind } = await import('../discovery/kind-schemas.ts');
  const builtInSchema = schemaOfKind(apiVersionOf(resource), resource.kind);
  if (builtInSchema === undefined || !askServer || !hasUnknownFields(builtInSchema, object)) return builtInSchema;
  try {
    const schemas = await Schemas.load(work.session.transport, resource);
    const root = schemas.ofKind(resource);
    return root === undefined ? builtInSchema : messageOf(schemas, root);
  } catch (error) {
    if (error instanceof ApiError) return builtInSchema;
    throw error;
  }
}

/** Whether an object has a field that the schema does not name. */
function hasUnknownFields(type: Type, value: unknown): boolean {
  const resolved = resolve(type);
  if (Array.isArray(value)) {
    return resolved.node === 'list' && value.some((item) => hasUnknownFields(resolved.item, item));
  }
  if (!isObject(value)) return false;
  if (resolved.node !== 'message') return false;
  return Object.entries(value).some(([name, inner]) => {
    const rule = ruleOf(resolved, name);
    return rule.type === undefined ? resolved.unknown !== 'keep' : hasUnknownFields(rule.type, inner);
  });
}

// ---- the schema of the server ------------------------------------------------------------------------------------

/** Only what a merge needs: the names of fields, and how their lists are merged. */
function messageOf(schemas: Schemas, schema: Schema): MessageType {
  const { properties = {} } = schemas.resolve(schema);
  const ordered = Object.entries(properties).map(([name, field]) => fieldOf(schemas, name, field));
  return { node: 'message', name: '', fields: {}, ordered, atomic: false, unknown: 'keep', object: false };
}
function fieldOf(schemas: Schemas, name: string, schema: Schema): NamedField {
  const patch = extension(schema, 'patch-strategy') as PatchStrategy | undefined;
  const mergeKey = extension(schema, 'patch-merge-key');
  const field = { name, tag: 0, type: lazy(() => typeOf(schemas, schema)), always: false };
  return { ...field, ...(patch && { patch }), ...(mergeKey && { mergeKey }) };
}
function typeOf(schemas: Schemas, schema: Schema): Type {
  const { properties, items, additionalProperties } = schemas.resolve(schema);
  if (properties !== undefined) return messageOf(schemas, schema);
  if (items !== undefined) return list(lazy(() => typeOf(schemas, items)));
  if (typeof additionalProperties === 'object') return map(lazy(() => typeOf(schemas, additionalProperties)));
  return anyValue;
}
/** `x-kubernetes-patch-strategy` under the prefix of either identity. */
const extension = (schema: Schema, name: string): string | undefined =>
  Object.entries(schema).find(([key, value]) => key.startsWith('x-') && key.endsWith(`-${name}`) && typeof value === 'string')?.[1] as
    | string
    | undefined;

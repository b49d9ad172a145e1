/**
 * A structural schema compiled for walks over values, made once for a version: the nodes below a value, what to prune, default
 * or check for duplicates there, and whether a walk has anything to do at all.
 */
import { jsonText } from '@plat-dev/lib/json-text';
import type { Work } from '@plat-dev/lib/slices';
import type { JsonValue } from '@plat-dev/schema/types';
import type { extensionNames, JSONSchemaProps } from '../schema/json-schema.ts';

/** The names of extensions, and the release whose formats are checked: 1.24 where it is left out. */
export type Extensions = ReturnType<typeof extensionNames> & { readonly release?: string };
export type Values = { [key: string]: JsonValue };

export interface ValueNode {
  readonly fields: ReadonlyMap<string, ValueNode>;
  /** Fields that the schema does not name: their node, `bare` if values are kept without their fields, or undefined if they are dropped. */
  readonly rest: ValueNode | 'bare' | undefined;
  readonly items: ValueNode | undefined;
  /** Keeps fields that the schema does not name. */
  readonly keeps: boolean;
  /** An object of the API, with kind, version and metadata: the custom object itself, or one inside of it. */
  readonly resource: 'root' | 'inside' | undefined;
  readonly nullable: boolean;
  readonly default: JsonValue | undefined;
  /** Characters of the JSON text of the default. */
  readonly defaultLength: number;
  /** Fields with a default of their own. */
  readonly defaults: readonly (readonly [string, ValueNode])[];
  readonly list: 'set' | 'map' | undefined;
  readonly keys: readonly string[];
  /** Whether there are defaults, resources, and sets or maps at or below: a walk skips nodes without. */
  readonly below: { readonly defaults: boolean; readonly resources: boolean; readonly lists: boolean };
}

/** `as`: the type of the value if the schema does not declare it. */
export function* nodeOf(schema: JSONSchemaProps, x: Extensions, as?: ValueNode['resource']): Work<ValueNode> {
  if (as === undefined && isPlain(schema, x)) return plainNode;
  const resource = as ?? (schema[x.embeddedResource] === true ? 'inside' : undefined);
  const fields = new Map<string, ValueNode>();
  const { properties, additionalProperties, items } = schema;
  if (properties !== undefined)
    for (const [name, field] of Object.entries(properties)) fields.set(name, isPlain(field, x) ? plainNode : yield* nodeOf(field, x));
  yield;
  let rest: ValueNode['rest'] = additionalProperties === undefined ? undefined : 'bare';
  if (typeof additionalProperties === 'object') rest = yield* nodeOf(additionalProperties, x);
  const item = items === undefined || Array.isArray(items) ? undefined : yield* nodeOf(items, x);
  const children = [...fields.values(), ...(rest === undefined || rest === 'bare' ? [] : [rest]), ...(item === undefined ? [] : [item])];
  const value = schema.default === null ? undefined : schema.default;
  const listType = schema[x.listType];
  const list = listType === 'set' || listType === 'map' ? listType : undefined;
  return {
    fields,
    rest,
    items: item,
    keeps: schema[x.preserveUnknownFields] === true,
    resource,
    nullable: schema.nullable === true,
    default: value,
    defaultLength: value === undefined ? 0 : jsonText(value).length,
    defaults: [...fields].filter(([, field]) => field.default !== undefined),
    list,
    keys: (schema[x.listMapKeys] ?? []) as string[],
    below: {
      defaults: value !== undefined || children.some((child) => child.below.defaults),
      resources: resource === 'inside' || children.some((child) => child.below.resources),
      lists: list !== undefined || children.some((child) => child.below.lists),
    },
  };
}

/** Most fields are scalars, and schemas may name thousands of them: they share one node. */
const plainNode: ValueNode = Object.freeze({
  fields: new Map(),
  rest: undefined,
  items: undefined,
  keeps: false,
  resource: undefined,
  nullable: false,
  default: undefined,
  defaultLength: 0,
  defaults: [],
  list: undefined,
  keys: [],
  below: { defaults: false, resources: false, lists: false },
});
function isPlain(schema: JSONSchemaProps, x: Extensions): boolean {
  const { properties, additionalProperties, items, nullable } = schema;
  return (
    properties === undefined &&
    additionalProperties === undefined &&
    items === undefined &&
    nullable !== true &&
    (schema.default === undefined || schema.default === null) &&
    schema[x.embeddedResource] !== true &&
    schema[x.preserveUnknownFields] !== true &&
    schema[x.listType] === undefined &&
    schema[x.listMapKeys] === undefined
  );
}

/** The node of a field; undefined if the schema has none. */
export function fieldNode(node: ValueNode, name: string): ValueNode | 'bare' | undefined {
  return node.fields.get(name) ?? node.rest;
}

/** Kind, apiVersion and metadata of a resource do not follow the schema. */
export function isMetaField(name: string): boolean {
  return name === 'apiVersion' || name === 'kind' || name === 'metadata';
}

export function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Objects in the form a client asked for. The usual form, JSON of the stored version, is the stored bytes themselves;
 * every other form is made from them here.
 */
import type { ApiObject, Cell, Column, KindEnv } from '../kinds/kind.ts';
import { listSchema } from '../kinds/lists.ts';
import { PartialObjectMetadata, PartialObjectMetadataList } from '../kinds/meta-kinds.ts';
import { fromHub } from '../kinds/served.ts';
import type { Resource } from '../registry/catalog.ts';
import { normal, parseItem } from '../registry/convert.ts';
import { encodeEnvelope } from '../schema/envelope.ts';
import { encode, toJson } from '../schema/json.ts';
import { encodeProtobuf } from '../schema/protobuf.ts';
import type { JsonObject, JsonValue, MessageType } from '../schema/types.ts';
import type { Item } from '../storage/item.ts';
import type { Representation } from './negotiate.ts';

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Whether the stored bytes can be sent as they are. */
export const isPlain = (resource: Resource, r: Representation, pretty: boolean): boolean =>
  r.media === 'json' && r.transform === undefined && !pretty && resource.isHub;

/** The object in the version of the resource. */
export function objectOf(resource: Resource, item: Item): ApiObject {
  const hub = normal(resource, parseItem(item));
  return resource.isHub ? hub : fromHub(resource, hub);
}

/** JSON text, YAML text or bytes of one object. */
export async function representItem(
  env: KindEnv,
  resource: Resource,
  item: Item,
  r: Representation,
  pretty: boolean,
  include: IncludeObject,
): Promise<Buffer> {
  if (r.transform === 'Table') {
    const table = tableOf(env, resource, [item], { resourceVersion: String(item.revision) }, r.transformVersion, include, true);
    return written(table, r, pretty, undefined);
  }
  if (r.transform !== undefined) return written(partial(resource, item, r.transformVersion), r, pretty, PartialObjectMetadata);
  if (isPlain(resource, r, pretty)) return item.bytes;
  const object = objectOf(resource, item);
  if (r.media === 'protobuf') return binary(resource.schema, object);
  return written(toJson(resource.schema, object) as JsonObject, r, pretty, undefined);
}

/** Any object of a known schema (a view such as Scale, an action's answer). */
export async function representObject(schema: MessageType, object: ApiObject, r: Representation, pretty: boolean): Promise<Buffer> {
  if (r.media === 'protobuf') return binary(schema, object);
  if (r.media === 'json' && !pretty) return Buffer.from(encode(schema, object));
  return written(toJson(schema, object) as JsonObject, r, pretty, undefined);
}

export async function representList(
  env: KindEnv,
  resource: Resource,
  items: readonly Item[],
  meta: ListMeta,
  r: Representation,
  pretty: boolean,
  include: IncludeObject,
): Promise<Buffer> {
  if (r.transform === 'Table') return written(tableOf(env, resource, items, meta, r.transformVersion, include, true), r, pretty, undefined);
  if (r.transform !== undefined) {
    const list = {
      kind: 'PartialObjectMetadataList',
      apiVersion: r.transformVersion,
      metadata: { ...meta },
      items: items.map((item) => partial(resource, item, r.transformVersion)),
    };
    return written(list as unknown as JsonObject, r, pretty, PartialObjectMetadataList);
  }
  const objects = items.map((item) => objectOf(resource, item));
  const list = { kind: resource.kind.listKind, apiVersion: resource.apiVersion, metadata: meta, items: objects };
  if (!resource.custom) for (const object of objects) dropTypeMeta(object);
  const schema = listSchema(resource.schema) as MessageType;
  if (r.media === 'protobuf') return binary(schema, list as never);
  return written(toJson(schema, list as never) as JsonObject, r, pretty, undefined);
}

/** Items of a list of built-in kinds carry no kind and version of their own. */
export function dropTypeMeta(object: ApiObject): void {
  delete object.kind;
  delete object.apiVersion;
}

async function written(value: JsonObject, r: Representation, pretty: boolean, schema: MessageType | undefined): Promise<Buffer> {
  if (r.media === 'yaml') {
    const { stringifyYaml } = await import('../schema/yaml.ts');
    return Buffer.from(stringifyYaml(value));
  }
  if (r.media === 'protobuf' && schema !== undefined) return binary(schema, value as never);
  return Buffer.from(pretty ? `${JSON.stringify(value, undefined, 2)}\n` : JSON.stringify(value));
}

export function binary(schema: MessageType, object: { kind?: string; apiVersion?: string }): Buffer {
  return encodeEnvelope({ apiVersion: object.apiVersion ?? '', kind: object.kind ?? '', raw: encodeProtobuf(schema, object as never) });
}

export function partial(resource: Resource, item: Item, apiVersion: string): JsonObject {
  const { metadata } = JSON.parse(item.bytes.toString()) as { metadata: JsonValue };
  void resource;
  return { kind: 'PartialObjectMetadata', apiVersion, metadata };
}

// ---- Table -----------------------------------------------------------------------------------------------------

const defaultColumns: readonly Column[] = [
  { name: 'Name', type: 'string', format: 'name', description: 'Name, unique within its namespace.' },
  { name: 'Created At', type: 'date', description: 'Time at which the server created the object.' },
];

export function tableOf(
  env: KindEnv,
  resource: Resource,
  items: readonly Item[],
  meta: ListMeta,
  apiVersion: string,
  include: IncludeObject,
  withColumns: boolean,
): JsonObject {
  const { kind } = resource;
  const columns = kind.columns ?? defaultColumns;
  const rows = items.map((item) => {
    const hub = normal(resource, parseItem(item));
    const cells = kind.cells?.(hub as never, env) ?? defaultCells(columns, hub);
    return { cells, object: rowObject(resource, item, hub, include, apiVersion) };
  });
  return {
    kind: 'Table',
    apiVersion,
    metadata: { ...meta } as unknown as JsonObject,
    columnDefinitions: withColumns
      ? columns.map((c) => ({
          name: c.name,
          type: c.type,
          format: c.format ?? '',
          description: c.description ?? '',
          priority: c.priority ?? 0,
        }))
      : null,
    rows: rows as unknown as JsonValue,
  };
}

function rowObject(resource: Resource, item: Item, hub: ApiObject, include: IncludeObject, apiVersion: string): JsonValue {
  if (include === 'None') return null;
  if (include === 'Metadata') return partial(resource, item, apiVersion);
  return toJson(resource.schema, resource.isHub ? hub : fromHub(resource, hub));
}

/** Name and creation time where they are asked for; a kind with richer columns brings its own cells. */
function defaultCells(columns: readonly Column[], object: ApiObject): Cell[] {
  return columns.map((column) => {
    if (column.name === 'Name') return object.metadata.name ?? '';
    if (column.type === 'date') return object.metadata.creationTimestamp ?? null;
    return '';
  });
}

/**
 * Objects in the form a client asked for. The usual form, JSON of the stored version, is the stored bytes themselves;
 * every other form is made from them here.
 */
import type { ApiObject, KindEnv } from '../kinds/kind.ts';
import { listSchema } from '../kinds/lists.ts';
import { PartialObjectMetadata, PartialObjectMetadataList } from '../kinds/meta-kinds.ts';
import { inSlices, type Slices } from '../lib/slices.ts';
import type { Resource } from '../registry/catalog.ts';
import { parseAllAs, parseAs, parseAsInSlices } from '../registry/convert.ts';
import { encodeEnvelope } from '../schema/envelope.ts';
import { encode, toJson } from '../schema/json.ts';
import { encodeProtobuf } from '../schema/protobuf.ts';
import type { JsonObject, MessageType } from '../schema/types.ts';
import type { Item } from '../storage/item.ts';
import type { Representation } from './negotiate.ts';
import { type IncludeObject, type ListMeta, partialText, tableShowsObjects, tableText } from './table.ts';

export type { IncludeObject, ListMeta } from './table.ts';

/** Whether stored bytes can be sent as they are, but for those of foreign items. */
export const isPlain = (resource: Resource, r: Representation, pretty: boolean): boolean =>
  r.media === 'json' && r.transform === undefined && !pretty && resource.isHub;

/** Whether objects may have to be converted by calls before this form of them can be made. Metadata alone takes none. */
export function needsCalls(resource: Resource, r: Representation, include: IncludeObject): boolean {
  if (!resource.hub.later) return false;
  return r.transform === 'Table' ? tableShowsObjects(resource, include) : r.transform === undefined;
}

/** JSON text, YAML text or bytes of one object. `slices` are given for a large one. Compact JSON ends with a line end, indented does not. */
export async function representItem(
  env: KindEnv,
  resource: Resource,
  item: Item,
  r: Representation,
  pretty: boolean,
  include: IncludeObject,
  slices?: Slices,
): Promise<Buffer> {
  // Requests that came together do not begin together.
  if (slices !== undefined) await slices.pause();
  if (r.transform === 'Table') {
    let objects = needsCalls(resource, r, include) ? await parseAllAs(resource, [item]) : undefined;
    if (slices !== undefined && objects === undefined && resource.isHub) objects = [await parseAsInSlices(resource, item, slices)];
    if (slices?.due) await slices.pause();
    const meta = { resourceVersion: String(item.revision) };
    return writtenText(tableText(env, resource, [item], meta, r.transformVersion, include, true, objects), r, pretty, slices);
  }
  if (r.transform !== undefined) return written(partial(item, r.transformVersion), r, pretty, PartialObjectMetadata, slices);
  const object = await (slices === undefined ? parseAs(resource, item) : parseAsInSlices(resource, item, slices));
  if (slices?.due) await slices.pause();
  if (r.media === 'protobuf') return binary(resource.schema, object);
  return written(toJson(resource.schema, object) as JsonObject, r, pretty, undefined, slices);
}

/** Any object of a known schema (a view such as Scale, an action's answer). */
export async function representObject(schema: MessageType, object: ApiObject, r: Representation, pretty: boolean): Promise<Buffer> {
  if (r.media === 'protobuf') return binary(schema, object);
  if (r.media === 'json' && !pretty) return Buffer.from(`${encode(schema, object)}\n`);
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
  if (r.transform === 'Table') {
    const objects = needsCalls(resource, r, include) ? await parseAllAs(resource, items) : undefined;
    return writtenText(tableText(env, resource, items, meta, r.transformVersion, include, true, objects), r, pretty);
  }
  if (r.transform !== undefined) {
    const list = {
      kind: 'PartialObjectMetadataList',
      apiVersion: r.transformVersion,
      metadata: { ...meta },
      // Clients have always been told of no items in this way.
      items: items.length === 0 ? null : items.map((item) => partial(item, r.transformVersion)),
    };
    return written(list as unknown as JsonObject, r, pretty, PartialObjectMetadataList);
  }
  const objects = await parseAllAs(resource, items);
  const list = { kind: resource.kind.listKind, apiVersion: resource.apiVersion, metadata: meta, items: objects };
  if (!resource.custom) for (const object of objects) dropTypeMeta(object);
  const schema = listSchema(resource.schema) as MessageType;
  if (r.media === 'protobuf') return binary(schema, list as never);
  const value = toJson(schema, list as never) as JsonObject;
  value.items ??= [];
  return written(value, r, pretty, undefined);
}

/** Items of a list of built-in kinds carry no kind and version of their own. */
export function dropTypeMeta(object: ApiObject): void {
  delete object.kind;
  delete object.apiVersion;
}

/** JSON text as it is, or in another form. */
async function writtenText(text: string, r: Representation, pretty: boolean, slices?: Slices): Promise<Buffer> {
  if (r.media === 'json' && !pretty) return Buffer.from(`${text}\n`);
  if (slices?.due) await slices.pause();
  return written(JSON.parse(text) as JsonObject, r, pretty, undefined, slices);
}

async function written(
  value: JsonObject,
  r: Representation,
  pretty: boolean,
  schema: MessageType | undefined,
  slices?: Slices,
): Promise<Buffer> {
  if (slices?.due) await slices.pause();
  if (r.media === 'yaml') {
    const { stringifyYaml, yamlWork } = await import('../schema/yaml.ts');
    return slices === undefined ? Buffer.from(stringifyYaml(value)) : inSlices(yamlWork(value), slices);
  }
  if (r.media === 'protobuf' && schema !== undefined) return binary(schema, value as never);
  return Buffer.from(pretty ? JSON.stringify(value, undefined, 2) : `${JSON.stringify(value)}\n`);
}

export function binary(schema: MessageType, object: { kind?: string; apiVersion?: string }): Buffer {
  return encodeEnvelope({ apiVersion: object.apiVersion ?? '', kind: object.kind ?? '', raw: encodeProtobuf(schema, object as never) });
}

export const partial = (item: Item, apiVersion: string): JsonObject => JSON.parse(partialText(item, apiVersion)) as JsonObject;

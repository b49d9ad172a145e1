/**
 * Objects in the form that the client accepts. The usual form, JSON of the stored version, is the stored bytes themselves;
 * every other form is made from them here.
 */

import type { ApiObject, KindEnv } from '@plat-dev/kinds/kind';
import { listSchemaIn } from '@plat-dev/kinds/lists';
import { PartialObjectMetadata, PartialObjectMetadataList } from '@plat-dev/kinds/meta-kinds';
import { jsonText } from '@plat-dev/lib/json-text';
import { inSlices, type Slices } from '@plat-dev/lib/slices';
import { encode, toJson } from '@plat-dev/schema/json';
import { indentedJson, indentJson } from '@plat-dev/schema/json/indent';
import { parseExact } from '@plat-dev/schema/json/parse';
import { encodeProtobuf } from '@plat-dev/schema/protobuf';
import { encodeEnvelope } from '@plat-dev/schema/protobuf/envelope';
import { schemaIn } from '@plat-dev/schema/releases';
import type { JsonObject, MessageType } from '@plat-dev/schema/types';
import type { Item } from '@plat-dev/storage/item';
import type { Resource } from '../registry/catalog.ts';
import { parsedText } from '../registry/versions.ts';
import type { Representation } from '../request/negotiate.ts';
import { type IncludeObject, type ListMeta, largeRowText, partialText, tableOf, tableShowsObjects, tableText } from './table.ts';

export type { IncludeObject, ListMeta } from './table.ts';

/** Whether stored bytes can be sent unchanged, except those of unconverted items. */
export const isPlain = (resource: Resource, r: Representation, pretty: boolean): boolean =>
  r.media === 'json' && r.transform === undefined && !pretty && resource.isHub;

/** Whether objects may need conversion calls for this form. Metadata only needs none. */
export function needsCalls(resource: Resource, r: Representation, include: IncludeObject): boolean {
  if (!resource.hub.later) return false;
  return r.transform === 'Table' ? tableShowsObjects(resource, include) : r.transform === undefined;
}

/** JSON text, YAML text or bytes of one object. `slices` are given for a large one. Compact JSON ends with a newline, indented does not. */
export async function representItem(
  env: KindEnv,
  resource: Resource,
  item: Item,
  r: Representation,
  pretty: boolean,
  include: IncludeObject,
  slices?: Slices,
): Promise<Buffer> {
  // Requests that arrived together do not begin together.
  if (slices !== undefined) await slices.pause();
  if (r.transform === 'Table') {
    const meta = { resourceVersion: String(item.revision) };
    if (slices !== undefined && !resource.hub.later) {
      const row = await largeRowText(env, resource, item, r.transformVersion, include, slices);
      await slices.pause();
      return representText(tableOf(resource, [row], meta, r.transformVersion, true), r, pretty, slices);
    }
    const objects = needsCalls(resource, r, include) ? await resource.versions.readAll([item]) : undefined;
    return representText(tableText(env, resource, [item], meta, r.transformVersion, include, true, objects), r, pretty, slices);
  }
  if (r.transform !== undefined) {
    if (r.media !== 'protobuf') return representText(partialText(item, r.transformVersion), r, pretty, slices);
    const value = await parsedText(Buffer.from(partialText(item, r.transformVersion)), slices);
    if (slices !== undefined) await slices.pause();
    return binary(schemaIn(resource.release, PartialObjectMetadata), value);
  }
  if (r.media !== 'protobuf' && isStoredForm(resource)) return writtenBytes(item.bytes, r, pretty, slices);
  const object = await resource.versions.read(item, slices);
  if (slices?.due) await slices.pause();
  if (r.media === 'protobuf') return binary(resource.schema, object);
  if (slices !== undefined) return writtenBytes(Buffer.from(encode(resource.schema, object)), r, pretty, slices);
  return encodedValue(toJson(resource.schema, object) as JsonObject, r, pretty, undefined);
}

/** Names everything that a form of objects depends on except them. Ages in the rows of Tables are in seconds. */
export function formName(env: KindEnv, resource: Resource, r: Representation, pretty: boolean, include: IncludeObject): string {
  const second = r.transform === 'Table' ? Math.floor(env.now() / 1000) : '';
  return `${resource.apiVersion}|${resource.kind.plural}|${r.media}|${pretty}|${r.transform}|${r.transformVersion}|${include}|${second}`;
}

/** Whether the JSON text of an object in this version is its stored bytes. */
export const isStoredForm = (resource: Resource): boolean => resource.isHub && !resource.hub.later;

/** Any object of a known schema (a view such as Scale, the response of an action). */
export async function representObject(schema: MessageType, object: ApiObject, r: Representation, pretty: boolean): Promise<Buffer> {
  if (r.media === 'protobuf') return binary(schema, object);
  if (r.media === 'json' && !pretty) return Buffer.from(`${encode(schema, object)}\n`);
  return encodedValue(toJson(schema, object) as JsonObject, r, pretty, undefined);
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
    const objects = needsCalls(resource, r, include) ? await resource.versions.readAll(items) : undefined;
    return representText(tableText(env, resource, items, meta, r.transformVersion, include, true, objects), r, pretty);
  }
  if (r.transform !== undefined) {
    const list = {
      kind: 'PartialObjectMetadataList',
      apiVersion: r.transformVersion,
      metadata: { ...meta },
      // Stock servers send an empty list this way.
      items: items.length === 0 ? null : items.map((item) => partial(item, r.transformVersion)),
    };
    return encodedValue(list as unknown as JsonObject, r, pretty, schemaIn(resource.release, PartialObjectMetadataList));
  }
  const objects = await resource.versions.readAll(items);
  const list = { kind: resource.kind.listKind, apiVersion: resource.apiVersion, metadata: meta, items: objects };
  if (!resource.custom) for (const object of objects) dropTypeMeta(object);
  const schema = listSchemaIn(resource.release, resource.schema);
  if (r.media === 'protobuf') return binary(schema, list as never);
  const value = toJson(schema, list as never) as JsonObject;
  value.items ??= [];
  return encodedValue(value, r, pretty, undefined);
}

/** Items of a list of built-in kinds carry no kind and version of their own. */
export function dropTypeMeta(object: ApiObject): void {
  delete object.kind;
  delete object.apiVersion;
}

/** Items of built-in kinds are listed without their kind and version: that prefix is omitted. */
export function typeMetaLength(resource: Resource): number {
  return Buffer.byteLength(`{"kind":${JSON.stringify(resource.kind.kind)},"apiVersion":${JSON.stringify(resource.hub.apiVersion)},`);
}

/** The metadata of a view, given as the JSON of its PartialObjectMetadata. */
export async function representMetadata(text: string, r: Representation, pretty: boolean): Promise<Buffer> {
  return r.media === 'protobuf' ? binary(PartialObjectMetadata, parseExact(text) as JsonObject) : representText(text, r, pretty);
}

/** JSON text unchanged, or in another form except protobuf. With slices it is large. */
export async function representText(text: string, r: Representation, pretty: boolean, slices?: Slices): Promise<Buffer> {
  if (r.media === 'json' && !pretty) return Buffer.from(`${text}\n`);
  return writtenBytes(Buffer.from(text), r, pretty, slices);
}

/** The same for bytes, as YAML or indented. */
async function writtenBytes(text: Buffer, r: Representation, pretty: boolean, slices?: Slices): Promise<Buffer> {
  if (r.media === 'yaml') return writtenYaml(await parsedText(text, slices), slices);
  if (!pretty) return Buffer.concat([text, LINE_END]);
  return slices === undefined ? indentJson(text) : inSlices(indentedJson(text), slices);
}
const LINE_END = Buffer.from('\n');

async function writtenYaml(value: JsonObject, slices?: Slices): Promise<Buffer> {
  const { stringifyYaml, yamlBytes } = await import('@plat-dev/schema/yaml');
  return slices === undefined ? Buffer.from(stringifyYaml(value)) : inSlices(yamlBytes(value), slices);
}

async function encodedValue(value: JsonObject, r: Representation, pretty: boolean, schema: MessageType | undefined): Promise<Buffer> {
  if (r.media === 'yaml') return writtenYaml(value);
  if (r.media === 'protobuf' && schema !== undefined) return binary(schema, value as never);
  return Buffer.from(pretty ? jsonText(value, 2) : `${jsonText(value)}\n`);
}

export function binary(schema: MessageType, object: { kind?: string; apiVersion?: string }): Buffer {
  return encodeEnvelope({ apiVersion: object.apiVersion ?? '', kind: object.kind ?? '', raw: encodeProtobuf(schema, object as never) });
}

export const partial = (item: Item, apiVersion: string): JsonObject => parseExact(partialText(item, apiVersion)) as JsonObject;

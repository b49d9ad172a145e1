/**
 * Tables: rows of cells for people. The text of a row is cached with its item for as long as it is
 * valid: ages are shown in seconds, so within one second the same row is not made twice.
 */

import { defaultColumns } from '@plat-dev/kinds/columns';
import type { ApiObject, Cell, Column, KindEnv, ViewSubresource } from '@plat-dev/kinds/kind';
import { jsonText } from '@plat-dev/lib/json-text';
import type { Slices } from '@plat-dev/lib/slices';
import { decode, encode } from '@plat-dev/schema/json';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Item } from '@plat-dev/storage/item';
import type { Resource } from '../registry/catalog.ts';

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Whether a Table shows anything of its objects in addition to their metadata. */
export const tableShowsObjects = ({ kind }: Resource, include: IncludeObject): boolean =>
  include === 'Object' || kind.columns !== undefined;

/**
 * The JSON text of a Table. `withColumns` is false for the later events of a watch. `objects` are the items in the version of
 * the resource, if that took calls.
 */
export function tableText(
  env: KindEnv,
  resource: Resource,
  items: readonly Item[],
  meta: ListMeta,
  apiVersion: string,
  include: IncludeObject,
  withColumns: boolean,
  objects?: readonly ApiObject[],
): string {
  return tableOf(resource, rowTexts(env, resource, items, apiVersion, include, objects), meta, apiVersion, withColumns);
}

/** The JSON text of a Table of such rows. */
export const tableOf = (resource: Resource, rows: readonly string[], meta: ListMeta, apiVersion: string, withColumns: boolean): string =>
  tableStart(resource, meta, apiVersion, withColumns) + tableEnd(resource, rows);

/** The text of a Table up to its rows. */
export function tableStart(resource: Resource, meta: ListMeta, apiVersion: string, withColumns: boolean): string {
  const columns = withColumns ? columnsText(resource) : 'null';
  return `{"kind":"Table","apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(meta)},"columnDefinitions":${columns},"rows":`;
}
/** The rows, and the end of the text. */
export function tableEnd(resource: Resource, rows: readonly string[]): string {
  if (rows.length > 0) return `[${rows.join()}]}`;
  // Stock servers show an empty table of kinds without columns in this way.
  return resource.kind.columns === undefined ? 'null}' : '[]}';
}

/** A Table without its rows. */
export const tableFrame = (resource: Resource, meta: ListMeta, apiVersion: string): JsonObject =>
  parseExact(
    `{"kind":"Table","apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(meta)},"columnDefinitions":${columnsText(resource)}}`,
  ) as JsonObject;

const columnsText = (resource: Resource): string => columnsOf(resource.kind.columns ?? defaultColumns);

function columnsOf(columns: readonly Column[]): string {
  return JSON.stringify(
    columns.map((c) => ({
      name: c.name,
      type: c.type,
      format: c.format ?? '',
      description: c.description ?? '',
      priority: c.priority ?? 0,
    })),
  );
}

/** The Table of one object that is not stored itself: a view such as Scale. */
export function viewTableText(env: KindEnv, view: ViewSubresource, object: ApiObject, apiVersion: string, include: IncludeObject): string {
  const { resourceVersion = '' } = object.metadata;
  const objectText = include === 'None' ? 'null' : include === 'Metadata' ? viewPartialText(env, object, apiVersion) : jsonText(object);
  const columns = view.columns ?? defaultColumns;
  const cells = jsonText(view.cells?.(object as never, env) ?? defaultCells(columns, object));
  return `{"kind":"Table","apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify({ resourceVersion })},"columnDefinitions":${columnsOf(columns)},"rows":[{"cells":${cells},"object":${objectText}}]}`;
}

/** The Table of a bookmark: one row of an object with nothing but a resourceVersion. */
export function bookmarkTableText(
  env: KindEnv,
  resource: Resource,
  object: JsonObject,
  apiVersion: string,
  include: IncludeObject,
  withColumns: boolean,
): string {
  const { kind } = resource;
  const { schema } = resource.definition.own?.cells === undefined ? resource.hub : resource;
  const empty = decode(schema, object) as ApiObject;
  const { resourceVersion = '' } = empty.metadata;
  const objectText = include === 'None' ? 'null' : include === 'Metadata' ? viewPartialText(env, empty, apiVersion) : jsonText(object);
  const cells = kind.cells?.(empty as never, env) ?? ['', NEVER];
  const columns = withColumns ? columnsText(resource) : 'null';
  return `{"kind":"Table","apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify({ resourceVersion })},"columnDefinitions":${columns},"rows":[{"cells":${jsonText(cells)},"object":${objectText}}]}`;
}
/** The creation time of an object without one. */
const NEVER = '0001-01-01T00:00:00Z';

/** The metadata of a view as PartialObjectMetadata. Earlier releases show a creation time where there is none. */
export function viewPartialText(env: KindEnv, object: ApiObject, apiVersion: string): string {
  const creationTimestamp = object.metadata.creationTimestamp ?? (env.since('1.34') ? undefined : null);
  const metadata = jsonText({ ...object.metadata, creationTimestamp });
  return `{"kind":"PartialObjectMetadata","apiVersion":${JSON.stringify(apiVersion)},"metadata":${metadata}}`;
}

/** The second in which ages are shown now. */
export const secondOf = (env: KindEnv): number => Math.floor(env.now() / 1000);

/** A row, and everything that it was made for. A definition that has changed is another resource. */
interface KeptRow {
  readonly second: number;
  readonly resource: Resource;
  readonly apiVersion: string;
  readonly include: IncludeObject;
  readonly text: string;
}
const rowCache = new WeakMap<Item, KeptRow>();

/** The texts of some rows. `objects` are the items in the version of the resource, if that took calls. */
export function rowTexts(
  env: KindEnv,
  resource: Resource,
  items: readonly Item[],
  apiVersion: string,
  include: IncludeObject,
  objects?: readonly ApiObject[],
): string[] {
  const second = secondOf(env);
  return items.map((item, i) => {
    const cachedRow = rowCache.get(item);
    if (
      cachedRow !== undefined &&
      cachedRow.second === second &&
      cachedRow.resource === resource &&
      cachedRow.include === include &&
      cachedRow.apiVersion === apiVersion
    )
      return cachedRow.text;
    const convertedObject = objects?.[i];
    const text = rowOf(env, resource, item, apiVersion, include, convertedObject, convertedObject ?? rowSource(resource, item));
    rowCache.set(item, { second, resource, apiVersion, include, text });
    return text;
  });
}

function rowOf(
  env: KindEnv,
  resource: Resource,
  item: Item,
  apiVersion: string,
  include: IncludeObject,
  convertedObject: ApiObject | undefined,
  source: ApiObject,
): string {
  const { kind } = resource;
  const cells = kind.cells?.(source as never, env) ?? defaultCells(kind.columns ?? defaultColumns, source);
  return `{"cells":${jsonText(cells)},"object":${rowObject(resource, item, convertedObject, include, apiVersion)}}`;
}

/** The row of a large object, in slices. It is not cached. Throws RequestEnded. */
export async function largeRowText(
  env: KindEnv,
  resource: Resource,
  item: Item,
  apiVersion: string,
  include: IncludeObject,
  slices: Slices,
): Promise<string> {
  const source = await (readsOwnForm(resource) ? resource.versions.read(item, slices) : resource.versions.decode(item, slices));
  return rowOf(env, resource, item, apiVersion, include, undefined, source);
}

/** A version with columns of its own takes its cells from its own form. */
const readsOwnForm = (resource: Resource): boolean => resource.definition.own?.cells !== undefined;

function rowSource(resource: Resource, item: Item): ApiObject {
  return readsOwnForm(resource) ? resource.versions.readNow(item) : resource.versions.decodeNow(item);
}

function rowObject(
  resource: Resource,
  item: Item,
  convertedObject: ApiObject | undefined,
  include: IncludeObject,
  apiVersion: string,
): string {
  if (include === 'None') return 'null';
  if (include === 'Metadata') return partialText(item, apiVersion);
  if (convertedObject !== undefined) return encode(resource.schema, convertedObject);
  return resource.isHub ? item.bytes.toString() : encode(resource.schema, resource.versions.readNow(item));
}

/** Name and creation time if requested; a kind with richer columns has its own cells. */
function defaultCells(columns: readonly Column[], object: ApiObject): Cell[] {
  return columns.map((column) => {
    if (column.name === 'Name') return object.metadata.name ?? '';
    if (column.type === 'date') return object.metadata.creationTimestamp ?? null;
    return '';
  });
}

// ---- metadata only ---------------------------------------------------------------------------------------------

const MARK = Buffer.from('"metadata":');

/** The metadata of an object as PartialObjectMetadata, sliced out of its bytes. */
export const partialText = (item: Item, apiVersion: string): string =>
  `{"kind":"PartialObjectMetadata","apiVersion":${JSON.stringify(apiVersion)},"metadata":${metadataText(item)}}`;

export function metadataText({ bytes }: Pick<Item, 'bytes'>): string {
  const start = bytes.indexOf(MARK) + MARK.length;
  return bytes.toString('utf8', start, endOfObject(bytes, start));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The end of the JSON object that begins at `start`. Braces within strings do not count. */
function endOfObject(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let i = start; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      for (i++; bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
    } else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return i + 1;
  }
  throw new Error('an object does not end');
}

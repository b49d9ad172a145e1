/**
 * Lists in other forms than plain JSON, in pieces: the part before the items, each item, and the part after them.
 * All pieces joined are the bytes that represent.ts makes of the whole list; a list that is sent in pieces is never held whole.
 */

import type { ApiObject, KindEnv } from '@plat-dev/kinds/kind';
import { listSchemaIn } from '@plat-dev/kinds/lists';
import { PartialObjectMetadata, PartialObjectMetadataList } from '@plat-dev/kinds/meta-kinds';
import { jsonText } from '@plat-dev/lib/json-text';
import { inSlices, SLICED_FROM, type Slices } from '@plat-dev/lib/slices';
import { encode } from '@plat-dev/schema/json';
import { indentedJson, indentJson } from '@plat-dev/schema/json/indent';
import { parseExact } from '@plat-dev/schema/json/parse';
import { encodeProtobuf } from '@plat-dev/schema/protobuf';
import { aroundRaw, lengthPrefix } from '@plat-dev/schema/protobuf/envelope';
import { schemaIn } from '@plat-dev/schema/releases';
import type { JsonObject, JsonValue, MessageType } from '@plat-dev/schema/types';
import type { Item } from '@plat-dev/storage/item';
import type { Resource } from '../registry/catalog.ts';
import { parsedText } from '../registry/versions.ts';
import type { Representation } from '../request/negotiate.ts';
import { dropTypeMeta, isStoredForm, needsCalls, partial, typeMetaLength } from './represent.ts';
import { type IncludeObject, type ListMeta, largeRowText, partialText, rowTexts, tableFrame } from './table.ts';

export interface ListForm {
  readonly opening: string;
  readonly between: string;
  readonly closing: string;
  /** Bytes of consecutive items of the list. A large item is alone, and is made in slices. */
  piece(items: readonly Item[], slices: Slices): Promise<Buffer>;
}

/** Placeholder for the items in the frame of a list. */
const MARK = 'place-of-items';

/** The form of a list of at least one item, except protobuf. */
export async function listForm(
  env: KindEnv,
  resource: Resource,
  meta: ListMeta,
  r: Representation,
  pretty: boolean,
  include: IncludeObject,
): Promise<ListForm> {
  const isTable = r.transform === 'Table';
  const frame = isTable ? (tableFrame(resource, meta, r.transformVersion) as JsonObject) : frameOf(resource, meta, r);
  const marked = { ...frame, [isTable ? 'rows' : 'items']: [MARK] };
  const texts = isTable ? tableTexts(env, resource, r, include) : r.transform === undefined ? listedTexts(resource) : partialTexts(r);
  if (r.media === 'yaml') {
    const { stringifyYaml, yamlBytes } = await import('@plat-dev/schema/yaml');
    const whole = stringifyYaml(marked);
    const line = `- ${MARK}\n`;
    // Keys are sorted: only the API version precedes the items, and everything else the rows.
    const [opening, closing] = cutAt(whole, isTable ? whole.lastIndexOf(line) : whole.indexOf(line), line.length);
    return {
      opening,
      between: '',
      closing,
      async piece(items, slices) {
        const itemTexts = await texts(items, slices);
        if (!isLarge(items))
          return Buffer.from(itemTexts.map((text) => stringifyYaml([parseExact(text.toString()) as JsonValue])).join(''));
        const value = await parsedText(bytesOf(itemTexts[0] as Text), slices);
        return inSlices(yamlBytes([value]), slices);
      },
    };
  }
  const whole = pretty ? jsonText(marked, 2) : `${jsonText(marked)}\n`;
  const [opening, closing] = cutAt(whole, whole.lastIndexOf(`"${MARK}"`), MARK.length + 2);
  if (!pretty) return { opening, between: ',', closing, piece: async (items, slices) => joinedTexts(await texts(items, slices), ',') };
  return {
    opening,
    between: PRETTY_BETWEEN,
    closing,
    async piece(items, slices) {
      const itemTexts = await texts(items, slices);
      if (!isLarge(items))
        return joinedTexts(
          itemTexts.map((text) => indentJson(bytesOf(text), PRETTY_MARGIN)),
          PRETTY_BETWEEN,
        );
      return inSlices(indentedJson(bytesOf(itemTexts[0] as Text), PRETTY_MARGIN), slices);
    },
  };
}
/** Items are two levels deep in an indented list. */
const PRETTY_MARGIN = 4;
const PRETTY_BETWEEN = ',\n    ';

/** One object above the size from which work is done in slices. */
const isLarge = (items: readonly Item[]): boolean => items.length === 1 && (items[0] as Item).bytes.length > SLICED_FROM;

/** JSON text. */
type Text = string | Buffer;
type Texts = (items: readonly Item[], slices: Slices) => Promise<Text[]> | Text[];

const bytesOf = (text: Text): Buffer => (typeof text === 'string' ? Buffer.from(text) : text);

function joinedTexts(texts: readonly Text[], between: string): Buffer {
  if (texts.length === 1) return bytesOf(texts[0] as Text);
  if (typeof texts[0] === 'string') return Buffer.from(texts.join(between));
  const separator = Buffer.from(between);
  return Buffer.concat(texts.flatMap((text, i) => (i === 0 ? [bytesOf(text)] : [separator, bytesOf(text)])));
}

function tableTexts(env: KindEnv, resource: Resource, r: Representation, include: IncludeObject): Texts {
  return async (items, slices) => {
    if (isLarge(items) && !resource.hub.later)
      return [await largeRowText(env, resource, items[0] as Item, r.transformVersion, include, slices)];
    const objects = needsCalls(resource, r, include) ? await resource.versions.readAll(items) : undefined;
    return rowTexts(env, resource, items, r.transformVersion, include, objects);
  };
}

const partialTexts = (r: Representation) => (items: readonly Item[]) => items.map((item) => partialText(item, r.transformVersion));

/** In the stored version these are the stored bytes, without kind and version if items of lists have none. */
function listedTexts(resource: Resource): Texts {
  if (!isStoredForm(resource))
    return async (items, slices) => {
      const objects = await listedObjects(resource, items, isLarge(items) ? slices : undefined);
      return objects.map((object) => encode(resource.schema, object));
    };
  const cut = resource.custom ? 0 : typeMetaLength(resource);
  return (items) => (cut === 0 ? items.map(({ bytes }) => bytes) : items.map(({ bytes }) => Buffer.concat([BRACE, bytes.subarray(cut)])));
}
const BRACE = Buffer.from('{');

function frameOf(resource: Resource, meta: ListMeta, r: Representation): JsonObject {
  const metadata = { ...meta } as unknown as JsonObject;
  return r.transform === undefined
    ? { kind: resource.kind.listKind, apiVersion: resource.apiVersion, metadata }
    : { kind: 'PartialObjectMetadataList', apiVersion: r.transformVersion, metadata };
}

async function listedObjects(resource: Resource, items: readonly Item[], large?: Slices): Promise<ApiObject[]> {
  const objects =
    large !== undefined && !resource.hub.later && items.length === 1
      ? [await resource.versions.read(items[0] as Item, large)]
      : await resource.versions.readAll(items);
  if (!resource.custom) for (const object of objects) dropTypeMeta(object);
  return objects;
}

const cutAt = (text: string, at: number, length: number): [string, string] => [text.slice(0, at), text.slice(at + length)];

// ---- protobuf --------------------------------------------------------------------------------------------------------

export interface BinaryForm {
  /** Everything that the bytes of an item depend on except itself. */
  readonly name: string;
  /** Bytes of some items, tags and lengths included. A large item is alone, and is made in slices. */
  piece(items: readonly Item[], slices: Slices): Promise<Buffer>;
  /** Their total size in bytes, if known. */
  measured(items: readonly Item[]): number | undefined;
  /** The parts before and after items of so many bytes in all: the envelope begins with its length. */
  around(bytes: number): { readonly opening: Buffer; readonly closing: Buffer };
}

/** Tag of the items of a list: field 2, with a length. */
const ITEMS_TAG = 0x12;

/** Lengths of items in the protobuf form in which they were last listed: the next client's list is not encoded twice. */
const measured = new WeakMap<Item, { readonly how: string; readonly length: number }>();

export function binaryListForm(resource: Resource, meta: ListMeta, r: Representation): BinaryForm {
  const frame = frameOf(resource, meta, r) as { kind: string; apiVersion: string };
  const schema =
    r.transform === undefined ? listSchemaIn(resource.release, resource.schema) : schemaIn(resource.release, PartialObjectMetadataList);
  const head = encodeProtobuf(schema, { ...frame, items: [] });
  const objects = async (items: readonly Item[], slices: Slices): Promise<object[]> => {
    const large = isLarge(items) ? slices : undefined;
    if (r.transform === undefined) return listedObjects(resource, items, large);
    if (large === undefined) return items.map((item) => partial(item, r.transformVersion));
    return [await parsedText(Buffer.from(partialText(items[0] as Item, r.transformVersion)), large)];
  };
  const itemSchema: MessageType = r.transform === undefined ? resource.schema : schemaIn(resource.release, PartialObjectMetadata);
  const how = `${resource.apiVersion}|${resource.kind.plural}|${r.transform ?? ''}|${r.transformVersion}`;
  return {
    name: how,
    async piece(items, slices) {
      const parts: Buffer[] = [];
      const itemObjects = await objects(items, slices);
      // Encoding a large object is one long step.
      if (isLarge(items)) await slices.pause();
      itemObjects.forEach((object, i) => {
        const bytes = encodeProtobuf(itemSchema, object);
        const prefix = lengthPrefix(ITEMS_TAG, bytes.length);
        measured.set(items[i] as Item, { how, length: prefix.length + bytes.length });
        parts.push(prefix, bytes);
      });
      return Buffer.concat(parts);
    },
    measured(items) {
      let bytes = 0;
      for (const item of items) {
        const measuredItem = measured.get(item);
        if (measuredItem?.how !== how) return undefined;
        bytes += measuredItem.length;
      }
      return bytes;
    },
    around(bytes) {
      const { before: envelopeStart, after: closing } = aroundRaw(frame.kind, frame.apiVersion, head.length + bytes);
      return { opening: Buffer.concat([envelopeStart, head]), closing };
    },
  };
}

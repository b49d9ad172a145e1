/**
 * Lists in other forms than plain JSON, in pieces: what stands before the items, each item, and what stands after them.
 * All pieces joined are the bytes that represent.ts makes of the list at once; a list that is sent in pieces is never held whole.
 */
import type { ApiObject, KindEnv } from '../kinds/kind.ts';
import { listSchema } from '../kinds/lists.ts';
import { PartialObjectMetadata, PartialObjectMetadataList } from '../kinds/meta-kinds.ts';
import { inSlices, SLICED_FROM, type Slices } from '../lib/slices.ts';
import type { Resource } from '../registry/catalog.ts';
import { parseAllAs, parseAsInSlices } from '../registry/convert.ts';
import { aroundRaw, lengthPrefix } from '../schema/envelope.ts';
import { encode, toJson } from '../schema/json.ts';
import { encodeProtobuf } from '../schema/protobuf.ts';
import type { JsonObject, JsonValue, MessageType } from '../schema/types.ts';
import type { Item } from '../storage/item.ts';
import type { Representation } from './negotiate.ts';
import { dropTypeMeta, needsCalls, partial } from './represent.ts';
import { type IncludeObject, type ListMeta, partialText, rowText, tableFrame } from './table.ts';

export interface ListForm {
  readonly before: string;
  readonly between: string;
  readonly after: string;
  /** Text of each of some items, which stand one after another in the list. Those of large items are made in slices. */
  pieces(items: readonly Item[], slices: Slices): Promise<string[]> | string[];
}

/** Stands in the frame of a list for its items. */
const MARK = 'place-of-items';

/** The form of a list of at least one item, for all but the binary one. */
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
  const texts = isTable ? rowTexts(env, resource, r, include) : r.transform === undefined ? undefined : partialTexts(r);
  if (r.media === 'yaml') {
    const { stringifyYaml, yamlWork } = await import('../schema/yaml.ts');
    const whole = stringifyYaml(marked);
    const line = `- ${MARK}\n`;
    // Keys are sorted: only the API version stands before the items, and everything else before the rows.
    const [before, after] = cutAt(whole, isTable ? whole.lastIndexOf(line) : whole.indexOf(line), line.length);
    const write = (value: JsonValue, slices: Slices | undefined): string | Promise<string> =>
      slices === undefined ? stringifyYaml([value]) : inSlices(yamlWork([value]), slices).then(String);
    return { before, between: '', after, pieces: valuePieces(resource, texts, write) };
  }
  const whole = pretty ? JSON.stringify(marked, undefined, 2) : `${JSON.stringify(marked)}\n`;
  const [before, after] = cutAt(whole, whole.lastIndexOf(`"${MARK}"`), MARK.length + 2);
  if (pretty) {
    const write = (value: JsonValue): string => JSON.stringify(value, undefined, 2).replaceAll('\n', '\n    ');
    return { before, between: ',\n    ', after, pieces: valuePieces(resource, texts, write) };
  }
  const plain = async (items: readonly Item[]): Promise<string[]> =>
    (await listedObjects(resource, items)).map((object) => encode(resource.schema, object));
  return { before, between: ',', after, pieces: texts ?? plain };
}

type Texts = ListForm['pieces'];
/** With slices the value is a large one. */
type Write = (value: JsonValue, slices: Slices | undefined) => string | Promise<string>;

function valuePieces(resource: Resource, texts: Texts | undefined, write: Write): Texts {
  return async (items, slices) => {
    const made: (string | Promise<string>)[] = [];
    // A large item is alone.
    const large = (items[0] as Item).bytes.length > SLICED_FROM ? slices : undefined;
    if (texts !== undefined) {
      for (const text of await texts(items, slices)) made.push(write(JSON.parse(text) as JsonValue, large));
    } else
      for (const object of await listedObjects(resource, items, large)) {
        if (large?.due) await large.pause();
        made.push(write(toJson(resource.schema, object), large));
      }
    return Promise.all(made);
  };
}

function rowTexts(env: KindEnv, resource: Resource, r: Representation, include: IncludeObject): Texts {
  return async (items) => {
    const objects = needsCalls(resource, r, include) ? await parseAllAs(resource, items) : undefined;
    return items.map((item, i) => rowText(env, resource, item, r.transformVersion, include, objects?.[i]));
  };
}

const partialTexts = (r: Representation) => (items: readonly Item[]) => items.map((item) => partialText(item, r.transformVersion));

function frameOf(resource: Resource, meta: ListMeta, r: Representation): JsonObject {
  const metadata = { ...meta } as unknown as JsonObject;
  return r.transform === undefined
    ? { kind: resource.kind.listKind, apiVersion: resource.apiVersion, metadata }
    : { kind: 'PartialObjectMetadataList', apiVersion: r.transformVersion, metadata };
}

async function listedObjects(resource: Resource, items: readonly Item[], large?: Slices): Promise<ApiObject[]> {
  const objects =
    large !== undefined && !resource.hub.later && items.length === 1
      ? [await parseAsInSlices(resource, items[0] as Item, large)]
      : await parseAllAs(resource, items);
  if (!resource.custom) for (const object of objects) dropTypeMeta(object);
  return objects;
}

const cutAt = (text: string, at: number, length: number): [string, string] => [text.slice(0, at), text.slice(at + length)];

// ---- the binary form -------------------------------------------------------------------------------------------------

export interface BinaryForm {
  /** Everything that the bytes of an item depend on besides itself. */
  readonly name: string;
  /** Bytes of each of some items, tag and length included. */
  pieces(items: readonly Item[]): Promise<Buffer[]>;
  /** How many bytes they take together, without making them again where that is known. */
  measure(items: readonly Item[]): Promise<{ readonly bytes: number; readonly made?: readonly Buffer[] }>;
  /** What stands before and after items of so many bytes together: the envelope says its length at its beginning. */
  around(bytes: number): { readonly before: Buffer; readonly after: Buffer };
}

/** Tag of the items of a list: field 2, with a length. */
const ITEMS_TAG = 0x12;

/** Lengths of items in the binary form in which they were last listed: the next client's list is not made twice. */
const measured = new WeakMap<Item, { readonly how: string; readonly length: number }>();

export function binaryListForm(resource: Resource, meta: ListMeta, r: Representation): BinaryForm {
  const frame = frameOf(resource, meta, r) as { kind: string; apiVersion: string };
  const schema = r.transform === undefined ? (listSchema(resource.schema) as MessageType) : PartialObjectMetadataList;
  const head = encodeProtobuf(schema, { ...frame, items: [] });
  const encoded = async (items: readonly Item[]): Promise<Buffer[]> =>
    r.transform === undefined
      ? (await listedObjects(resource, items)).map((object) => encodeProtobuf(resource.schema, object))
      : items.map((item) => encodeProtobuf(PartialObjectMetadata, partial(item, r.transformVersion)));
  const how = `${resource.apiVersion}|${resource.kind.plural}|${r.transform ?? ''}|${r.transformVersion}`;
  const pieces = async (items: readonly Item[]): Promise<Buffer[]> =>
    (await encoded(items)).map((bytes) => Buffer.concat([lengthPrefix(ITEMS_TAG, bytes.length), bytes]));
  return {
    name: how,
    pieces,
    async measure(items) {
      let bytes = 0;
      for (const item of items) {
        const known = measured.get(item);
        if (known?.how !== how) {
          const made = await pieces(items);
          made.forEach((piece, i) => {
            measured.set(items[i] as Item, { how, length: piece.length });
          });
          return { bytes: made.reduce((sum, piece) => sum + piece.length, 0), made };
        }
        bytes += known.length;
      }
      return { bytes };
    },
    around(bytes) {
      const { before, after } = aroundRaw(frame.kind, frame.apiVersion, head.length + bytes);
      return { before: Buffer.concat([before, head]), after };
    },
  };
}

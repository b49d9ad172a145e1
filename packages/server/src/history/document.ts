/** Kept versions as documents: in the version of the request, and without values where the rules say so. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { RequestEnded, SLICED_FROM, type Slices } from '@plat-dev/lib/slices';
import { toJson } from '@plat-dev/schema/json';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import type { HistoryPolicy, KeptVersion } from '@plat-dev/storage/history';
import { type Item, itemFromStored, storedObject } from '@plat-dev/storage/item';
import type { Resource } from '../registry/catalog.ts';
import { parsedText } from '../registry/versions.ts';
import { isStoredForm } from '../response/represent.ts';
import { decodeNote } from './note.ts';
import { withoutValues } from './without-values.ts';

/** An object in one version, or why it cannot be shown. */
export type KeptDocument = DocumentParts | { readonly reason: string };
interface DocumentParts {
  /** Without managedFields and resourceVersion: what differs in every version tells nothing about a change. */
  readonly object: JsonObject;
  /** They are there only if the whole object was asked for. */
  readonly managedFields?: JsonValue | undefined;
  /** Only the names of its keys are there. */
  readonly withoutValues?: true;
}

const NO_VALUE = 'only its metadata is kept';

/** Whether values of the object of a key are left out of all answers about its past. */
export function hidesValues(policy: HistoryPolicy | undefined, { kind }: Resource, key: string): boolean {
  const rule = policy?.ruleOf(key);
  // Secrets of which nothing is kept are still readable for as long as watches resume.
  return rule === undefined ? kind.group === '' && kind.plural === 'secrets' : !rule.values;
}

/** The object of a document as it was read then. */
export function wholeObject({ object, managedFields }: DocumentParts, { revision }: KeptVersion): JsonObject {
  const metadata = { ...(object.metadata as JsonObject), resourceVersion: String(revision), ...(managedFields && { managedFields }) };
  return { ...object, metadata };
}

/**
 * Documents of versions in their order. Where a webhook converts, it is asked about all of them together. `isWhole`: with managedFields.
 */
export async function documentsOf(
  policy: HistoryPolicy | undefined,
  resource: Resource,
  versions: readonly KeptVersion[],
  isWhole: boolean,
  slices: Slices,
  retries: ConversionRetries,
): Promise<KeptDocument[]> {
  const readable = versions.map((version) => itemOrDocument(resource, version, hidesValues(policy, resource, version.key), isWhole));
  const items = readable.flatMap((one) => ('bytes' in one ? [one] : []));
  const objects = (await objectsOf(resource, items, slices, retries)).values();
  return readable.map((one, i) => {
    if (!('bytes' in one)) return one;
    const object = objects.next().value as JsonObject | Error;
    if (object instanceof Error) return { reason: `it cannot be converted: ${object.message}` };
    const isHidden = hidesValues(policy, resource, (versions[i] as KeptVersion).key);
    return isHidden ? outlined(resource, withoutValues(object as never) as JsonObject) : partsOf(object);
  });
}

/** The stored object of a version, or its document where that is not read from one. */
function itemOrDocument(resource: Resource, version: KeptVersion, isHidden: boolean, isWhole: boolean): Item | KeptDocument {
  const { value, unreadable } = version;
  const outline = isHidden || value === undefined ? decodeNote(version.note)?.outline : undefined;
  if (outline !== undefined) return outlined(resource, outline as JsonObject);
  if (unreadable !== undefined) return { reason: unreadable.reason };
  if (value === undefined) return { reason: NO_VALUE };
  const isShortText = isStoredForm(resource) && resource.read === undefined && value.length <= SLICED_FROM;
  const document = isShortText && !isWhole && !isHidden ? documentOfText(value) : undefined;
  return document ?? unselectedItem(resource, version, value) ?? { reason: 'it cannot be read' };
}

/** The document of a stored value that is the object's text; undefined if it cannot be read so. */
function documentOfText(value: Buffer): KeptDocument | undefined {
  try {
    return partsOf(storedObject(value) as JsonObject);
  } catch {
    return undefined;
  }
}

function partsOf(object: JsonObject): DocumentParts {
  const { managedFields, resourceVersion: _, ...metadata } = object.metadata as JsonObject;
  return { object: { ...object, metadata }, managedFields };
}

/** The item of a version whose value is kept; undefined if it cannot be read. */
export function keptItem({ collection }: Resource, { key, value, revision, created, unreadable }: KeptVersion): Item | undefined {
  if (collection === undefined || value === undefined) return undefined;
  return collection.itemOf(key.slice(collection.prefix.length), value, revision, created, unreadable);
}

/** The same without what selectors ask, for which its value would be parsed once more. */
function unselectedItem(resource: Resource, version: KeptVersion, value: Buffer): Item | undefined {
  if (resource.read !== undefined) return keptItem(resource, version);
  try {
    return itemFromStored(version.key, value, version.revision, version.created, { labels: undefined, fields: undefined });
  } catch {
    return undefined;
  }
}

/** The object of each item in the version of the resource, or why it has none. */
async function objectsOf(
  resource: Resource,
  items: readonly Item[],
  slices: Slices,
  retries: ConversionRetries,
): Promise<(JsonObject | Error)[]> {
  if (resource.hub.later) {
    const convertedObjects = await converted(resource, items, slices, retries);
    return convertedObjects.map((object) => (object instanceof Error ? object : (toJson(resource.schema, object) as JsonObject)));
  }
  const objects: (JsonObject | Error)[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0 && slices.due) await slices.pause();
    objects.push(await objectOf(resource, item, item.bytes.length > SLICED_FROM ? slices : undefined));
  }
  return objects;
}

async function objectOf(resource: Resource, item: Item, slices: Slices | undefined): Promise<JsonObject | Error> {
  try {
    if (isStoredForm(resource)) return await parsedText(item.bytes, slices);
    return toJson(resource.schema, await resource.versions.read(item, slices)) as JsonObject;
  } catch (error) {
    if (error instanceof RequestEnded) throw error;
    return error as Error;
  }
}

/** How many more failed calls of a webhook a request may repeat in halves. */
export interface ConversionRetries {
  left: number;
}

/** A webhook that cannot convert one object refuses all of the call: then each half is tried. */
async function converted(
  resource: Resource,
  items: readonly Item[],
  slices: Slices,
  retries: ConversionRetries,
): Promise<(ApiObject | Error)[]> {
  try {
    return await resource.versions.readAll(items);
  } catch (error) {
    if (items.length === 1 || retries.left === 0) return items.map(() => error as Error);
    retries.left--;
    await slices.pause();
    const half = items.length >> 1;
    const first = await converted(resource, items.slice(0, half), slices, retries);
    return [...first, ...(await converted(resource, items.slice(half), slices, retries))];
  }
}

function outlined({ kind, apiVersion }: Resource, outline: JsonObject): DocumentParts {
  return { object: { kind: kind.kind, apiVersion, metadata: {}, ...outline }, withoutValues: true };
}

/** Kept versions as documents: in the version of the request, and without values where the rules say so. */
import { RequestEnded, SLICED_FROM, type Slices } from '@plat-dev/lib/slices';
import { toJson } from '@plat-dev/schema/json';
import type { JsonObject } from '@plat-dev/schema/types';
import type { HistoryPolicy, KeptVersion } from '@plat-dev/storage/history';
import { type Item, itemFromStored } from '@plat-dev/storage/item';
import type { Resource } from '../registry/catalog.ts';
import { parsedText } from '../registry/versions.ts';
import { isStoredForm } from '../response/represent.ts';
import { decodeNote } from './note.ts';
import { withoutValues } from './without-values.ts';

/** An object in one version, or why it cannot be shown. `withoutValues`: only the names of its keys are there. */
export type KeptDocument = { readonly object: JsonObject; readonly withoutValues?: true } | { readonly reason: string };

const NO_VALUE = 'only its metadata is kept';

/** Whether values of the object of a key are left out of all answers about its past. */
export function hidesValues(policy: HistoryPolicy | undefined, { kind }: Resource, key: string): boolean {
  const rule = policy?.ruleOf(key);
  // Secrets of which nothing is kept are still readable for as long as watches resume.
  return rule === undefined ? kind.group === '' && kind.plural === 'secrets' : !rule.values;
}

export async function documentOf(
  policy: HistoryPolicy | undefined,
  resource: Resource,
  version: KeptVersion,
  slices: Slices,
): Promise<KeptDocument> {
  const { value, unreadable, key } = version;
  const isHidden = hidesValues(policy, resource, key);
  const outline = isHidden || value === undefined ? decodeNote(version.note)?.outline : undefined;
  if (outline !== undefined) return { object: outlined(resource, version, outline as JsonObject), withoutValues: true };
  if (unreadable !== undefined) return { reason: unreadable.reason };
  if (value === undefined) return { reason: NO_VALUE };
  const item = unselectedItem(resource, version, value);
  if (item === undefined) return { reason: 'it cannot be read' };
  try {
    const object = await objectOf(resource, item, item.bytes.length > SLICED_FROM ? slices : undefined);
    if (!isHidden) return { object };
    return { object: outlined(resource, version, withoutValues(object as never) as JsonObject), withoutValues: true };
  } catch (error) {
    if (error instanceof RequestEnded) throw error;
    return { reason: `it cannot be converted: ${(error as Error).message}` };
  }
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

async function objectOf(resource: Resource, item: Item, slices: Slices | undefined): Promise<JsonObject> {
  if (isStoredForm(resource)) return parsedText(item.bytes, slices);
  return toJson(resource.schema, await resource.versions.read(item, slices)) as JsonObject;
}

function outlined(resource: Resource, { revision }: KeptVersion, outline: JsonObject): JsonObject {
  const metadata = { ...(outline.metadata as JsonObject), resourceVersion: String(revision) };
  return { kind: resource.kind.kind, apiVersion: resource.apiVersion, ...outline, metadata };
}

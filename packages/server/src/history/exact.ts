/**
 * Objects as they were at a version that is kept though watches no longer go back to it.
 *
 * What is not kept any more is refused with 410: a page of a list is complete or none, and Secrets come with their values or not at all.
 */
import { Slices } from '@plat-dev/lib/slices';
import { expired } from '@plat-dev/meta/errors';
import type { KeptVersion } from '@plat-dev/storage/history';
import type { Item } from '@plat-dev/storage/item';
import type { Resource } from '../registry/catalog.ts';
import { isKeyOf, keyOf, type RegistryDeps, type Target } from '../registry/context.ts';
import type { ListResult, Waits } from '../registry/list.ts';
import type { Selection } from '../registry/select.ts';
import { missing } from '../registry/unreadable.ts';
import { hidesValues, keptItem } from './document.ts';
import { keptListToken } from './tokens.ts';

const CHUNK = 64;
const NOT_KEPT = 'The resourceVersion is too old: the version of that time is no longer kept.';

/** Throws 404 if there was no such object then. */
export async function objectAt(deps: RegistryDeps, target: Omit<Target, 'subresource'>, revision: number): Promise<Item> {
  const { resource } = target;
  const { collection } = resource;
  if (collection === undefined) throw missing(target);
  const key = keyOf(target);
  const request = { prefix: collection.prefix + key, exact: true, before: revision + 1, limit: 1 };
  const [version] = (await deps.cache.engine.history.versions(request)).versions;
  const current = collection.items.get(key);
  if (version === undefined) throw current !== undefined && current.created <= revision ? expired(NOT_KEPT) : missing(target);
  if (version.type === 'delete') throw missing(target);
  return version.revision === current?.revision ? current : itemOf(deps, resource, version);
}

/** A page of the state of a collection at a revision. */
export interface KeptPage {
  readonly revision: number;
  /** The key with which the page begins; undefined: the first. */
  readonly from?: string;
  /** Most objects of the page; 0: all. */
  readonly limit: number;
}

/** `now`: by the clock of the store. */
export async function listKept(
  deps: RegistryDeps,
  resource: Resource,
  selection: Selection,
  { revision, from, limit }: KeptPage,
  now: number,
  waits: Waits,
): Promise<ListResult> {
  const collection = resource.collection as NonNullable<Resource['collection']>;
  const place = collection.prefix + selection.prefix;
  await checkRetention(deps, place, resource, revision, now);
  const slices = new Slices(() => waits.ended, undefined, waits.owner);
  const items: Item[] = [];
  const keys = new Set<string>();
  let next: string | undefined;
  for await (const version of versionsAt(deps, place, revision, from)) {
    if (!isKeyOf(resource, version.key)) continue;
    const key = version.key.slice(collection.prefix.length);
    const current = collection.items.get(key);
    const item = version.revision === current?.revision ? current : itemOf(deps, resource, version);
    if (selection.matches(item) && limit > 0 && items.length === limit) {
      next = version.key;
      break;
    }
    keys.add(key);
    if (selection.matches(item)) items.push(item);
    if (slices.due) await slices.pause();
  }
  const end = next?.slice(collection.prefix.length);
  collection.items.each((from ?? place).slice(collection.prefix.length), ({ created }, key) => {
    if (!key.startsWith(selection.prefix) || (end !== undefined && key >= end)) return false;
    // The limit on bytes may have removed what the retention would have kept.
    if (created <= revision && !keys.has(key)) throw expired(NOT_KEPT);
    return true;
  });
  const token = next === undefined ? '' : keptListToken(revision, next, place);
  return { items, revision, continue: token, remaining: undefined, whole: false };
}

async function* versionsAt(deps: RegistryDeps, prefix: string, at: number, first: string | undefined): AsyncGenerator<KeptVersion> {
  let from = first;
  do {
    const { versions, next } = await deps.cache.engine.history.at({ prefix, at, limit: CHUNK, ...(from !== undefined && { from }) });
    yield* versions;
    from = next;
  } while (from !== undefined);
}

/** Versions that were superseded within the retention are kept, so that the state of any time within it is complete. */
async function checkRetention(deps: RegistryDeps, prefix: string, { kind }: Resource, revision: number, now: number): Promise<void> {
  const isOfNamespace = !kind.namespaced || prefix.split('/').length > 3;
  const rule = deps.history?.ruleOf(isOfNamespace ? `${prefix}-` : `${prefix}-/-`);
  if (rule === undefined) throw expired(NOT_KEPT);
  const oldest = await deps.cache.engine.history.revisionAt(now - rule.retentionMs);
  if (revision < oldest) throw expired(NOT_KEPT);
}

function itemOf({ history }: RegistryDeps, resource: Resource, version: KeptVersion): Item {
  const isHidden = hidesValues(history, resource, version.key);
  if (isHidden || version.value === undefined)
    throw expired(`Values of earlier versions of ${resource.kind.plural} are not kept: see --history-rules.`);
  const item = keptItem(resource, version);
  if (item === undefined) throw expired(version.unreadable?.reason ?? 'The version of that time cannot be read.');
  return item;
}

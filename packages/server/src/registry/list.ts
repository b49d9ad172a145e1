/**
 * get and list at the versions the specification's tables name. The current state comes from the cache; an exact older
 * version comes from the cache too while the collection has not changed since, else from the store's history.
 */

import { jsonText } from '@plat-dev/lib/json-text';
import { inSlices, Slices, turnWithTime } from '@plat-dev/lib/slices';
import { isAtLeast } from '@plat-dev/lib/version';
import { type MaybePromise, whenReady } from '@plat-dev/lib/when-ready';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { badRequest, expired, tooLargeResourceVersion } from '@plat-dev/meta/errors';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { parseJson } from '@plat-dev/schema/json/parse';
import { CacheBehind } from '@plat-dev/storage/cache';
import { Compacted, FutureRevision } from '@plat-dev/storage/engine';
import type { Item } from '@plat-dev/storage/item';
import type { Resource } from './catalog.ts';
import type { RegistryDeps } from './context.ts';
import { manyToSelect, type Selection, selectCurrent, selectedItems } from './select.ts';

/** How long a read waits for a version that has not been seen yet. */
export const FRESH_WAIT_MS = 3000;
const HISTORY_CHUNK = 1000;
/** Bytes of values of the past that are parsed in one turn of the loop: a few milliseconds' work. */
export const HISTORY_SLICE: number = 256 * 1024;

export interface ListOptions {
  readonly limit: number;
  readonly continue: string;
  readonly resourceVersion: string;
  readonly match: string;
}
export interface ListResult {
  readonly items: Item[];
  readonly revision: number;
  readonly continue: string;
  readonly remaining: number | undefined;
  /** The list holds everything selected, from the first on. */
  readonly whole: boolean;
  /** How many objects of the past could not be read and are left out; those of now are counted by their collection. */
  readonly unreadable?: number;
}

/** Reads a resourceVersion parameter: undefined when it is not given. Throws as the stock server does. */
export function parseVersion(text: string): number | undefined {
  if (text === '') return undefined;
  if (!isVersion(text)) throw badRequest(versionProblem(text));
  return Number(text);
}
const isVersion = (text: string): boolean => /^\d+$/.test(text) && (text.length < 20 || BigInt(text) < 1n << 64n);
const versionProblem = (text: string): string =>
  `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${/^\d+$/.test(text) ? 'value out of range' : 'invalid syntax'}`;

/** Waits until the cache may answer a read at "not older than" this version. Nothing to wait for in the usual case. */
export function waitForVersion(deps: RegistryDeps, resourceVersion: string): MaybePromise<void> {
  const requiredRevision = parseVersion(resourceVersion);
  const { cache } = deps;
  if (requiredRevision === undefined) return cache.engine.exclusive ? undefined : cache.freshen();
  if (requiredRevision <= cache.revision) return;
  return cache.waitFor(requiredRevision, FRESH_WAIT_MS).catch((error: unknown) => {
    throw error instanceof CacheBehind ? tooLargeResourceVersion(resourceVersion, cache.revision, true) : error;
  });
}

/** Who waits for a list: `ended` when nobody does any more; `owner`: whose turns long work for it takes. */
export interface Waits {
  readonly ended: boolean;
  readonly owner?: object | undefined;
}

/**
 * Answers at once where the cache can; a promise only where the store must be asked, or where a selector looks at so many
 * objects that it is done in slices.
 */
export function list(
  deps: RegistryDeps,
  resource: Resource,
  selection: Selection,
  requestedOptions: ListOptions,
  waits?: Waits,
): MaybePromise<ListResult> {
  const options = requestedOptions.limit > 0 || requestedOptions.continue !== '' ? chunkOptions(deps, requestedOptions) : requestedOptions;
  const { limit, resourceVersion, match } = options;
  if (options.continue !== '') return listFrom(deps, resource, selection, options, waits);
  const exact = match === 'Exact' || (match === '' && limit > 0 && resourceVersion !== '' && resourceVersion !== '0');
  if (exact) {
    if (!isVersion(resourceVersion)) throw badRequest(`invalid resource version: ${versionProblem(resourceVersion)}`);
    return listAt(deps, resource, selection, Number(resourceVersion), '', limit, false, waits);
  }
  // From the watch cache of a stock server a limit has no effect; kinds that expire have no such cache there.
  const ignoreLimit = resourceVersion === '0' && resource.kind.ttl === undefined;
  const current = () => listNow(deps, resource, selection, '', ignoreLimit ? 0 : limit, waits);
  checkListVersion(deps, resource, options);
  return whenReady(waitForVersion(deps, resourceVersion), current);
}

/** Without the feature limit and continue have no effect: every list is whole. */
const chunkOptions = (deps: RegistryDeps, options: ListOptions): ListOptions =>
  deps.env.feature('APIListChunking') ? options : { ...options, limit: 0, continue: '' };

/**
 * A page of the newest state of the cache. While the objects are still being loaded, a page without selectors is read from the store;
 * all other lists wait until they are loaded.
 */
function listNow(
  deps: RegistryDeps,
  resource: Resource,
  selection: Selection,
  start: string,
  limit: number,
  waits: Waits | undefined,
): MaybePromise<ListResult> {
  const current = () => listCurrent(resource, selection, deps.cache.revision, start, limit, waits);
  const collection = resource.collection;
  if (collection?.pending === undefined) return current();
  const listWhenLoaded = (): Promise<ListResult> => (collection.pending?.() ?? Promise.resolve()).then(current);
  if (limit <= 0 || limit > HISTORY_CHUNK || !selection.everything) return listWhenLoaded();
  return listHistory(deps, resource, selection, deps.cache.revision, start, limit, waits).catch((error: unknown) => {
    if (error instanceof Compacted) return listWhenLoaded();
    throw error;
  });
}

/** A page of the current state, which is that of `revision`. */
function listCurrent(
  resource: Resource,
  selection: Selection,
  revision: number,
  start: string,
  limit: number,
  waits: Waits | undefined,
): MaybePromise<ListResult> {
  const from = (items: Item[]): Item[] => (start === '' ? items : items.filter((item) => item.key >= start));
  if (limit > 0 && selection.everything && resource.collection !== undefined) {
    // A page must not cost more the more objects there are.
    const { prefix } = selection;
    const items = resource.collection.items.take(start > prefix ? start : prefix, prefix, limit);
    return page(resource.identity, items, selection, revision, start, limit, currentRest(resource, selection));
  }
  const many = selection.everything ? undefined : manyToSelect(resource, selection);
  if (many === undefined)
    return page(
      resource.identity,
      from(selectCurrent(resource, selection)),
      selection,
      revision,
      start,
      limit,
      currentRest(resource, selection),
    );
  const lastKey = (many[many.length - 1] as Item).key;
  const slices = new Slices(() => waits?.ended === true, undefined, waits?.owner);
  // The first slice runs after the current turn.
  const selecting = slices.pause().then(() => inSlices(selectedItems(many, selection), slices));
  // With a selector the number of remaining items is not known.
  const countAfter = (key: string): number => (lastKey > key ? 1 : 0);
  return selecting.then((items) => page(resource.identity, from(items), selection, revision, start, limit, countAfter));
}

/** Releases from this one on answer lists with a limit from their caches. */
const LIMITED_CACHED_SINCE = '1.32';

function checkListVersion(deps: RegistryDeps, resource: Resource, { resourceVersion, limit }: ListOptions): void {
  // Kinds that expire are read from the store itself by a stock server, which words faults in another way and does not wait.
  const uncached = resource.kind.ttl !== undefined;
  if (uncached && resourceVersion !== '' && !/^\d+$/.test(resourceVersion))
    throw badRequest(`invalid resource version: ${versionProblem(resourceVersion)}`);
  const requiredRevision = parseVersion(resourceVersion);
  if (requiredRevision === undefined || requiredRevision <= deps.cache.revision) return;
  // Later releases answer such lists from their caches, and wait as for others.
  if (uncached || (limit > 0 && !isAtLeast(deps.catalog.release, LIMITED_CACHED_SINCE)))
    throw tooLargeResourceVersion(resourceVersion, deps.cache.revision, false);
}

export const versionWithContinue = (): Error => badRequest('specifying resource version is not allowed when using continue');

async function listFrom(
  deps: RegistryDeps,
  resource: Resource,
  selection: Selection,
  options: ListOptions,
  waits: Waits | undefined,
): Promise<ListResult> {
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') throw versionWithContinue();
  const token = readToken(resource.identity, options.continue);
  const start = selection.prefix + token.start;
  if (token.revision < 0) return listNow(deps, resource, selection, start, options.limit, waits);
  return listAt(deps, resource, selection, token.revision, start, options.limit, true, waits);
}

async function listAt(
  deps: RegistryDeps,
  resource: Resource,
  selection: Selection,
  revision: number,
  start: string,
  limit: number,
  continued: boolean,
  waits: Waits | undefined,
): Promise<ListResult> {
  const { cache } = deps;
  const { collection } = resource;
  if (collection === undefined) return { items: [], revision, continue: '', remaining: undefined, whole: true };
  if (cache.engine.exclusive && revision > cache.revision) throw tooLargeResourceVersion(String(revision), cache.revision, true);
  const isLoaded = collection.pending === undefined;
  if (isLoaded && collection.lastChange <= revision && revision <= cache.revision && revision >= cache.engine.compacted)
    return listCurrent(resource, selection, revision, start, limit, waits);
  try {
    return await listHistory(deps, resource, selection, revision, start, limit, waits);
  } catch (error) {
    if (error instanceof FutureRevision) throw tooLargeResourceVersion(String(revision), cache.revision, true);
    if (error instanceof Compacted) throw tooOld(resource.identity, selection, start, continued);
    throw error;
  }
}

async function listHistory(
  deps: RegistryDeps,
  resource: Resource,
  selection: Selection,
  revision: number,
  start: string,
  limit: number,
  waits: Waits | undefined,
): Promise<ListResult> {
  const collection = resource.collection as NonNullable<Resource['collection']>;
  const prefix = collection.prefix + selection.prefix;
  const slices = new Slices(() => waits?.ended === true, undefined, waits?.owner);
  // Where everything is selected, a page takes as many entries as it shows.
  const most = limit > 0 && selection.everything ? Math.min(limit, HISTORY_CHUNK) : HISTORY_CHUNK;
  const items: Item[] = [];
  let unreadable = 0;
  let from = start === '' ? undefined : collection.prefix + start;
  // Many clients may ask for a page at once, and even a short one is read from the store.
  await turnWithTime(waits?.owner);
  for (;;) {
    const chunk = await deps.cache.engine.range({ prefix, at: revision, limit: most, ...(from !== undefined && { from }) });
    const keys: string[] = [];
    let parsedBytes = 0;
    for (const entry of chunk.entries) {
      // Values of the past are parsed for what selectors ask.
      if (parsedBytes > HISTORY_SLICE) {
        await slices.pause();
        parsedBytes = 0;
      }
      parsedBytes += entry.value.length;
      const { value, revision: at, created } = entry;
      const key = entry.key.slice(collection.prefix.length);
      const item = collection.itemOf(key, value, at, created, entry.unreadable);
      keys.push(key);
      if (item === undefined) unreadable++;
      else if (selection.matches(item)) items.push(item);
    }
    const lastEntry = chunk.entries[chunk.entries.length - 1];
    if (!chunk.more || lastEntry === undefined || (limit > 0 && items.length >= limit)) {
      const beyond = chunk.count - chunk.entries.length;
      const resultPage = page(
        resource.identity,
        items,
        selection,
        revision,
        start,
        limit,
        (key) => keys.filter((k) => k > key).length + beyond,
      );
      return unreadable === 0 ? resultPage : { ...resultPage, unreadable };
    }
    from = `${lastEntry.key}\u0000`;
  }
}

/** Counts the objects after a key in the current state, selected or not. */
function currentRest(resource: Resource, selection: Selection): (key: string) => number {
  return (key) => {
    const { everything, prefix } = selection;
    const items = resource.collection?.items;
    if (items === undefined) return 0;
    // With a selector the number of remaining items is not known.
    return everything ? items.countFrom(`${key}\u0000`, prefix) : items.take(`${key}\u0000`, prefix, 1).length;
  };
}

/** Cuts a page. `countAfter` counts objects after a key: a page may end where others follow of which none is selected. */
function page(
  identity: Identity,
  items: Item[],
  selection: Selection,
  revision: number,
  start: string,
  limit: number,
  countAfter: (key: string) => number,
): ListResult {
  const all: ListResult = { items, revision, continue: '', remaining: undefined, whole: start === '' };
  // What names one object has no next page.
  if (limit <= 0 || items.length < limit || selection.single) return all;
  const pageItems = items.length === limit ? items : items.slice(0, limit);
  const lastItem = pageItems[pageItems.length - 1] as Item;
  const remainingCount = countAfter(lastItem.key);
  if (remainingCount === 0) return all;
  return {
    items: pageItems,
    revision,
    continue: writeToken(identity, revision, `${lastItem.key.slice(selection.prefix.length)}\u0000`),
    remaining: selection.everything ? remainingCount : undefined,
    whole: false,
  };
}

/** Where the next part of a list begins. Format and errors are those of a stock server. */
const tokenVersion = (identity: Identity): string => joinApiVersion(groupName(identity, 'meta'), 'v1');
/** The version that earlier releases wrote: a list that was begun with one goes on with this one. */
const OLD_TOKEN_VERSION = 'v1';

function writeToken(identity: Identity, revision: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion(identity), rv: revision, start })).toString('base64url');
}
function readToken(identity: Identity, text: string): { revision: number; start: string } {
  const fail = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  const illegal = text.search(/[^A-Za-z0-9_-]/);
  if (illegal >= 0 || text.length % 4 === 1) throw fail(`illegal base64 data at input byte ${illegal >= 0 ? illegal : text.length - 1}`);
  let token: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    const value = parseJson(Buffer.from(text, 'base64url'));
    token = value !== null && typeof value === 'object' ? (value as typeof token) : {};
  } catch (error) {
    throw fail((error as Error).message);
  }
  const version = tokenVersion(identity);
  if (token.v !== version && token.v !== OLD_TOKEN_VERSION)
    throw fail(`server does not recognize this encoded version ${jsonText(token.v ?? '')}`);
  if (!Number.isSafeInteger(token.rv) || token.rv === 0) throw fail(`incorrect encoded start resourceVersion (version ${version})`);
  if (typeof token.start !== 'string' || token.start === '') throw fail(`encoded start key empty (version ${version})`);
  // A key must not lead out of the collection.
  const key = token.start.startsWith('/') ? token.start : `/${token.start}`;
  if (/\/(\.{0,2})(\/|$)/.test(key)) throw fail(token.start);
  return { revision: token.rv as number, start: key.slice(1) };
}

function tooOld(identity: Identity, selection: Selection, start: string, continued: boolean): Error {
  if (!continued) return expired('The resourceVersion for the provided list is too old.');
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing ' +
      'with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time ' +
      'the first chunk was returned and now may show up in the list.',
  );
  error.listMeta = { continue: writeToken(identity, -1, start.slice(selection.prefix.length)) };
  return error;
}

/**
 * watch: where it starts, what it sends. States of a watch:
 *
 *   starting   changes are buffered while the past is read        → following
 *   following  every change of the collection goes to the sink     → ended
 *   ended      by the client, a timeout, an error, or the server
 */
import { ApiError, expired } from '../meta/errors.ts';
import type { Collection, CollectionEvent } from '../storage/collection.ts';
import { Compacted } from '../storage/engine.ts';
import { atRevision, type Item, itemFromStored, storedText } from '../storage/item.ts';
import type { Resource } from './catalog.ts';
import type { RegistryDeps } from './context.ts';
import { fresh, parseVersion } from './list.ts';
import { type Selection, selectCurrent } from './select.ts';

export type WatchType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface WatchSink {
  /** `shared` is the change that all watchers see, on which encodings can be kept; absent for synthetic events. */
  send(type: WatchType, item: Item, shared: CollectionEvent | undefined): void;
  /** The watch cannot go on. */
  fail(error: ApiError): void;
}

/** Answers the function that ends the watch. Throws what must become an error answer rather than an event. */
export async function watch(
  deps: RegistryDeps,
  resource: Resource,
  selection: Selection,
  resourceVersion: string,
  sink: WatchSink,
): Promise<() => void> {
  const { collection } = resource;
  if (collection === undefined) throw new Error(`${resource.kind.plural} cannot be watched`);
  const from = parseVersion(resourceVersion);
  if (from === undefined || from === 0) {
    const waiting = from === undefined ? fresh(deps, '') : undefined;
    if (waiting instanceof Promise) await waiting;
    for (const item of selectCurrent(resource, selection)) sink.send('ADDED', item, undefined);
    return follow(collection, selection, sink, deps.cache.revision);
  }
  const recent = collection.eventsSince(from);
  if (recent !== undefined) {
    for (const event of recent) dispatch(event, selection, sink);
    return follow(collection, selection, sink, Math.max(from, deps.cache.revision));
  }
  return replay(deps, collection, selection, from, sink);
}

function follow(collection: Collection, selection: Selection, sink: WatchSink, after: number): () => void {
  return collection.listen((event) => {
    if (event.revision > after) dispatch(event, selection, sink);
  });
}

function dispatch(event: CollectionEvent, selection: Selection, sink: WatchSink): void {
  if (selection.prefix !== '' && !event.item.key.startsWith(selection.prefix)) return;
  if (selection.everything) {
    sink.send(event.type === 'delete' ? 'DELETED' : event.previous === undefined ? 'ADDED' : 'MODIFIED', event.item, event);
    return;
  }
  const before = event.previous !== undefined && selection.matches(event.previous);
  if (event.type === 'delete') {
    if (before) sink.send('DELETED', event.item, event);
    return;
  }
  const now = selection.matches(event.item);
  if (now) sink.send(before ? 'MODIFIED' : 'ADDED', event.item, event);
  // What stops matching leaves with its previous state, under the version at which it left.
  else if (before) sink.send('DELETED', atRevision(event.previous as Item, event.revision), undefined);
}

/** Sends what the store remembers after a version, then follows. */
async function replay(
  deps: RegistryDeps,
  collection: Collection,
  selection: Selection,
  from: number,
  sink: WatchSink,
): Promise<() => void> {
  let buffer: CollectionEvent[] | undefined = [];
  let ended = false;
  let last = from;
  const stop = collection.listen((event) => {
    if (buffer !== undefined) buffer.push(event);
    else if (event.revision > last) dispatch(event, selection, sink);
  });
  const end = () => {
    ended = true;
    stop();
  };
  const past = async () => {
    const changes = await deps.cache.engine.changes({ after: from, prefix: collection.prefix + selection.prefix });
    for (const change of changes) {
      if (ended) return;
      last = Math.max(last, change.revision);
      const event = await historicEvent(deps, collection, change);
      if (event !== undefined) dispatch(event, selection, sink);
    }
    const waiting = buffer ?? [];
    buffer = undefined;
    for (const event of waiting) if (event.revision > last && !ended) dispatch(event, selection, sink);
  };
  past().catch((error: unknown) => {
    end();
    sink.fail(error instanceof Compacted ? expired(`too old resource version: ${from} (${error.oldest})`) : asApiError(error));
  });
  return end;
}

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(500, 'InternalError', 'the store could not be read');

async function historicEvent(
  deps: RegistryDeps,
  collection: Collection,
  change: { type: 'put' | 'delete'; key: string; value: Buffer | undefined; revision: number; created: number },
): Promise<CollectionEvent | undefined> {
  const key = change.key.slice(collection.prefix.length);
  const itemOf = (value: Buffer, revision: number, created: number): Item =>
    itemFromStored(key, value, revision, created, collection.factsOf(JSON.parse(storedText(value).toString())));
  const isNew = change.type === 'put' && change.created === change.revision;
  const before = isNew ? undefined : await deps.cache.engine.get(change.key, change.revision - 1);
  const previous = before === undefined ? undefined : itemOf(before.value, before.revision, before.created);
  if (change.value === undefined) {
    if (previous === undefined) return undefined;
    return { type: 'delete', item: atRevision(previous, change.revision), previous, revision: change.revision, frames: undefined };
  }
  return {
    type: 'put',
    item: itemOf(change.value, change.revision, change.created),
    previous,
    revision: change.revision,
    frames: undefined,
  };
}

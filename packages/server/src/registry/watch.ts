/**
 * watch: where it starts, and which events it sends. States of a watch:
 *
 *   starting   history is sent as fast as the client reads; new changes wait      → following
 *   following  every change of the collection goes to the sink                    → ended
 *   ended      by the client, a timeout, an error, or the server
 */
import { nextTurn } from '@plat-dev/lib/next-turn';
import { ApiError, expired } from '@plat-dev/meta/errors';
import type { Collection } from '@plat-dev/storage/collection';
import { type ChangeRecord, Compacted } from '@plat-dev/storage/engine';
import { atRevision, type Item } from '@plat-dev/storage/item';
import type { CollectionEvent } from '@plat-dev/storage/recent-events';
import type { Resource } from './catalog.ts';
import type { RegistryDeps } from './context.ts';
import { parseVersion, waitForVersion } from './list.ts';
import { manyToSelect, type Selection, selectCurrent } from './select.ts';

export type WatchType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface WatchSink {
  /** `shared` is the change that all watchers see, which caches its encodings; absent for synthetic events. */
  send(type: WatchType, item: Item, shared: CollectionEvent | undefined): void;
  /** Whether so much is buffered for the client that history should wait. */
  full(): boolean;
  /** Resolves when more may be sent, or the client is gone. */
  drained(): Promise<void>;
  /** The objects of the beginning are sent, in the state of a revision. */
  initialSent(revision: number): void;
  /** The history is sent; live changes follow. */
  current(): void;
  /** The watch cannot go on. */
  fail(error: ApiError): void;
  /** Maximum bytes of changes that are buffered while history is sent. */
  readonly waitingLimit: number;
  /** Takes the turns in which history is sent. */
  readonly owner?: object | undefined;
}

/** How many changes of the history are read at a time. */
const PAST_CHUNK = 500;
/** How many objects or changes of the history are handled in one turn of the event loop. */
const PAST_AT_ONCE = 2000;

export interface WatchStart {
  readonly resourceVersion: string;
  /** Whether existing objects come first; absent: only without a version, or with version 0. */
  readonly initialEvents: boolean | undefined;
}

/** Returns the function that ends the watch. Throws errors that belong in the response instead of an event. */
export async function watch(
  deps: RegistryDeps,
  resource: Resource,
  selection: Selection,
  { resourceVersion, initialEvents }: WatchStart,
  sink: WatchSink,
): Promise<() => void> {
  const { collection } = resource;
  if (collection === undefined) throw new Error(`${resource.kind.plural} cannot be watched`);
  const from = parseVersion(resourceVersion);
  if (initialEvents ?? (from === undefined || from === 0)) {
    const isLate = initialEvents === undefined ? undefined : await lateness(deps, resourceVersion);
    if (isLate !== undefined) {
      sink.fail(isLate);
      return () => {};
    }
    if (from === undefined && initialEvents === undefined) await waitForVersion(deps, '');
    return watchFromState(deps, collection, resource, selection, sink);
  }
  if (from === undefined || from === 0) {
    if (from === undefined) await waitForVersion(deps, '');
    return catchUp(collection, selection, sink, deps.cache.revision, [], () => {});
  }
  // Another server may be ahead of this one for a moment. A revision that is not reached by then is invalid for a watch.
  if (from > deps.cache.revision) await waitForVersion(deps, resourceVersion);
  if (from < collection.unknownUntil) {
    sink.fail(unreadableSince(from, collection.unknownUntil));
    return () => {};
  }
  const recent = collection.eventsSince(from);
  if (recent === undefined) return replay(deps, collection, selection, from, sink);
  return catchUp(collection, selection, sink, deps.cache.revision, recent, (event) => dispatch(event, selection, sink));
}

/** The error of a version that does not come in time: of a watch with initial events it is an event. */
async function lateness(deps: RegistryDeps, resourceVersion: string): Promise<ApiError | undefined> {
  try {
    await waitForVersion(deps, resourceVersion);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 504) return error;
    throw error;
  }
}

/** Sends the objects that exist, then follows. */
function watchFromState(deps: RegistryDeps, collection: Collection, resource: Resource, selection: Selection, sink: WatchSink): () => void {
  if (!collection.readsBy(resource.read)) throw expired('the definition of these objects has changed; list and watch again');
  const synthetic = (item: Item): void => sink.send('ADDED', item, undefined);
  const sendSelected = (item: Item): void => {
    if (selection.matches(item)) synthetic(item);
  };
  const many = manyToSelect(resource, selection);
  const { revision } = deps.cache;
  const sent = (): void => sink.initialSent(revision);
  return many === undefined
    ? catchUp(collection, selection, sink, revision, selectCurrent(resource, selection), synthetic, sent)
    : catchUp(collection, selection, sink, revision, many, sendSelected, sent);
}

/** Sends the history, all of it at once if it is short, then follows. */
function catchUp<T>(
  collection: Collection,
  selection: Selection,
  sink: WatchSink,
  after: number,
  past: readonly T[],
  sendOne: (pastEvent: T) => void,
  sent: () => void = () => {},
): () => void {
  let next = 0;
  while (next < past.length && next < PAST_AT_ONCE && !sink.full()) sendOne(past[next++] as T);
  if (next === past.length) {
    sent();
    sink.current();
    return follow(collection, selection, sink, after);
  }
  return followAfter(collection, selection, sink, async (isEnded) => {
    while (next < past.length && !isEnded()) {
      if (sink.full()) await sink.drained();
      else {
        // Changes that are not selected are not buffered.
        if (next % PAST_AT_ONCE === 0) await nextTurn(sink.owner);
        sendOne(past[next++] as T);
      }
    }
    if (!isEnded()) sent();
    return after;
  });
}

function follow(collection: Collection, selection: Selection, sink: WatchSink, after: number): () => void {
  return collection.listen((event) => {
    if (event.revision > after) dispatch(event, selection, sink);
  }, selection.interest);
}

/** Buffers changes until `past` is done, which returns the revision that it reached; then follows. */
function followAfter(
  collection: Collection,
  selection: Selection,
  sink: WatchSink,
  past: (ended: () => boolean) => Promise<number>,
): () => void {
  let waitingEvents: CollectionEvent[] | undefined = [];
  let waitingBytes = 0;
  let isEnded = false;
  let lastRevision = 0;
  const stop = collection.listen((event) => {
    if (waitingEvents === undefined) {
      if (event.revision > lastRevision) dispatch(event, selection, sink);
      return;
    }
    waitingEvents.push(event);
    waitingBytes += event.item.bytes.length;
    if (waitingBytes <= sink.waitingLimit) return;
    end();
    sink.fail(expired('too many changes came before the past was sent; list and watch again'));
  }, selection.interest);
  const end = (): void => {
    isEnded = true;
    waitingEvents = undefined;
    stop();
  };
  const run = async (): Promise<void> => {
    lastRevision = await past(() => isEnded);
    while (waitingEvents !== undefined && waitingEvents.length > 0) {
      const batch: CollectionEvent[] = waitingEvents;
      waitingEvents = [];
      waitingBytes = 0;
      for (const event of batch) {
        if (isEnded) return;
        if (event.revision > lastRevision) dispatch(event, selection, sink);
        if (sink.full()) await sink.drained();
      }
    }
    if (isEnded) return;
    waitingEvents = undefined;
    sink.current();
  };
  run().catch((error: unknown) => {
    if (isEnded) return;
    end();
    sink.fail(asApiError(error));
  });
  return end;
}

function dispatch(event: CollectionEvent, selection: Selection, sink: WatchSink): void {
  if (selection.prefix !== '' && !event.item.key.startsWith(selection.prefix)) return;
  if (selection.everything) {
    sink.send(event.type === 'delete' ? 'DELETED' : event.previous === undefined ? 'ADDED' : 'MODIFIED', event.item, event);
    return;
  }
  const matchedBefore = event.previous !== undefined && selection.matches(event.previous);
  if (event.type === 'delete') {
    if (matchedBefore) sink.send('DELETED', event.item, event);
    return;
  }
  const now = selection.matches(event.item);
  if (now) sink.send(matchedBefore ? 'MODIFIED' : 'ADDED', event.item, event);
  // An object that no longer matches is sent as deleted with its previous state, at the revision of the change.
  else if (matchedBefore) {
    event.departedItem ??= atRevision(event.previous as Item, event.revision);
    sink.send('DELETED', event.departedItem, event);
  }
}

/** Sends the history after a revision, then follows. */
function replay(deps: RegistryDeps, collection: Collection, selection: Selection, from: number, sink: WatchSink): () => void {
  const { engine } = deps.cache;
  const prefix = collection.prefix + selection.prefix;
  return followAfter(collection, selection, sink, async (isEnded) => {
    let lastRevision = from;
    for (;;) {
      const changes = await engine.changes({ after: lastRevision, prefix, limit: PAST_CHUNK }).catch((error: unknown) => {
        throw error instanceof Compacted ? expired(`too old resource version: ${lastRevision} (${error.oldest})`) : error;
      });
      for (const change of changes) {
        if (isEnded()) return lastRevision;
        lastRevision = Math.max(lastRevision, change.revision);
        const event = await historicEvent(deps, collection, change);
        if (event !== undefined) dispatch(event, selection, sink);
        if (sink.full()) await sink.drained();
      }
      if (changes.length < PAST_CHUNK) return lastRevision;
    }
  });
}

/** A change of an object that cannot be read makes no event: its labels and fields are not known. */
const unreadableSince = (from: number, revision: number): ApiError =>
  expired(
    `too old resource version: ${from} (${revision}): an object that could not be read was deleted or replaced; list and watch again`,
  );

const asApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error;
  if (error instanceof Compacted) return expired(`too old resource version (the oldest is ${error.oldest})`);
  return new ApiError(500, 'InternalError', 'the store could not be read');
};

async function historicEvent(deps: RegistryDeps, collection: Collection, change: ChangeRecord): Promise<CollectionEvent | undefined> {
  const key = change.key.slice(collection.prefix.length);
  const isNew = change.type === 'put' && change.created === change.revision;
  const previousEntry = isNew ? undefined : await deps.cache.engine.get(change.key, change.revision - 1);
  const previous =
    previousEntry === undefined
      ? undefined
      : collection.itemOf(key, previousEntry.value, previousEntry.revision, previousEntry.created, previousEntry.unreadable);
  const item =
    change.value === undefined ? undefined : collection.itemOf(key, change.value, change.revision, change.created, change.unreadable);
  const unreadable = item === undefined && change.value !== undefined;
  if (previousEntry !== undefined && previous === undefined && !unreadable) throw unreadableSince(change.revision - 1, change.revision);
  // An object leaves when it is deleted, and when it becomes unreadable.
  if (item === undefined) {
    if (previous === undefined) return undefined;
    return { type: 'delete', item: atRevision(previous, change.revision), previous, revision: change.revision, frames: undefined };
  }
  return { type: 'put', item, previous, revision: change.revision, frames: undefined };
}

/**
 * The current state of one kind of object, in key order, and its recent changes. Fed by the cache with the engine's
 * changes; read by every get, list and watch.
 */

import { SortedMap } from '@plat-dev/lib/sorted-map';
import type { Unreadable } from './engine.ts';
import type { EventListener } from './event-listener.ts';
import { atRevision, type Facts, type Item, itemFromStored, type ReadValue, storedObject } from './item.ts';
import { type Interest, ListenerIndex } from './listener-index.ts';
import { NotLoaded, type SingleRead, type Stored } from './not-loaded.ts';
import { type CollectionEvent, RecentEvents } from './recent-events.ts';
import { type UnreadableObject, whyUnreadable } from './unreadable.ts';
import { ValueIndexes } from './value-indexes.ts';

export interface CollectionOptions {
  /** Key prefix in the store, ending in a slash. */
  readonly prefix: string;
  /** Reads labels and selectable fields of a parsed object. */
  readonly facts: (object: unknown) => Facts;
  /** Maximum events kept for watches that resume; older ones are read from the store's history. */
  readonly eventLimit: number;
  /** Transforms a stored value when it is read: the definition of a custom kind may have changed. */
  readonly read?: ReadValue | undefined;
  /** A large collection may be loaded after the start of the server: everyone who reads it waits for `pending` first. */
  readonly later?: boolean;
}

/** The content of a collection at a time: its items are shared, the map of them is not. */
export interface CollectionState {
  readonly options: CollectionOptions;
  readonly items: SortedMap<Item>;
  readonly unreadable: ReadonlyMap<string, UnreadableObject> | undefined;
  readonly lastChange: number;
  readonly unknownUntil: number;
}

/** Maximum changes that are buffered while a collection loads; if there are more, all of them are read from the store's history. */
export const MOST_WAITING = 2_000;
let allChanges = 0;

/**
 * The states of a collection on its way to a loaded one, whose changes are applied as they come:
 *
 *   hold ▸ filling, loaded ▸ loaded
 *   defer ▸ deferred, hold ▸ filling, loaded ▸ loaded        a large one: single objects can be read before it is loaded
 */
interface Deferred {
  readonly state: 'deferred';
  /** Objects that are read alone. Changes of others are not kept: they are loaded with the rest. */
  readonly single: NotLoaded;
}
interface Filling {
  readonly state: 'filling';
  /** The objects that are read alone, where the collection was deferred. */
  readonly single: NotLoaded | undefined;
  readonly items: SortedMap<Item>;
  /** Changes that wait until all is loaded. Undefined: too many came, and they must be read from the store's history. */
  waiting: Stored[] | undefined;
}

export class Collection {
  readonly prefix: string;
  items = new SortedMap<Item>();
  /** Unreadable objects, by key: they are not among the items. Undefined if there are none. */
  unreadable: Map<string, UnreadableObject> | undefined;
  private options: CollectionOptions;
  private readonly audience = new ListenerIndex();
  private readonly closers = new Set<(stale: boolean) => void>();
  private readonly indexes = new ValueIndexes();
  private readonly recent = new RecentEvents();
  /**
   * Revision at which an unreadable object was deleted or replaced. Its previous state is not known, so that
   * a watch from an earlier revision cannot get it: its client must list again.
   */
  unknownUntil = 0;
  /** Revision of the newest change of this collection. */
  lastChange = 0;
  /** Grows with every change, also with several of one revision; unique among all collections of a process. */
  changes = ++allChanges;
  /** Whether its items are looked up as objects, which are cached with them. */
  keepsParsed = false;
  /**
   * Loads the collection, or waits until it is loaded. Undefined when it is:
   *
   *   if (collection.pending !== undefined) await collection.pending();
   */
  pending: (() => Promise<void>) | undefined;
  /** Undefined when the collection is loaded. */
  private loading: Deferred | Filling | undefined;
  /** The newest change of every key during a reload by other rules. */
  private meanwhile: Map<string, Stored> | undefined;

  /** `setAside` is called for every unreadable object. */
  constructor(options: CollectionOptions, setAside: (object: UnreadableObject) => void = () => {}) {
    this.options = options;
    this.prefix = options.prefix;
    this.report = setAside;
  }
  private readonly report: (object: UnreadableObject) => void;

  factsOf(object: unknown): Facts {
    return this.options.facts(object);
  }

  /** Its content, for a server that starts from it; undefined while it is loaded. */
  state(): CollectionState | undefined {
    if (this.loading !== undefined || this.meanwhile !== undefined) return undefined;
    const { options, lastChange, unknownUntil } = this;
    return { options, items: this.items.copy(), unreadable: this.unreadable && new Map(this.unreadable), lastChange, unknownUntil };
  }
  /** Takes over the content of another collection, instead of loading it. Events follow after the revision. */
  begin({ items, unreadable, lastChange, unknownUntil }: CollectionState, revision: number): void {
    this.items = items.copy();
    this.unreadable = unreadable && new Map(unreadable);
    this.lastChange = lastChange;
    this.unknownUntil = unknownUntil;
    this.changes = ++allChanges;
    this.recent.begin(revision);
  }

  /** The current rules by which values are read. */
  get rules(): CollectionOptions {
    return this.options;
  }
  /** Whether stored values are read by these rules. */
  readsBy(read: ReadValue | undefined): boolean {
    return this.options.read === read;
  }
  /** A stored value of any revision, read by the current rules. Undefined if it is unreadable. */
  itemOf(key: string, value: Buffer, revision: number, created: number, unreadable?: Unreadable): Item | undefined {
    const item = itemBy(this.options, key, value, revision, created, unreadable);
    return typeof item === 'string' ? undefined : item;
  }
  /** The number of objects that are loaded, readable or not. */
  get loadedSoFar(): number {
    return (this.filling?.items.size ?? 0) + (this.unreadable?.size ?? 0);
  }
  /** Takes an entry found while loading. */
  load(key: string, value: Buffer, revision: number, created: number, unreadable?: Unreadable): void {
    const item = itemBy(this.options, key, value, revision, created, unreadable);
    if (typeof item === 'string') this.setAside({ key, revision, created, reason: item });
    else (this.filling?.items ?? this.items).set(key, item);
    this.changes = ++allChanges;
    if (revision > this.lastChange) this.lastChange = revision;
  }
  /** Takes a change found while loading. */
  loadChange(key: string, value: Buffer | undefined, revision: number, created: number, unreadable?: Unreadable): void {
    this.filling?.items.delete(key);
    if (this.unreadable !== undefined) this.takeBack(key, revision);
    if (value !== undefined) this.load(key, value, revision, created, unreadable);
  }
  /** Everything is loaded as it was at a revision. Changes after it will be seen as events. */
  loaded(revision: number): void {
    const { filling, loading } = this;
    if (filling !== undefined) this.items = filling.items;
    this.loading = undefined;
    this.pending = undefined;
    this.recent.begin(revision);
    // Earlier deletions left no entries: any change up to here may have been the newest.
    this.lastChange = Math.max(this.lastChange, revision);
    // Parts of the server may rely on an object that they read alone. There are no watches yet.
    for (const change of loading?.single?.changesUpTo(revision) ?? [])
      this.audience.notify({ ...change, revision: change.item.revision, frames: undefined });
    for (const w of filling?.waiting ?? [])
      if (w.revision > revision) this.apply(w.key, w.value, w.revision, w.created, w.facts, w.unreadable);
    for (const call of this.loadedCalls.splice(0)) call();
  }
  /** Calls when the collection is loaded, at once if it is. It is not loaded any sooner for that. */
  whenLoaded(call: () => void): void {
    if (this.pending === undefined) call();
    else this.loadedCalls.push(call);
  }
  private readonly loadedCalls: (() => void)[] = [];
  /** Changes the rules to equivalent ones: existing items stay valid. */
  change(options: CollectionOptions): void {
    this.options = options;
  }
  /**
   * Reads all values by other rules. `entries` returns those of the store, and is done when every change that is older than
   * one of them was applied here. Until then the old state stays, so that no reader sees a mixture; `ready` is called in
   * the turn of the event loop in which the new state takes effect.
   */
  async reread(
    options: CollectionOptions,
    entries: (
      take: (key: string, value: Buffer, revision: number, created: number, unreadable: Unreadable | undefined) => void,
    ) => Promise<void>,
    ready: () => void,
    reachedRevision: () => number,
  ): Promise<void> {
    const items = new SortedMap<Item>();
    const aside = new Map<string, UnreadableObject>();
    const take = (key: string, value: Buffer, revision: number, created: number, unreadable: Unreadable | undefined): void => {
      const item = itemBy(options, key, value, revision, created, unreadable);
      items.delete(key);
      aside.delete(key);
      if (typeof item === 'string') aside.set(key, { key, revision, created, reason: item });
      else items.set(key, item);
    };
    const meanwhile = new Map<string, Stored>();
    this.meanwhile = meanwhile;
    try {
      await entries(take);
    } finally {
      this.meanwhile = undefined;
    }
    for (const { key, value, revision, created, unreadable } of meanwhile.values()) {
      if (value !== undefined) {
        if (items.get(key)?.revision !== revision) take(key, value, revision, created, unreadable);
        continue;
      }
      items.delete(key);
      aside.delete(key);
    }
    this.options = options;
    this.items = items;
    const previousUnreadable = this.unreadable;
    this.unreadable = aside.size === 0 ? undefined : aside;
    let isSame = (previousUnreadable?.size ?? 0) === aside.size;
    for (const object of aside.values()) {
      if (previousUnreadable?.get(object.key)?.revision === object.revision) continue;
      isSame = false;
      this.report(object);
    }
    this.indexes.clear();
    // Events contain values by the old rules; history is read from the store.
    this.recent.clear(this.lastChange);
    this.changes = ++allChanges;
    ready();
    // The old and the new state of a watch are inconsistent. There are no events for the difference: neither
    // for open watches, nor for those that resume from an earlier revision.
    if (!isSame) this.unknownUntil = Math.max(this.unknownUntil, reachedRevision());
    this.close(!isSame);
  }
  /** Loading begins: changes that arrive from now on wait until `loaded`. */
  hold(): void {
    this.loading = { state: 'filling', single: this.loading?.single, items: new SortedMap(), waiting: [] };
    this.unreadable = undefined;
  }
  /** The collection is loaded later, by `load`; until then `read` reads single objects. */
  defer(load: () => Promise<void>, read: (key: string) => Promise<SingleRead>): void {
    this.pending = load;
    const single = new NotLoaded({
      read,
      itemOf: ({ key, value, revision, created, unreadable, facts }) => this.itemBy(key, value, revision, created, facts, unreadable),
    });
    this.loading = { state: 'deferred', single };
    this.items = single;
    this.unreadable = undefined;
  }
  /**
   * Resolves when the object of a key can be looked up in `items`, or is known to be absent or unreadable, though others are still
   * being loaded. If very many were looked up so, it waits for all.
   */
  look(key: string): Promise<void> {
    return this.loading?.single?.look(key) ?? this.pending?.() ?? Promise.resolve();
  }
  /** The store has other values: what could not be read is read again. */
  lookAgain(): void {
    this.loading?.single?.forgetUnreadable();
  }
  /** An object that exists and cannot be read, by its key. */
  unreadableAt(key: string): UnreadableObject | undefined {
    const single = this.loading?.single;
    return single === undefined ? this.unreadable?.get(key) : single.unreadableAt(key);
  }
  /** So many changes came while it was loaded that they were dropped: they must be read from the store's history. */
  get overflowed(): boolean {
    return this.filling !== undefined && this.filling.waiting === undefined;
  }
  /** Changes wait again after an overflow. */
  buffer(): void {
    if (this.filling !== undefined) this.filling.waiting = [];
  }
  private get filling(): Filling | undefined {
    return this.loading?.state === 'filling' ? this.loading : undefined;
  }
  private wait(loading: Deferred | Filling, change: Stored): void {
    loading.single?.follow(change);
    this.changes = ++allChanges;
    if (loading.state === 'deferred' || loading.waiting === undefined) return;
    loading.waiting.push(change);
    if (loading.waiting.length > MOST_WAITING) loading.waiting = undefined;
  }

  /** Applies a change of the store. `facts` saves parsing if the writer knows them. Returns the item of the value, if it is kept. */
  apply(
    key: string,
    value: Buffer | undefined,
    revision: number,
    created: number,
    facts: Facts | undefined,
    unreadable?: Unreadable | undefined,
  ): Item | undefined {
    if (this.loading !== undefined) {
      this.wait(this.loading, { key, value, revision, created, facts, unreadable });
      return undefined;
    }
    this.meanwhile?.set(key, { key, value, revision, created, unreadable });
    const wasUnreadable = this.unreadable !== undefined && this.takeBack(key, revision);
    const previous = this.items.get(key);
    let event: CollectionEvent;
    const item = value === undefined ? undefined : this.itemBy(key, value, revision, created, facts, unreadable);
    if (wasUnreadable && typeof item !== 'string') this.expireWatches(revision);
    if (typeof item === 'object') {
      this.items.set(key, item);
      event = { type: 'put', item, previous, revision, frames: undefined };
    } else {
      // An object that becomes unreadable leaves the lists, and so it leaves the watches.
      if (item !== undefined) this.setAside({ key, revision, created, reason: item });
      if (previous === undefined) return undefined;
      this.items.delete(key);
      event = { type: 'delete', item: atRevision(previous, revision), previous, revision, frames: undefined };
    }
    this.lastChange = revision;
    this.changes = ++allChanges;
    if (this.indexes.size > 0) this.indexes.change(key, previous, typeof item === 'object' ? item : undefined);
    this.recent.remember(event, this.options.eventLimit);
    this.audience.notify(event);
    // Events outlive their objects by minutes, and their parsed form is rarely needed again.
    if (previous !== undefined) previous.parsed = undefined;
    if (event.type === 'delete') event.item.parsed = undefined;
    return typeof item === 'object' ? item : undefined;
  }

  /** The item of a value, or why there is none. A writer with facts made the value by the current rules, unless they have changed since. */
  private itemBy(
    key: string,
    value: Buffer,
    revision: number,
    created: number,
    facts: Facts | undefined,
    unreadable: Unreadable | undefined,
  ): Item | string {
    return facts !== undefined && facts.read === this.options.read
      ? itemFromStored(key, value, revision, created, facts)
      : itemBy(this.options, key, value, revision, created, unreadable);
  }

  private setAside(object: UnreadableObject): void {
    this.unreadable ??= new Map();
    this.unreadable.set(object.key, object);
    this.lastChange = Math.max(this.lastChange, object.revision);
    this.changes = ++allChanges;
    this.report(object);
  }
  /** A later change replaces the state of an unreadable object. */
  private takeBack(key: string, revision: number): boolean {
    if (!this.unreadable?.delete(key)) return false;
    if (this.unreadable.size === 0) this.unreadable = undefined;
    this.lastChange = revision;
    this.changes = ++allChanges;
    return true;
  }
  /** Watchers may have seen an object before it became unreadable; whether their selection had it is not known either. */
  private expireWatches(revision: number): void {
    this.unknownUntil = revision;
    this.close(true);
  }

  /**
   * Called once when the collection ends or is read by other rules; `stale`: the state of a client may be wrong, and it must
   * list again. Returns the function that removes the call.
   */
  onClose(call: (stale: boolean) => void): () => void {
    this.closers.add(call);
    return () => this.closers.delete(call);
  }
  close(stale = false): void {
    const calls = [...this.closers];
    this.closers.clear();
    for (const call of calls) call(stale);
  }

  /** Returns the function that ends it. */
  listen(listener: EventListener, interest?: Interest): () => void {
    return this.audience.add(listener, interest);
  }
  get watchers(): number {
    return this.audience.size;
  }

  /** Events after a revision, or undefined when some are no longer here. */
  eventsSince(revision: number): CollectionEvent[] | undefined {
    return this.recent.since(revision);
  }
  /** Drops events up to a revision (the store has compacted them too). */
  forgetEvents(upTo: number): void {
    this.recent.forget(upTo);
  }

  /** Keys of the items whose label or field has a value. */
  withValue(what: 'label' | 'field', name: string, fieldIndex: number, value: string): ReadonlySet<string> | undefined {
    return this.indexes.withValue(this.items, what, name, fieldIndex, value);
  }
}

/** The item of a value, or why there is none. */
function itemBy(
  { read, facts }: CollectionOptions,
  key: string,
  value: Buffer,
  revision: number,
  created: number,
  unreadable: Unreadable | undefined,
): Item | string {
  if (unreadable !== undefined) return unreadable.reason;
  try {
    const storedValue = read === undefined ? value : read(value);
    return itemFromStored(key, storedValue, revision, created, facts(storedObject(storedValue)));
  } catch (error) {
    return whyUnreadable(error, value);
  }
}

/**
 * The watch cache: every collection's current state in memory, kept by one subscription to the engine.
 *
 * Small collections, and those that the server itself needs, are loaded by `start`. Large ones are loaded when a reader
 * first needs them, or by `loadRest` (`loader.ts`, decision 037).
 *
 * With an exclusive engine this process is the only writer and the cache is current by itself. With a shared engine a
 * consistent read fetches the newest revision of the store and waits until the cache has reached it.
 */
import type { Clock } from '@plat-dev/lib/clock';
import { Slices } from '@plat-dev/lib/slices';
import { Collection, type CollectionOptions, type CollectionState } from './collection.ts';
import { type ChangeRecord, CommitConflict, type Engine, type Entry, type Operation, StoreUnavailable, type Unreadable } from './engine.ts';
import { type Facts, keptValue } from './item.ts';
import { LOAD_CHUNK, LOADED_AT_ONCE, Loader, START_CHUNK } from './loader.ts';
import type { UnreadableObject } from './unreadable.ts';

/** How long to wait for changes up to the revision of a list. */
const CHANGES_WAIT_MS = 30_000;
/** How long a request waits for the newest state of a shared store, and for the cache to show its own write. */
export const NEWEST_WAIT_MS = 10_000;

/** The cache did not reach a revision in time: what it has may be stale, and nothing may be decided on it. */
export class CacheBehind extends StoreUnavailable {
  constructor(revision: number, reached: number) {
    super(`the store does not deliver its changes: revision ${revision} is needed, ${reached} was delivered`);
    this.name = 'CacheBehind';
  }
}

/** The content of all collections at a revision. */
export interface CacheState {
  readonly revision: number;
  readonly collections: readonly CollectionState[];
}

interface Waiter {
  readonly revision: number;
  readonly wake: () => void;
  readonly fail: (error: Error) => void;
}

export class Cache {
  readonly engine: Engine;
  private readonly clock: Clock;
  private readonly collections = new Map<string, Collection>();
  /** Facts of values that this process wrote, so that its own changes are not parsed again. */
  private readonly factsByValue = new Map<Buffer, Facts>();
  private waiters: Waiter[] = [];
  private reached = 0;
  private stop: (() => void) | undefined;
  private readonly loader: Loader;
  private readonly failed: (error: Error) => void;
  private readonly setAside: (object: UnreadableObject) => void;

  /**
   * `failed` is called when the store's changes can no longer be followed: the process must reload or end. `setAside` is
   * called for every unreadable object, with its key in the store; the others are served. `loadFailed` as `LoaderDeps.failed`.
   */
  constructor(
    engine: Engine,
    clock: Clock,
    failed: (error: Error) => void,
    setAside: (object: UnreadableObject) => void = () => {},
    loadFailed: (prefix: string, error?: unknown) => void = () => {},
  ) {
    this.engine = engine;
    this.clock = clock;
    this.failed = failed;
    this.setAside = setAside;
    this.loader = new Loader(engine, clock, {
      collections: this.collections,
      reached: (revision) => this.waitFor(revision, CHANGES_WAIT_MS),
      failed: loadFailed,
    });
  }

  /** The number of unreadable objects, by the prefix of their collection; empty if there are none. */
  unreadable(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { prefix, unreadable } of this.collections.values()) if (unreadable !== undefined) counts.set(prefix, unreadable.size);
    return counts;
  }
  private make(options: CollectionOptions): Collection {
    return new Collection(options, (object) => this.setAside({ ...object, key: options.prefix + object.key }));
  }

  /** Revision up to which the cache is complete. */
  get revision(): number {
    return this.reached;
  }

  /** Declares a collection before `start`. */
  declare(options: CollectionOptions): Collection {
    const existing = this.collections.get(options.prefix);
    if (existing !== undefined) return existing;
    const collection = this.make(options);
    this.collections.set(options.prefix, collection);
    return collection;
  }

  /**
   * Adds a collection while running (a custom kind appears), or changes the rules by which its values are read. `ready` is called in
   * the same turn of the event loop, before the collection can be used.
   */
  async add(options: CollectionOptions, reread: boolean, ready: (collection: Collection) => void): Promise<void> {
    const existing = this.collections.get(options.prefix);
    if (existing === undefined) {
      ready(await this.filled(this.make(options)));
    } else if (reread) {
      await this.rereadBy(existing, () => options, ready);
    } else {
      existing.change(options);
      ready(existing);
    }
  }
  /** Whether there is a collection with these rules. */
  readsBy(prefix: string, read: CollectionOptions['read']): boolean {
    return this.collections.get(prefix)?.readsBy(read) === true;
  }
  /** Loads what is not loaded yet, in the background. */
  loadRest(): void {
    this.loader.loadAll();
  }
  /** Resolves when everything is loaded. */
  async allLoaded(): Promise<void> {
    await Promise.all([...this.collections.values()].map((collection) => collection.pending?.()));
  }
  /** Reads the values of a collection again, because the store returns different ones now: decryption keys were added or removed. */
  async reread(prefix: string): Promise<void> {
    const collection = this.collections.get(prefix);
    if (collection?.pending !== undefined) {
      collection.lookAgain();
      await this.loader.restart(collection);
    } else if (collection !== undefined)
      await this.rereadBy(
        collection,
        () => collection.rules,
        () => {},
      );
  }
  /** One reload of a collection at a time. */
  private rereadBy(stale: Collection, options: () => CollectionOptions, ready: (collection: Collection) => void): Promise<void> {
    const entries: Parameters<Collection['reread']>[1] = (take) => this.entriesOf(stale.prefix, take);
    const previousReread = this.rereading.get(stale) ?? Promise.resolve();
    const done = previousReread
      .catch(() => {})
      .then(() => stale.pending?.())
      .then(() =>
        stale.reread(
          options(),
          entries,
          () => ready(stale),
          () => this.reached,
        ),
      );
    this.rereading.set(stale, done);
    return done;
  }
  private readonly rereading = new WeakMap<Collection, Promise<void>>();
  private async filled(collection: Collection): Promise<Collection> {
    this.collections.set(collection.prefix, collection);
    try {
      await this.loader.first(collection);
      return collection;
    } catch (error) {
      // A partial collection would look complete to the next try.
      this.collections.delete(collection.prefix);
      throw error;
    }
  }
  private async entriesOf(
    prefix: string,
    take: (key: string, value: Buffer, revision: number, created: number, unreadable: Unreadable | undefined) => void,
  ): Promise<void> {
    const at = await this.eachEntry(prefix, ({ key, value, revision, created, unreadable }) =>
      take(key.slice(prefix.length), value, revision, created, unreadable),
    );
    await this.waitFor(at, CHANGES_WAIT_MS);
  }
  /** Ends the watches of the collection. */
  remove(prefix: string): void {
    this.collections.get(prefix)?.close();
    this.collections.delete(prefix);
  }

  /** The content of all collections; those that are being loaded are left out. */
  state(): CacheState {
    const collections: CollectionState[] = [];
    for (const collection of this.collections.values()) {
      const state = collection.state();
      if (state !== undefined) collections.push(state);
    }
    return { revision: this.reached, collections };
  }
  /**
   * Starts from the cache of another server, whose store this one was copied from: nothing is read again. Custom
   * kinds have their collections before they are served.
   */
  private begin({ revision, collections }: CacheState): void {
    const missing = new Set(this.collections.keys());
    for (const state of collections) {
      this.declare(state.options).begin(state, revision);
      missing.delete(state.options.prefix);
    }
    for (const prefix of missing) this.collections.get(prefix)?.loaded(revision);
    this.follow(revision);
  }
  private follow(after: number): void {
    this.reached = after;
    this.stop = this.engine.subscribe(after, (changes, revision) => this.deliver(changes, revision), this.failed);
  }

  /** Loads everything but large collections, or takes over the content of another cache, and follows the store from there. */
  async start(from?: CacheState): Promise<void> {
    if (from !== undefined) return this.begin(from);
    for (const collection of this.collections.values()) collection.hold();
    const at = await this.loadFirst();
    for (const collection of this.collections.values()) if (collection.pending === undefined) collection.loaded(at);
    this.follow(at);
  }
  /** Why collections do not follow the store, if they do not. */
  problem(): string | undefined {
    return this.stop === undefined ? 'the collections do not follow the store' : undefined;
  }
  close(): void {
    this.stop?.();
    this.stop = undefined;
    this.loader.close();
    const closed = new StoreUnavailable('the store is closed');
    for (const waiter of this.waiters.splice(0)) waiter.fail(closed);
  }

  /**
   * Writes, and resolves when the cache shows it, or after 10 seconds without that: the write is durable, and readers of the newest
   * state wait for it. `facts` belong to the put of the same index.
   * Throws CommitConflict once the cache shows the write that it conflicted with, and CacheBehind if it does not.
   */
  commit(operations: readonly Operation[], facts: readonly (Facts | undefined)[], assigned?: (revision: number) => void): Promise<number> {
    for (let i = 0; i < facts.length; i++) {
      const operation = operations[i];
      const writerFacts = facts[i];
      if (operation?.type === 'put' && writerFacts !== undefined) this.factsByValue.set(operation.value, writerFacts);
    }
    // No async function: every write passes here, and has promises enough.
    let committing: ReturnType<Engine['commit']>;
    try {
      committing = this.engine.commit(operations, assigned);
    } catch (error) {
      return this.refused(operations, facts, error);
    }
    return committing.then(
      ({ revision }) => {
        if (revision > this.reached) return this.whenVisible(operations, facts, revision);
        this.forgetFacts(operations, facts);
        return revision;
      },
      (error: unknown) => this.refused(operations, facts, error),
    );
  }
  private async whenVisible(operations: readonly Operation[], facts: readonly unknown[], revision: number): Promise<number> {
    try {
      await this.waitFor(revision, NEWEST_WAIT_MS);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    this.forgetFacts(operations, facts);
    return revision;
  }
  private async refused(operations: readonly Operation[], facts: readonly unknown[], error: unknown): Promise<never> {
    try {
      if (error instanceof CommitConflict && !this.engine.exclusive) await this.freshen();
    } finally {
      this.forgetFacts(operations, facts);
    }
    throw error;
  }
  private forgetFacts(operations: readonly Operation[], facts: readonly unknown[]): void {
    for (let i = 0; i < facts.length; i++) {
      const operation = operations[i];
      if (operation?.type === 'put') this.factsByValue.delete(operation.value);
    }
  }

  /** Resolves when the cache has the newest revision of the store: at once for an exclusive engine. Rejects with CacheBehind. */
  async freshen(): Promise<void> {
    if (!this.engine.exclusive) await this.waitFor(await this.engine.currentRevision(), NEWEST_WAIT_MS);
  }

  /** Resolves when the cache has reached a revision. Rejects with CacheBehind when that takes longer than `timeoutMs`. */
  waitFor(revision: number, timeoutMs: number): Promise<void> {
    if (revision <= this.reached) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const cancel = this.clock.after(timeoutMs, () => {
        this.waiters = this.waiters.filter((w) => w !== waiter);
        reject(new CacheBehind(revision, this.reached));
      });
      const waiter: Waiter = {
        revision,
        wake: () => {
          cancel();
          resolve();
        },
        fail: (error) => {
          cancel();
          reject(error);
        },
      };
      this.waiters.push(waiter);
    });
  }

  /** Drops events that the store has compacted, so that both give the same result. */
  forget(upTo: number): void {
    for (const collection of this.collections.values()) collection.forgetEvents(upTo);
  }

  /**
   * Loads all collections but large ones that may be loaded later, of which it reads a page at most; so it does of objects
   * that belong to no collection yet. Returns the revision at which they were read.
   */
  private async loadFirst(): Promise<number> {
    let at: number | undefined;
    let from: string | undefined;
    let limit = START_CHUNK;
    const slices = new Slices();
    for (;;) {
      const page = await this.engine.range({ ...WHOLE, limit, ...(at !== undefined && { at }), ...(from !== undefined && { from }) });
      at ??= page.revision;
      const { entries, more } = page;
      let end = 0;
      for (let start = 0; start < entries.length; start = end) {
        const prefix = prefixIn((entries[start] as Entry).key);
        end = start + 1;
        while (end < entries.length && prefix !== undefined && (entries[end] as Entry).key.startsWith(prefix)) end++;
        const collection = prefix === undefined ? undefined : this.collections.get(prefix);
        if (collection !== undefined && this.isForLater(collection, end - start)) this.loader.defer(collection);
        const isSkipped = collection === undefined || collection.pending !== undefined;
        if (!isSkipped) {
          for (let i = start; i < end; i++) {
            take(collection, entries[i] as Entry);
            if (slices.due) await slices.pause();
          }
        }
        from = isSkipped && prefix !== undefined ? afterPrefix(prefix) : `${(entries[end - 1] as Entry).key}\u0000`;
        limit = isSkipped || collection.rules.later === true ? START_CHUNK : LOAD_CHUNK;
      }
      if (!more || entries.length === 0) return at;
    }
  }
  /** `pageCount`: how many of its objects a page has, in addition to those that are loaded. */
  private isForLater({ rules, loadedSoFar }: Collection, pageCount: number): boolean {
    return rules.later === true && loadedSoFar + pageCount > LOADED_AT_ONCE;
  }

  /** Returns the revision at which the entries were read. */
  private async eachEntry(prefix: string, take: (entry: Entry) => void): Promise<number> {
    let at: number | undefined;
    let from: string | undefined;
    const slices = new Slices();
    for (;;) {
      const page = await this.engine.range({
        prefix,
        limit: LOAD_CHUNK,
        uncounted: true,
        ...(at !== undefined && { at }),
        ...(from !== undefined && { from }),
      });
      at ??= page.revision;
      for (const entry of page.entries) {
        take(entry);
        if (slices.due) await slices.pause();
      }
      const last = page.entries[page.entries.length - 1];
      if (!page.more || last === undefined) return at;
      from = `${last.key}\u0000`;
    }
  }

  private deliver(changes: readonly ChangeRecord[], revision: number): void {
    for (const change of changes) {
      const { value, revision: at, created, unreadable } = change;
      const facts = value === undefined ? undefined : this.factsByValue.get(value);
      const place = facts?.place;
      const collection = place === undefined ? this.collectionOf(change.key) : this.collections.get(place.prefix);
      if (collection === undefined) continue;
      const item = collection.apply(place?.key ?? change.key.slice(collection.prefix.length), value, at, created, facts, unreadable);
      if (item === undefined || value === undefined || this.engine.keepAs === undefined) continue;
      const valueToKeep = keptValue(item, value);
      if (valueToKeep !== undefined) this.engine.keepAs(change.key, at, valueToKeep);
    }
    this.reached = Math.max(this.reached, revision);
    if (this.waiters.length === 0) return;
    const due = this.waiters.filter((w) => w.revision <= this.reached);
    if (due.length === 0) return;
    this.waiters = this.waiters.filter((w) => w.revision > this.reached);
    for (const waiter of due) waiter.wake();
  }

  /** `apps/deployments/default/web` belongs to the collection `apps/deployments/`. */
  private collectionOf(key: string): Collection | undefined {
    const prefix = prefixIn(key);
    return prefix === undefined ? undefined : this.collections.get(prefix);
  }
}

const WHOLE = { prefix: '', uncounted: true };
function take(collection: Collection, { key, value, revision, created, unreadable }: Entry): void {
  collection.load(key.slice(collection.prefix.length), value, revision, created, unreadable);
}
function prefixIn(key: string): string | undefined {
  const slash = key.indexOf('/', key.indexOf('/') + 1);
  return slash < 0 ? undefined : key.slice(0, slash + 1);
}
/** Comes after all keys with a prefix that ends in a slash, and before all others that follow them. */
const afterPrefix = (prefix: string): string => `${prefix.slice(0, -1)}0`;

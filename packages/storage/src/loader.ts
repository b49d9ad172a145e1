/**
 * Loads collections while the server runs: one page of one collection at a time, those that requests wait for first.
 *
 *   deferred ──load()──▶ queued ──page, page, …──▶ all read ──changes that came meanwhile──▶ loaded
 *                          ▲                          │
 *                          └── history compacted, or `restart()`
 *
 * All pages of a collection are read at the revision of the first one. Changes after it wait in the collection; if there are
 * too many to wait, they are read from the store's history at the end.
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { Slices } from '@plat-dev/lib/slices';
import type { Collection } from './collection.ts';
import { type ChangeRecord, Compacted, type Engine, type Entry, StoreUnavailable } from './engine.ts';
import { isKey } from './keys.ts';
import type { SingleRead } from './not-loaded.ts';

/** Entries of a page. */
export const LOAD_CHUNK = 1000;
/** A collection that may be loaded later is, if it has more objects than this. */
export const LOADED_AT_ONCE = 200;
/** Entries of a page that a start reads: of what is loaded later it reads one, to know that. */
export const START_CHUNK = LOADED_AT_ONCE + 50;
/** How often a collection is read from its beginning because the store compacted the revision it was read at. */
const MOST_COMPACTIONS = 10;
/** Time until the background loads collections again that could not be loaded; it doubles with each failure in a row. */
const RETRY_MS = 1000;
export const LONGEST_RETRY_MS = 30_000;

export interface LoaderDeps {
  /** By prefix: those that are loaded, and those that are not. One that was removed is not loaded any further. */
  readonly collections: ReadonlyMap<string, Collection>;
  /** Resolves when all collections have the changes up to a revision. Rejects with StoreUnavailable if that takes too long. */
  readonly reached: (revision: number) => Promise<void>;
  /** Called when a collection could not be loaded, once for each different error, and without one when it is loaded after that. */
  readonly failed: (prefix: string, error?: unknown) => void;
}

interface Load {
  readonly collection: Collection;
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** A request waits for it. */
  isAwaited: boolean;
  /** Its first page was requested. */
  isBegun: boolean;
  /** The revision of the pages; undefined before the first one. */
  at: number | undefined;
  /** The first key of the next page. */
  from: string | undefined;
  /** How often it was read from its beginning: the pages of an earlier round are of no use. */
  round: number;
  /** Rounds because of compaction. */
  compactions: number;
}

export class Loader {
  private readonly engine: Engine;
  private readonly clock: Clock;
  private readonly deps: LoaderDeps;
  /** What is loaded, the next one first. At most one entry for each collection. */
  private readonly queue: Load[] = [];
  private readonly loads = new Map<Collection, Load>();
  private isRunning = false;
  /** Loads are run without being waited for. */
  private inBackground = false;
  private isClosed = false;
  private cancelRetry: Cancel | undefined;
  private retryMs = RETRY_MS;
  /** The errors of collections that could not be loaded, as they were reported. */
  private readonly failures = new Map<string, string>();

  constructor(engine: Engine, clock: Clock, deps: LoaderDeps) {
    this.engine = engine;
    this.clock = clock;
    this.deps = deps;
  }

  /** The collection is loaded later. */
  defer(collection: Collection): void {
    const { prefix } = collection;
    collection.defer(
      () => this.load(collection),
      (key) => this.readOne(prefix + key),
    );
  }
  /** One key, as the newest state of the store has it; resolves when all changes up to that were delivered. */
  private async readOne(key: string): Promise<SingleRead> {
    const { revision } = this.engine;
    // No key can be stored under any other name.
    if (!isKey(key)) return { entry: undefined, revision };
    const page = await this.engine.range({ prefix: key, limit: 1, uncounted: true });
    await this.deps.reached(page.revision);
    const [entry] = page.entries;
    return { entry: entry?.key === key ? entry : undefined, revision: page.revision };
  }

  /** Loads a collection before those that no request waits for. */
  load(collection: Collection): Promise<void> {
    const load = this.loads.get(collection) ?? this.add(collection);
    load.isAwaited = true;
    const at = this.queue.indexOf(load);
    if (at > 0) this.queue.unshift(...this.queue.splice(at, 1));
    this.run();
    return load.done;
  }
  /** Loads collections after those that requests wait for, and from now on all others that are deferred. */
  loadAll(): void {
    this.inBackground = true;
    for (const collection of this.deps.collections.values())
      if (collection.pending !== undefined && !this.loads.has(collection)) this.add(collection);
    this.run();
  }
  /** Loads a new collection; one that is large and may be loaded later is usable before it is complete, by its `pending`. */
  async first(collection: Collection): Promise<void> {
    if (collection.rules.later === true) this.defer(collection);
    const load = this.add(collection, false);
    try {
      let done = await this.page(load, LOADED_AT_ONCE);
      while (!done && collection.rules.later !== true) done = await this.page(load);
      if (done) return this.end(load);
    } catch (error) {
      this.end(load, error);
      throw error;
    }
    this.queue.push(load);
    if (load.isAwaited) void this.load(collection);
    else if (this.inBackground) this.run();
  }
  /** The store has other values for a collection that is not loaded: those that were read are dropped. */
  async restart(collection: Collection): Promise<void> {
    const load = this.loads.get(collection);
    // What is not begun will find the new values.
    if (load?.isBegun !== true) return;
    this.startOver(load);
    return load.done;
  }
  private startOver(load: Load): void {
    load.round++;
    load.at = undefined;
  }
  close(): void {
    this.isClosed = true;
    this.cancelRetry?.();
    for (const load of this.loads.values()) load.reject(new StoreUnavailable('the server is shutting down'));
    this.loads.clear();
    this.queue.length = 0;
  }

  private add(collection: Collection, queued = true): Load {
    let settle: Pick<Load, 'resolve' | 'reject'> | undefined;
    const done = new Promise<void>((resolve, reject) => {
      settle = { resolve, reject };
    });
    // Readers that wait handle the error; there may be none.
    done.catch(() => {});
    const load: Load = {
      collection,
      done,
      ...(settle as NonNullable<typeof settle>),
      isAwaited: false,
      isBegun: false,
      at: undefined,
      from: undefined,
      round: 0,
      compactions: 0,
    };
    this.loads.set(collection, load);
    if (queued) this.queue.push(load);
    return load;
  }
  private end(load: Load, error?: unknown): void {
    if (this.loads.get(load.collection) === load) this.loads.delete(load.collection);
    const at = this.queue.indexOf(load);
    if (at >= 0) this.queue.splice(at, 1);
    if (error === undefined) load.resolve();
    else load.reject(error);
  }

  private run(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    void this.work();
  }
  private async work(): Promise<void> {
    for (let load = this.queue[0]; load !== undefined; load = this.queue[0]) {
      try {
        if (!(await this.page(load))) continue;
        this.end(load);
        this.succeeded(load);
      } catch (error) {
        this.end(load, error);
        this.report(load, error);
        this.retryLater();
      }
    }
    this.isRunning = false;
  }
  private retryLater(): void {
    if (!this.inBackground || this.isClosed || this.cancelRetry !== undefined) return;
    this.cancelRetry = this.clock.after(this.retryMs, () => {
      this.cancelRetry = undefined;
      this.loadAll();
    });
    this.retryMs = Math.min(this.retryMs * 2, LONGEST_RETRY_MS);
  }
  private report({ collection: { prefix } }: Load, error: unknown): void {
    const message = String(error);
    if (this.isClosed || this.failures.get(prefix) === message) return;
    this.failures.set(prefix, message);
    this.deps.failed(prefix, error);
  }
  private succeeded({ collection: { prefix } }: Load): void {
    this.retryMs = RETRY_MS;
    if (this.failures.delete(prefix)) this.deps.failed(prefix);
  }

  /** Reads the next page. Returns whether there is nothing left to load. */
  private async page(load: Load, limit = LOAD_CHUNK): Promise<boolean> {
    const { collection, round } = load;
    const { prefix } = collection;
    if (this.deps.collections.get(prefix) !== collection) return true;
    load.isBegun = true;
    if (load.at === undefined) {
      load.from = undefined;
      collection.hold();
    }
    try {
      const { at, from } = load;
      const page = await this.engine.range({
        prefix,
        limit,
        uncounted: true,
        ...(at !== undefined && { at }),
        ...(from !== undefined && { from }),
      });
      if (load.round !== round) return false;
      load.at ??= page.revision;
      if (!(await this.take(load, page.entries))) return false;
      const last = page.entries[page.entries.length - 1];
      if (page.more && last !== undefined) {
        load.from = `${last.key}\u0000`;
        return false;
      }
      return await this.finish(load);
    } catch (error) {
      if (load.round !== round) return false;
      if (!(error instanceof Compacted) || ++load.compactions > MOST_COMPACTIONS) throw error;
      this.startOver(load);
      return false;
    }
  }
  /** Returns false if they are of no use any more. */
  private async take(load: Load, entries: readonly Entry[]): Promise<boolean> {
    const { collection, round } = load;
    const start = collection.prefix.length;
    const slices = new Slices();
    for (const { key, value, revision, created, unreadable } of entries) {
      collection.load(key.slice(start), value, revision, created, unreadable);
      if (!slices.due) continue;
      await slices.pause();
      if (load.round !== round || this.isClosed) return false;
    }
    return true;
  }
  /** All pages are read: adds the changes since then. Returns false if they must be read again. */
  private async finish(load: Load): Promise<boolean> {
    const { collection, round } = load;
    for (;;) {
      await this.deps.reached(load.at as number);
      if (load.round !== round) return false;
      if (!collection.overflowed) break;
      collection.buffer();
      await this.catchUp(load);
      if (load.round !== round) return false;
    }
    collection.loaded(load.at as number);
    return true;
  }
  private async catchUp(load: Load): Promise<void> {
    const { collection, round } = load;
    const { prefix } = collection;
    let changes: readonly ChangeRecord[];
    do {
      changes = await this.engine.changes({ after: load.at as number, prefix, limit: LOAD_CHUNK });
      if (load.round !== round) return;
      for (const { key, value, revision, created, unreadable } of changes) {
        collection.loadChange(key.slice(prefix.length), value, revision, created, unreadable);
        load.at = revision;
      }
    } while (changes.length >= LOAD_CHUNK);
  }
}

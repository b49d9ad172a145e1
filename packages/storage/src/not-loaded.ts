/**
 * The items of a collection that is not loaded. Single objects can be read before that, each on its own from the store, and
 * follow its changes from then on; all other reads throw: a reader that does not wait gets an error, never an empty collection.
 *
 *   look('a') → the store has it at revision 7     get('a') → the item of revision 7      get('b') → throws
 *   change of a at revision 9                      get('a') → the item of revision 9
 *   change of b at revision 10                     get('b') → throws
 */
import { SortedMap } from '@plat-dev/lib/sorted-map';
import { type Entry, StoreUnavailable, type Unreadable } from './engine.ts';
import { atRevision, type Facts, type Item } from './item.ts';
import type { UnreadableObject } from './unreadable.ts';

/**
 * Maximum objects of a collection that are read on their own; readers of further ones wait for all of them. They are dropped
 * when it is loaded.
 */
export const MOST_SINGLE = 2_000;

/** A stored value, or that it was deleted. */
export interface Stored {
  readonly key: string;
  readonly value: Buffer | undefined;
  readonly revision: number;
  readonly created: number;
  readonly unreadable: Unreadable | undefined;
  /** Those that its writer knows. */
  readonly facts?: Facts | undefined;
}

/** One key as the store has it at a revision. All changes up to there were delivered. */
export interface SingleRead {
  readonly entry: Entry | undefined;
  readonly revision: number;
}

export interface NotLoadedDeps {
  /** Reads one key of the collection. */
  readonly read: (key: string) => Promise<SingleRead>;
  /** The item of a value, or why there is none. */
  readonly itemOf: (stored: Stored & { readonly value: Buffer }) => Item | string;
}

interface Single {
  readonly done: Promise<void>;
  isRead: boolean;
  /** The newest change of the key that was delivered while it was read. */
  delivered: Stored | undefined;
  /** Revision up to which changes of the key are applied. */
  revision: number;
  item: Item | undefined;
  unreadable: UnreadableObject | undefined;
  /** It has changed since it was read, when it was `firstItem`. */
  isChanged: boolean;
  firstItem: Item | undefined;
  /** Its last state before it was last deleted. */
  deleted: Item | undefined;
}

/** A change of a single object that has no event of its own. */
export interface UnseenChange {
  readonly type: 'put' | 'delete';
  readonly item: Item;
  readonly previous: Item | undefined;
}

export class NotLoaded extends SortedMap<Item> {
  private readonly deps: NotLoadedDeps;
  private readonly singles = new Map<string, Single>();

  constructor(deps: NotLoadedDeps) {
    super();
    this.deps = deps;
  }

  /** Reads the object of a key: `get` returns it from then on. Undefined if too many were read already. */
  look(key: string): Promise<void> | undefined {
    const existing = this.singles.get(key);
    if (existing !== undefined) return existing.done;
    if (this.singles.size >= MOST_SINGLE) return undefined;
    const done = this.deps.read(key).then(
      ({ entry, revision }) => {
        single.revision = revision;
        if (entry !== undefined) this.put(single, { ...entry, key, unreadable: entry.unreadable });
        single.isRead = true;
        if (single.delivered !== undefined) this.change(single, single.delivered);
        single.delivered = undefined;
      },
      (error: unknown) => {
        this.singles.delete(key);
        throw error;
      },
    );
    const single: Single = {
      done,
      isRead: false,
      delivered: undefined,
      revision: 0,
      item: undefined,
      unreadable: undefined,
      isChanged: false,
      firstItem: undefined,
      deleted: undefined,
    };
    this.singles.set(key, single);
    return done;
  }
  /** Takes a change of the collection. */
  follow(stored: Stored): void {
    const single = this.singles.get(stored.key);
    if (single === undefined) return;
    if (single.isRead) this.change(single, stored);
    else single.delivered = stored;
  }
  private change(single: Single, stored: Stored): void {
    if (stored.revision <= single.revision) return;
    single.revision = stored.revision;
    if (!single.isChanged) single.firstItem = single.item;
    single.isChanged = true;
    if (stored.value === undefined && single.item !== undefined) single.deleted = atRevision(single.item, stored.revision);
    single.item = undefined;
    single.unreadable = undefined;
    if (stored.value !== undefined) this.put(single, stored as Stored & { readonly value: Buffer });
  }
  private put(single: Single, stored: Stored & { readonly value: Buffer }): void {
    const item = this.deps.itemOf(stored);
    const { key, revision, created } = stored;
    if (typeof item === 'string') single.unreadable = { key, revision, created, reason: item };
    else single.item = item;
  }
  /** What has become of objects after they were read, up to a revision: deleted, written, or first the one and then the other. */
  changesUpTo(until: number): UnseenChange[] {
    const unseenChanges: UnseenChange[] = [];
    for (const { deleted, firstItem, item, isChanged, revision } of this.singles.values()) {
      const isDeleted = deleted !== undefined && deleted.revision <= until;
      if (isDeleted) unseenChanges.push({ type: 'delete', item: deleted, previous: deleted });
      if (isChanged && item !== undefined && revision <= until)
        unseenChanges.push({ type: 'put', item, previous: isDeleted ? undefined : firstItem });
    }
    return unseenChanges;
  }
  /** Reads those again that could not be read, when a reader needs them. */
  forgetUnreadable(): void {
    for (const [key, { unreadable }] of this.singles) if (unreadable !== undefined) this.singles.delete(key);
  }

  unreadableAt(key: string): UnreadableObject | undefined {
    return this.singles.get(key)?.unreadable;
  }
  override get(key: string): Item | undefined {
    const single = this.singles.get(key);
    if (single === undefined || !single.isRead) throw notLoaded();
    return single.item;
  }
  override get size(): number {
    throw notLoaded();
  }
  override each(): void {
    throw notLoaded();
  }
  override withPrefix(): Item[] {
    throw notLoaded();
  }
  override take(): Item[] {
    throw notLoaded();
  }
  override countFrom(): number {
    throw notLoaded();
  }
  override all(): Item[] {
    throw notLoaded();
  }
}

const notLoaded = (): Error => new StoreUnavailable('the objects are still being loaded from the store; try again');

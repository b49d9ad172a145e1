/**
 * A copy of a collection that stays up to date and reports every change. Its owner decides which part of an object
 * is kept; managedFields, often the larger part of an object, are never kept.
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Clock } from '@plat-dev/lib/clock';
import { frozen } from '@plat-dev/lib/frozen';
import { sharing } from '@plat-dev/lib/shared-parts';
import { Following, type FollowOptions, type FollowState, type WatchEventType } from './watch.ts';

export interface Change<T> {
  readonly type: 'added' | 'modified' | 'deleted';
  readonly object: T;
  readonly old: T | undefined;
}
export type ChangeListener<T> = (change: Change<T>) => void;

export interface InformerOptions<T extends ApiObject> extends FollowOptions {
  /** Reduces a received object to the part that is kept. */
  readonly keep?: (object: T) => T;
  /** Names the objects that differ little from this one: equal parts of them are kept once. Absent: nothing is shared. */
  readonly alike?: (object: T) => string;
}

/** The informer was stopped before it was synced. */
class InformerStopped extends Error {
  constructor() {
    super('nothing is followed any more');
    this.name = 'InformerStopped';
  }
}

interface Waiting {
  readonly holds: () => boolean;
  readonly end: () => void;
}

/** Names of objects that differ little, of which the newest is remembered; beyond it the oldest are forgotten, and share nothing more. */
const ALIKE_LIMIT = 4096;
/** How long a writer waits for its own write to arrive. */
const OWN_WRITE_MS = 30_000;

export class Informer<T extends ApiObject = ApiObject> {
  /** Resolves when the first list is complete; rejects with InformerStopped when it is stopped before. */
  readonly synced: Promise<void>;
  isSynced = false;
  private readonly namespaces = new Map<string, Map<string, T>>();
  private readonly listeners = new Set<ChangeListener<T>>();
  private readonly following: Following<T>;
  private readonly keep: (object: T) => T;
  private readonly alike: ((object: T) => string) | undefined;
  private readonly examples = new BoundedCache<string, T>(ALIKE_LIMIT);
  /** Known keys that have not appeared in the current list so far. */
  private missing: Set<string> | undefined;
  private count = 0;
  private giveUp: () => void = () => {};
  /** The newest revision of any object that arrived. */
  private newest = 0;
  /** Writers that wait for their own writes to arrive. */
  private readonly waiting = new Set<Waiting>();
  private stopped = false;
  private readonly clock: Clock;

  constructor(options: InformerOptions<T>) {
    this.keep = options.keep ?? dropManagedFields;
    this.alike = options.alike;
    this.clock = options.clock;
    let done: () => void = () => {};
    this.synced = new Promise((resolve, reject) => {
      done = resolve;
      this.giveUp = () => reject(new InformerStopped());
    });
    // Not every user waits for it.
    this.synced.catch(() => {});
    this.following = new Following<T>(options, {
      begin: () => {
        this.missing = new Set();
        for (const object of this.all()) this.missing.add(keyOf(object));
      },
      listed: (object) => {
        this.missing?.delete(keyOf(object));
        this.put(object);
      },
      complete: () => {
        for (const key of this.missing ?? []) this.remove(key, undefined);
        this.missing = undefined;
        this.isSynced = true;
        done();
        this.wake();
      },
      changed: (type, object) => this.changed(type, object),
    });
  }
  get state(): FollowState {
    return this.following.state;
  }
  /** Objects or changes have come that are not handled yet. */
  get isBehind(): boolean {
    return this.following.isBehind;
  }
  get size(): number {
    return this.count;
  }
  start(): void {
    this.following.start();
  }
  stop(): void {
    this.stopped = true;
    this.following.stop();
    this.giveUp();
    for (const { end } of [...this.waiting]) end();
  }
  get(namespace: string, name: string): T | undefined {
    return this.namespaces.get(namespace)?.get(name);
  }
  /** All objects, or those of one namespace. */
  list(namespace?: string): Iterable<T> {
    return namespace === undefined ? this.all() : (this.namespaces.get(namespace)?.values() ?? []);
  }
  /** Calls the listener for every object and for every change from now on. Returns the function that removes it. */
  onChange(listener: ChangeListener<T>): () => void {
    for (const object of this.all()) listener({ type: 'added', object, old: undefined });
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  /**
   * Resolves when an object that was just written has arrived here, as written or newer, so that its writer does not decide on an
   * older state. Resolves after half a minute in any case, as the watch may have to begin again, and at once when it is stopped.
   */
  whenArrived(writtenObject: ApiObject): Promise<void> {
    const version = Number(writtenObject.metadata.resourceVersion);
    return this.until(() => this.newest >= version);
  }
  /** Resolves when an object that was just deleted is no longer here or is terminating, or after half a minute, or when it is stopped. */
  gone(deleted: ApiObject): Promise<void> {
    const { namespace = '', name = '', uid } = deleted.metadata;
    return this.until(() => {
      const cachedObject = this.get(namespace, name);
      return cachedObject === undefined || cachedObject.metadata.uid !== uid || cachedObject.metadata.deletionTimestamp !== undefined;
    });
  }

  private until(holds: () => boolean): Promise<void> {
    if (this.stopped || holds()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.waiting.delete(waiting);
        resolve();
      };
      const cancel = this.clock.after(OWN_WRITE_MS, end);
      const waiting = { holds, end };
      this.waiting.add(waiting);
    });
  }
  private wake(): void {
    for (const { holds, end } of this.waiting) if (holds()) end();
  }
  private *all(): Generator<T> {
    for (const objects of this.namespaces.values()) yield* objects.values();
  }
  private changed(type: WatchEventType, object: T): void {
    if (type === 'DELETED') {
      this.arrived(object);
      this.remove(keyOf(object), object);
    } else this.put(object);
    if (this.waiting.size > 0) this.wake();
  }
  private arrived({ metadata }: T): void {
    const version = Number(metadata.resourceVersion);
    if (version > this.newest) this.newest = version;
  }
  private put(arrived: T): void {
    this.arrived(arrived);
    const { namespace = '', name = '' } = arrived.metadata;
    let objects = this.namespaces.get(namespace);
    if (objects === undefined) {
      objects = new Map();
      this.namespaces.set(namespace, objects);
    }
    const old = objects.get(name);
    if (old !== undefined && old.metadata.resourceVersion === arrived.metadata.resourceVersion) return;
    // Another object of the same name: the deletion of the first was missed.
    if (old !== undefined && old.metadata.uid !== arrived.metadata.uid) this.notify({ type: 'deleted', object: old, old });
    const object = this.shared(this.keep(arrived));
    if (old === undefined) this.count++;
    objects.set(name, object);
    if (old === undefined || old.metadata.uid !== object.metadata.uid) this.notify({ type: 'added', object, old: undefined });
    else this.notify({ type: 'modified', object, old });
  }
  private shared(object: T): T {
    if (this.alike === undefined) return object;
    const name = this.alike(object);
    const example = this.examples.get(name);
    const shared = example === undefined ? object : frozen(sharing(object, example));
    this.examples.set(name, shared);
    return shared;
  }
  private remove(key: string, last: T | undefined): void {
    const slash = key.indexOf('/');
    const namespace = key.slice(0, slash);
    const name = key.slice(slash + 1);
    const objects = this.namespaces.get(namespace);
    const old = objects?.get(name);
    if (objects === undefined || old === undefined) return;
    objects.delete(name);
    this.count--;
    if (objects.size === 0) this.namespaces.delete(namespace);
    this.notify({ type: 'deleted', object: last === undefined ? old : this.keep(last), old });
  }
  private notify(change: Change<T>): void {
    for (const listener of this.listeners) listener(change);
  }
}

/** `namespace/name`; the namespace of a cluster object is empty. */
export const keyOf = (object: ApiObject): string => `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;

export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function dropManagedFields<T extends ApiObject>(object: T): T {
  if (object.metadata.managedFields !== undefined) delete object.metadata.managedFields;
  return object;
}

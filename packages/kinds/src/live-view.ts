/**
 * A live view of all objects of a kind, fed by the watch cache, in which authorizers, admission plug-ins and allocators
 * look up objects without a list per request. Objects are in the hub version and must not be changed.
 */
import type { ApiObject } from './kind.ts';

export interface Change<T> {
  readonly type: 'added' | 'modified' | 'deleted';
  /** `namespace/name`, or `name` for kinds without namespaces. */
  readonly key: string;
  /** Objects of numerous kinds are parsed on demand: a listener that needs only type and key avoids that. */
  readonly object: T;
  readonly old: T | undefined;
}

export interface LiveView<T extends ApiObject = ApiObject> {
  get(namespace: string, name: string): T | undefined;
  /** All objects, or those of one namespace, in key order; at most so many of them. */
  list(namespace?: string, limit?: number): readonly T[];
  /** Called after each change is visible. Returns the function that ends it. */
  onChange(listener: (change: Change<T>) => void): () => void;
  /** Grows with every change of the collection: a cheap cache key. */
  readonly generation: number;
  /** Loads the objects; until then `get` and `list` throw. Undefined when they are loaded. */
  readonly pending?: (() => Promise<void>) | undefined;
  /**
   * Reads one object that `get` cannot return at once: the others are still being loaded, or it is large, and is then parsed in slices.
   * Undefined where `get` can.
   */
  look(namespace: string, name: string): Promise<void> | undefined;
  /** Calls when the objects are loaded, at once if they are. They are not loaded any sooner for that. */
  whenLoaded(call: () => void): void;
}

/** `group` is a base group name for built-in kinds. */
export type LiveSource = <T extends ApiObject = ApiObject>(group: string, plural: string) => LiveView<T>;

/** The types of the typed client. */
import type { Scale } from '@plat-dev/kinds/autoscaling/schema/scale';
import type { ObjectMeta } from '@plat-dev/kinds/meta';
import type { JsonValue } from '@plat-dev/schema/types';
import type { BuiltIn, Entry } from './built-in-types.ts';

/** Metadata of an object, all of it optional where it is written. */
type Metadata = ObjectMeta;

/** An object as it is written: fields that the server fills in may be left out, and the others have the right type. */
export type Draft<T> = T extends readonly (infer I)[] ? Draft<I>[] : T extends object ? { [K in keyof T]?: Draft<T[K]> } : T;

/** An object of a kind that has no type here. */
export interface AnyObject {
  apiVersion?: string;
  kind?: string;
  metadata: Metadata;
  [field: string]: unknown;
}
/** An object with apiVersion and kind. */
export interface NamedObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined;
}

export interface WriteOptions {
  /** Whether to store nothing. */
  readonly dryRun?: boolean | undefined;
  /** The field manager of the written fields. */
  readonly fieldManager?: string | undefined;
  /** How to treat unknown fields. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
}
export interface ApplyOptions extends WriteOptions {
  /** Whether to take ownership of fields that conflict with other managers. Default: true. */
  readonly force?: boolean | undefined;
}
export interface PatchOptions extends WriteOptions {
  /** Default: `json` for a list of operations, else `merge`. */
  readonly type?: 'json' | 'merge' | 'strategic' | undefined;
}
export interface SelectOptions {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}
export interface ListOptions extends SelectOptions {
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
}
export interface WatchOptions extends SelectOptions {
  /** Default: the watch starts with the current objects, as ADDED. */
  readonly resourceVersion?: string | undefined;
  readonly allowBookmarks?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}
export interface DeleteOptions {
  readonly dryRun?: boolean | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

export interface List<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: T[];
}
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}
/** Events as they come: `for await (const { type, object } of watch)`. Leaving the loop ends the watch. */
export interface Watch<T> extends AsyncIterableIterator<WatchEvent<T>> {
  /** Resolves when the response has begun; rejects with the ApiError of the server. */
  readonly ready: Promise<void>;
  close(): void;
}
/** A cached copy of a collection that follows its changes. */
export interface Informer<T> {
  /** Resolves when all objects have been listed. */
  readonly synced: Promise<void>;
  readonly size: number;
  get(namespace: string, name: string): T | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): Iterable<T>;
  /** Calls the listener for every current object, and for every change. Returns the function that removes it. */
  onChange(listener: (change: { type: 'added' | 'modified' | 'deleted'; object: T; old: T | undefined }) => void): () => void;
  stop(): void;
}

/** A kind whose objects are created and not stored, such as reviews. */
interface Created<T> {
  create(object: Draft<T>, options?: WriteOptions): Promise<T>;
}
interface Shown<T> {
  get(name: string): Promise<T>;
  list(options?: ListOptions): Promise<List<T>>;
}
/** Objects of a kind, in a namespace or not. Methods reject with an ApiError, which has `code`, `reason` and `details`. */
export interface ResourceClient<T> extends Created<T>, Shown<T> {
  /** Undefined if the object does not exist. */
  find(name: string): Promise<T | undefined>;
  /** Replaces the object; where it has a `metadata.resourceVersion`, only that version of it. */
  update(object: Draft<T>, options?: WriteOptions): Promise<T>;
  patch(name: string, patch: Draft<T> | readonly JsonValue[], options?: PatchOptions): Promise<T>;
  /** Server-side apply: creates the object, or updates the fields that are given. */
  apply(object: Draft<T>, options?: ApplyOptions): Promise<T>;
  /** Resolves when the server has answered; the object may still be there, for its grace period or finalizers. */
  delete(name: string, options?: DeleteOptions): Promise<void>;
  deleteCollection(selection?: SelectOptions, options?: DeleteOptions): Promise<void>;
  watch(options?: WatchOptions): Watch<T>;
  /** Returns a started informer, which ends with `stop`, or with the client. */
  informer(options?: SelectOptions): Informer<T>;
}

/** Methods for subresources, by the name of the subresource. */
interface Subresources<T> {
  status: {
    updateStatus(object: Draft<T>, options?: WriteOptions): Promise<T>;
    patchStatus(name: string, patch: Draft<T> | readonly JsonValue[], options?: PatchOptions): Promise<T>;
    applyStatus(object: Draft<T>, options?: ApplyOptions): Promise<T>;
  };
  scale: {
    getScale(name: string): Promise<Scale>;
    scale(name: string, replicas: number, options?: WriteOptions): Promise<Scale>;
  };
  eviction: { evict(name: string, options?: DeleteOptions): Promise<void> };
  binding: { bind(name: string, node: string): Promise<void> };
  ephemeralcontainers: { updateEphemeralContainers(object: Draft<T>, options?: WriteOptions): Promise<T> };
  log: { log(name: string, options?: LogOptions): Promise<string> };
  token: { createToken(name: string, options?: TokenOptions): Promise<string> };
  approval: { updateApproval(object: Draft<T>, options?: WriteOptions): Promise<T> };
  finalize: { finalize(object: Draft<T>, options?: WriteOptions): Promise<T> };
}
export interface LogOptions {
  readonly container?: string | undefined;
  readonly previous?: boolean | undefined;
  readonly tailLines?: number | undefined;
  readonly timestamps?: boolean | undefined;
}
export interface TokenOptions {
  readonly audiences?: readonly string[] | undefined;
  readonly expirationSeconds?: number | undefined;
}

type Intersect<U> = (U extends unknown ? (member: U) => void : never) extends (all: infer I) => void ? I : never;
type Extra<T, S> = [S] extends [never] ? unknown : Intersect<S extends keyof Subresources<T> ? Subresources<T>[S] : unknown>;
type Methods<T, V, S> = V extends 'create' ? Created<T> : V extends 'read' ? Shown<T> : ResourceClient<T> & Extra<T, S>;
type Access<E> =
  E extends Entry<infer T, infer N, infer V, infer S>
    ? N extends true
      ? (namespace?: string) => Methods<T, V, S>
      : () => Methods<T, V, S>
    : never;

/** `client.apps.v1.deployments('ns')`; `client.core.v1.nodes()`. Without a namespace: lists and watches of all namespaces. */
export type BuiltInClients = {
  readonly [G in keyof BuiltIn]: {
    readonly [V in keyof BuiltIn[G]]: { readonly [R in keyof BuiltIn[G][V]]: Access<BuiltIn[G][V][R]> };
  };
};

/** A kind by apiVersion and kind, or by apiVersion and plural name. */
export type ResourceName =
  | { readonly apiVersion: string; readonly kind: string }
  | { readonly apiVersion: string; readonly plural: string }
  /** `widgets`, `widgets.example.com`, `deploy`: as on a command line. */
  | string;

/** All methods, for kinds that are known at run time only. A method that the kind does not have gets 404 or 405. */
export type DynamicClient<T> = ResourceClient<T> & Intersect<Subresources<T>[keyof Subresources<T>]>;

export interface TypedClient extends BuiltInClients {
  /** Objects of any kind that the server has, custom kinds among them. The kind is looked up when it is first used. */
  resource<T = AnyObject>(name: ResourceName, namespace?: string): DynamicClient<T>;
  /** By the apiVersion, kind and namespace of the object; the namespace of a namespaced kind is `default` if the object has none. */
  create<T extends NamedObject>(object: T, options?: WriteOptions): Promise<T & AnyObject>;
  apply<T extends NamedObject>(object: T, options?: ApplyOptions): Promise<T & AnyObject>;
  /** The object as it is now. */
  get<T extends NamedObject>(object: T): Promise<T & AnyObject>;
  delete(object: NamedObject, options?: DeleteOptions): Promise<void>;
  /** Returns a started informer of this one object. */
  informer(object: NamedObject): Informer<AnyObject>;
}

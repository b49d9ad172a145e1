/**
 * A kind is one value: names, scope, schema of every served version, defaults, validation, life-cycle rules, Table
 * columns. The registry, discovery, OpenAPI and the clients read it; a custom resource definition makes the same value
 * at run time, so that there is one path for built-in and custom kinds.
 *
 * Objects travel in two forms: the *request version* (what the client speaks) and the *hub* (the version that is
 * stored, validated and admitted). A kind with one version has both in one.
 */

import type { Work } from '../lib/slices.ts';
import type { ApiError } from '../meta/errors.ts';
import type { FieldErrors } from '../meta/field.ts';
import type { Identity } from '../meta/identity.ts';
import type { User } from '../meta/user.ts';
import type { FieldFaults } from '../schema/field-faults.ts';
import type { Infer, JsonObject, JsonValue, MessageType } from '../schema/types.ts';
import type { ObjectMeta } from './meta.ts';

export type { ObjectMeta } from './meta.ts';

/** Any stored object: its kind, version and metadata, and whatever else its schema says. */
export interface ApiObject {
  kind?: string;
  apiVersion?: string;
  metadata: Infer<typeof ObjectMeta>;
}

export type Scope = 'Namespaced' | 'Cluster';
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
export const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** What the rules of a kind may ask of the server they run in. */
export interface KindEnv {
  readonly identity: Identity;
  /** Milliseconds since 1970. */
  now(): number;
  /** Whether a feature gate is on. */
  feature(name: string): boolean;
  readonly allowPrivileged: boolean;
  /** How long events are kept; an hour unless said otherwise. */
  readonly eventTtlSeconds?: number;
}

/** The request that writes an object. */
export interface WriteRequest {
  readonly user: User;
  /** The version that the client speaks. */
  readonly resource: { readonly version: string };
  /** The body as it came, where it is JSON and holds the object itself. */
  readonly sent?: Buffer | undefined;
}

/** Rules of one way to write an object: the object itself, or a subresource such as `status`. Absent rules do nothing. */
export interface Strategy<T = never> {
  /** Clears what clients may not set (status), fills what the server sets (generation is done by the registry). */
  prepareForCreate?(object: T, env: KindEnv, request: WriteRequest): void;
  /** Resets or keeps fields of `old` that this way of writing may not change. Called before validation. */
  prepareForUpdate?(object: T, old: T, env: KindEnv, request: WriteRequest): void;
  /** Work that is answered is run to its end before the errors are looked at, in slices where the object is large. */
  validate?(object: T, errors: FieldErrors, env: KindEnv, request: WriteRequest): void | Work<void>;
  validateUpdate?(object: T, old: T, errors: FieldErrors, env: KindEnv, request: WriteRequest): void | Work<void>;
  /** Last tidying before the store, for example dropping fields that a type change left behind. */
  canonicalize?(object: T): void | Work<void>;
  /** Texts for Warning headers (deprecated fields and the like). */
  warnings?(object: T, old: T | undefined, env: KindEnv): string[];
  /** Field paths (`['status']`) that this way of writing resets, so that apply never owns them. */
  readonly resetFields?: readonly (readonly string[])[];
}

/** What a feature gate guards besides fields of the schema, which name their gate themselves (gated-fields.ts). */
export interface GateRule<T = never> {
  readonly gate: string;
  /** Whether an object uses the feature. `next` is what is to be written in its place, where the object is a stored one. */
  uses(object: T, identity: Identity, next?: T): boolean;
  /** Clears it, where the gate is off and the stored object does not use it. Absent: validation asks for the gate. */
  clear?(object: T, identity: Identity): void;
  /** What validation of an update finds the gate to be where the stored object uses the feature; on unless said otherwise. */
  readonly validatedAs?: boolean;
}

/** One served version of a kind. `toHub`/`fromHub` are absent on the hub itself. */
export interface KindVersion<V = never, H = never> {
  readonly schema: MessageType;
  /**
   * Fills in defaults that depend on other fields; static ones stand in the schema. May be called again and must then change
   * nothing. `applied`: the object is what an apply made, whose nulls are opinions.
   */
  defaults?(object: V, env: KindEnv, made?: 'applied'): void;
  toHub?(object: V, identity: Identity): H;
  fromHub?(hub: H, identity: Identity): V;
  /**
   * Instead of the two above where a conversion takes a call to somebody else: of several objects at once, answered in the
   * same order. Rejects with an ApiError. Metadata stays what it was, but for labels and annotations.
   */
  toHubLater?(objects: readonly V[]): Promise<H[]>;
  fromHubLater?(hubs: readonly H[]): Promise<V[]>;
  /** Reports the fields of a body that this version does not know, where its schema keeps all of them (custom kinds). */
  unknownFields?(value: JsonValue, faults: FieldFaults): Work<void>;
  /** Drops what this version does not know, in place, after a conversion made the object. */
  prune?(object: V): void;
  /** Fills in, in place, what reading the stored object would fill in. */
  fill?(object: V): void;
  readonly served?: boolean;
  /** Error for a field that field selectors may not use, where this version has its own text. */
  readonly unknownField?: (field: string) => string;
  /** Warning for requests in this version (custom kinds). */
  readonly warning?: string;
  /** The schema as the author of a custom kind wrote it, for OpenAPI; built-in kinds publish their own. */
  readonly openapi?: JsonObject;
  /** Overrides for this version (custom kinds), for objects in the form of this version. */
  readonly own?: Partial<Pick<Kind, 'strategy' | 'subresources' | 'columns' | 'cells' | 'generation'>>;
}

/** A version whose rules and conversions know the types of both forms; kinds handle all versions alike and forget them. */
export function version<V extends ApiObject, H extends ApiObject>(definition: KindVersion<V, H>): KindVersion {
  return definition as unknown as KindVersion;
}

/** Checks a name; answers complaints as the stock server words them. `prefix`: the name is a generateName prefix. */
export type NameRule = (name: string, prefix: boolean) => string[];

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}
export type Cell = string | number | boolean | null;

/** A subresource that writes the same object in another way (`status`, `approval`, `finalize`, `ephemeralcontainers`). */
export interface ObjectSubresource<T = never> {
  readonly type: 'object';
  /** The feature without which it is not served. */
  readonly gate?: string;
  readonly verbs: readonly ('get' | 'update' | 'patch')[];
  readonly strategy: Strategy<T>;
}
/** A subresource that shows a part of the object as another kind (`scale`). */
export interface ViewSubresource<T = never, W = never> {
  readonly type: 'view';
  readonly gate?: string;
  readonly verbs: readonly ('get' | 'update' | 'patch')[];
  /** `group` is a base group name. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly schema: MessageType;
  show(object: T, env: KindEnv): W;
  /** Checks the view and writes it back into the object. */
  write(view: W, object: T, errors: FieldErrors, env: KindEnv): void;
  /** Why an object cannot be shown, where it cannot: reading the view fails with it. */
  hidden?(object: T): ApiError | undefined;
  /** The field behind the number that the view shows, where it is not `spec.replicas`. */
  readonly replicasPath?: readonly string[];
  /** The Table of the view; without columns it shows name and time of creation. */
  readonly columns?: readonly Column[];
  cells?(view: W, env: KindEnv): Cell[];
}
/**
 * A subresource (or a whole virtual resource) that is an operation: eviction, binding, token, reviews, exec, proxy …
 * The kind names its shape; the handler is registered with the registry under `pods/eviction`.
 */
export interface ActionSubresource {
  readonly type: 'action';
  readonly gate?: string;
  readonly verbs: readonly string[];
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly schema?: MessageType;
  /** Older versions of that kind with the same fields. */
  readonly olderVersions?: readonly string[];
}
export type Subresource<T = never> = ObjectSubresource<T> | ViewSubresource<T> | ActionSubresource;

export interface KindDefinition<T = never> {
  /** Base name for built-in kinds (`networking`), the whole name for custom ones. Empty for the core group. */
  readonly group: string;
  /** Made of a custom resource definition. */
  readonly custom?: boolean;
  readonly kind: string;
  readonly plural: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: Scope;
  /** Served versions, most preferred first. */
  readonly versions: Readonly<Record<string, KindVersion<never, never>>>;
  /** The version that is stored, validated and admitted. */
  readonly hub: string;
  /** `{ group: '', plural: 'events' }`: this kind shares the store (and hub schema) of another. */
  readonly sharesStoreOf?: { readonly group: string; readonly plural: string; readonly version: string };
  readonly verbs?: readonly Verb[];
  /** The kind is an operation; nothing is stored (reviews, bindings). */
  readonly virtual?: boolean;
  readonly subresources?: Readonly<Record<string, Subresource<T>>>;
  readonly strategy?: Strategy<T>;
  /** Feature gates of what is no field of its own. */
  readonly gated?: readonly GateRule<T>[];
  /** PUT of an absent object creates it. */
  readonly createOnUpdate?: boolean;
  /** PUT must name a resourceVersion. */
  readonly updateNeedsVersion?: boolean;
  /** DELETE answers with the object rather than with a Status. */
  readonly deleteReturnsObject?: boolean;
  /** Seconds of grace that deletion gives (pods); undefined means that deletion is immediate. */
  gracePeriod?(object: T, requested: number | undefined): number;
  /** What besides metadata.finalizers keeps an object in place after it was deleted (spec.finalizers of namespaces). */
  holdsDeletion?(object: T): boolean;
  /** Called when deletion begins for an object that stays: a namespace shows that it is going. */
  deletionBegins?(object: T): void;
  readonly nameRule?: NameRule;
  /** Finalizers need no domain. */
  readonly anyFinalizer?: boolean;
  /**
   * Deleting without a policy leaves dependents alone (kinds that did so before there was a collector), always or in the
   * named versions.
   */
  readonly orphansByDefault?: boolean | readonly string[];
  /** Warning for deletes that name no propagation policy. */
  readonly deletionWarning?: string;
  /** `metadata.generation` starts at 1 and counts changes of anything but metadata and status; `all`: those of status, too. Default: no. */
  readonly generation?: boolean | 'all';
  /** Objects of the kind cannot be made for now, and why. */
  readonly createRefused?: string | undefined;
  /** Fields besides metadata.name and metadata.namespace that field selectors may use, on the hub form. */
  readonly fields?: Readonly<Record<string, (object: T) => string>>;
  /** For a kind that shares the store of another: which of that kind's fields may be used, and under which names. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  readonly columns?: readonly Column[];
  /** Cells of a Table row, in the order of `columns`. */
  cells?(object: T, env: KindEnv): Cell[];
  /** Seconds after which the store forgets an object (events). */
  ttl?(env: KindEnv): number | undefined;
}

export interface Kind extends KindDefinition {
  readonly singular: string;
  readonly listKind: string;
  readonly short: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  readonly subresources: Readonly<Record<string, Subresource>>;
  readonly namespaced: boolean;
}

/** A record that has nothing but its own entries: `constructor` and `__proto__` in a path name no entry of it. */
export const bareRecord = <V>(entries: Readonly<Record<string, V>> = {}): Readonly<Record<string, V>> =>
  Object.assign(Object.create(null) as Record<string, V>, entries);

/** Fills in what a definition may leave out. `T` is the hub's type; the registry handles all kinds alike and forgets it. */
export function kind<T extends ApiObject>(definition: KindDefinition<T>): Kind {
  const plain = definition as unknown as KindDefinition;
  return {
    ...plain,
    singular: plain.singular ?? plain.kind.toLowerCase(),
    listKind: plain.listKind ?? `${plain.kind}List`,
    short: plain.short ?? [],
    categories: plain.categories ?? [],
    verbs: plain.verbs ?? allVerbs,
    subresources: bareRecord(plain.subresources),
    namespaced: plain.scope === 'Namespaced',
  };
}

/** The kind as a server with these features has it: without the subresources whose feature is off. */
export function kindWith(whole: Kind, feature: (name: string) => boolean): Kind {
  const entries = Object.entries(whole.subresources);
  const served = entries.filter(([, { gate }]) => gate === undefined || feature(gate));
  return served.length === entries.length ? whole : { ...whole, subresources: bareRecord(Object.fromEntries(served)) };
}

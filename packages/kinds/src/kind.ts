/**
 * A kind is one value: names, scope, schema of every served version, defaults, validation, life-cycle rules, Table
 * columns. The registry, discovery, OpenAPI and the clients read it; a custom resource definition makes the same value
 * at run time, so that there is one path for built-in and custom kinds.
 *
 * Objects have two forms: the *request version* (that of the path) and the *hub* (the version that is
 * stored, validated and admitted). For a kind with one version they are the same.
 */

import type { Integer } from '@plat-dev/lib/integers';
import type { Work } from '@plat-dev/lib/slices';
import { type ApiRelease, apiRelease, isAtLeast } from '@plat-dev/lib/version';
import type { ApiError } from '@plat-dev/meta/errors';
import type { FieldErrors } from '@plat-dev/meta/field';
import type { Identity } from '@plat-dev/meta/identity';
import type { User } from '@plat-dev/meta/user';
import type { FieldFaults } from '@plat-dev/schema/fields/field-faults';
import type { Existence } from '@plat-dev/schema/releases';
import type { Infer, JsonObject, JsonValue, MessageType } from '@plat-dev/schema/types';
import type { ObjectMeta } from './meta.ts';

export type { ObjectMeta } from './meta.ts';

/** Any stored object: its kind, version and metadata, and the other fields of its schema. */
export interface ApiObject {
  kind?: string;
  apiVersion?: string;
  metadata: Infer<typeof ObjectMeta>;
}

type Scope = 'Namespaced' | 'Cluster';
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
export const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The release of the API that rules follow. */
export interface ReleaseEnv {
  readonly release: ApiRelease;
  /** Whether it is this release or a later one: `env.since('1.30')`. */
  since(release: ApiRelease): boolean;
}
export const releaseEnv = (release: ApiRelease = apiRelease): ReleaseEnv => ({ release, since: (other) => isAtLeast(release, other) });

/** The environment of the rules of a kind: settings of the server. */
export interface KindEnv extends ReleaseEnv {
  readonly identity: Identity;
  /** Milliseconds since 1970. */
  now(): number;
  /** Whether a feature gate is on. */
  feature(name: string): boolean;
  readonly allowPrivileged: boolean;
  /** How long events are kept; an hour by default. */
  readonly eventTtlSeconds?: number;
}

/** The request that writes an object. */
export interface WriteRequest {
  readonly user: User;
  /** The version of the request. */
  readonly resource: { readonly version: string };
  /** The body as sent, if it is JSON and holds the object itself. */
  readonly sent?: Buffer | undefined;
  /** Adds a Warning header to the answer. */
  warn?(text: string): void;
}

/** Rules for writes of the main resource, or of a subresource such as `status`. Absent rules do nothing. */
export interface Strategy<T = never> {
  /** Clears fields that clients may not set (status), and sets those of the server (the registry sets generation). */
  prepareForCreate?(object: T, env: KindEnv, request: WriteRequest): void;
  /** Restores fields of `old` that this write may not change. Called before validation. */
  prepareForUpdate?(object: T, old: T, env: KindEnv, request: WriteRequest): void;
  /** Returned work is run to its end before the errors are read, in slices if the object is large. */
  validate?(object: T, errors: FieldErrors, env: KindEnv, request: WriteRequest): void | Work<void>;
  validateUpdate?(object: T, old: T, errors: FieldErrors, env: KindEnv, request: WriteRequest): void | Work<void>;
  /** Normalizes the object before it is stored, for example drops fields that a change of type left behind. */
  canonicalize?(object: T): void | Work<void>;
  /** Texts for Warning headers (deprecated fields and the like). */
  warnings?(object: T, old: T | undefined, env: KindEnv): string[];
  /** Field paths (`['status']`) that this write resets, so that apply never owns them. */
  readonly resetFields?: readonly (readonly string[])[];
}

/** A feature that has no field of the schema of its own; such fields name their gate themselves (gated-fields.ts). */
export interface GateRule<T = never> {
  readonly gate: string;
  /** Whether an object uses the feature. `next` is the new object, if the object is the stored one. */
  uses(object: T, identity: Identity, next?: T): boolean;
  /** Clears it if the gate is off and the stored object does not use it. Absent: validation checks the gate. */
  clear?(object: T, identity: Identity): void;
  /** The state of the gate for validation of an update if the stored object uses the feature; on by default. */
  readonly validatedAs?: boolean;
  /** The first release with the gate, and the last one in which it can be off. */
  readonly since?: ApiRelease;
  readonly until?: ApiRelease;
}

/** One served version of a kind. `toHub`/`fromHub` are absent on the hub itself. */
export interface KindVersion<V = never, H = never> {
  readonly schema: MessageType;
  /**
   * Fills in defaults that depend on other fields; static ones are in the schema. Must be idempotent. `applied`: the object is
   * the result of an apply, whose nulls are set on purpose.
   */
  defaults?(object: V, env: KindEnv, mode?: 'applied'): void;
  toHub?(object: V, identity: Identity): H;
  fromHub?(hub: H, identity: Identity): V;
  /**
   * Replaces the two above if a conversion needs a webhook call: converts several objects at once, and returns them in the
   * same order. Rejects with an ApiError. Metadata is not changed, except labels and annotations.
   */
  toHubByCall?(objects: readonly V[]): Promise<H[]>;
  fromHubByCall?(hubs: readonly H[]): Promise<V[]>;
  /** Reports the unknown fields of a body, if the schema of this version keeps all fields (custom kinds). */
  unknownFields?(value: JsonValue, faults: FieldFaults): Work<void>;
  /** Drops the unknown fields of this version, in place, after a conversion. */
  prune?(object: V): void;
  /** Fills in, in place, the defaults that reading the stored object would fill in. */
  fill?(object: V): void;
  readonly served?: boolean;
  /** Error for a field that field selectors may not use, if this version has its own text. */
  readonly unknownField?: (field: string) => string;
  /** Of the fields of the kind, those that selectors in this version may use; all where it is left out (custom kinds). */
  readonly selectable?: ReadonlySet<string>;
  /** Warning for requests in this version (custom kinds). */
  readonly warning?: string;
  /** The schema as the author of a custom kind wrote it, for OpenAPI; built-in kinds publish their own. */
  readonly openapi?: JsonObject;
  /** Overrides for this version (custom kinds), for objects in the form of this version. */
  readonly own?: Partial<Pick<Kind, 'strategy' | 'subresources' | 'columns' | 'cells' | 'generation'>>;
}

/** A version with the types of both forms, which `KindVersion` does not keep. */
export function version<V extends ApiObject, H extends ApiObject>(definition: KindVersion<V, H>): KindVersion {
  return definition as unknown as KindVersion;
}

/** Validates a name; returns the messages of a stock server. `prefix`: the name is a generateName prefix. */
export type NameRule = (name: string, prefix: boolean, env?: KindEnv) => string[];

/** Cells are given for all columns: those of columns that a release does not have are left out. */
export interface Column extends Existence {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}
export type Cell = string | Integer | boolean | null;

/** A subresource that writes a part of the same object (`status`, `approval`, `finalize`, `ephemeralcontainers`). */
export interface ObjectSubresource<T = never> extends Existence {
  readonly type: 'object';
  /** The feature that it needs to be served. */
  readonly gate?: string;
  readonly verbs: readonly ('get' | 'update' | 'patch')[];
  readonly strategy: Strategy<T>;
}
/** A subresource that shows a part of the object as another kind (`scale`). */
export interface ViewSubresource<T = never, W = never> extends Existence {
  readonly type: 'view';
  readonly gate?: string;
  readonly verbs: readonly ('get' | 'update' | 'patch')[];
  /** `group` is a base group name. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly schema: MessageType;
  show(object: T, env: KindEnv): W;
  /** Checks the view and writes it back into the object. */
  write(view: W, object: T, errors: FieldErrors, env: KindEnv): void;
  /** The error of reading the view of an object that has none. */
  hidden?(object: T): ApiError | undefined;
  /** The field of the number of replicas, if it is not `spec.replicas`. */
  readonly replicasPath?: readonly string[];
  /** The Table of the view; without columns it shows name and time of creation. */
  readonly columns?: readonly Column[];
  cells?(view: W, env: KindEnv): Cell[];
}
/**
 * A subresource (or a whole virtual resource) that is an operation: eviction, binding, token, reviews, exec, proxy …
 * The kind declares its schema; the handler is registered with the registry under `pods/eviction`.
 */
export interface ActionSubresource extends Existence {
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
  /** Made from a custom resource definition. */
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
  /** The kind is an operation; no object is stored (reviews, bindings). */
  readonly virtual?: boolean;
  readonly subresources?: Readonly<Record<string, Subresource<T>>>;
  readonly strategy?: Strategy<T>;
  /** Feature gates that guard no field of their own. */
  readonly gated?: readonly GateRule<T>[];
  /** PUT of an absent object creates it. */
  readonly createOnUpdate?: boolean;
  /** PUT must name a resourceVersion. */
  readonly updateNeedsVersion?: boolean;
  /** DELETE answers with the object rather than with a Status. */
  readonly deleteReturnsObject?: boolean;
  /** Grace period of a deletion in seconds (pods); undefined means that deletion is immediate. */
  gracePeriod?(object: T, requested: Integer | undefined): Integer;
  /** Whether something besides metadata.finalizers delays the removal of a deleted object (spec.finalizers of namespaces). */
  holdsDeletion?(object: T): boolean;
  /** Called when the deletion of an object begins that is not removed at once: a namespace becomes Terminating. */
  deletionBegins?(object: T): void;
  readonly nameRule?: NameRule;
  /** Finalizers need no domain. */
  readonly anyFinalizer?: boolean;
  /**
   * Deletes without a propagation policy orphan dependents (kinds older than garbage collection), always or in the
   * named versions.
   */
  readonly orphansByDefault?: boolean | readonly string[];
  /** Warning for deletes that name no propagation policy. */
  readonly deletionWarning?: string;
  /** `metadata.generation` starts at 1 and counts changes of anything but metadata and status; `all`: those of status, too. Default: no. */
  readonly generation?: boolean | 'all';
  /** Why objects of the kind cannot be created now. */
  readonly createRefused?: string | undefined;
  /** Fields besides metadata.name and metadata.namespace that field selectors may use, on the hub form. */
  readonly fields?: Readonly<Record<string, (object: T) => string>>;
  /** For a kind that shares the store of another: which of that kind's fields may be used, and under which names. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  readonly columns?: readonly Column[];
  /** Cells of a Table row, in the order of `columns`. */
  cells?(object: T, env: KindEnv): Cell[];
  /** What became different in a release, and stayed so: `from: { '1.30': { short: ['x'] } }`. */
  readonly from?: Readonly<Partial<Record<ApiRelease, Partial<Omit<KindDefinition<T>, 'from'>>>>>;
  /** Seconds after which an object expires (events). */
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

/** Fills in the optional parts of a definition. `T` is the type of the hub, which the result does not keep. */
export function kind<T extends ApiObject>(definition: KindDefinition<T>): Kind {
  const plain = definition as unknown as KindDefinition;
  return {
    ...plain,
    singular: plain.singular ?? plain.kind.toLowerCase(),
    listKind: plain.listKind ?? `${plain.kind}List`,
    short: plain.short ?? [],
    categories: plain.categories ?? [],
    verbs: plain.verbs ?? allVerbs,
    subresources: plain.subresources ?? {},
    namespaced: plain.scope === 'Namespaced',
  };
}

/** The kind as a server with these features has it: without the subresources whose feature is off. */
export function kindWith(whole: Kind, feature: (name: string) => boolean): Kind {
  const entries = Object.entries(whole.subresources);
  const served = entries.filter(([, { gate }]) => gate === undefined || feature(gate));
  return served.length === entries.length ? whole : { ...whole, subresources: Object.fromEntries(served) };
}

/**
 * Every kind the server knows, by the names paths use. Built-in kinds are there from the start; custom kinds come and go.
 */

import { GatedFields } from '@plat-dev/kinds/gated-fields';
import { type ApiObject, type Kind, kindWith } from '@plat-dev/kinds/kind';
import { kindIn } from '@plat-dev/kinds/kind-in-release';
import { whyGroupNotServed, whyNotServed, whyVersionNotServed } from '@plat-dev/kinds/release-texts';
import { type ServedKind, serve } from '@plat-dev/kinds/served-kind';
import { own } from '@plat-dev/lib/own';
import { type ApiRelease, apiRelease } from '@plat-dev/lib/version';
import { baseGroup, groupName, type Identity } from '@plat-dev/meta/identity';
import { schemaIn } from '@plat-dev/schema/releases';
import type { MessageType } from '@plat-dev/schema/types';
import type { Cache } from '@plat-dev/storage/cache';
import type { Collection, CollectionOptions } from '@plat-dev/storage/collection';
import type { Facts, ReadValue } from '@plat-dev/storage/item';
import { mayLoadLater } from './loaded-first.ts';
import { RecentObjects } from './recent.ts';
import { Versions } from './versions.ts';

/** A served kind and the collection that holds its objects. Virtual kinds have none. */
export interface Resource extends ServedKind {
  /** Every step between stored bytes, the hub and this version. */
  readonly versions: Versions;
  /** What feature gates guard in objects of the kind. */
  readonly gated: GatedFields;
  readonly collection: Collection | undefined;
  /** How values of the collection are read for this resource, where they are not taken as they are. */
  readonly read: ReadValue | undefined;
  /** Names of the selectable fields, in the order of `Item.fields`. */
  readonly fieldNames: readonly string[];
}

/** Most events a collection remembers in memory; watches that resume from further back read the store's history. */
const EVENT_LIMIT = 1000;

export class Catalog {
  readonly identity: Identity;
  /** Of the API: it says which versions are deprecated, and which there are at all. */
  readonly release: ApiRelease;
  private readonly cache: Cache;
  /** Whether a feature gate is on. */
  readonly feature: (gate: string) => boolean;
  private readonly recent = new RecentObjects();
  /** `apps/v1/deployments` → resource. */
  private readonly byPath = new Map<string, Resource>();
  /** Kinds in discovery order, each with its served resources. */
  private readonly kinds = new Map<string, { kind: Kind; resources: Resource[] }>();
  /** Kinds as the server itself needs them, served or not: built-in ones in their most preferred version, custom ones as they are stored. */
  private readonly preferredResources = new Map<string, Resource>();
  /** Grows when kinds come and go: a cache key for discovery and OpenAPI. */
  generation = 0;
  private readonly listeners = new Set<() => void>();
  private readonly removalListeners = new Set<(kind: Kind, resources: readonly Resource[]) => void>();

  constructor(identity: Identity, cache: Cache, feature: (gate: string) => boolean, release: ApiRelease = apiRelease) {
    this.identity = identity;
    this.release = release;
    this.cache = cache;
    this.feature = feature;
  }

  /** A message as the release has it. */
  schema<M extends MessageType>(whole: M): M {
    return schemaIn(this.release, whole);
  }

  /** Declares built-in kinds, before the cache starts. `enabled` leaves out versions that are switched off. */
  declare(all: readonly Kind[], enabled: (served: ServedKind) => boolean): void {
    const kinds = all.map((kind) => kindWith(kindIn(this.release, kind), this.feature));
    for (const kind of kinds) {
      const store = kind.sharesStoreOf;
      const owner = store === undefined ? undefined : kinds.find((k) => k.group === store.group && k.plural === store.plural);
      const servedVersions = serve(kind, this.identity, { all: true, release: this.release, ...(owner !== undefined && { store: owner }) });
      const collection = kind.virtual ? undefined : this.cache.declare(collectionOptions(owner ?? kind));
      this.put(kind, servedVersions, { collection, read: undefined, owner: owner ?? kind }, enabled);
    }
    this.notifyListeners();
  }

  /** Adds or replaces a custom kind while the server runs. `reread`: objects that are there may read in another way now. */
  async add(kind: Kind, read?: ReadValue, reread = true): Promise<Resource[]> {
    const enabled = ({ group, version, definition }: ServedKind): boolean => {
      if (definition.served === false) return false;
      // Built-in kinds take precedence over custom ones with the same path.
      const existingResource = this.byPath.get(`${group}/${version}/${kind.plural}`);
      return existingResource === undefined || existingResource.custom;
    };
    await this.cache.add({ ...collectionOptions(kind), read }, reread, (collection) => {
      this.put(
        kind,
        serve(kind, this.identity, { custom: true, all: true, release: this.release }),
        { collection, read, owner: kind },
        enabled,
      );
      this.notifyListeners();
    });
    return this.kinds.get(idOf(kind))?.resources ?? [];
  }
  /** Takes a custom kind away. Its stored objects are not touched. */
  remove(kind: Kind, forget: boolean): void {
    const resources = this.kinds.get(idOf(kind))?.resources ?? [];
    this.drop(kind);
    for (const listener of this.removalListeners) listener(kind, resources);
    if (forget) this.cache.remove(prefixOf(kind));
    this.notifyListeners();
  }

  /** Called after kinds came or went. Returns the function that ends it. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  /** Called when a custom kind went, with what was served of it: the time to forget what is remembered by its names. */
  onRemove(listener: (kind: Kind, resources: readonly Resource[]) => void): void {
    this.removalListeners.add(listener);
  }
  private notifyListeners(): void {
    this.generation++;
    for (const listener of this.listeners) listener();
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.byPath.get(`${group}/${version}/${plural}`);
  }
  /** What a resource has become, where its definition changed while a request waited; undefined where it has not. */
  changedSince({ custom, read, group, version, kind }: Resource): Resource | 'gone' | undefined {
    if (!custom) return undefined;
    const current = this.find(group, version, kind.plural);
    if (current === undefined) return 'gone';
    return current.read === read ? undefined : current;
  }
  /** A built-in kind by its base group name, in its most preferred version, also where it is not served. */
  builtin(base: string, plural: string): Resource {
    const resource = this.preferredResources.get(`${base}/${plural}`);
    if (resource === undefined) throw new Error(`there is no built-in kind ${base}/${plural}`);
    return resource;
  }
  /** The same by full group name and in that very version, for parts of the server that make requests. */
  findOwn(group: string, version: string, plural: string): Resource | undefined {
    const base = baseGroup(this.identity, group);
    const resource = base === undefined ? undefined : this.preferredResources.get(`${base}/${plural}`);
    return resource?.version === version ? resource : undefined;
  }
  /** Built-in kinds that may be stored and of which no version is served, as `findOwn` finds them. */
  unserved(): Resource[] {
    const unservedResources: Resource[] = [];
    for (const { kind, resources } of this.kinds.values()) {
      const resource =
        kind.custom || kind.virtual || kind.sharesStoreOf !== undefined ? undefined : this.preferredResources.get(idOf(kind));
      if (resource !== undefined && resources.length === 0) unservedResources.push(resource);
    }
    return unservedResources;
  }
  /** Whether some version of a built-in kind is served; `base` is the base name of its group. */
  serves(base: string, plural: string): boolean {
    return (this.kinds.get(`${base}/${plural}`)?.resources.length ?? 0) > 0;
  }
  /** Why a resource that releases of the API have, or had, is not served; undefined for any other. By full group name. */
  whyNotServed(group: string, version: string, plural: string): string | undefined {
    const base = baseGroup(this.identity, group);
    return base === undefined ? undefined : whyNotServed({ group: base, version, plural }, this.identity, this.release);
  }
  /** The same of a version of a group. */
  whyVersionNotServed(group: string, version: string): string | undefined {
    const base = baseGroup(this.identity, group);
    return base === undefined ? undefined : whyVersionNotServed(base, version, this.identity, this.release);
  }
  /** The same of a whole group. */
  whyGroupNotServed(group: string): string | undefined {
    const base = baseGroup(this.identity, group);
    return base === undefined ? undefined : whyGroupNotServed(base, this.identity, this.release);
  }
  /** A custom kind in the version that is stored, served or not. */
  stored(kind: Kind): Resource | undefined {
    return this.preferredResources.get(idOf(kind));
  }
  all(): Iterable<{ kind: Kind; resources: Resource[] }> {
    return this.kinds.values();
  }
  /** By full group name and kind, in a version if one is given: for references such as ownerReferences. */
  byKind(group: string, kind: string, version?: string): Resource | undefined {
    for (const { resources } of this.kinds.values())
      for (const r of resources)
        if (r.group === group && r.kind.kind === kind && (version === undefined || r.version === version)) return r;
    return undefined;
  }
  groupName(base: string): string {
    return groupName(this.identity, base);
  }

  private put(
    kind: Kind,
    servedVersions: readonly ServedKind[],
    { collection, read, owner }: Pick<Resource, 'collection' | 'read'> & { readonly owner: Kind },
    enabled: (served: ServedKind) => boolean,
  ): void {
    this.drop(kind);
    const fieldNames = Object.keys(owner.fields ?? {}).map((name) =>
      owner === kind ? name : (own(kind.fieldNames, name) ?? `no ${name}`),
    );
    const make = (servedVersion: ServedKind): Resource => {
      const gated = new GatedFields(servedVersion.hub.schema, owner.gated, this.identity, this.feature);
      return { ...servedVersion, collection, read, fieldNames, gated, versions: new Versions(servedVersion, this.recent) };
    };
    const preferred = kind.custom ? servedVersions.find(({ isHub }) => isHub) : servedVersions[0];
    const first = preferred === undefined ? undefined : make(preferred);
    if (first !== undefined) this.preferredResources.set(idOf(kind), first);
    const resources = servedVersions
      .filter(enabled)
      .map((servedVersion) => (servedVersion === preferred && first !== undefined ? first : make(servedVersion)));
    this.kinds.set(idOf(kind), { kind, resources });
    for (const r of resources) this.byPath.set(`${r.group}/${r.version}/${kind.plural}`, r);
  }
  private drop(kind: Kind): void {
    for (const r of this.kinds.get(idOf(kind))?.resources ?? []) this.byPath.delete(`${r.group}/${r.version}/${kind.plural}`);
    this.kinds.delete(idOf(kind));
    this.preferredResources.delete(idOf(kind));
  }
}

/** Whole names of groups are marked, lest one be taken for the base name of a built-in group. */
const idOf = (kind: Pick<Kind, 'group' | 'plural' | 'custom'>): string => `${kind.custom ? '~' : ''}${kind.group}/${kind.plural}`;
/** Where a kind's objects stand in the store: `apps/deployments/`, `core/pods/`, `~example.com/seeds/`. */
export const prefixOf = (kind: Pick<Kind, 'group' | 'plural' | 'custom'>): string =>
  kind.group === '' ? `core${idOf(kind)}/` : `${idOf(kind)}/`;

function collectionOptions(kind: Kind): CollectionOptions {
  const readers = Object.values(kind.fields ?? {}) as ((object: ApiObject) => string)[];
  const facts = (object: unknown): Facts => {
    const o = object as ApiObject;
    return { labels: o.metadata.labels, fields: readers.length === 0 ? undefined : readers.map((readField) => readField(o) ?? '') };
  };
  return { prefix: prefixOf(kind), facts, eventLimit: EVENT_LIMIT, later: mayLoadLater(kind) };
}

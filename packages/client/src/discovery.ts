/** The resources that a server serves, and which of them an argument names: `po`, `deployments.apps`, `deploy.v1.apps`, `all`. */

import { canBeConverted } from '@plat-dev/kinds/release-texts';
import { didYouMean } from '@plat-dev/lib/suggest';
import { apiVersionOf, joinApiVersion, splitApiVersion } from '@plat-dev/meta/api-version';
import { otherIdentityHintFor } from '@plat-dev/meta/identity';
import { type Group, type GroupList, type ResourceList, versionsInOrder } from './discovery-documents.ts';
import { isNotFound } from './http.ts';
import { versionPath } from './paths.ts';
import type { Transport } from './transport.ts';

export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly singularName: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}
const isAbort = (error: unknown): boolean => (error as Error).name === 'AbortError';

/** The server does not serve the kind of an object. */
export class UnknownKind extends Error {
  override readonly name = 'UnknownKind';
  readonly kind: string;
  readonly apiVersion: string;

  constructor(kind: string, apiVersion: string, hint = '') {
    super(`the server has no kind ${JSON.stringify(kind)} in ${apiVersion}${hint}`);
    this.kind = kind;
    this.apiVersion = apiVersion;
  }
}

/** Path of a collection, or of one object in it. */
export function resourcePath(resource: ApiResource, namespace: string | undefined, name?: string): string {
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${versionPath(resource.group, resource.version)}${scope}/${resource.name}${object}`;
}

/** What earlier commands learned, by the paths of discovery documents. */
export interface DiscoveryStore {
  get(path: string): unknown;
  set(path: string, value: unknown): void;
  clear(): void;
}

/** Fetches only the discovery documents that are needed. What is not found in a stored one is looked up at the server again. */
export class Discovery {
  private readonly transport: Pick<Transport, 'json'>;
  private readonly store: DiscoveryStore | undefined;
  /** Whether something came from the store. */
  private isStored = false;
  private readonly versions = new Map<string, Promise<readonly ApiResource[]>>();
  /** Versions that are announced but did not answer, with the reason. */
  readonly unanswered = new Map<string, string>();
  private groups: Promise<readonly Group[]> | undefined;

  constructor(transport: Pick<Transport, 'json'>, store?: DiscoveryStore) {
    this.transport = transport;
    this.store = store;
  }
  /** Everything is fetched again. */
  refresh(): void {
    this.store?.clear();
    this.isStored = false;
    this.versions.clear();
    this.unanswered.clear();
    this.groups = undefined;
  }
  /** Looks something up, and once more at the server if stored documents did not have it. */
  private async current<T>(look: () => Promise<T>): Promise<T> {
    try {
      return await look();
    } catch (error) {
      if (!this.isStored || isAbort(error) || (error as Error).name === 'TransportError') throw error;
      this.refresh();
      return look();
    }
  }
  /** The resource that an argument names. Throws an Error with a suggestion. */
  find(word: string): Promise<ApiResource> {
    return this.current(() => this.look(word));
  }
  private async look(word: string): Promise<ApiResource> {
    const core = match(await this.version('', 'v1'), word);
    if (core !== undefined) return core;
    const groups = await this.groupList();
    const dotted = await this.findDotted(word, groups);
    if (dotted !== undefined) return dotted;
    const all = await this.all();
    const resource = match(all, word);
    if (resource !== undefined) return resource;
    const words = all.flatMap((r) => [r.name, r.singularName, ...r.shortNames]);
    const other = otherIdentityHintFor(new Set(groups.map(({ name }) => name)), word.slice(word.indexOf('.') + 1));
    const hint = other === undefined ? didYouMean(word, words) : `: ${other}`;
    throw new Error(`the server doesn't have a resource type ${JSON.stringify(word)}${hint}`);
  }
  /** The resource that the beginning of a path names, and how many parts that takes: the longest beginning counts. */
  findPrefix(parts: readonly string[]): Promise<{ readonly resource: ApiResource; readonly count: number }> {
    return this.current(async () => {
      let failure: unknown = new Error('the name of a type is missing');
      for (let count = parts.length; count > 0; count--) {
        try {
          return { resource: await this.look(parts.slice(0, count).join('.')), count };
        } catch (error) {
          if (!(error instanceof Error) || error.name !== 'Error') throw error;
          failure = error;
        }
      }
      throw failure;
    });
  }
  /** The resources that an argument names: one, or those of a category. Throws an Error with a suggestion. */
  async findAll(word: string): Promise<readonly ApiResource[]> {
    if (word === 'all') return this.category(word);
    return this.current(async () => {
      try {
        return [await this.look(word)];
      } catch (error) {
        const category = await this.category(word);
        if (category.length === 0) throw error;
        return category;
      }
    });
  }
  /** The resource of a kind. Throws an UnknownKind that names other versions with the kind. */
  forKind(apiVersion: string, kind: string): Promise<ApiResource> {
    return this.current(() => this.lookForKind(apiVersion, kind));
  }
  private async lookForKind(apiVersion: string, kind: string): Promise<ApiResource> {
    const { group, version } = splitApiVersion(apiVersion);
    const served = await this.version(group, version).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const resource = served?.find((r) => r.kind === kind);
    if (resource !== undefined) return resource;
    const other = otherIdentityHintFor(new Set((await this.groupList()).map(({ name }) => name)), group);
    if (other !== undefined) throw new UnknownKind(kind, apiVersion, `: ${other}`);
    const all = await this.all();
    const elsewhere = all.filter((r) => r.kind === kind).map(apiVersionOf);
    const hint =
      elsewhere.length > 0
        ? `; it has one in ${elsewhere.join(' and in ')}${canBeConverted(apiVersion, kind) ? ': `plat convert` converts manifests' : ''}`
        : served === undefined
          ? didYouMean(apiVersion, new Set(all.map(apiVersionOf)))
          : didYouMean(kind, new Set(served.map((r) => r.kind)));
    throw new UnknownKind(kind, apiVersion, hint);
  }
  /** Every group with its versions in the server's order, the core group first. */
  async groupVersions(): Promise<readonly string[]> {
    const core = await this.transport.json<{ versions?: string[] }>({ path: '/api' });
    const groups = await this.groupList();
    return [...(core.versions ?? []), ...groups.flatMap((g) => g.versions.map((v) => `${g.name}/${v.version}`))];
  }
  /** Resources of a category such as `all` that can be listed; empty when there is no such category. */
  async category(word: string): Promise<readonly ApiResource[]> {
    return (await this.all()).filter((r) => r.categories.includes(word) && r.verbs.includes('list'));
  }
  /** Every resource once, in its group's preferred version if that has it; the core group first. Versions that fail are left out. */
  async all(): Promise<readonly ApiResource[]> {
    const groups = await this.groupList();
    const lists = await Promise.all([
      this.version('', 'v1'),
      ...groups.flatMap((g) =>
        versionsInOrder(g).map(({ group, version }) =>
          this.version(group, version).catch((error: Error) => this.missing(group, version, error)),
        ),
      ),
    ]);
    const visitedKeys = new Set<string>();
    return lists.flat().filter(({ group, name }) => {
      const key = `${name}.${group}`;
      return !visitedKeys.has(key) && visitedKeys.add(key);
    });
  }
  private missing(group: string, version: string, error: Error): readonly ApiResource[] {
    if (isAbort(error)) throw error;
    this.unanswered.set(joinApiVersion(group, version), error.message);
    return [];
  }
  /**
   * `deployments.apps` or `deployments.v1.apps`. A group may have a type in older versions only: all of them are searched, the
   * preferred one first. Where no group has the name, one that begins with it counts.
   */
  private async findDotted(word: string, groups: readonly Group[]): Promise<ApiResource | undefined> {
    const dot = word.indexOf('.');
    if (dot === -1) return undefined;
    const name = word.slice(0, dot);
    const rest = word.slice(dot + 1);
    if (rest === 'v1' || rest === 'v1.') return match(await this.version('', 'v1'), name);
    for (const group of groups) {
      const version = group.versions.find((v) => rest === `${v.version}.${group.name}`);
      if (version !== undefined) return match(await this.version(group.name, version.version), name);
    }
    const exact = groups.filter((group) => group.name === rest);
    for (const group of exact.length > 0 ? exact : groups.filter((one) => one.name.startsWith(rest))) {
      const resource = await this.findIn(group, name);
      if (resource !== undefined) return resource;
    }
    return undefined;
  }
  private async findIn(group: Group, name: string): Promise<ApiResource | undefined> {
    for (const { version } of versionsInOrder(group)) {
      const resource = match(
        await this.version(group.name, version).catch((error: Error) => this.missing(group.name, version, error)),
        name,
      );
      if (resource !== undefined) return resource;
    }
    return undefined;
  }
  private groupList(): Promise<readonly Group[]> {
    this.groups ??= this.document('/apis', isGroups, async (path) => (await this.transport.json<GroupList>({ path })).groups ?? []);
    return this.groups;
  }
  private version(group: string, version: string): Promise<readonly ApiResource[]> {
    const path = versionPath(group, version);
    let pending = this.versions.get(path);
    if (pending === undefined) {
      pending = this.document(path, isResources, async () =>
        resourcesOf(await this.transport.json<ResourceList>({ path }), group, version),
      );
      this.versions.set(path, pending);
    }
    return pending;
  }
  /** A stored document, if it has the right form, else that of the server. Empty ones are not stored: a server may be starting. */
  private async document<T extends readonly unknown[]>(
    path: string,
    isForm: (value: unknown) => value is T,
    fetch: (path: string) => Promise<T>,
  ): Promise<T> {
    const storedDocument = this.store?.get(path);
    if (isForm(storedDocument)) {
      this.isStored = true;
      return storedDocument;
    }
    const fetched = await fetch(path);
    if (fetched.length > 0) this.store?.set(path, fetched);
    return fetched;
  }
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isGroups = (value: unknown): value is readonly Group[] =>
  Array.isArray(value) &&
  value.every(
    (group) =>
      typeof group?.name === 'string' &&
      Array.isArray(group.versions) &&
      isTexts(group.versions.map((v: Group['versions'][number]) => v?.version)),
  );
const isResources = (value: unknown): value is readonly ApiResource[] =>
  Array.isArray(value) &&
  value.every(
    (one) =>
      isTexts([one?.group, one?.version, one?.name, one?.singularName, one?.kind]) &&
      isTexts(one.verbs) &&
      isTexts(one.shortNames) &&
      isTexts(one.categories) &&
      typeof one.namespaced === 'boolean',
  );

function resourcesOf(list: ResourceList, group: string, version: string): ApiResource[] {
  return (list.resources ?? [])
    .filter((r) => !r.name.includes('/'))
    .map((r) => ({
      group,
      version,
      name: r.name,
      singularName: r.singularName || r.kind.toLowerCase(),
      kind: r.kind,
      namespaced: r.namespaced ?? false,
      verbs: r.verbs ?? [],
      shortNames: r.shortNames ?? [],
      categories: r.categories ?? [],
    }));
}
function match(resources: readonly ApiResource[], word: string): ApiResource | undefined {
  const lowerCaseWord = word.toLowerCase();
  return (
    resources.find((r) => r.name === lowerCaseWord || r.singularName === lowerCaseWord || r.kind.toLowerCase() === lowerCaseWord) ??
    resources.find((r) => r.shortNames.includes(lowerCaseWord))
  );
}

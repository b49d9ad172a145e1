/** The resources that a server serves, and which of them an argument names: `po`, `deployments.apps`, `deploy.v1.apps`, `all`. */

import { canBeConverted } from '../kinds/release-texts.ts';
import { didYouMean } from '../lib/suggest.ts';
import { apiVersionOf, joinApiVersion, splitApiVersion } from '../meta/api-version.ts';
import { otherIdentityHintFor } from '../meta/identity.ts';
import { isNotFound } from './http.ts';
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
interface ResourceList {
  resources?: {
    name: string;
    singularName?: string;
    kind: string;
    namespaced?: boolean;
    verbs?: string[];
    shortNames?: string[];
    categories?: string[];
  }[];
}
interface GroupList {
  groups?: { name: string; versions: { version: string }[]; preferredVersion?: { version: string } }[];
}

export const versionPath = (group: string, version: string): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);

/** The server does not serve the kind of an object. */
export class UnknownKind extends Error {}

/** Path of a collection, or of one object in it. */
export function resourcePath(resource: ApiResource, namespace: string | undefined, name?: string): string {
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${versionPath(resource.group, resource.version)}${scope}/${resource.name}${object}`;
}

/** Fetches only the discovery documents that are needed. */
export class Discovery {
  private readonly transport: Pick<Transport, 'json'>;
  private readonly versions = new Map<string, Promise<readonly ApiResource[]>>();
  /** Versions that are announced but did not answer, with the reason. */
  readonly unanswered = new Map<string, string>();
  private groups: Promise<NonNullable<GroupList['groups']>> | undefined;

  constructor(transport: Pick<Transport, 'json'>) {
    this.transport = transport;
  }
  /** The resource that an argument names. Throws an Error with a suggestion. */
  async find(word: string): Promise<ApiResource> {
    const core = match(await this.version('', 'v1'), word);
    if (core !== undefined) return core;
    const groups = await this.groupList();
    const dotted = await this.findDotted(word, groups);
    if (dotted !== undefined) return dotted;
    const all = await this.all();
    const found = match(all, word);
    if (found !== undefined) return found;
    const words = all.flatMap((r) => [r.name, r.singularName, ...r.shortNames]);
    throw new Error(`the server doesn't have a resource type ${JSON.stringify(word)}${didYouMean(word, words)}`);
  }
  /** The resources that an argument names: one, or those of a category. Throws an Error with a suggestion. */
  async findAll(word: string): Promise<readonly ApiResource[]> {
    if (word === 'all') return this.category(word);
    try {
      return [await this.find(word)];
    } catch (error) {
      const category = await this.category(word);
      if (category.length === 0) throw error;
      return category;
    }
  }
  /** The resource of a kind. Throws an UnknownKind that names other versions with the kind. */
  async forKind(apiVersion: string, kind: string): Promise<ApiResource> {
    const { group, version } = splitApiVersion(apiVersion);
    const served = await this.version(group, version).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const found = served?.find((r) => r.kind === kind);
    if (found !== undefined) return found;
    const other = otherIdentityHintFor(new Set((await this.groupList()).map(({ name }) => name)), group);
    if (other !== undefined) throw new UnknownKind(`the server has no kind ${JSON.stringify(kind)} in ${apiVersion}: ${other}`);
    const all = await this.all();
    const elsewhere = all.filter((r) => r.kind === kind).map(apiVersionOf);
    const hint =
      elsewhere.length > 0
        ? `; it has one in ${elsewhere.join(' and in ')}${canBeConverted(apiVersion, kind) ? ': `plat convert` converts manifests' : ''}`
        : served === undefined
          ? didYouMean(apiVersion, new Set(all.map(apiVersionOf)))
          : didYouMean(kind, new Set(served.map((r) => r.kind)));
    throw new UnknownKind(`the server has no kind ${JSON.stringify(kind)} in ${apiVersion}${hint}`);
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
        inOrder(g).map((version) => this.version(g.name, version).catch((error: Error) => this.missing(g.name, version, error))),
      ),
    ]);
    const seen = new Set<string>();
    return lists.flat().filter(({ group, name }) => {
      const key = `${name}.${group}`;
      return !seen.has(key) && seen.add(key);
    });
  }
  private missing(group: string, version: string, error: Error): readonly ApiResource[] {
    this.unanswered.set(joinApiVersion(group, version), error.message);
    return [];
  }
  /** `deployments.apps` or `deployments.v1.apps` */
  private async findDotted(word: string, groups: NonNullable<GroupList['groups']>): Promise<ApiResource | undefined> {
    const dot = word.indexOf('.');
    if (dot === -1) return undefined;
    const name = word.slice(0, dot);
    const rest = word.slice(dot + 1);
    for (const group of groups) {
      if (rest === group.name) return match(await this.version(group.name, group.preferredVersion?.version ?? ''), name);
      const version = group.versions.find((v) => rest === `${v.version}.${group.name}`);
      if (version !== undefined) return match(await this.version(group.name, version.version), name);
    }
    return rest === 'v1' || rest === 'v1.' ? match(await this.version('', 'v1'), name) : undefined;
  }
  private groupList(): Promise<NonNullable<GroupList['groups']>> {
    this.groups ??= this.transport.json<GroupList>({ path: '/apis' }).then((list) => list.groups ?? []);
    return this.groups;
  }
  private version(group: string, version: string): Promise<readonly ApiResource[]> {
    const path = versionPath(group, version);
    let known = this.versions.get(path);
    if (known === undefined) {
      known = this.transport.json<ResourceList>({ path }).then((list) => resourcesOf(list, group, version));
      this.versions.set(path, known);
    }
    return known;
  }
}

/** Versions of a group, the preferred one first. */
function inOrder({ versions, preferredVersion }: NonNullable<GroupList['groups']>[number]): string[] {
  const names = versions.map((v) => v.version);
  return [...new Set(preferredVersion === undefined ? names : [preferredVersion.version, ...names])];
}

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
  const wanted = word.toLowerCase();
  return (
    resources.find((r) => r.name === wanted || r.singularName === wanted || r.kind.toLowerCase() === wanted) ??
    resources.find((r) => r.shortNames.includes(wanted))
  );
}

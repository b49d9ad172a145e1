/** The objects around one object: its owners, its dependents, and what belongs to it by name or label. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { pathOf, queryOf } from '@plat-dev/client/dynamic';
import type { ObjectMeta } from '@plat-dev/kinds/meta';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { baseGroup, domainName, type Identity, identityServing, metaGroups } from '@plat-dev/meta/identity';
import { parseLabelSelector } from '@plat-dev/meta/labels';
import { inOrder } from '../describe/order.ts';
import { type Described, type ReadForm, withoutNulls } from '../describe/values.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import type { Work } from '../work.ts';
import { type Link, linksOf, referrersOf } from './links.ts';
import { blank, type Tree, type TreeNode, unknownResource } from './node.ts';
import { statusOf } from './status.ts';

/** Owners above each other; references may form a ring. */
export const MAX_DEPTH = 20;
/** Objects of a tree. */
export const MAX_OBJECTS = 1000;
/** Objects of one resource that are looked through for dependents. */
export const MAX_LISTED = 50_000;
const PAGE = 500;
const AT_ONCE = 8;

type Metadata = ReadForm<ObjectMeta>;
interface ListedObject {
  readonly resource: ApiResource;
  readonly metadata: Metadata;
}
type Whole = Described<never>;
/** Where in the tree an object is added. */
interface Place {
  readonly via?: string;
  readonly depth: number;
  /** UID of the object above it, and of the one above that. */
  readonly above: string;
  readonly over: string;
}

/** `allNamespaces`: dependents of an object without namespace are looked for in all of them. */
export async function growTree(work: Work, ref: ObjectRef, allNamespaces: boolean): Promise<Tree> {
  const served = await work.discovery.groupVersions();
  const identity = identityServing(served.map((apiVersion) => splitApiVersion(apiVersion).group));
  return new Grower(work, identity, await work.discovery.all(), allNamespaces).grow(ref);
}

class Grower {
  private readonly work: Work;
  private readonly identity: Identity;
  private readonly resources: readonly ApiResource[];
  private readonly allNamespaces: boolean;
  private readonly notes = new Set<string>();
  /** Dependents by the UID of their owner. */
  private dependents = new Map<string, ListedObject[]>();
  /** UIDs of objects whose dependents are in the tree. */
  private readonly grown = new Set<string>();
  private count = 0;

  constructor(work: Work, identity: Identity, resources: readonly ApiResource[], allNamespaces: boolean) {
    this.work = work;
    this.identity = identity;
    this.resources = resources;
    this.allNamespaces = allNamespaces;
  }
  async grow(ref: ObjectRef): Promise<Tree> {
    const object = await this.read(ref);
    const [owners, , referencedBy] = await Promise.all([
      this.owners(object.metadata, ref.namespace, 1),
      this.index(ref.resource.namespaced ? ref.namespace : undefined, ref.resource.namespaced),
      this.referrers(ref, object),
    ]);
    const root = { ...(await this.node(ref, object, undefined, 1)), owners };
    // What the tree has already need not be named again.
    return { root, referencedBy: referencedBy.filter(({ uid }) => !this.grown.has(uid)), notes: [...this.notes] };
  }

  // ---- reading ---------------------------------------------------------------------------------------------------

  private async read({ resource, namespace, name }: ObjectRef): Promise<Whole> {
    return withoutNulls(await this.json(pathOf(resource, namespace, name))) as Whole;
  }
  private json<T>(path: string, accept = 'application/json'): Promise<T> {
    const { session, signal } = this.work;
    return session.transport.json<T>({ path, headers: { accept }, signal, ignoreWarnings: true, ...session.timeout });
  }
  /** All objects of a resource in pages, up to a bound. */
  private async list<T extends { metadata?: Metadata }>(
    resource: ApiResource,
    namespace: string | undefined,
    choice: { readonly labelSelector?: string; readonly accept?: string } = {},
  ): Promise<T[]> {
    const items: T[] = [];
    let next: string | undefined;
    do {
      const query = queryOf({ limit: PAGE, continue: next, labelSelector: choice.labelSelector });
      const path = `${pathOf(resource, namespace)}?${query}`;
      const page = await this.json<{ metadata?: { continue?: string }; items?: T[] | null }>(path, choice.accept);
      for (const item of page.items ?? []) items.push(withoutNulls(item) as T);
      next = page.metadata?.continue;
      if (next && items.length >= MAX_LISTED) {
        this.notes.add(`only the first ${MAX_LISTED} ${resource.name} were looked through`);
        return items;
      }
    } while (next);
    return items;
  }

  // ---- owners ----------------------------------------------------------------------------------------------------

  private async owners({ ownerReferences = [] }: Metadata, namespace: string | undefined, depth: number): Promise<TreeNode[]> {
    if (ownerReferences.length === 0) return [];
    if (depth > MAX_DEPTH) {
      this.notes.add(`owners are followed ${MAX_DEPTH} times at most`);
      return [];
    }
    // The controller comes first.
    const sorted = [...ownerReferences].sort((a, b) => Number(b.controller ?? false) - Number(a.controller ?? false));
    return Promise.all(sorted.map((owner) => this.owner(owner, namespace, depth)));
  }
  private async owner(
    { apiVersion = '', kind = '', name = '', uid = '' }: NonNullable<Metadata['ownerReferences']>[number],
    namespace: string | undefined,
    depth: number,
  ): Promise<TreeNode> {
    const apiResource = this.resources.find((resource) => resource.kind === kind && resource.group === splitApiVersion(apiVersion).group);
    const resource = apiResource ?? unknownResource(apiVersion, kind);
    const ref: ObjectRef = { resource, namespace: resource.namespaced ? namespace : undefined, name };
    const missing = (note: string): TreeNode => ({ ...blank(ref), uid, note });
    if (apiResource === undefined) return missing('the server has no such kind');
    try {
      const object = await this.read(ref);
      if (object.metadata.uid !== uid) return missing('gone: another object has its name');
      return { ...this.leaf(ref, object), owners: await this.owners(object.metadata, namespace, depth + 1) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return missing(error.code === 404 ? 'not found' : error.reason || error.message);
    }
  }

  // ---- dependents ------------------------------------------------------------------------------------------------

  /** Reads the metadata of every object that can be a dependent: what has a namespace cannot own what has none. */
  private async index(namespace: string | undefined, namespacedOnly: boolean): Promise<void> {
    const accept = [...metaGroups.map((group) => `application/json;as=PartialObjectMetadataList;v=v1;g=${group}`), 'application/json'].join(
      ',',
    );
    const listable = this.resources.filter(
      ({ verbs, namespaced, name }) => verbs.includes('list') && (namespaced || !namespacedOnly) && name !== 'events',
    );
    const within = this.allNamespaces ? undefined : (namespace ?? this.work.namespace);
    const visitedUids = new Set<string>();
    await inParallel(listable, async (resource) => {
      const items = await this.list<{ metadata?: Metadata }>(resource, resource.namespaced ? within : undefined, { accept }).catch(
        (error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
          // A resource that is gone, or that cannot be listed although it says so.
          if (error.code !== 404 && error.code !== 405)
            this.notes.add(`${resource.name} could not be listed: ${error.reason || error.message}`);
          return [];
        },
      );
      for (const { metadata = {} } of items) {
        // One object may be served in several groups.
        for (const { uid: owner = '' } of metadata.ownerReferences ?? []) {
          const key = `${owner} ${metadata.uid}`;
          if (visitedUids.has(key)) continue;
          visitedUids.add(key);
          const list = this.dependents.get(owner) ?? [];
          list.push({ resource, metadata });
          this.dependents.set(owner, list);
        }
      }
    });
    if (!namespacedOnly && !this.allNamespaces)
      this.notes.add(`dependents in other namespaces than ${this.work.namespace} are not shown: -A looks in all`);
  }

  /** An object with its dependents. */
  private async node(ref: ObjectRef, object: Whole, via: string | undefined, depth: number, above = ''): Promise<TreeNode> {
    const leaf = { ...this.leaf(ref, object), ...(via !== undefined && { via }) };
    if (this.grown.has(leaf.uid)) return { ...leaf, note: 'shown above' };
    this.grown.add(leaf.uid);
    this.count++;
    if (depth > MAX_DEPTH) {
      this.notes.add(`dependents are followed ${MAX_DEPTH} times at most`);
      return leaf;
    }
    const owned = (this.dependents.get(leaf.uid) ?? []).toSorted(byKindAndName);
    const dependents: TreeNode[] = [];
    for (const { resource, metadata } of owned) {
      const dependent = { resource, namespace: metadata.namespace, name: metadata.name ?? '' };
      await this.add(dependents, dependent, { depth, above: leaf.uid, over: above });
    }
    for (const link of linksOf(this.kindOf(ref.resource), object, this.linkNames)) {
      for (const target of await this.targets(link)) {
        if (!owned.some(({ metadata }) => metadata.uid === target.uid))
          await this.add(dependents, target.ref, { via: link.via, depth, above: leaf.uid, over: above });
      }
    }
    return { ...leaf, dependents };
  }
  private async add(to: TreeNode[], ref: ObjectRef, { via, depth, above, over }: Place): Promise<void> {
    if (this.count >= MAX_OBJECTS) {
      this.notes.add(`the tree ends at ${MAX_OBJECTS} objects`);
      return;
    }
    try {
      const object = await this.read(ref);
      // A volume names its claim as the claim names it: the way back is not shown.
      if (via === undefined || object.metadata.uid !== over) to.push(await this.node(ref, object, via, depth + 1, above));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // What was deleted meanwhile is no part of the tree; what is named and missing is worth knowing.
      if (via !== undefined) to.push({ ...blank(ref), via, note: error.code === 404 ? 'not found' : error.reason || error.message });
      else if (error.code !== 404) to.push({ ...blank(ref), note: error.reason || error.message });
    }
  }

  // ---- links -----------------------------------------------------------------------------------------------------

  private get linkNames() {
    return {
      serviceNameLabel: domainName(this.identity, 'service-name'),
      base: (group: string): string => baseGroup(this.identity, group) ?? group,
    };
  }
  private kindOf({ group, kind }: ApiResource): string {
    return `${baseGroup(this.identity, group) ?? group}/${kind}`;
  }
  private resourceOf(kind: string): ApiResource | undefined {
    return this.resources.find((resource) => this.kindOf(resource) === kind);
  }
  /** The objects that a link leads to; named ones even if they do not exist. */
  private async targets({ kind, name, selector, namespace }: Link): Promise<{ ref: ObjectRef; uid?: string | undefined }[]> {
    const resource = this.resourceOf(kind);
    if (resource === undefined) return [];
    const refOf = (target: string): ObjectRef => ({ resource, namespace: resource.namespaced ? namespace : undefined, name: target });
    if (name !== undefined) return [{ ref: refOf(name) }];
    const items = await this.list<{ metadata?: Metadata }>(resource, namespace, { labelSelector: selector ?? '' }).catch(
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        this.notes.add(`${resource.name} could not be listed: ${error.reason || error.message}`);
        return [];
      },
    );
    return items.map(({ metadata = {} }) => ({ ref: refOf(metadata.name ?? ''), uid: metadata.uid }));
  }
  /** Objects that name or select the root. */
  private async referrers({ resource, namespace, name }: ObjectRef, object: Whole): Promise<TreeNode[]> {
    const kind = this.kindOf(resource);
    const referrers: TreeNode[] = [];
    for (const other of referrersOf(kind, baseGroup(this.identity, resource.group) !== undefined)) {
      const from = this.resourceOf(other);
      if (from === undefined || !from.verbs.includes('list')) continue;
      const within = namespace ?? (this.allNamespaces ? undefined : this.work.namespace);
      const items = await this.list<Whole>(from, within).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        this.notes.add(`${from.name} could not be listed: ${error.reason || error.message}`);
        return [];
      });
      for (const item of items) {
        const link = linksOf(other, item, this.linkNames).find(
          (one) => one.kind === kind && leadsTo(one, namespace, name, object.metadata),
        );
        if (link === undefined) continue;
        const ref = { resource: from, namespace: item.metadata.namespace, name: item.metadata.name ?? '' };
        referrers.push({ ...this.leaf(ref, item), via: link.via });
      }
    }
    return referrers;
  }

  private leaf(ref: ObjectRef, object: Whole): TreeNode {
    const { uid = '', creationTimestamp } = object.metadata;
    return { ...blank(ref), uid, created: creationTimestamp, summary: statusOf(this.kindOf(ref.resource), object) };
  }
}

function leadsTo(link: Link, namespace: string | undefined, name: string, { labels }: Metadata): boolean {
  if (link.namespace !== namespace) return false;
  return link.name === undefined ? parseLabelSelector(link.selector ?? '').matches(labels) : link.name === name;
}
const byKindAndName = (a: ListedObject, b: ListedObject): number =>
  inOrder(a.resource.kind, b.resource.kind) ||
  inOrder(a.metadata.namespace, b.metadata.namespace) ||
  inOrder(a.metadata.name, b.metadata.name);
/** Runs work on all items, a few at a time. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let at = 0;
  const worker = async (): Promise<void> => {
    for (let i = at++; i < items.length; i = at++) await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

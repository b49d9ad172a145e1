/**
 * Processes one object. Nothing is deleted because of the graph alone: the object and its owners are read
 * first, because the graph may be stale.
 *
 *   an owner is           solid       it exists and does not wait for its dependents
 *                         dangling    it does not exist (any more, or in this namespace)
 *                         waiting     it is deleted when this object is gone
 *                         unknown     of a kind that is not served: its existence is not known
 *
 *   the object has        a solid or an unknown owner    it stays; references to all others are removed
 *                         none, but one that waits       it is deleted before that one, and its own dependents before it
 *                         only dangling ones             it is deleted
 */
import type { Client } from '@plat-dev/client/dynamic';
import { isConflict, isNotFound } from '@plat-dev/client/http';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { OwnerReference } from '@plat-dev/kinds/meta';
import type { ServedResource } from '../runtime/resources.ts';
import type { AbsentOwners } from './absent-owners.ts';
import { type Coordinates, FOREGROUND, type Graph, type Node, names, ORPHAN } from './graph.ts';

export interface CollectorOptions {
  readonly client: Client;
  readonly graph: Graph;
  readonly absent: AbsentOwners;
  /** The resource of a kind; undefined if it is not served. */
  readonly resourceOf: (apiVersion: string, kind: string) => Promise<ServedResource | undefined>;
  /** Resolves to true when the dependents of everything that exists are known; to false when the controller stops. */
  readonly ready: () => Promise<boolean>;
  readonly check: (uid: string) => void;
  /** This object can be processed only when other kinds are served. */
  readonly unresolved: (uid: string) => void;
}

interface Verdict {
  readonly solid: OwnerReference[];
  readonly dangling: OwnerReference[];
  readonly waiting: OwnerReference[];
  /** Their kinds are not served, or cannot own an object like this: their existence is not known. */
  readonly unknown: OwnerReference[];
}

/** Dependents that are orphaned at a time. */
const ORPHAN_WIDTH = 16;

export class Collector {
  private readonly options: CollectorOptions;

  constructor(options: CollectorOptions) {
    this.options = options;
  }

  /** Processes one object. Throws errors that are retried. */
  async check(uid: string): Promise<void> {
    const { graph, ready } = this.options;
    if (!(await ready())) return;
    const node = graph.get(uid);
    if (node === undefined) return;
    if (node.resource === undefined) return this.look(node);
    if (node.beingDeleted && !node.deletingDependents) return;
    const live = await this.find(node);
    if (live === undefined) return;
    if (node.deletingDependents) return this.finishDependents(node, live);
    const owners = live.metadata.ownerReferences ?? [];
    if (owners.length > 0) await this.decide(node, live, owners);
  }

  /** Removes the references to an object from all of its dependents, then its `orphan` finalizer. */
  async orphan(uid: string): Promise<void> {
    const { graph, ready } = this.options;
    if (!(await ready())) return;
    const node = graph.get(uid);
    if (node?.resource === undefined || !node.orphaning) return;
    const free = new Set<Node>();
    // Others may appear while the first are orphaned.
    for (let remaining = [...node.dependents]; remaining.length > 0; remaining = [...node.dependents].filter((one) => !free.has(one))) {
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let one = remaining[next++]; one !== undefined; one = remaining[next++]) {
          await this.setFree(one, uid);
          free.add(one);
        }
      };
      await Promise.all(Array.from({ length: Math.min(ORPHAN_WIDTH, remaining.length) }, worker));
    }
    await this.removeFinalizer(node, ORPHAN);
  }

  /** Looks up an owner that is only known by references. */
  private async look(node: Node): Promise<void> {
    if (node.absent) return;
    const { graph, unresolved } = this.options;
    const resource = await this.options.resourceOf(node.apiVersion, node.kind);
    if (resource === undefined || (resource.namespaced && node.namespace === '')) {
      unresolved(node.uid);
      return;
    }
    const liveObject = await this.ask(resource, node, node.uid);
    if (liveObject === undefined) graph.missing(node);
    else if (graph.get(node.uid)?.resource === undefined && graph.get(node.uid) !== undefined) graph.saw(resource, liveObject);
  }

  private async decide(node: Node, live: ApiObject, owners: readonly OwnerReference[]): Promise<void> {
    const { solid, dangling, waiting, unknown } = await this.classify(node, owners);
    if (unknown.length > 0) this.options.unresolved(node.uid);
    if (solid.length > 0 || unknown.length > 0) {
      const absentOwners = new Set([...dangling, ...waiting]);
      const remainingOwners = owners.filter((owner) => !absentOwners.has(owner));
      if (remainingOwners.length < owners.length) await this.patchOwners(node, live, remainingOwners);
    } else if (waiting.length > 0 && node.dependents.size > 0) {
      const inCircle = [...node.dependents].some((dependent) => dependent.deletingDependents);
      // Objects that wait for each other would wait forever: one of them is unblocked.
      const latest = inCircle ? await this.unblock(node, live, owners) : live;
      await this.remove(node, latest, 'Foreground');
    } else await this.remove(node, live, policyOf(live));
  }

  private async classify(node: Node, owners: readonly OwnerReference[]): Promise<Verdict> {
    const solid: OwnerReference[] = [];
    const dangling: OwnerReference[] = [];
    const waiting: OwnerReference[] = [];
    const unknown: OwnerReference[] = [];
    for (const reference of owners) {
      const resource = await this.options.resourceOf(reference.apiVersion, reference.kind);
      if (resource === undefined || (resource.namespaced && node.namespace === '')) {
        unknown.push(reference);
        continue;
      }
      const owner = await this.ask(resource, { ...reference, namespace: node.namespace }, reference.uid);
      if (owner === undefined) dangling.push(reference);
      else if (owner.metadata.deletionTimestamp !== undefined && (owner.metadata.finalizers ?? []).includes(FOREGROUND))
        waiting.push(reference);
      else {
        solid.push(reference);
        this.options.graph.tie(node);
      }
    }
    return { solid, dangling, waiting, unknown };
  }

  /** The object at these coordinates, if it has the uid. */
  private async ask(resource: ServedResource, at: Coordinates, uid: string): Promise<ApiObject | undefined> {
    const { absent, client } = this.options;
    const namespace = resource.namespaced ? at.namespace : '';
    const key = `${resource.group}/${resource.name}/${namespace}/${at.name}/${uid}`;
    if (absent.has(key)) return undefined;
    const liveObject = await client.find(resource, namespace, at.name, true);
    if (liveObject?.metadata.uid === uid) return liveObject;
    absent.add(key);
    return undefined;
  }

  /** The current object of a node; a node whose object is gone is removed from the graph. */
  private async find(node: Node): Promise<ApiObject | undefined> {
    const { client, graph } = this.options;
    const live = await client.find(node.resource as ServedResource, node.namespace, node.name, true);
    if (live?.metadata.uid === node.uid) return live;
    if (graph.get(node.uid) === node) graph.lost(node.uid);
    return undefined;
  }

  private async finishDependents(node: Node, live: ApiObject): Promise<void> {
    // An object that owns itself does not wait for itself; a dependent with an invalid owner reference does not block.
    const blocks = (dependent: Node): boolean =>
      dependent.owners.some((owner) => owner.uid === node.uid && owner.blockOwnerDeletion === true && names(owner, dependent, node));
    const blocking = [...node.dependents].filter((dependent) => dependent !== node && blocks(dependent));
    if (blocking.length === 0) {
      await this.removeFinalizer(node, FOREGROUND, live);
      return;
    }
    for (const dependent of blocking) if (!dependent.deletingDependents) this.options.check(dependent.uid);
  }

  private async remove(node: Node, live: ApiObject, propagationPolicy: 'Orphan' | 'Background' | 'Foreground'): Promise<void> {
    const { uid = '', resourceVersion } = live.metadata;
    const preconditions = { uid, ...(resourceVersion !== undefined && { resourceVersion }) };
    try {
      await this.options.client.delete(node.resource as ServedResource, node.namespace, node.name, { preconditions, propagationPolicy });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (this.options.graph.get(node.uid) === node) this.options.graph.lost(node.uid);
    }
  }

  private patchOwners(node: Node, live: ApiObject, ownerReferences: readonly OwnerReference[]): Promise<ApiObject> {
    const { resourceVersion, uid } = live.metadata;
    const patch = { metadata: { uid, resourceVersion, ownerReferences: ownerReferences.length === 0 ? null : ownerReferences } };
    return this.options.client.patch(node.resource as ServedResource, node.namespace, node.name, patch);
  }
  private unblock(node: Node, live: ApiObject, owners: readonly OwnerReference[]): Promise<ApiObject> {
    return this.patchOwners(
      node,
      live,
      owners.map((owner) => ({ ...owner, blockOwnerDeletion: false })),
    );
  }

  private setFree(dependent: Node, owner: string): Promise<void> {
    return this.retryConflicts(dependent, async (live) => {
      const owners = live.metadata.ownerReferences ?? [];
      if (owners.some(({ uid }) => uid === owner))
        await this.patchOwners(
          dependent,
          live,
          owners.filter(({ uid }) => uid !== owner),
        );
    });
  }
  private removeFinalizer(node: Node, finalizer: string, knownObject?: ApiObject): Promise<void> {
    const change = async (live: ApiObject): Promise<void> => {
      const finalizers = live.metadata.finalizers ?? [];
      if (!finalizers.includes(finalizer)) return;
      const { uid, resourceVersion } = live.metadata;
      const patch = { metadata: { uid, resourceVersion, finalizers: finalizers.filter((one) => one !== finalizer) } };
      await this.options.client.patch(node.resource as ServedResource, node.namespace, node.name, patch);
    };
    return this.retryConflicts(node, change, knownObject);
  }
  /** Retries a change with the newer state after a conflict; a deleted object needs none. */
  private async retryConflicts(node: Node, change: (live: ApiObject) => Promise<void>, knownObject?: ApiObject): Promise<void> {
    let live = knownObject;
    for (let attempt = 1; ; attempt++) {
      live ??= await this.find(node);
      if (live === undefined) return;
      try {
        await change(live);
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error) || attempt === CONFLICT_TRIES) throw error;
        live = undefined;
      }
    }
  }
}
const CONFLICT_TRIES = 5;

function policyOf({ metadata: { finalizers = [] } }: ApiObject): 'Orphan' | 'Background' | 'Foreground' {
  if (finalizers.includes(ORPHAN)) return 'Orphan';
  return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}

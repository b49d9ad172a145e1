/**
 * The ownership graph. It holds only objects that matter: those with owners, those that are named as owners, and those
 * whose deletion waits for their dependents. Others would only cost memory: whether an owner exists is looked up on the
 * server once, when the first object that names it appears.
 *
 *   virtual   an owner that was named and has not been seen; it is looked up once
 *   observed  an object that was seen
 *
 * The graph is fed with observed objects, and reports those to process: `check` an object whose owners or
 * dependents may be gone, and `orphan` one whose dependents are to be orphaned.
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { OwnerReference } from '@plat-dev/kinds/meta';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { sharing } from '@plat-dev/lib/shared-parts';
import { apiVersionOf, groupOfApiVersion } from '@plat-dev/meta/api-version';
import type { ServedResource } from '../runtime/resources.ts';

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/** The coordinates of an object. */
export interface Coordinates {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects; that of the dependent for an owner whose scope is not known. */
  readonly namespace: string;
  readonly name: string;
}

export interface Node extends Coordinates {
  readonly uid: string;
  /** Absent while the node is virtual. */
  resource: ServedResource | undefined;
  owners: readonly OwnerReference[];
  dependents: ReadonlySet<Node>;
  /** The server does not have this virtual owner. */
  absent: boolean;
  beingDeleted: boolean;
  /** It is deleted when its dependents are gone. */
  deletingDependents: boolean;
  orphaning: boolean;
}

export interface GraphEffects {
  /** Owners, dependents or the object itself may have to be deleted. */
  check(uid: string): void;
  orphan(uid: string): void;
}

const noOwners: readonly OwnerReference[] = [];
/** Most objects have none. */
const noDependents: ReadonlySet<Node> = new Set();
/** Owners whose dependents share the list of references to them. */
const SHARED_OWNERS = 4096;
export const sameResource = (a: ServedResource, b: ServedResource): boolean => a.group === b.group && a.name === b.name;
/** Kinds are counted by this. */
export const kindKey = (group: string, kind: string): string => `${group}/${kind}`;

export class Graph {
  private readonly nodes = new Map<string, Node>();
  private readonly counts = new Map<string, number>();
  private readonly references = new BoundedCache<string, readonly OwnerReference[]>(SHARED_OWNERS);
  private readonly effects: GraphEffects;

  constructor(effects: GraphEffects) {
    this.effects = effects;
  }
  get size(): number {
    return this.nodes.size;
  }
  get(uid: string): Node | undefined {
    return this.nodes.get(uid);
  }
  /** How many objects of a kind are in the graph. */
  countOf(kind: string): number {
    return this.counts.get(kind) ?? 0;
  }
  [Symbol.iterator](): IterableIterator<Node> {
    return this.nodes.values();
  }

  /** An object was created or changed. */
  saw(resource: ServedResource, object: ApiObject): void {
    const { uid = '', ownerReferences: owners = noOwners } = object.metadata;
    let node = this.nodes.get(uid);
    if (node === undefined) {
      if (owners.length === 0 && !waitsForDependents(object)) return;
      node = this.insert(uid, coordinatesOf(resource, object));
    } else if (node.resource === undefined) node = this.observe(node, resource, object);
    node.resource = resource;
    this.setOwners(node, owners);
    this.setDeletion(node, object);
  }

  /** An object was deleted. */
  lost(uid: string): void {
    const node = this.nodes.get(uid);
    if (node === undefined) return;
    this.drop(node);
    for (const owner of this.unlink(node)) {
      if (owner.deletingDependents) this.effects.check(owner.uid);
    }
    for (const dependent of node.dependents) this.effects.check(dependent.uid);
    node.dependents = noDependents;
  }

  /** The server does not have this virtual owner. */
  missing(node: Node): void {
    if (this.nodes.get(node.uid) !== node || node.resource !== undefined) return;
    node.absent = true;
    for (const dependent of node.dependents) this.effects.check(dependent.uid);
  }

  /** A kind is no longer served: its objects are no longer watched. Those with dependents stay, as virtual ones. */
  forget(resource: ServedResource): void {
    for (const node of [...this.nodes.values()]) {
      if (node.resource === undefined || !sameResource(node.resource, resource)) continue;
      this.unlink(node);
      node.resource = undefined;
      node.owners = noOwners;
      node.deletingDependents = node.orphaning = node.beingDeleted = false;
      if (node.dependents.size === 0) this.drop(node);
    }
  }

  /** Links a dependent to an owner that was found to exist after all. */
  tie(dependent: Node): void {
    if (this.nodes.get(dependent.uid) !== dependent) return;
    for (const reference of dependent.owners) {
      const owner = this.nodes.get(reference.uid);
      if (owner !== undefined) addDependent(owner, dependent);
    }
  }

  private insert(uid: string, { apiVersion, kind, namespace, name }: Coordinates): Node {
    const node: Node = {
      apiVersion,
      kind,
      namespace,
      name,
      uid,
      resource: undefined,
      owners: noOwners,
      dependents: noDependents,
      absent: false,
      beingDeleted: false,
      deletingDependents: false,
      orphaning: false,
    };
    this.nodes.set(uid, node);
    this.count(node, 1);
    return node;
  }
  /** An owner that was virtual was seen, perhaps under other coordinates: dependents with wrong ones must be checked. */
  private observe(virtual: Node, resource: ServedResource, object: ApiObject): Node {
    this.drop(virtual);
    const node = this.insert(virtual.uid, coordinatesOf(resource, object));
    for (const dependent of virtual.dependents) {
      addDependent(node, dependent);
      for (const owner of dependent.owners) if (owner.uid === node.uid && !names(owner, dependent, node)) this.effects.check(dependent.uid);
    }
    return node;
  }
  private drop(node: Node): void {
    if (this.nodes.get(node.uid) !== node) return;
    this.nodes.delete(node.uid);
    this.count(node, -1);
  }
  private count(node: Node, by: number): void {
    const key = kindKey(groupOfApiVersion(node.apiVersion), node.kind);
    const count = (this.counts.get(key) ?? 0) + by;
    if (count === 0) this.counts.delete(key);
    else this.counts.set(key, count);
  }

  private setOwners(node: Node, owners: readonly OwnerReference[]): void {
    const previousOwners = node.owners;
    if (previousOwners.length === 0 && owners.length === 0) return;
    node.owners = this.sharedOwners(owners);
    const newByUid = byUid(owners);
    for (const old of previousOwners) {
      const now = newByUid.get(old.uid);
      const owner = this.nodes.get(old.uid);
      if (owner === undefined) continue;
      if (now === undefined) this.release(node, owner);
      // An owner that waits for this dependent need not wait any more.
      if (old.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true && owner.deletingDependents) this.effects.check(owner.uid);
    }
    const previousByUid = byUid(previousOwners);
    for (const reference of owners) if (!previousByUid.has(reference.uid)) this.link(node, reference);
  }
  /** Dependents of an owner mostly have the same references: one list for all of them. */
  private sharedOwners(owners: readonly OwnerReference[]): readonly OwnerReference[] {
    const uid = owners[0]?.uid;
    if (uid === undefined) return noOwners;
    const shared = sharing(owners, this.references.get(uid));
    this.references.set(uid, shared);
    return shared;
  }
  private link(node: Node, reference: OwnerReference): void {
    const owner = this.nodes.get(reference.uid);
    if (owner === undefined) {
      const { apiVersion, kind, name, uid } = reference;
      const virtual = this.insert(uid, { apiVersion, kind, name, namespace: node.namespace });
      addDependent(virtual, node);
      this.effects.check(uid);
      return;
    }
    addDependent(owner, node);
    if (owner.absent || owner.deletingDependents || (owner.resource !== undefined && !names(reference, node, owner)))
      this.effects.check(node.uid);
  }
  private unlink(node: Node): Node[] {
    const owners: Node[] = [];
    for (const reference of node.owners) {
      const owner = this.nodes.get(reference.uid);
      if (owner === undefined) continue;
      owners.push(owner);
      this.release(node, owner);
    }
    return owners;
  }
  private release(node: Node, owner: Node): void {
    (owner.dependents as Set<Node>).delete(node);
    if (owner.dependents.size > 0) return;
    // It has neither dependents nor owners: it no longer matters.
    if (owner.resource === undefined || (owner.owners.length === 0 && !owner.deletingDependents && !owner.orphaning)) this.drop(owner);
  }

  private setDeletion(node: Node, object: ApiObject): void {
    node.beingDeleted = object.metadata.deletionTimestamp !== undefined;
    const finalizers = node.beingDeleted ? (object.metadata.finalizers ?? []) : [];
    node.orphaning = finalizers.includes(ORPHAN);
    if (node.orphaning) this.effects.orphan(node.uid);
    const waits = finalizers.includes(FOREGROUND);
    if (waits && !node.deletingDependents) {
      node.deletingDependents = true;
      for (const dependent of node.dependents) this.effects.check(dependent.uid);
      this.effects.check(node.uid);
    } else node.deletingDependents = waits;
  }
}

function addDependent(owner: Node, dependent: Node): void {
  if (owner.dependents === noDependents) owner.dependents = new Set([dependent]);
  else (owner.dependents as Set<Node>).add(dependent);
}

function waitsForDependents({ metadata }: ApiObject): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  return (metadata.finalizers ?? []).some((finalizer) => finalizer === ORPHAN || finalizer === FOREGROUND);
}

function coordinatesOf(resource: ServedResource, object: ApiObject): Coordinates {
  const { namespace = '', name = '' } = object.metadata;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name };
}

/** Whether a reference names this owner, and not just an object with the same uid. */
export function names(reference: OwnerReference, dependent: Node, owner: Node): boolean {
  return (
    groupOfApiVersion(reference.apiVersion) === groupOfApiVersion(owner.apiVersion) &&
    reference.kind === owner.kind &&
    reference.name === owner.name &&
    (owner.namespace === '' || owner.namespace === dependent.namespace)
  );
}

/** References by the owner's uid; of several to one owner the first. */
function byUid(references: readonly OwnerReference[]): ReadonlyMap<string, OwnerReference> {
  const ownersByUid = new Map<string, OwnerReference>();
  for (const reference of references) if (!ownersByUid.has(reference.uid)) ownersByUid.set(reference.uid, reference);
  return ownersByUid;
}

/**
 * Objects that belong to each other by owner references. The API has no query for dependents, so the metadata of all kinds is read
 * where dependents can be: in the namespace of the owner, or everywhere for an owner of the whole cluster.
 */
import { acceptAs } from '../../api/accept.ts';
import type { Api } from '../../api/api.ts';
import { collectionPath, type Kind } from '../../api/kinds.ts';
import type { ApiObject } from '../../api/objects.ts';

export interface Relative {
  readonly kind: Kind;
  readonly metadata: ApiObject['metadata'];
}
export interface Family {
  readonly objects: readonly Relative[];
  /** Kinds that the user may not list, or that did not answer. */
  readonly unread: readonly string[];
  /** Kinds of which only the first page was read. */
  readonly truncated: readonly string[];
}
export interface Branch {
  readonly object: Relative;
  readonly branches: readonly Branch[];
}

/** Objects of a kind that are read. */
export const MOST_OF_A_KIND = 1000;
const AT_ONCE = 6;
/** They are many, they own nothing, and nothing that matters owns them. */
const leftOut = new Set(['events', 'leases']);

interface PartialList {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly { readonly metadata: ApiObject['metadata'] }[] | null;
}

/** Kinds of which an object can be owner or dependent of one in the namespace. */
export const familyKinds = (kinds: readonly Kind[], namespace: string | undefined): Kind[] =>
  kinds.filter((kind) => !leftOut.has(kind.resource) && (namespace === undefined || kind.isNamespaced));

export async function readFamily(api: Api, kinds: readonly Kind[], namespace: string | undefined, signal: AbortSignal): Promise<Family> {
  const objects: Relative[] = [];
  const unread: string[] = [];
  const truncated: string[] = [];
  const queue = familyKinds(kinds, namespace);
  const readNext = async (): Promise<void> => {
    for (let kind = queue.shift(); kind !== undefined; kind = queue.shift()) {
      try {
        const path = collectionPath(kind, namespace);
        const page = await api.json<PartialList>(path, {
          accept: acceptAs('PartialObjectMetadataList'),
          query: { limit: MOST_OF_A_KIND },
          signal,
        });
        for (const { metadata } of page.items ?? []) objects.push({ kind, metadata });
        if (page.metadata?.continue) truncated.push(kind.kind);
      } catch {
        signal.throwIfAborted();
        unread.push(kind.kind);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return { objects, unread, truncated };
}

/** What an object owns, and what that owns in turn. An object stands once in the tree, also where owners form a circle. */
export function dependentsOf(uid: string, objects: readonly Relative[]): Branch[] {
  const byOwner = new Map<string, Relative[]>();
  for (const object of objects)
    for (const owner of object.metadata.ownerReferences ?? []) byOwner.set(owner.uid, [...(byOwner.get(owner.uid) ?? []), object]);
  const placed = new Set([uid]);
  const branchesOf = (ownerUid: string): Branch[] =>
    (byOwner.get(ownerUid) ?? [])
      .filter(({ metadata }) => !placed.has(metadata.uid) && placed.add(metadata.uid))
      .sort((one, other) => sortText(one).localeCompare(sortText(other)))
      .map((object) => ({ object, branches: branchesOf(object.metadata.uid) }));
  return branchesOf(uid);
}
const sortText = ({ kind, metadata }: Relative): string => `${kind.kind} ${metadata.name}`;

/** Owners from the topmost to the nearest; the one that controls counts where there are several. */
export function ownersOf(object: { readonly metadata: ApiObject['metadata'] }, objects: readonly Relative[]): Relative[] {
  const byUid = new Map(objects.map((one) => [one.metadata.uid, one]));
  const owners: Relative[] = [];
  for (let metadata = object.metadata; ; ) {
    const references = metadata.ownerReferences ?? [];
    const reference = references.find(({ controller }) => controller === true) ?? references[0];
    const owner = reference === undefined ? undefined : byUid.get(reference.uid);
    if (owner === undefined || owners.includes(owner)) return owners;
    owners.unshift(owner);
    metadata = owner.metadata;
  }
}

/** `2 ReplicaSets, 6 Pods` by kind, most first. */
export function countsOf(branches: readonly Branch[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = ({ object, branches: inner }: Branch): void => {
    counts.set(object.kind.kind, (counts.get(object.kind.kind) ?? 0) + 1);
    inner.forEach(add);
  };
  branches.forEach(add);
  return new Map([...counts].sort(([, one], [, other]) => other - one));
}

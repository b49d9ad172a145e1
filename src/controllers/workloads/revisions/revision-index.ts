/** Revisions by the uid of their controller, and by namespace where they have none. */
import type { ResourceRef } from '../../../client/dynamic.ts';
import type { Informer } from '../../../client/informer.ts';
import type { Informers } from '../../runtime/informers.ts';
import { controllerOf } from '../shared/pods.ts';
import type { Revision } from './revision.ts';

type ByName = Map<string, Revision>;
const none: ByName = new Map();

export class RevisionIndex {
  readonly informer: Informer<Revision>;
  private readonly owners = new Map<string, ByName>();
  private readonly orphans = new Map<string, ByName>();

  constructor(informer: Informer<Revision>) {
    this.informer = informer;
    informer.onChange(({ type, object, old }) => {
      if (old !== undefined) this.remove(old);
      if (type !== 'deleted') this.add(object);
    });
  }
  ownedBy(uid: string): Iterable<Revision> {
    return (this.owners.get(uid) ?? none).values();
  }
  orphansIn(namespace: string): Iterable<Revision> {
    return (this.orphans.get(namespace) ?? none).values();
  }

  private place(revision: Revision): [Map<string, ByName>, string] {
    const owner = controllerOf(revision)?.uid;
    return owner === undefined ? [this.orphans, revision.metadata.namespace ?? ''] : [this.owners, owner];
  }
  private add(revision: Revision): void {
    const [index, key] = this.place(revision);
    let revisions = index.get(key);
    if (revisions === undefined) {
      revisions = new Map();
      index.set(key, revisions);
    }
    revisions.set(revision.metadata.name ?? '', revision);
  }
  private remove(revision: Revision): void {
    const [index, key] = this.place(revision);
    const revisions = index.get(key);
    if (revisions?.delete(revision.metadata.name ?? '') && revisions.size === 0) index.delete(key);
  }
}

/** The index that all share. */
export function revisionIndex(informers: Informers, resource: ResourceRef): RevisionIndex {
  return informers.share('revisions by owner', () => new RevisionIndex(informers.of<Revision>(resource)));
}

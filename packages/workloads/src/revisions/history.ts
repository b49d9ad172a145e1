/** Finds, makes, renumbers and deletes the revisions of a set. */

import type { ResourceRef } from '@plat-dev/client/dynamic';
import { isConflict, unlessGone } from '@plat-dev/client/http';
import type { Informer } from '@plat-dev/client/informer';
import type { ControllerContext } from '@plat-dev/controllers/runtime/controller';
import { equal } from '@plat-dev/lib/equal';
import type { Integer } from '@plat-dev/lib/integers';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import type { Labels } from '@plat-dev/meta/labels';
import type { JsonObject } from '@plat-dev/schema/types';
import { claim } from '../shared/claim.ts';
import type { About } from '../shared/events.ts';
import { type OwnerIndex, ownerIndex } from '../shared/owner-index.ts';
import { controllerRef, type Template } from '../shared/pod-control.ts';
import { controllerOf } from '../shared/pods.ts';
import { templateHash } from '../shared/template-hash.ts';
import { chooseRevision, type Revision, revisionData, sortRevisions } from './revision.ts';

export interface HistoryOptions {
  readonly context: ControllerContext;
  readonly resource: ResourceRef;
  /** The kind of the owners. */
  readonly kind: string;
  /** The label of a revision that has its hash. */
  readonly hashLabel: string;
}

export interface Owner {
  readonly about: About;
  readonly template: Template;
  readonly selects: (labels: Readonly<Record<string, string>> | undefined) => boolean;
  /** Asks the server whether the owner still exists and is not being deleted. */
  readonly mayAdopt: () => Promise<boolean>;
}

/** Names that are tried for one revision; each found to be that of another template makes the next. */
const MOST_NAMES = 50;
/** Longest part of a revision's name that comes from its owner: a hash has ten characters. */
const MOST_PREFIX = 223;

export class History {
  readonly synced: Promise<void>;
  private readonly options: HistoryOptions;
  private readonly informer: Informer<Revision>;
  private readonly index: OwnerIndex<Revision>;

  constructor(options: HistoryOptions) {
    const { context, resource } = options;
    this.options = options;
    this.informer = context.informers.of<Revision>(resource);
    this.index = ownerIndex(context.informers, resource.name, this.informer);
    this.synced = this.informer.synced;
  }
  /**
   * Calls `owned` with the key of an owner whose revisions were changed or deleted, and `orphaned` with a revision that nothing
   * controls.
   */
  onChange(owned: (key: string) => void, orphaned: (namespace: string, labels: Labels | undefined) => void): void {
    this.informer.onChange(({ type, object, old }) => {
      const { namespace = '', labels } = object.metadata;
      const owner = controllerOf(object);
      const oldOwner = old === undefined ? undefined : controllerOf(old);
      for (const one of owner?.uid === oldOwner?.uid ? [owner] : [owner, oldOwner])
        if (one?.kind === this.options.kind) owned(`${namespace}/${one.name}`);
      if (owner === undefined && type !== 'deleted') orphaned(namespace, labels);
    });
  }
  /** Revisions of an owner from the oldest, after adoption of those that nothing controls. */
  async of({ about, selects, mayAdopt }: Owner): Promise<Revision[]> {
    const { context, resource } = this.options;
    const { uid = '', namespace = '' } = about.metadata;
    const revisions = await claim<Revision>({
      client: context.client,
      resource,
      owner: about,
      matches: ({ metadata }) => selects(metadata.labels),
      mayAdopt,
      candidates: [...this.index.ownedBy(uid), ...this.index.orphansIn(namespace)],
    });
    return sortRevisions(revisions);
  }
  /**
   * The revision of the owner's template, and how often the hash of any of its templates was found to belong to another one so
   * far, which makes the next hash.
   */
  async current(owner: Owner, revisions: readonly Revision[], collisions: number): Promise<{ revision: Revision; collisions: number }> {
    const { context, resource } = this.options;
    const slices = new Slices();
    const data = await inSlices(revisionData(owner.template), slices);
    const choice = await inSlices(chooseRevision(revisions, data), slices);
    if (choice.use === 'newest') return { revision: choice.revision, collisions };
    if (choice.use === 'new') return this.create(owner, data, choice.number, collisions);
    const revision = await context.client.update<Revision>(resource, { ...choice.revision, revision: choice.number } as Revision);
    await this.informer.whenArrived(revision);
    return { revision, collisions };
  }
  async delete(revisions: readonly Revision[]): Promise<void> {
    const { context, resource } = this.options;
    for (const revision of revisions) {
      const { namespace = '', name = '', uid = '' } = revision.metadata;
      await context.client.delete(resource, namespace, name, { preconditions: { uid } }).catch(unlessGone);
      await this.informer.gone(revision);
    }
  }

  private async create(
    owner: Owner,
    data: JsonObject,
    revision: Integer,
    firstCollisions: number,
  ): Promise<{ revision: Revision; collisions: number }> {
    const { context, resource } = this.options;
    const { namespace = '', name: ownerName = '' } = owner.about.metadata;
    for (let collisions = firstCollisions; ; collisions++) {
      const hash = await inSlices(templateHash(owner.template, collisions), new Slices());
      const name = `${ownerName.slice(0, MOST_PREFIX)}-${hash}`;
      try {
        const created = await context.client.create<Revision>(resource, namespace, this.build(owner, { name, hash, data, revision }));
        await this.informer.whenArrived(created);
        return { revision: created, collisions };
      } catch (error) {
        if (!isConflict(error) || collisions - firstCollisions >= MOST_NAMES) throw error;
      }
      const there = await context.client.find<Revision>(resource, namespace, name);
      if (there !== undefined && equal(there.data, data)) return { revision: there, collisions };
    }
  }
  private build(owner: Owner, parts: { name: string; hash: string; data: JsonObject; revision: Integer }): Revision {
    const { about, template } = owner;
    const { namespace = '', annotations } = about.metadata;
    return {
      apiVersion: about.apiVersion,
      kind: 'ControllerRevision',
      metadata: {
        name: parts.name,
        namespace,
        labels: { ...template.metadata?.labels, [this.options.hashLabel]: parts.hash },
        ...(annotations !== undefined && { annotations }),
        ownerReferences: [controllerRef(about)],
      },
      data: parts.data,
      revision: parts.revision,
    } as Revision;
  }
}

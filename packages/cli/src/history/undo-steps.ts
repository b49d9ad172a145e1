/** The requests of an undo: ordinary updates, creations and deletions, with all checks of the server. */
import type { JsonObject } from '@plat-dev/schema/types';
import type { ObjectRef } from '../objects/object-ref.ts';
import { fieldManager } from '../program.ts';
import type { Work } from '../work.ts';
import { objectDiff } from './object-diff.ts';
import { liveObject } from './past-object.ts';
import { madeAnew, restored } from './restored-object.ts';
import { NotUndone, type UndoStep } from './undo-plan.ts';
import type { PastObject } from './versions.ts';

/** A step with what is there now and what will be. */
export interface PreparedStep {
  readonly step: UndoStep;
  readonly live: PastObject | undefined;
  readonly wanted: PastObject | undefined;
}

export const doneWords = { update: 'restored', create: 'created anew', delete: 'deleted' } as const;

export class UndoRequests {
  private readonly work: Work;
  private readonly isDry: boolean;
  /** Uids of objects that were made anew, by their old ones. */
  private readonly newUids = new Map<string, string>();

  constructor(work: Work, isDry: boolean) {
    this.work = work;
    this.isDry = isDry;
  }
  /** `others`: steps that come first, whose objects may be owners. Throws NotUndone or ApiError. */
  async prepare(step: UndoStep, others: readonly UndoStep[] = []): Promise<PreparedStep> {
    const { ref } = step;
    const live = await liveObject(this.work, ref);
    if (step.action === 'create') {
      if (live !== undefined) throw new NotUndone(ref, 'there is an object of this name again');
      return { step, live, wanted: madeAnew(step.earlier, await this.ownersOf(step.ref, step.earlier, others)) };
    }
    if (live === undefined) throw new NotUndone(ref, 'it is gone meanwhile');
    return { step, live, wanted: step.action === 'delete' ? undefined : restored(live, step.earlier) };
  }
  /** Owners are named by their uids, which are others if they were made anew. */
  private async ownersOf(ref: ObjectRef, { metadata }: PastObject, others: readonly UndoStep[]): Promise<JsonObject[]> {
    const owners: JsonObject[] = [];
    for (const owner of metadata.ownerReferences ?? []) {
      const { apiVersion, kind, name, uid } = owner as { apiVersion: string; kind: string; name: string; uid: string };
      const newUid = this.newUids.get(uid) ?? (await this.uidOf(ref, apiVersion, kind, name));
      const comes = others.some((step) => step.action === 'create' && step.earlier.metadata.uid === uid);
      if (newUid === undefined && !comes)
        throw new NotUndone(ref, `its owner ${kind} ${JSON.stringify(name)} is gone; undo the deletion of that first`);
      owners.push({ ...owner, uid: newUid ?? uid });
    }
    return owners;
  }
  private async uidOf({ namespace }: ObjectRef, apiVersion: string, kind: string, name: string): Promise<string | undefined> {
    const resource = await this.work.discovery.forKind(apiVersion, kind).catch(() => undefined);
    if (resource === undefined) return undefined;
    return (await liveObject(this.work, { resource, namespace: resource.namespaced ? namespace : undefined, name }))?.metadata.uid;
  }

  async send({ step, live, wanted }: PreparedStep): Promise<void> {
    const { ref } = step;
    const query = { dryRun: this.isDry ? 'All' : undefined };
    const manager = fieldManager(this.work.io, 'replace');
    if (step.action === 'delete') {
      const { uid, resourceVersion } = live?.metadata ?? {};
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background', preconditions: { uid, resourceVersion } };
      await this.work.send(ref, { method: 'DELETE', body, query });
    } else if (step.action === 'update') {
      // The version of the live object makes sure that nobody has changed it since.
      await this.work.send(ref, { method: 'PUT', body: wanted, query: { ...query, fieldManager: manager } });
    } else {
      const what = { method: 'POST', body: wanted, query: { ...query, fieldManager: manager } } as const;
      const { object } = await this.work.sendTo<PastObject>(ref.resource, ref.namespace, what);
      const { uid } = step.earlier.metadata;
      if (uid !== undefined && object.metadata.uid !== undefined) this.newUids.set(uid, object.metadata.uid);
    }
  }
}

export const stepDiff = ({ live, wanted }: PreparedStep, shown: string): string =>
  objectDiff(live, wanted, { before: `live/${shown}`, after: `undone/${shown}` });

/**
 * Deleted objects come first, owners before their dependents; then changes; objects that are deleted come last. Namespaces and
 * definitions of kinds come before what needs them.
 */
export function inUndoOrder(steps: readonly UndoStep[]): UndoStep[] {
  const creations = steps.filter((step) => step.action === 'create').sort((a, b) => rankOf(a) - rankOf(b));
  const byUid = new Map(creations.map((step) => [step.action === 'create' ? step.earlier.metadata.uid : '', step]));
  const ordered = new Set<UndoStep>();
  const visited = new Set<UndoStep>();
  const add = (step: UndoStep): void => {
    if (visited.has(step) || step.action !== 'create') return;
    visited.add(step);
    for (const { uid } of step.earlier.metadata.ownerReferences ?? []) {
      const owner = byUid.get(uid as string);
      if (owner !== undefined) add(owner);
    }
    ordered.add(step);
  };
  for (const step of creations) add(step);
  const changes = steps.filter(({ action }) => action === 'update');
  const deletions = steps.filter(({ action }) => action === 'delete').sort((a, b) => rankOf(b) - rankOf(a));
  return [...ordered, ...changes, ...deletions];
}
function rankOf({ ref: { resource } }: UndoStep): number {
  if (resource.kind === 'Namespace' && resource.group === '') return 0;
  return resource.kind === 'CustomResourceDefinition' ? 1 : 2;
}

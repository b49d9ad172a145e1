/** What has to be done to take back changes of one object, found from its versions. */
import type { ObjectRef } from '../objects/object-ref.ts';
import { shownName } from '../work.ts';
import { readable } from './past-object.ts';
import { hasSameContent, hasSameHolds } from './restored-object.ts';
import type { ObjectVersion, PastObject } from './versions.ts';

export type UndoStep = {
  readonly ref: ObjectRef;
  readonly undoes: ObjectVersion;
  /** A later change, of finalizers or owner references, which stays. */
  readonly stays?: ObjectVersion | undefined;
  /** How many changes before that one are taken back with it. */
  readonly others?: number;
} & ({ readonly action: 'update' | 'create'; readonly earlier: PastObject } | { readonly action: 'delete' });

/** A change that cannot be undone, and why. */
export class NotUndone extends Error {
  constructor({ resource, name }: ObjectRef, reason: string) {
    super(`${shownName(resource, name)}: ${reason}`);
  }
}

/**
 * Takes back the last change of what an undo restores. `versions`: newest first.
 *
 *   created a=1, updated a=2, status written   → update to a=1
 *   created a=1, status written                → delete
 *   created a=1, deleted                       → create with a=1
 *
 * An object is not deleted for a creation of which no history was kept. Throws NotUndone.
 */
export async function undoOfLastChange(ref: ObjectRef, versions: AsyncIterable<ObjectVersion>): Promise<UndoStep> {
  let newest: ObjectVersion | undefined;
  let newer: ObjectVersion | undefined;
  let stays: ObjectVersion | undefined;
  for await (const version of versions) {
    newest ??= stayingOrGone(ref, version);
    if (newest.type === 'deleted') {
      if (version.type !== 'deleted' && !isGoing(version)) return { ref, action: 'create', undoes: newest, earlier: whole(ref, version) };
    } else {
      if (version !== newest) whole(ref, newest);
      if (newer !== undefined && !hasSameContent(whole(ref, newest), whole(ref, version)))
        return { ref, action: 'update', undoes: newer, stays, earlier: whole(ref, version) };
      if (newer !== undefined && !hasSameHolds(whole(ref, newer), whole(ref, version))) stays ??= newer;
      if (version.type === 'created' && version.verb !== undefined) return { ref, action: 'delete', undoes: version, stays };
    }
    newer = version;
  }
  throw new NotUndone(ref, 'the version before its last change is not kept');
}

/**
 * Goes back to a state, or to there being no object. `versions`: newest first. Undefined where it is as wanted. Throws NotUndone.
 *
 *   created a=1 (target), updated a=2, updated a=3, status written   → update to a=1, which undoes a=3 and one change before it
 */
export async function undoTo(
  ref: ObjectRef,
  versions: AsyncIterable<ObjectVersion>,
  target: ObjectVersion | undefined,
): Promise<UndoStep | undefined> {
  if (target === undefined || target.type === 'deleted') throw new NotUndone(ref, 'it did not exist then; to remove it, use plat delete');
  const earlier = whole(ref, target);
  const newerVersions: ObjectVersion[] = [];
  for await (const version of versions) {
    const newest = newerVersions[0] ?? stayingOrGone(ref, version);
    if (newest.type === 'deleted') return { ref, action: 'create', undoes: newest, earlier };
    if (newest.object !== undefined && hasSameContent(newest.object, earlier)) return undefined;
    newerVersions.push(version);
    if (version.resourceVersion === target.resourceVersion) break;
  }
  const changes = newerVersions.slice(0, -1).filter((_, i) => changesContent(newerVersions, i));
  const undoes = changes[0] ?? newerVersions[0];
  return undoes && { ref, action: 'update', undoes, others: Math.max(0, changes.length - 1), earlier };
}

/**
 * Takes back the changes that `isMeant` names, which are of one object. `versions`: newest first, down to the one before the first of
 * these. Undefined where nothing is left of them. Throws NotUndone where others changed the object since, unless `force`.
 */
export function undoOfChanges(
  ref: ObjectRef,
  versions: readonly ObjectVersion[],
  isMeant: (version: ObjectVersion) => boolean,
  force: boolean,
): UndoStep | undefined {
  const first = versions.findLastIndex((version, i) => isMeant(version) && changesContent(versions, i));
  const [newest, meant] = [versions[0], versions[first]];
  if (newest === undefined || meant === undefined) return undefined;
  const other = versions.slice(0, first).find((version, i) => !isMeant(version) && changesContent(versions, i));
  if (other !== undefined && !force) {
    const { user = 'someone', resourceVersion } = other;
    throw new NotUndone(ref, `${user} has changed it since (version ${resourceVersion}); --force overwrites that`);
  }
  const exists = stayingOrGone(ref, newest).type !== 'deleted';
  if (meant.type === 'created') return exists ? { ref, action: 'delete', undoes: meant } : undefined;
  const base = versions.slice(first + 1).find((version) => !isGoing(version));
  if (base === undefined || base.type === 'deleted') throw new NotUndone(ref, 'the version before is not kept');
  const earlier = whole(ref, base);
  if (!exists) return { ref, action: 'create', undoes: newest, earlier };
  if (hasSameContent(whole(ref, newest), earlier)) return undefined;
  return { ref, action: 'update', undoes: meant, earlier };
}

/** Whether a version differs from the one before it in what an undo restores. What cannot be read may. */
function changesContent(versions: readonly ObjectVersion[], at: number): boolean {
  const [version, before] = [versions[at] as ObjectVersion, versions[at + 1]];
  if (version.type === 'created') return true;
  // A deletion that waited for finalizers began with the version that set the time of it.
  if (version.type === 'deleted') return before === undefined || !isGoing(before);
  if (version.subresource === 'status') return false;
  if (before?.object === undefined || version.object === undefined || version.withoutValues) return true;
  return isGoing(version) ? !isGoing(before) : !hasSameContent(version.object, before.object);
}

const isGoing = ({ object }: ObjectVersion): boolean => object?.metadata.deletionTimestamp !== undefined;

/** The newest version; an object that waits for its finalizers can be neither changed back nor made anew. */
function stayingOrGone(ref: ObjectRef, newest: ObjectVersion): ObjectVersion {
  if (newest.type !== 'deleted' && isGoing(newest)) throw new NotUndone(ref, 'it is being deleted; undo that when it is gone');
  return newest;
}

/** The object of a version with all its values. */
function whole(ref: ObjectRef, version: ObjectVersion): PastObject {
  if (version.withoutValues) throw new NotUndone(ref, 'its values are not kept in history; --history-rules of the server keeps them');
  return readable(ref, version);
}

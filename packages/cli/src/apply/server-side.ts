/** Server-side apply: the server merges, and says which fields other managers own. */
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonObject } from '@plat-dev/schema/types';
import { sameObject } from '../edit/same-object.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { isApplyConflict } from '../output/conflicts.ts';
import type { ApiItem } from '../output/print-objects.ts';
import type { SentObject, Work } from '../work.ts';
import { conflictWithOthers, type ManagedFieldsEntry, takenOver } from './field-ownership.ts';

export interface ServerSideOptions {
  readonly fieldManager: string;
  readonly fieldValidation: string | undefined;
  readonly dryRun: 'none' | 'client' | 'server';
  readonly forceConflicts: boolean;
  /** Whether fields that the same manager wrote by other commands are taken over instead of being conflicts. */
  readonly takeOver: boolean;
}
export interface ServerSideResult {
  readonly verb: 'created' | 'configured' | 'unchanged' | 'applied';
  readonly object: ApiItem;
}

/** Writers that change the object while its fields are taken over. */
const MOST_ROUNDS = 5;

export async function applyOnServer(work: Work, ref: ObjectRef, object: JsonObject, options: ServerSideOptions): Promise<ServerSideResult> {
  const existing = await currentOf(work, ref);
  const { status, object: after } = await sendUntilStored(work, ref, object, existing, options);
  const clean = options.takeOver && options.dryRun === 'none' ? await shareNothing(work, ref, after, options) : after;
  if (status === 201 || existing === null) return { verb: 'created', object: clean };
  if (existing === undefined) return { verb: 'applied', object: clean };
  return { verb: sameObject(existing, after) ? 'unchanged' : 'configured', object: clean };
}

async function sendUntilStored(
  work: Work,
  ref: ObjectRef,
  object: JsonObject,
  existing: ApiItem | null | undefined,
  options: ServerSideOptions,
): Promise<SentObject<ApiItem>> {
  try {
    return await send(work, ref, object, options, options.forceConflicts);
  } catch (error) {
    if (!options.takeOver || !isApplyConflict(error)) throw error;
    const others = conflictWithOthers(error, options.fieldManager);
    if (others !== undefined) throw others;
  }
  // The version makes sure that only the conflicts that are known are overridden.
  let latest: ApiItem = existing ?? (await work.get(ref));
  for (let round = 0; ; round++) {
    const resourceVersion = latest.metadata?.resourceVersion ?? '';
    const body = { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion } };
    try {
      return await send(work, ref, body, options, true);
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'Conflict' || isApplyConflict(error) || round >= MOST_ROUNDS) throw error;
      latest = await work.get(ref);
      // Others may own some of the fields now.
      const dry = await send(work, ref, object, { ...options, dryRun: 'server' }, false).catch((conflict: unknown) => conflict);
      const others = isApplyConflict(dry) ? conflictWithOthers(dry, options.fieldManager) : undefined;
      if (others !== undefined) throw others;
    }
  }
}

function send(work: Work, ref: ObjectRef, body: JsonObject, options: ServerSideOptions, force: boolean): Promise<SentObject<ApiItem>> {
  const { fieldManager, dryRun, fieldValidation } = options;
  return work.send(ref, {
    method: 'PATCH',
    body,
    contentType: 'application/apply-patch+yaml',
    query: { fieldManager, force: force || undefined, dryRun: dryRun === 'server' ? 'All' : undefined, fieldValidation },
  });
}

/** Fields that are applied are no longer those of create or scale: removed from the file, they go. */
async function shareNothing(work: Work, ref: ObjectRef, object: ApiItem, { fieldManager }: ServerSideOptions): Promise<ApiItem> {
  const managedFields = takenOver((object.metadata?.managedFields ?? []) as ManagedFieldsEntry[], fieldManager);
  if (managedFields === undefined) return object;
  const body = [
    { op: 'replace', path: '/metadata/managedFields', value: managedFields },
    { op: 'replace', path: '/metadata/resourceVersion', value: object.metadata?.resourceVersion },
  ];
  try {
    return (await work.send(ref, { method: 'PATCH', body, contentType: 'application/json-patch+json', query: { fieldManager } })).object;
  } catch (error) {
    // Another writer was faster: the next apply does it.
    if (error instanceof ApiError) return object;
    throw error;
  }
}

/** The current object; null if it does not exist, undefined if the caller may not read it. */
async function currentOf(work: Work, ref: ObjectRef): Promise<ApiItem | null | undefined> {
  try {
    return await work.get(ref);
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return null;
    if (error instanceof ApiError && error.code === 403) return undefined;
    throw error;
  }
}

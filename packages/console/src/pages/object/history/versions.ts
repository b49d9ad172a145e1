/** Versions of an object as the server kept them, newest first. */
import type { Api } from '../../../api/api.ts';
import { asApiError } from '../../../api/api-error.ts';
import { type ObjectReference, objectPath } from '../../../api/kinds.ts';
import { isMap, mapAt, textAt, type ValueMap } from '../../../api/values.ts';
import { FIELD_MANAGER } from '../actions/changes.ts';
import { type Change, changesOf } from '../yaml/merge-values.ts';

export interface ObjectVersion {
  readonly resourceVersion: string;
  readonly uid: string;
  readonly time: string;
  readonly type: 'created' | 'updated' | 'deleted';
  readonly user?: string;
  readonly verb?: string;
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly userAgent?: string;
  readonly object?: ValueMap;
  /** Values were not kept: names alone. */
  readonly withoutValues?: boolean;
  /** Why the object or the change cannot be shown. */
  readonly reason?: string;
}
export interface VersionPage {
  readonly versions: readonly ObjectVersion[];
  readonly next: string | undefined;
}
interface ObjectHistory {
  readonly kind?: string;
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly ObjectVersion[] | null;
}

const PAGE_SIZE = 50;

/** Undefined: the server keeps no history. A stock server answers with the object itself. */
export async function readVersions(
  api: Api,
  object: ObjectReference,
  next?: string,
  signal?: AbortSignal,
): Promise<VersionPage | undefined> {
  try {
    const query = { history: 'full', limit: PAGE_SIZE, continue: next };
    const answer = await api.json<ObjectHistory>(objectPath(object), { query, ...(signal === undefined ? {} : { signal }) });
    if (answer.kind !== 'ObjectHistory') return undefined;
    return { versions: answer.items ?? [], next: answer.metadata?.continue || undefined };
  } catch (error) {
    signal?.throwIfAborted();
    const { code } = asApiError(error);
    if (code === 400 || code === 404 || code === 405) return undefined;
    throw error;
  }
}

/** What a version changed; undefined where it or the one before is not known. */
export function changesOfVersion(versions: readonly ObjectVersion[], at: number): readonly Change[] | undefined {
  const version = versions[at];
  const before = versions[at + 1];
  if (version?.type !== 'updated' || version.object === undefined || before?.object === undefined) return undefined;
  return changesOf(before.object, version.object);
}

/** The object without what only the server sets, for a comparison or to write it again. */
export function writableObject(object: ValueMap): ValueMap {
  const { status: _, metadata, ...rest } = object;
  const {
    managedFields,
    resourceVersion,
    generation,
    creationTimestamp,
    uid,
    selfLink,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    ...others
  } = mapAt({ metadata }, 'metadata');
  return { ...rest, metadata: others };
}

export interface Present {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Writes the object as it was; `present` is what is there now, undefined where it was deleted. */
export async function restoreVersion(
  api: Api,
  object: ObjectReference,
  version: ValueMap,
  present: Present | undefined,
  isDryRun: boolean,
): Promise<ValueMap> {
  const path = objectPath(object);
  const writable = writableObject(version);
  const query = { fieldManager: FIELD_MANAGER, dryRun: isDryRun ? 'All' : undefined };
  const stored =
    present === undefined
      ? await api.json<unknown>(path.slice(0, path.lastIndexOf('/')), { method: 'POST', body: writable, query })
      : await api.json<unknown>(path, {
          method: 'PUT',
          body: { ...writable, metadata: { ...mapAt(writable, 'metadata'), ...present } },
          query,
        });
  return isMap(stored) ? stored : {};
}

/** `alice by kubectl-edit` */
export function writerOf({ user = '', fieldManager = '' }: ObjectVersion): string {
  if (user === '') return fieldManager || 'somebody';
  return fieldManager === '' || fieldManager === user ? user : `${user} by ${fieldManager}`;
}

export const presentOf = (object: unknown): Present => ({
  uid: textAt(object, 'metadata', 'uid'),
  resourceVersion: textAt(object, 'metadata', 'resourceVersion'),
});

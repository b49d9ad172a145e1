/** Versions of an object as the server kept them, newest first. */
import { jsonText } from '@plat-dev/lib/json-text';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { JsonValue } from '@plat-dev/schema/types';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import type { Api, RequestOptions } from '../../../api/api.ts';
import { asApiError } from '../../../api/api-error.ts';
import { type ObjectReference, objectPath } from '../../../api/kinds.ts';
import { isMap, mapAt, textAt, type ValueMap } from '../../../api/values.ts';
import { shortUser } from '../../../parts/users.ts';
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

/** With all digits of integers: what was read is written again. */
const exactJson = async (api: Api, path: string, options: RequestOptions): Promise<unknown> => parseExact(await api.text(path, options));
const exactBody = (body: ValueMap) => ({ body: jsonText(body), contentType: 'application/json' });

/** The object as it is now. */
export async function readExactly(api: Api, object: ObjectReference): Promise<ValueMap> {
  return mapAt(await exactJson(api, objectPath(object), {}));
}

/** Undefined: the server keeps no history. A stock server answers with the object itself. */
export async function readVersions(
  api: Api,
  object: ObjectReference,
  next?: string,
  signal?: AbortSignal,
): Promise<VersionPage | undefined> {
  try {
    const query = { history: 'full', limit: PAGE_SIZE, continue: next };
    const answer = (await exactJson(api, objectPath(object), { query, ...(signal === undefined ? {} : { signal }) })) as ObjectHistory;
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

export const writableText = (object: ValueMap): string => stringifyYaml(writableObject(object) as JsonValue);

/** The object without what only the server sets, for a comparison or to write it again. */
function writableObject(object: ValueMap): ValueMap {
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
      ? await exactJson(api, path.slice(0, path.lastIndexOf('/')), { method: 'POST', ...exactBody(writable), query })
      : await exactJson(api, path, {
          method: 'PUT',
          ...exactBody({ ...writable, metadata: { ...mapAt(writable, 'metadata'), ...present } }),
          query,
        });
  return isMap(stored) ? stored : {};
}

/** Whether the version changed nothing that somebody wrote: its status alone, or what only the server sets. */
export const isOfStatus = (versions: readonly ObjectVersion[], at: number): boolean => changesOfVersion(versions, at)?.length === 0;

/** Numbers of versions, newest first; those that changed the status alone, one after another, are together. */
export function versionRuns(versions: readonly ObjectVersion[]): number[][] {
  const runs: number[][] = [];
  for (const at of versions.keys()) {
    const last = runs.at(-1);
    if (last?.[0] !== undefined && isOfStatus(versions, at) && isOfStatus(versions, last[0])) last.push(at);
    else runs.push([at]);
  }
  return runs;
}

/** `alice with kubectl-edit`. Who says nothing of themselves is `unknown` to the server. */
export function writerOf({ user = '', fieldManager = '' }: ObjectVersion): string {
  const manager = fieldManager === 'unknown' ? '' : fieldManager;
  if (user === '') return manager || 'somebody';
  const name = shortUser(user);
  return manager === '' || manager === user ? name : `${name} with ${manager}`;
}

export const presentOf = (object: unknown): Present => ({
  uid: textAt(object, 'metadata', 'uid'),
  resourceVersion: textAt(object, 'metadata', 'resourceVersion'),
});

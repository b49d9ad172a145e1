/** Versions of objects as the server keeps them: `GET …?history=true`. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { findGroup } from '@plat-dev/client/why';
import { microTimeOf, timeMillis } from '@plat-dev/lib/time';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonObject } from '@plat-dev/schema/types';
import { askedServer, explainRemedy } from '../discovery/api-groups.ts';
import type { Work } from '../work.ts';

/** An object of the API, as far as commands about history look at it. */
export type PastObject = JsonObject & {
  readonly metadata: JsonObject & {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: JsonObject;
    readonly annotations?: JsonObject;
    readonly ownerReferences?: JsonObject[];
  };
};

export interface ObjectVersion {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion: string;
  readonly time?: string;
  readonly type: 'created' | 'updated' | 'deleted';
  readonly user?: string;
  readonly impersonator?: string;
  readonly userAgent?: string;
  readonly verb?: string;
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly auditID?: string;
  readonly patch?: readonly { readonly op: string; readonly path: string }[];
  readonly object?: PastObject;
  readonly reason?: string;
  /** The change in a few words. */
  readonly change?: string;
  /** Values are left out of the object and the patch. */
  readonly withoutValues?: boolean;
}

interface ObjectHistory {
  readonly kind?: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly ObjectVersion[] | null;
}

/** An object, or a collection where there is no name. An undefined namespace means all of them, or none. */
export interface HistoryPlace {
  readonly resource: ApiResource;
  readonly namespace: string | undefined;
  readonly name?: string | undefined;
  /** Only versions after these. */
  readonly after?: SeenVersions;
}
/** Versions up to this one were read, the newest of them of this time (milliseconds since 1970). */
export interface SeenVersions {
  readonly version: number;
  readonly time: number;
}
/** A store that was made anew has lower versions, of later times. */
const isAfter = ({ resourceVersion, time }: ObjectVersion, seen: SeenVersions): boolean =>
  Number(resourceVersion) > seen.version || (time !== undefined && timeMillis(time) > seen.time);
export interface HistoryFilter {
  /** Versions come with their objects. */
  readonly full?: boolean;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly user?: string | undefined;
  readonly manager?: string | undefined;
  /** Versions of a page. */
  readonly pageSize?: number;
}

/** The question was ignored: by a stock server, one whose group `explain` is off, or one behind ours that serves the kind. */
class NoHistory extends Error {}

/** Says whether the server keeps no history at all, or none of this kind. */
async function noHistory(work: Work, { name, group }: ApiResource): Promise<NoHistory> {
  const server = `the server at ${work.session.connection.server}`;
  if (!(await servesExplain(work))) return new NoHistory(`${server} keeps no history: only a plat server does; ${explainRemedy}`);
  const kind = group === '' ? name : `${name}.${group}`;
  return new NoHistory(`${server} keeps no history of ${kind}: a plat server does, but not of APIs that other servers provide`);
}
const servesExplain = async (work: Work): Promise<boolean> => (await findGroup(askedServer(work), 'explain')) !== undefined;

/** The error of an object that was not found says where it was looked for, and whether the server would know deleted ones. */
async function explained(work: Work, error: unknown, { resource, namespace }: HistoryPlace): Promise<unknown> {
  if (!(error instanceof ApiError) || error.reason !== 'NotFound') return error;
  // Who may not read the groups gets the error as it is.
  if (!(await servesExplain(work).catch(() => true))) return noHistory(work, resource);
  if (namespace === undefined) return error;
  return new ApiError(error.code, error.reason, `${error.message} in namespace ${JSON.stringify(namespace)}`, error.details);
}

const PAGE = 250;

interface HistoryPage {
  readonly versions: readonly ObjectVersion[];
  readonly readAt: string;
  readonly seen: SeenVersions;
  readonly isLast: boolean;
}
/** Pages of versions, newest first; each with the version of the store at which it was read. Throws ApiError or NoHistory. */
export async function* historyPages(
  work: Work,
  { resource, namespace, name, after }: HistoryPlace,
  { full = false, since, until, user, manager, pageSize = PAGE }: HistoryFilter = {},
): AsyncGenerator<HistoryPage> {
  const filters = {
    history: full ? 'full' : 'true',
    limit: pageSize,
    since: since === undefined ? undefined : microTimeOf(since),
    until: until === undefined ? undefined : microTimeOf(until),
    user: user || undefined,
    manager: manager || undefined,
  };
  let next: string | undefined;
  do {
    // Most commands read kinds that the user did not name, deprecated ones among them.
    const what = { method: 'GET', query: { ...filters, continue: next }, ignoreWarnings: true } as const;
    const answer =
      name === undefined
        ? await work.sendTo<ObjectHistory>(resource, namespace, what)
        : await work.send<ObjectHistory>({ resource, namespace, name }, what).catch(async (error: unknown) => {
            throw await explained(work, error, { resource, namespace });
          });
    const { kind, metadata, items } = answer.object;
    if (kind !== 'ObjectHistory') throw await noHistory(work, resource);
    next = metadata?.continue || undefined;
    const { resourceVersion: readAt = '' } = metadata ?? {};
    const [newest] = items ?? [];
    const seen = {
      version: Math.max(Number(readAt), Number(newest?.resourceVersion ?? 0)),
      time: newest?.time === undefined ? 0 : timeMillis(newest.time),
    };
    const versions = (items ?? []).filter((version) => after === undefined || isAfter(version, after));
    if (versions.length < (items?.length ?? 0)) next = undefined;
    yield { versions, readAt, seen, isLast: next === undefined };
  } while (next !== undefined);
}

export async function* versionsOf(work: Work, place: HistoryPlace, filter: HistoryFilter = {}): AsyncGenerator<ObjectVersion> {
  for await (const { versions } of historyPages(work, place, filter)) yield* versions;
}

/** A version with the kind of its object. */
export interface Change {
  readonly resource: ApiResource;
  readonly version: ObjectVersion;
}
export interface ChangesOfKinds {
  /** Newest first. */
  readonly changes: readonly Change[];
  /** The places that answered, and up to which version they were read. */
  readonly read: ReadonlyMap<HistoryPlace, SeenVersions>;
  /** Kinds whose history the user may not read. */
  readonly refused: readonly ApiError[];
  /** Older changes were left out. */
  readonly isCut: boolean;
}

/** Kinds that are read at the same time. */
const WIDTH = 8;

/**
 * Changes of several kinds in one order. `limit`: of the newest so many, 0 all. Kinds that the user may not read are left out, and
 * those whose server keeps no history, unless that is all of them.
 */
export async function changesOf(
  work: Work,
  places: readonly HistoryPlace[],
  filter: HistoryFilter,
  limit: number,
  isWanted: (change: Change) => boolean = () => true,
): Promise<ChangesOfKinds> {
  const [read, refused, changes]: [Map<HistoryPlace, SeenVersions>, ApiError[], Change[]] = [new Map(), [], []];
  let isCut = false;
  const readKind = async (place: HistoryPlace): Promise<void> => {
    const { resource } = place;
    let taken = 0;
    for await (const { versions, seen, isLast } of historyPages(work, place, filter)) {
      if (!read.has(place)) read.set(place, seen);
      const wanted = versions.map((version) => ({ resource, version })).filter(isWanted);
      changes.push(...(limit === 0 ? wanted : wanted.slice(0, limit - taken)));
      taken += wanted.length;
      if (limit === 0 || taken < limit) continue;
      isCut ||= taken > limit || !isLast;
      break;
    }
  };
  let missing: NoHistory | undefined;
  const waiting = [...places];
  const worker = async (): Promise<void> => {
    for (let place = waiting.shift(); place !== undefined; place = waiting.shift()) {
      try {
        await readKind(place);
      } catch (error) {
        if (error instanceof NoHistory) missing = error;
        else if (error instanceof ApiError && [403, 404, 405].includes(error.code)) refused.push(error);
        else throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(WIDTH, places.length) }, worker));
  if (read.size === 0 && missing !== undefined) throw missing;
  if (read.size === 0 && refused[0] !== undefined) throw refused[0];
  changes.sort((a, b) => Number(b.version.resourceVersion) - Number(a.version.resourceVersion));
  if (limit === 0) return { changes, read, refused, isCut };
  return { changes: changes.slice(0, limit), read, refused, isCut: isCut || changes.length > limit };
}

/** The kinds that a user changes: those of a list of types, or all with history. */
export async function kindsWithHistory(work: Work, types: readonly string[], isAllNamespaces: boolean): Promise<readonly ApiResource[]> {
  if (types.length > 0) return (await Promise.all(types.map((type) => work.discovery.findAll(type)))).flat();
  const all = await work.discovery.all();
  return all.filter(
    ({ name, verbs, namespaced }) =>
      (namespaced || isAllNamespaces) && ['get', 'list', 'update'].every((verb) => verbs.includes(verb)) && !rarelyKept.has(name),
  );
}
/** Servers keep no history of these unless a rule says so. */
const rarelyKept: ReadonlySet<string> = new Set(['events', 'leases']);

/** Only the status changed, which controllers write all the time. */
export function isOfStatus({ type, subresource, patch }: ObjectVersion): boolean {
  if (type !== 'updated') return false;
  if (subresource === 'status') return true;
  return patch !== undefined && patch.length > 0 && patch.every(({ path }) => path === '/status' || path.startsWith('/status/'));
}

/** The change in a few words. */
export const changeWords = ({ type, change, reason }: ObjectVersion): string =>
  change ?? `${type}${reason === undefined ? '' : ` (${reason})`}`;

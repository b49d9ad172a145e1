/**
 * A page of kept versions, newest first, each with the version that it replaced.
 *
 *   a=1 (1, alice)   a=2 (2, bob)   b=1 (3, bob)   a deleted (4, bob)
 *   page of everything, user bob → a deleted (4), b=1 (3), a=2 replacing a=1 (2)
 */
import type { Slices } from '@plat-dev/lib/slices';
import type { HistoryStore, KeptVersion } from '@plat-dev/storage/history';
import { type ChangeNote, decodeNote } from './note.ts';
import type { HistoryQuery } from './query.ts';

export interface HistoryEntry {
  readonly version: KeptVersion;
  readonly note: ChangeNote | undefined;
  /** The version that it replaced, where it is an update and that one is kept. A creation that nobody noted may be a restore of it. */
  replaced: KeptVersion | undefined;
}
export interface HistoryPage {
  readonly entries: readonly HistoryEntry[];
  /** The next page goes on before this revision; undefined: there is none. */
  readonly next: number | undefined;
}

/** Versions that one call of the store reads. */
const CHUNK = 64;
/** Versions that are looked at, and bytes of their values and as many of those that they replaced, for one page: filters may leave few of many. */
const MAX_SCANNED = 20_000;
const MAX_BYTES = 4 * 2 ** 20;
/** Calls of the store at a time for versions that were replaced. */
const WIDTH = 8;

export interface HistoryPlace {
  readonly prefix: string;
  readonly exact: boolean;
  /** Whether the object of a key with that prefix is meant. */
  isOf(key: string): boolean;
}

export async function historyPage(store: HistoryStore, place: HistoryPlace, query: HistoryQuery, slices: Slices): Promise<HistoryPage> {
  const entries: HistoryEntry[] = [];
  const unpaired = new Map<string, HistoryEntry[]>();
  const next = await scan(store, place, query, slices, (version) => {
    if (!place.isOf(version.key)) return entries.length;
    for (const entry of unpaired.get(version.key) ?? []) pair(entry, version);
    unpaired.delete(version.key);
    const note = decodeNote(version.note);
    if (!isWanted(query, note)) return entries.length;
    const entry: HistoryEntry = { version, note, replaced: undefined };
    if (isUpdate(version) || isUnnotedCreation(entry)) unpaired.set(version.key, [entry]);
    return entries.push(entry);
  });
  const lastRevision = await findAllReplaced(store, [...unpaired.values()].flat(), slices);
  if (lastRevision === undefined) return { entries, next };
  return { entries: entries.filter(({ version }) => version.revision >= lastRevision), next: lastRevision };
}

/** Returns the revision with which the page ends because of too many bytes; undefined if all were found. */
async function findAllReplaced(store: HistoryStore, unpaired: readonly HistoryEntry[], slices: Slices): Promise<number | undefined> {
  let bytes = 0;
  for (let from = 0; from < unpaired.length; from += WIDTH) {
    const some = unpaired.slice(from, from + WIDTH);
    await Promise.all(some.map((entry) => findReplaced(store, entry)));
    for (const { replaced } of some) bytes += replaced?.value?.length ?? 0;
    const last = some.at(-1)?.version.revision;
    // A page ends between two commits.
    if (bytes > MAX_BYTES && unpaired[from + WIDTH]?.version.revision !== last) return last;
    if (slices.due) await slices.pause();
  }
  return undefined;
}

/** Calls `take` with versions, newest first, until it has enough; returns the revision before which a next page goes on. */
async function scan(
  store: HistoryStore,
  { prefix, exact }: HistoryPlace,
  query: HistoryQuery,
  slices: Slices,
  take: (version: KeptVersion) => number,
): Promise<number | undefined> {
  const newest = query.until === undefined ? undefined : (await store.revisionAt(query.until)) + 1;
  let before = query.before === undefined || newest === undefined ? (query.before ?? newest) : Math.min(query.before, newest);
  let scanned = 0;
  let bytes = 0;
  let taken = 0;
  let last: number | undefined;
  for (;;) {
    const chunk = await store.versions({ prefix, exact, limit: Math.min(CHUNK, query.limit), ...(before !== undefined && { before }) });
    for (const version of chunk.versions) {
      if (query.since !== undefined && version.time < query.since) return undefined;
      // A page ends between two commits.
      if (version.revision !== last && (taken >= query.limit || bytes > MAX_BYTES || scanned >= MAX_SCANNED)) return last;
      last = version.revision;
      scanned++;
      bytes += version.value?.length ?? 0;
      taken = take(version);
      if (slices.due) await slices.pause();
    }
    if (chunk.next === undefined) return undefined;
    before = chunk.next;
    if (taken >= query.limit || bytes > MAX_BYTES || scanned >= MAX_SCANNED) return before;
  }
}

const isUpdate = ({ type, created, revision }: KeptVersion): boolean => type === 'put' && created !== revision;

/** A restore writes every object anew. */
const isUnnotedCreation = ({ version, note }: HistoryEntry): boolean => version.type === 'put' && note === undefined && !isUpdate(version);

const isWanted = ({ user, manager }: HistoryQuery, note: ChangeNote | undefined): boolean =>
  (user === undefined || note?.user === user) && (manager === undefined || note?.manager === manager);

/** A version of an earlier object of the same name was not replaced. */
function pair(entry: HistoryEntry, older: KeptVersion): void {
  if (older.type === 'put' && (older.created === entry.version.created || isUnnotedCreation(entry))) entry.replaced = older;
}

async function findReplaced(store: HistoryStore, entry: HistoryEntry): Promise<void> {
  const { key, revision } = entry.version;
  const { versions } = await store.versions({ prefix: key, exact: true, before: revision, limit: 1 });
  const [older] = versions;
  if (older !== undefined) pair(entry, older);
}

/**
 * What must hold of watches, lists and revisions across all servers, whatever fails:
 *
 *   every event once, in the order of revisions, none lost after a resume; bookmarks truthful; a list shows exactly the state
 *   at its revision; a consistent read is never older than what was answered before it began; a list from the cache of one
 *   server (resourceVersion=0) may be old, but never older than one before it.
 */
import type { Operation } from './checker.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly name: string;
  readonly token: string;
  readonly revision: number;
}
/** name → token and revision. */
export type Objects = ReadonlyMap<string, { readonly token: string; readonly revision: number }>;
/** A watch from its list on, through all its resumes. */
export interface WatchRecord {
  readonly id: string;
  readonly start: number;
  readonly objects: Objects;
  readonly events: readonly WatchEvent[];
}
export interface ListRecord {
  /** The process that answered. */
  readonly server: string;
  readonly consistent: boolean;
  readonly start: number;
  readonly end: number;
  readonly revision: number;
  readonly objects: Objects;
}
export interface WriteRecord {
  readonly name: string;
  readonly token: string;
  readonly revision: number;
  readonly start: number;
  readonly end: number;
}
export interface Violation {
  readonly rule: 'order' | 'state' | 'bookmark' | 'lost' | 'differs' | 'list' | 'stale' | 'backwards' | 'object' | 'undecided' | 'behind';
  readonly text: string;
  /** Of the object, where it is about one. */
  readonly operations?: readonly Operation[];
}

export function checkRules(watches: readonly WatchRecord[], lists: readonly ListRecord[], writes: readonly WriteRecord[]): Violation[] {
  const log = [...logOf(watches).values()].sort((a, b) => a.revision - b.revision);
  return [
    ...watches.flatMap((watch) => [...checkOrder(watch), ...checkComplete(watch, log, writes)]),
    ...checkDiffering(watches),
    ...checkLists(watches, log, lists),
    ...checkFresh(lists, writes),
    ...checkForward(lists),
  ];
}

/** Every event that any watch has seen. */
function logOf(watches: readonly WatchRecord[]): Map<number, WatchEvent> {
  const log = new Map<number, WatchEvent>();
  for (const { events } of watches) for (const event of events) if (event.type !== 'BOOKMARK') log.set(event.revision, event);
  return log;
}

function checkOrder({ id, start, objects, events }: WatchRecord): Violation[] {
  const found: Violation[] = [];
  const present = new Set(objects.keys());
  let last = start;
  let bookmark = 0;
  for (const { type, name, revision } of events) {
    const text = `${id}: ${type} ${name} at ${revision}`;
    if (type === 'BOOKMARK') {
      if (revision < last) found.push({ rule: 'bookmark', text: `${text} after an event at ${last}` });
      bookmark = Math.max(bookmark, revision);
      continue;
    }
    if (revision <= bookmark) found.push({ rule: 'bookmark', text: `${text} after a bookmark at ${bookmark}` });
    if (revision <= last) found.push({ rule: 'order', text: `${text} after ${last}` });
    last = Math.max(last, revision);
    if (present.has(name) !== (type !== 'ADDED'))
      found.push({ rule: 'state', text: `${text}, which ${present.has(name) ? 'exists' : 'does not exist'}` });
    if (type === 'DELETED') present.delete(name);
    else present.add(name);
  }
  return found;
}

const reachOf = ({ start, events }: WatchRecord): number => events.reduce((most, { revision }) => Math.max(most, revision), start);

/** Everything between its start and its end that was acknowledged, or that another watch saw. */
function checkComplete(watch: WatchRecord, log: readonly WatchEvent[], writes: readonly WriteRecord[]): Violation[] {
  const reach = reachOf(watch);
  const own = new Map(watch.events.filter(({ type }) => type !== 'BOOKMARK').map((event) => [event.revision, event]));
  const found: Violation[] = [];
  const within = (revision: number) => revision > watch.start && revision <= reach;
  for (const { name, token, revision } of writes) {
    if (within(revision) && own.get(revision)?.token !== token) {
      found.push({ rule: 'lost', text: `${watch.id}: the write of ${name} at ${revision}, between ${watch.start} and ${reach}` });
    }
  }
  for (const { type, name, revision } of log) {
    if (within(revision) && !own.has(revision))
      found.push({ rule: 'lost', text: `${watch.id}: ${type} ${name} at ${revision}, which another watch saw` });
  }
  return found;
}

function checkDiffering(watches: readonly WatchRecord[]): Violation[] {
  const found: Violation[] = [];
  const first = new Map<number, WatchEvent>();
  for (const { id, events } of watches) {
    for (const event of events) {
      if (event.type === 'BOOKMARK') continue;
      const other = first.get(event.revision);
      if (other === undefined) first.set(event.revision, event);
      else if (other.type !== event.type || other.name !== event.name || other.token !== event.token) {
        found.push({
          rule: 'differs',
          text: `${id}: ${event.type} ${event.name} at ${event.revision}; elsewhere ${other.type} ${other.name}`,
        });
      }
    }
  }
  return found;
}

/** The watch that begins first, and all events after it, give the state at every revision. */
function checkLists(watches: readonly WatchRecord[], log: readonly WatchEvent[], lists: readonly ListRecord[]): Violation[] {
  const first = [...watches].sort((a, b) => a.start - b.start)[0];
  if (first === undefined) return [];
  const covered = Math.max(...watches.map(reachOf));
  const found: Violation[] = [];
  const state = new Map(first.objects);
  let at = 0;
  for (const list of [...lists].sort((a, b) => a.revision - b.revision)) {
    if (list.revision < first.start || list.revision > covered) continue;
    for (; at < log.length && (log[at] as WatchEvent).revision <= list.revision; at++) {
      const { type, name, token, revision } = log[at] as WatchEvent;
      if (revision <= first.start) continue;
      if (type === 'DELETED') state.delete(name);
      else state.set(name, { token, revision });
    }
    const difference = differenceOf(state, list.objects);
    if (difference !== undefined) found.push({ rule: 'list', text: `${list.server}: the list at ${list.revision} ${difference}` });
  }
  return found;
}

function differenceOf(expected: Objects, listed: Objects): string | undefined {
  for (const [name, { token, revision }] of expected) {
    const other = listed.get(name);
    if (other === undefined) return `lacks ${name}`;
    if (other.token !== token || other.revision !== revision) return `has ${name} at ${other.revision} instead of ${revision}`;
  }
  for (const name of listed.keys()) if (!expected.has(name)) return `has ${name}, which does not exist`;
  return undefined;
}

/** A consistent list is not older than any write or consistent list that was answered before it began. */
function checkFresh(lists: readonly ListRecord[], writes: readonly WriteRecord[]): Violation[] {
  const answers = [...writes, ...lists.filter(({ consistent }) => consistent)].sort((a, b) => a.end - b.end);
  const found: Violation[] = [];
  let at = 0;
  let newest = 0;
  for (const list of lists.filter(({ consistent }) => consistent).sort((a, b) => a.start - b.start)) {
    for (; at < answers.length && (answers[at] as WriteRecord).end < list.start; at++)
      newest = Math.max(newest, (answers[at] as WriteRecord).revision);
    if (list.revision < newest)
      found.push({ rule: 'stale', text: `${list.server}: a consistent list at ${list.revision} after ${newest} had been answered` });
  }
  return found;
}

/** The cache of one server only goes forward. */
function checkForward(lists: readonly ListRecord[]): Violation[] {
  const found: Violation[] = [];
  for (const server of new Set(lists.map((list) => list.server))) {
    const own = lists.filter((list) => list.server === server);
    const ends = [...own].sort((a, b) => a.end - b.end);
    let at = 0;
    let newest = 0;
    for (const list of [...own].sort((a, b) => a.start - b.start)) {
      for (; at < ends.length && (ends[at] as ListRecord).end < list.start; at++)
        newest = Math.max(newest, (ends[at] as ListRecord).revision);
      if (list.revision < newest) found.push({ rule: 'backwards', text: `${server}: a list at ${list.revision} after one at ${newest}` });
    }
  }
  return found;
}

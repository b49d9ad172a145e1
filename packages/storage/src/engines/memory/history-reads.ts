/** Reads of the history of the store in memory: what outlasted compaction, and what is not compacted yet. */
import type { AtRequest, AtResult, HistoryStore, KeptVersion, VersionsRequest, VersionsResult } from '../../history.ts';
import { startOf } from '../operations.ts';
import type { HistoryVersion, MemoryHistory } from './history.ts';
import { bytesOf } from './version.ts';

export interface MemoryHistorySource {
  /** Throws when the store is closed. */
  checkOpen(): void;
  readonly history: MemoryHistory;
  /** The versions of a key that are not compacted, oldest first. */
  readableOf(key: string): readonly HistoryVersion[];
  /** Calls `visit` with each key from one on, in their order, until it returns false. */
  eachKey(from: string, visit: (key: string) => boolean): void;
  add(versions: readonly KeptVersion[]): void;
}

export function memoryHistoryStore(source: MemoryHistorySource): HistoryStore {
  /** Oldest first. */
  const versionsOf = (key: string): HistoryVersion[] => [...source.history.of(key), ...source.readableOf(key)];
  return {
    async versions(request) {
      source.checkOpen();
      const keys = request.exact ? [request.prefix] : keysFrom(source, request.prefix, request.prefix);
      return newestOf(keys.flatMap(versionsOf), request);
    },
    async at(request) {
      source.checkOpen();
      return versionsAt(keysFrom(source, startOf(request), request.prefix), versionsOf, request);
    },
    async revisionAt(time) {
      source.checkOpen();
      let newest = 0;
      for (const key of keysFrom(source, '', ''))
        for (const { revision, time: writtenAt } of versionsOf(key)) if (writtenAt <= time && revision > newest) newest = revision;
      return newest;
    },
    async add(versions) {
      source.checkOpen();
      source.add(versions);
    },
  };
}

function keysFrom(source: MemoryHistorySource, from: string, prefix: string): string[] {
  const keys = new Set<string>();
  const collect = (key: string): boolean => {
    if (!key.startsWith(prefix)) return false;
    keys.add(key);
    return true;
  };
  source.history.eachKey(from, collect);
  source.eachKey(from, collect);
  return [...keys].sort();
}

function newestOf(versions: HistoryVersion[], { before = Number.POSITIVE_INFINITY, limit }: VersionsRequest): VersionsResult {
  const older = versions.filter(({ revision }) => revision < before).sort((one, other) => other.revision - one.revision);
  let count = Math.min(limit, older.length);
  while (count < older.length && older[count]?.revision === older[count - 1]?.revision) count++;
  const page = older.slice(0, count);
  return { versions: page.map(withBytes), next: count < older.length ? page.at(-1)?.revision : undefined };
}

function versionsAt(keys: readonly string[], versionsOf: (key: string) => HistoryVersion[], { at, limit }: AtRequest): AtResult {
  const versions: KeptVersion[] = [];
  for (const key of keys) {
    const version = versionsOf(key).findLast(({ revision }) => revision <= at);
    if (version === undefined || version.type === 'delete') continue;
    if (versions.length >= limit) return { versions, next: key };
    versions.push(withBytes(version));
  }
  return { versions, next: undefined };
}

function withBytes(version: HistoryVersion): KeptVersion {
  const { type, key, revision, created, time, note, unreadable } = version;
  return { type, key, revision, created, time, note, value: bytesOf(version), ...(unreadable && { unreadable }) };
}

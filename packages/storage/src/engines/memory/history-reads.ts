/** Reads of the history of the store in memory: what is not compacted yet, and what outlasted compaction. */
import { nextTurn } from '@plat-dev/lib/next-turn';
import type { HistoryStore, KeptVersion, VersionsResult } from '../../history.ts';
import { startOf } from '../operations.ts';
import type { HistoryVersion } from './history.ts';
import { bytesOf } from './version.ts';

/** Versions by key. */
interface VersionLayer {
  /** Calls `visit` with each key from one on, in their order, until it returns false. */
  eachKey(from: string, visit: (key: string) => boolean): void;
  /** Calls `visit` with the versions of a key, newest first, until it returns false. Returns whether it never did. */
  eachVersion(key: string, visit: (version: HistoryVersion) => boolean): boolean;
}
export interface MemoryHistorySource {
  /** Throws when the store is closed. */
  checkOpen(): void;
  currentRevision(): number;
  /** Versions that are not compacted are newer than those of the same key that outlasted it. */
  readonly readable: VersionLayer;
  readonly kept: VersionLayer;
  add(versions: readonly KeptVersion[]): void;
}

/** Keys of each layer that are looked at in one turn of the event loop. */
const BLOCK = 2_000;

export function memoryHistoryStore(source: MemoryHistorySource): HistoryStore {
  const eachVersion = (key: string, visit: (version: HistoryVersion) => boolean): boolean =>
    source.readable.eachVersion(key, visit) && source.kept.eachVersion(key, visit);
  return {
    async versions({ prefix, exact = false, before = Number.POSITIVE_INFINITY, limit }) {
      source.checkOpen();
      // Versions that are written while this reads are none of it.
      const newest = new NewestVersions(Math.min(before, source.currentRevision() + 1), limit);
      const take = (version: HistoryVersion): boolean => newest.take(version);
      if (exact) eachVersion(prefix, take);
      else for await (const keys of keyBlocks(source, prefix, prefix)) for (const key of keys) eachVersion(key, take);
      return newest.result();
    },
    async at(request) {
      source.checkOpen();
      const versions: KeptVersion[] = [];
      for await (const keys of keyBlocks(source, startOf(request), request.prefix))
        for (const key of keys) {
          let newest: HistoryVersion | undefined;
          eachVersion(key, (version) => {
            if (version.revision <= request.at) newest = version;
            return newest === undefined;
          });
          if (newest?.type !== 'put') continue;
          if (versions.length >= request.limit) return { versions, next: key };
          versions.push(withBytes(newest));
        }
      return { versions, next: undefined };
    },
    async revisionAt(time) {
      source.checkOpen();
      let newest = 0;
      for await (const keys of keyBlocks(source, '', ''))
        for (const key of keys)
          eachVersion(key, ({ revision, time: writtenAt }) => {
            if (writtenAt <= time) newest = Math.max(newest, revision);
            return writtenAt > time;
          });
      return newest;
    },
    async add(versions) {
      source.checkOpen();
      source.add(versions);
    },
  };
}

/** The keys of both layers from one on that begin with a prefix, in their order. Other work runs between two blocks. */
async function* keyBlocks(source: MemoryHistorySource, from: string, prefix: string): AsyncGenerator<string[]> {
  let start = from;
  for (;;) {
    const blocks = [firstKeys(source.readable, start, prefix), firstKeys(source.kept, start, prefix)] as const;
    const keys = merged(...blocks);
    // A block that is full says nothing about the keys after its last one.
    const [end] = blocks.flatMap((block) => (block.length < BLOCK ? [] : block.slice(-1))).sort();
    yield end === undefined ? keys : keys.slice(0, keys.indexOf(end) + 1);
    if (end === undefined) return;
    start = `${end}\0`;
    await nextTurn();
    source.checkOpen();
  }
}

function firstKeys(layer: VersionLayer, from: string, prefix: string): string[] {
  const keys: string[] = [];
  layer.eachKey(from, (key) => key.startsWith(prefix) && keys.push(key) < BLOCK);
  return keys;
}

/** The keys of two lists in order, each once. */
function merged(first: readonly string[], second: readonly string[]): string[] {
  const keys: string[] = [];
  let at = 0;
  for (const key of first) {
    while (at < second.length && (second[at] as string) < key) keys.push(second[at++] as string);
    if (second[at] === key) at++;
    keys.push(key);
  }
  return keys.concat(second.slice(at));
}

/** The newest of the versions that it is given, rounded up to whole commits. */
class NewestVersions {
  readonly #before: number;
  readonly #limit: number;
  #versions: HistoryVersion[] = [];
  /** There are enough versions of this revision and later ones. */
  #least = 0;
  #hasOlder = false;
  #cutAt: number;

  constructor(before: number, limit: number) {
    this.#before = before;
    this.#limit = limit;
    this.#cutAt = 2 * limit;
  }

  /** Versions of a key come newest first. Returns whether older ones of it may be among the newest. */
  take(version: HistoryVersion): boolean {
    if (version.revision >= this.#before) return true;
    if (version.revision < this.#least) {
      this.#hasOlder = true;
      return false;
    }
    if (this.#versions.push(version) > this.#cutAt) this.#cut();
    return true;
  }

  result(): VersionsResult {
    this.#cut();
    return { versions: this.#versions.map(withBytes), next: this.#hasOlder ? this.#versions.at(-1)?.revision : undefined };
  }

  #cut(): void {
    const ordered = this.#versions.sort((one, other) => other.revision - one.revision);
    let count = Math.min(this.#limit, ordered.length);
    while (count < ordered.length && ordered[count]?.revision === ordered[count - 1]?.revision) count++;
    if (count < ordered.length) this.#hasOlder = true;
    if (count >= this.#limit) this.#least = ordered[count - 1]?.revision ?? 0;
    this.#versions = ordered.slice(0, count);
    // A commit may have many versions: they are not put in order again for each further one.
    this.#cutAt = 2 * Math.max(count, this.#limit);
  }
}

function withBytes(version: HistoryVersion): KeptVersion {
  const { type, key, revision, created, time, note, unreadable } = version;
  return { type, key, revision, created, time, note, value: bytesOf(version), ...(unreadable && { unreadable }) };
}

/**
 * The engine's keys in etcd. With the prefix `/registry/plat`:
 *
 *   /registry/plat/<key>           a key of the engine
 *   /registry/plat.<name>          the engine's own records (compaction, barriers), never shown to callers
 *   /registry/plat+history/<row>   history, see history-rows.ts
 *
 * `.` comes right before `/` and `0` right after it, so that one watch over [`/registry/plat.`, `/registry/plat0`) sees
 * the first two and nothing else, and every commit of the engine advances it. History, written with the commits, lies outside.
 */
export interface Keyspace {
  /** The prefix of every key, with a slash. */
  readonly root: string;
  readonly watchStart: string;
  readonly watchEnd: string;
  /** Written with its version as precondition: the server that writes it compacts. Its value is the compacted revision. */
  readonly compaction: string;
  /** Written only to advance the watch past revisions of others, on servers with unreliable progress reports. */
  readonly barrier: string;
  /** The prefix of records that name a held revision; each has a lease. */
  readonly holds: string;
  /** The mark of the store. */
  readonly mark: string;
  /** The prefix of the rows of history. */
  readonly history: string;
  /** Written with its version as precondition: the server that writes it sweeps history. */
  readonly sweep: string;
}

const PREFIX = /^[\x21-\x7e]+$/;

export function keyspaceOf(prefix: string): Keyspace {
  const trimmed = prefix.replace(/\/+$/, '');
  if (!PREFIX.test(trimmed)) throw new TypeError(`the prefix ${JSON.stringify(prefix)} of the keys in etcd is not printable ASCII text`);
  return {
    root: `${trimmed}/`,
    watchStart: `${trimmed}.`,
    watchEnd: `${trimmed}0`,
    compaction: `${trimmed}.compaction`,
    barrier: `${trimmed}.barrier`,
    holds: `${trimmed}.hold.`,
    mark: `${trimmed}.store`,
    history: `${trimmed}+history/`,
    sweep: `${trimmed}.history`,
  };
}

/** The first key after all keys with a prefix. The root guarantees that there is a character to increment. */
export function endOfPrefix(prefix: string): string {
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

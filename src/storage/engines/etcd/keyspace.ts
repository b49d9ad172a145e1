/**
 * Where the engine's keys stand in etcd. With the prefix `/registry/plat`:
 *
 *   /registry/plat/<key>           a key of the engine
 *   /registry/plat.<name>          the engine's own records (who compacts, barriers), never shown to callers
 *
 * `.` comes right before `/` and `0` right after it, so that one watch over [`/registry/plat.`, `/registry/plat0`) sees
 * both and nothing else, and every commit of the engine moves it on.
 */
export interface Keyspace {
  /** Before every key: the prefix and a slash. */
  readonly root: string;
  readonly watchStart: string;
  readonly watchEnd: string;
  /** Guarded by its version: the server that writes it is the one that compacts. Its value is the revision compacted to. */
  readonly compaction: string;
  /** Written only to move the watch past revisions of others, on servers whose progress reports cannot be trusted. */
  readonly barrier: string;
  /** Before the records that name a revision which must stay readable; each hangs on a lease. */
  readonly holds: string;
  /** In which the store says whose it is. */
  readonly mark: string;
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
  };
}

/** The first key after all keys with a prefix. The root guarantees that there is a character to count up. */
export function endOfPrefix(prefix: string): string {
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

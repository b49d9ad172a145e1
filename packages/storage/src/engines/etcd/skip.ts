import { StoreUnavailable } from '../../engine.ts';
import type { Connection } from './connection.ts';
import type { Keyspace } from './keyspace.ts';
import { EMPTY_REQUEST, encodePut, putMethod } from './messages.ts';

/** Maximum revisions that are skipped at a time, and concurrent writes that do so. */
const MOST_SKIPPED = 1_000_000;
const SKIPPED_AT_ONCE = 256;

/**
 * Brings etcd from its newest revision to another one or beyond, and returns that. The revision cannot be set, only increased: each
 * write of a record of the engine's own adds one.
 */
export async function skipRevisions(connection: Connection, keyspace: Keyspace, newest: number, revision: number): Promise<number> {
  if (revision - newest > MOST_SKIPPED) {
    throw new StoreUnavailable(
      `etcd is at revision ${newest}, and would have to be counted up to ${revision} by one write each, more than ${MOST_SKIPPED}; if all clients list again, \`plat store restore --accept-lower-revisions\` goes on without`,
    );
  }
  const request = encodePut(keyspace.barrier, EMPTY_REQUEST);
  let reached = newest;
  while (reached < revision) {
    const writes = Array.from({ length: Math.min(SKIPPED_AT_ONCE, revision - reached) }, () => connection.write(putMethod, request));
    reached = Math.max(...(await Promise.all(writes)));
  }
  return reached;
}

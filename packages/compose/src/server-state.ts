/**
 * A snapshot of a server: other servers can start from it, in a few milliseconds, and the server itself can be reset
 * to it. Values, compiled schemas and keys are shared, as they are immutable; lists and indexes are copied.
 */

import { asMemoryEngine, openMemoryEngine } from '@plat-dev/storage/engines/memory';
import type { Credentials } from './credentials/credentials.ts';
import type { Requests } from './requests/requests.ts';
import type { OpenStore, State } from './state.ts';
import type { ServerState } from './store/snapshot-state.ts';

interface Server {
  readonly credentials: Credentials;
  readonly state: State;
  readonly requests: Pick<Requests, 'definitions'>;
}

/** The snapshot of a server, once every definition that it knows of is served. Throws if its store is not in memory. */
export async function stateOf({ credentials, state: { engine, cache }, requests: { definitions } }: Server): Promise<ServerState> {
  const memory = asMemoryEngine(engine);
  await definitions.settled();
  await cache.allLoaded();
  return { credentials, store: memory.state(), cache: cache.state(), definitions: definitions.state() };
}

/**
 * Resets a server to a snapshot, by one commit: its watches, controllers and definitions included, see the objects that
 * were created, changed and deleted. Resolves when the custom kinds are those of the snapshot.
 */
export async function resetTo({ state: { engine }, requests: { definitions } }: Server, { store }: ServerState): Promise<void> {
  await definitions.settled();
  await asMemoryEngine(engine).restore(store);
  await definitions.settled();
}

/** Opens a store with the content of a snapshot. */
export const openCopyOf =
  ({ store }: ServerState): OpenStore =>
  async ({ clock, historyRetentionMs, history }) =>
    openMemoryEngine({
      clock,
      from: store,
      ...(historyRetentionMs !== undefined && { historyRetentionMs }),
      ...(history !== undefined && { history }),
    });

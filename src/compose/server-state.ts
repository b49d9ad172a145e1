/**
 * What a server holds, taken out of it: other servers can begin with that, in a few milliseconds, and the server itself can go back
 * to it. Values, compiled schemas and keys are shared, as nobody changes them; lists and indexes are copied.
 */

import type { ServedDefinition } from '../extension/definitions.ts';
import type { CacheState } from '../storage/cache.ts';
import { asMemoryEngine, type MemoryState, openMemoryEngine } from '../storage/engines/memory.ts';
import type { Credentials } from './credentials.ts';
import type { Requests } from './requests.ts';
import type { OpenStore, State } from './state.ts';

export interface ServerState {
  /** The same keys: tokens and certificates of one server are good for all that begin like it. */
  readonly credentials: Credentials;
  readonly store: MemoryState;
  readonly cache: CacheState;
  readonly definitions: ReadonlyMap<string, ServedDefinition>;
}

interface Server {
  readonly credentials: Credentials;
  readonly state: State;
  readonly requests: Pick<Requests, 'definitions'>;
}

/** What a server holds, once every definition that it knows of is served. Throws where its store is not in memory. */
export async function stateOf({ credentials, state: { engine, cache }, requests: { definitions } }: Server): Promise<ServerState> {
  const memory = asMemoryEngine(engine);
  await definitions.settled();
  return { credentials, store: memory.state(), cache: cache.state(), definitions: definitions.state() };
}

/**
 * Brings a server back to what one held, by one commit: whoever watches it, controllers and definitions included, gets what
 * came, changed and went. Resolves when the custom kinds are those of then.
 */
export async function resetTo({ state: { engine }, requests: { definitions } }: Server, { store }: ServerState): Promise<void> {
  await definitions.settled();
  await asMemoryEngine(engine).restore(store);
  await definitions.settled();
}

/** Opens a store that holds what another one held. */
export const openCopyOf =
  ({ store }: ServerState): OpenStore =>
  async ({ clock, historyRetentionMs }) =>
    openMemoryEngine({ clock, from: store, ...(historyRetentionMs !== undefined && { historyRetentionMs }) });

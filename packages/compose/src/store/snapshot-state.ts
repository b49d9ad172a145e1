import type { ServedDefinition } from '@plat-dev/server/extension/definitions';
import type { CacheState } from '@plat-dev/storage/cache';
import type { MemoryState } from '@plat-dev/storage/engines/memory';
import type { Credentials } from '../credentials/credentials.ts';

export interface ServerState {
  /** The same keys: tokens and certificates of one server are valid for all forks. */
  readonly credentials: Credentials;
  readonly store: MemoryState;
  readonly cache: CacheState;
  readonly definitions: ReadonlyMap<string, ServedDefinition>;
}

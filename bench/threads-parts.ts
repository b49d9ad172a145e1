/** What the prototype of worker threads uses of the product. */

export { parseServerFlags } from '../packages/compose/src/config/server-options.ts';
export { composeServer } from '../packages/compose/src/server.ts';
export { CommitConflict, Compacted, FutureRevision, StoreUnavailable } from '../packages/storage/src/engine.ts';
export { openEngine } from '../packages/storage/src/engines/index.ts';

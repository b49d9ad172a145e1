/** What the prototype of worker threads uses of the product. */
export { composeServer } from '../src/compose/server.ts';
export { parseServerFlags } from '../src/config/server-options.ts';
export { CommitConflict, Compacted, FutureRevision, StoreUnavailable } from '../src/storage/engine.ts';
export { openEngine } from '../src/storage/engines/index.ts';

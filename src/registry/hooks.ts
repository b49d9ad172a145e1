/**
 * What must happen in the same commit as a write of certain kinds: allocations (service addresses and ports) and the
 * like. A hook adds operations to the commit; they carry their own guards, so that two servers cannot hand out one
 * address twice. A hook whose guard fails is asked again with the retry of the write.
 */
import type { ApiObject } from '../kinds/kind.ts';
import type { Operation } from '../storage/engine.ts';

export interface HookRequest {
  /** Hub form, still changeable; undefined when the object goes. */
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
  readonly dryRun: boolean;
  readonly operations: Operation[];
}
/** Throws an ApiError to refuse the write. Runs before validation, so that what it fills in is validated too. */
export type Hook = (request: HookRequest) => void | Promise<void>;

/** `core/services` → hook, in base group names. */
export type Hooks = ReadonlyMap<string, Hook>;

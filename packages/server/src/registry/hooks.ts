/**
 * Operations that belong in the same commit as a write of certain kinds, such as allocations of service addresses and
 * ports. A hook adds operations to the commit; they carry their own preconditions, so that two servers cannot allocate one
 * address twice. A hook whose precondition fails runs again when the write is retried.
 */

import type { ApiObject, KindEnv } from '@plat-dev/kinds/kind';
import type { Operation } from '@plat-dev/storage/engine';

export interface HookRequest {
  /** Hub form, still mutable; undefined when the object is deleted. */
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
  readonly dryRun: boolean;
  readonly env: KindEnv;
  readonly operations: Operation[];
}
/** Throws an ApiError to refuse the write. Runs before validation, so that the fields it sets are validated too. */
export type Hook = (request: HookRequest) => Promise<void>;

/** `core/services` → hook, in base group names. */
export type Hooks = ReadonlyMap<string, Hook>;

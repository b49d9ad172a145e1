/**
 * Reconciles the keys of allocations with the services at start-up: keys without a service are deleted, and lost keys of
 * services are restored. Both always change in one commit, so that there is something to repair only after a
 * restored backup or a fault.
 */
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { Cache } from '@plat-dev/storage/cache';
import { CommitConflict, type Operation } from '@plat-dev/storage/engine';
import { addressesOf, portsOf, type ServiceAllocation } from './services.ts';
import type { AllocationTable } from './table.ts';

/** Operations of one commit. */
const BATCH = 100;

/** A member and the uid of the object that holds it. */
export interface Holding {
  readonly member: string;
  readonly uid: string;
}

export interface Repaired {
  readonly freed: number;
  readonly restored: number;
  /** Members that two services hold: the first service keeps the key. */
  readonly doubled: readonly string[];
}

/** `taken`: addresses that other objects than services hold. */
export async function repairAllocations(
  cache: Cache,
  allocation: ServiceAllocation,
  services: readonly Service[],
  taken: readonly Holding[] = [],
): Promise<Repaired> {
  const doubled: string[] = [];
  const freeing: Operation[] = [];
  const restoring: Operation[] = [];
  const compare = (table: AllocationTable, membersOf: (service: Service) => readonly string[], others: readonly Holding[] = []): void => {
    const holders = new Map(others.map(({ member, uid }) => [member, uid]));
    for (const service of services)
      for (const member of membersOf(service)) {
        const uid = service.metadata.uid ?? '';
        if (holders.has(member) && holders.get(member) !== uid) doubled.push(member);
        // Of two services the one with the key keeps it.
        if (!holders.has(member) || table.holder(member) === uid) holders.set(member, uid);
      }
    for (const { member, uid } of table.entries()) {
      if (holders.get(member) === uid) continue;
      const operation = table.free(member, uid);
      if (operation !== undefined) freeing.push(operation);
    }
    for (const member of table.unreadable()) {
      const holder = holders.get(member);
      (holder === undefined ? freeing : restoring).push(table.repair(member, holder));
    }
    for (const [member, uid] of holders) if (!table.isUsed(member)) restoring.push(table.take(member, uid));
  };
  compare(allocation.addresses, addressesOf, taken);
  compare(allocation.ports, (service) => portsOf(service).map(String));
  await commitAll(cache, freeing);
  await commitAll(cache, restoring);
  return { freed: freeing.length, restored: restoring.length, doubled };
}

/** Another server may repair at the same time; a conflict means that it has done so. */
export async function commitAll(cache: Cache, operations: readonly Operation[]): Promise<void> {
  for (let i = 0; i < operations.length; i += BATCH) {
    const batch = operations.slice(i, i + BATCH);
    try {
      await cache.commit(batch, []);
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
      for (const operation of batch) await cache.commit([operation], []).catch(ignoreConflict);
    }
  }
}
function ignoreConflict(error: unknown): void {
  if (!(error instanceof CommitConflict)) throw error;
}

/** The members that one write takes and releases. Nothing is written here: the operations go into the commit of the write. */
import type { Operation } from '@plat-dev/storage/engine';
import type { AllocationTable } from './table.ts';

type ClaimResult = 'taken' | 'in use';

export class Claims {
  private readonly uid: string;
  private readonly dryRun: boolean;
  private readonly operations: Operation[];
  private readonly claimedMembers = new Map<AllocationTable, Set<string>>();

  constructor(uid: string, dryRun: boolean, operations: Operation[]) {
    this.uid = uid;
    this.dryRun = dryRun;
    this.operations = operations;
  }

  /** Takes a member that the client requested. */
  take(table: AllocationTable, member: string): ClaimResult {
    if (table.isUsed(member) || this.claimedIn(table).has(member)) return 'in use';
    this.note(table, member);
    return 'taken';
  }
  /** Records a member as taken that was allocated here. */
  note(table: AllocationTable, member: string): void {
    this.claimedIn(table).add(member);
    if (!this.dryRun) this.operations.push(table.take(member, this.uid));
  }
  isMine(table: AllocationTable, member: string): boolean {
    return this.claimedIn(table).has(member);
  }
  free(table: AllocationTable, member: string): void {
    const operation = this.dryRun ? undefined : table.free(member, this.uid);
    if (operation !== undefined && !this.operations.some((o) => o.key === operation.key)) this.operations.push(operation);
  }
  /** Restores the lost key of a member that the object keeps. */
  keep(table: AllocationTable, member: string): void {
    if (!table.isUsed(member) && !this.claimedIn(table).has(member)) this.note(table, member);
  }

  private claimedIn(table: AllocationTable): Set<string> {
    let set = this.claimedMembers.get(table);
    if (set === undefined) {
      set = new Set();
      this.claimedMembers.set(table, set);
    }
    return set;
  }
}

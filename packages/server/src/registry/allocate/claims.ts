/** The members that one write takes and releases. Nothing is written here: the operations go into the commit of the write. */
import type { Operation } from '@plat-dev/storage/engine';
import type { AllocationTable } from './table.ts';

export type Taken = 'taken' | 'in use';

export class Claims {
  private readonly uid: string;
  private readonly dryRun: boolean;
  private readonly operations: Operation[];
  private readonly mine = new Map<AllocationTable, Set<string>>();

  constructor(uid: string, dryRun: boolean, operations: Operation[]) {
    this.uid = uid;
    this.dryRun = dryRun;
    this.operations = operations;
  }

  /** Takes a member that the client requested. */
  take(table: AllocationTable, member: string): Taken {
    if (table.isUsed(member) || this.own(table).has(member)) return 'in use';
    this.note(table, member);
    return 'taken';
  }
  /** Records a member as taken that was allocated here. */
  note(table: AllocationTable, member: string): void {
    this.own(table).add(member);
    if (!this.dryRun) this.operations.push(table.take(member, this.uid));
  }
  isMine(table: AllocationTable, member: string): boolean {
    return this.own(table).has(member);
  }
  free(table: AllocationTable, member: string): void {
    const operation = this.dryRun ? undefined : table.free(member, this.uid);
    if (operation !== undefined && !this.operations.some((o) => o.key === operation.key)) this.operations.push(operation);
  }
  /** Restores the lost key of a member that the object keeps. */
  keep(table: AllocationTable, member: string): void {
    if (!table.isUsed(member) && !this.own(table).has(member)) this.note(table, member);
  }

  private own(table: AllocationTable): Set<string> {
    let set = this.mine.get(table);
    if (set === undefined) {
      set = new Set();
      this.mine.set(table, set);
    }
    return set;
  }
}

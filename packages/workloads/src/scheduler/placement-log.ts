import type { NodeState, PodClass } from './state.ts';

/** Pods of a class came to a node or left it. Without a node: the class has gone. */
export interface PlacementChange {
  readonly podClass: PodClass;
  readonly node: NodeState | undefined;
  readonly delta: number;
}

/** Changes that are remembered; a table that is further behind counts again. */
const CHANGES_LIMIT = 20_000;

/** What came and went, in order: tables that are needed now and then catch up with it when they are. */
export class PlacementLog {
  private readonly changes: PlacementChange[] = [];
  private forgotten = 0;

  /** The position of the next change. */
  get end(): number {
    return this.forgotten + this.changes.length;
  }
  add(change: PlacementChange): void {
    this.changes.push(change);
    if (this.changes.length > CHANGES_LIMIT) this.forgotten += this.changes.splice(0, CHANGES_LIMIT / 2).length;
  }
  /** Whether all changes from a position on are remembered. */
  remembers(position: number): boolean {
    return position >= this.forgotten;
  }
  /** The change at a position that is remembered and below the end. */
  at(position: number): PlacementChange {
    return this.changes[position - this.forgotten] as PlacementChange;
  }
}

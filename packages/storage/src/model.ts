/**
 * The store as a list of commits: so simple that it is correct by inspection. Random histories run against it and against
 * an engine, and every result must be the same (engine.suite.random.ts).
 */
import { type ChangeRecord, CommitConflict, Compacted, type Entry, FutureRevision, type Operation, type RangeRequest } from './engine.ts';

export class StoreModel {
  /** Revision before the first commit; a store may have earlier history that does not matter here. */
  readonly base: number;
  compacted: number;
  readonly #commits: ChangeRecord[][] = [];

  constructor(base: number, compacted: number) {
    this.base = base;
    this.compacted = compacted;
  }

  get revision(): number {
    return this.base + this.#commits.length;
  }

  /** Key of the first operation whose expectation does not hold now. */
  failing(operations: readonly Operation[]): string | undefined {
    const state = this.#stateAt(this.revision);
    for (const operation of operations) {
      if (operation.expect !== undefined && (state.get(operation.key)?.revision ?? 0) !== operation.expect) return operation.key;
    }
    return undefined;
  }

  commit(operations: readonly Operation[]): number {
    const failing = this.failing(operations);
    if (failing !== undefined) throw new CommitConflict(failing);
    const state = this.#stateAt(this.revision);
    const revision = this.revision + 1;
    const changes: ChangeRecord[] = [];
    for (const { type, key, ...rest } of operations) {
      const created = state.get(key)?.created;
      if (type === 'put') changes.push({ type, key, value: (rest as { value: Buffer }).value, revision, created: created ?? revision });
      if (type === 'delete' && created !== undefined) changes.push({ type, key, value: undefined, revision, created });
    }
    if (changes.length > 0) this.#commits.push(changes);
    return this.revision;
  }

  get(key: string, at = this.revision): Entry | undefined {
    this.#checkReadable(at);
    return this.#stateAt(at).get(key);
  }

  range({ prefix, from = prefix, at = this.revision, limit = Number.POSITIVE_INFINITY }: RangeRequest) {
    this.#checkReadable(at);
    const keys = [...this.#stateAt(at).values()].filter((entry) => entry.key.startsWith(prefix) && entry.key >= from);
    keys.sort((a, b) => (a.key < b.key ? -1 : 1));
    return { entries: keys.slice(0, limit), revision: at, more: keys.length > limit, count: keys.length };
  }

  changes({ after, prefix, limit = Number.POSITIVE_INFINITY }: { after: number; prefix: string; limit?: number }): ChangeRecord[] {
    this.#checkReadable(after);
    const changeRecords: ChangeRecord[] = [];
    for (const commit of this.#commits.slice(after - this.base)) {
      if (changeRecords.length >= limit) break;
      changeRecords.push(...commit.filter((change) => change.key.startsWith(prefix)));
    }
    return changeRecords;
  }

  /** Changes after a revision, compacted or not: those that a subscriber from then on must have seen. */
  history(after: number): ChangeRecord[] {
    return this.#commits.slice(after - this.base).flat();
  }

  compact(revision: number): void {
    if (revision > this.revision) throw new FutureRevision(this.revision);
    this.compacted = Math.max(this.compacted, revision);
  }

  #checkReadable(revision: number): void {
    if (revision > this.revision) throw new FutureRevision(this.revision);
    if (revision < this.compacted) throw new Compacted(this.compacted);
  }

  #stateAt(revision: number): Map<string, Entry> {
    const state = new Map<string, Entry>();
    for (const commit of this.#commits.slice(0, revision - this.base)) {
      for (const { type, key, value, revision, created } of commit) {
        if (type === 'put') state.set(key, { key, value: value as Buffer, revision, created });
        else state.delete(key);
      }
    }
    return state;
  }
}

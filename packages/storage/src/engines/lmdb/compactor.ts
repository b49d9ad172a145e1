/**
 * Compacts history. The log is scanned from where the last compaction ended: a record names the version that it superseded,
 * which is removed, and a record of a deletion is removed itself. Each step is a small transaction that also records its
 * progress, so that a crash loses nothing and the next start continues.
 */
import { StoreUnavailable } from '../../engine.ts';
import type { DamagedRecord, Position, StoredFacts } from './format.ts';
import { readNumberRow, writeNumberRow } from './meta.ts';
import type { Tables } from './table.ts';

/** Records of one step: a step takes a millisecond or two of the event loop and delays other writes no longer than they delay each other. */
const STEP = 256;

export interface CompactionState {
  /** The newest visible revision. */
  readonly revision: number;
  /** Oldest revision that can be read; raised here before anything is removed. */
  compacted: number;
  readonly stopped: boolean;
  /** The revision that may be compacted to, at most the requested one: not beyond a held revision. */
  bound(revision: number): number;
  /** Runs writes in a transaction; resolves when they are durable. */
  write(bytes: number, fill: () => void): Promise<void>;
}

export class Compactor {
  readonly #tables: Tables;
  readonly #state: CompactionState;
  /** Everything up to this revision is pruned. */
  #pruned: number;
  #last: Promise<void> = Promise.resolve();

  constructor(tables: Tables, state: CompactionState) {
    this.#tables = tables;
    this.#state = state;
    this.#pruned = readNumberRow(tables.meta, 'pruned') ?? 0;
  }

  /** Continues a compaction that the process did not finish. */
  resume(): Promise<void> {
    return this.#enqueue(() => this.#prune(this.#state.compacted, Number.POSITIVE_INFINITY));
  }

  /** Compacts history before a revision. */
  async toRevision(revision: number): Promise<void> {
    const bound = this.#state.bound(revision);
    if (bound <= this.#state.compacted) return;
    this.#state.compacted = bound;
    await this.#enqueue(() => this.#prune(bound, Number.POSITIVE_INFINITY));
  }

  /** Compacts versions superseded before a time. */
  toTime(time: number): Promise<void> {
    return this.#enqueue(() => this.#prune(this.#state.bound(this.#state.revision), time));
  }

  /** Skips the revisions up to this one. Everything before must be pruned. */
  skipTo(revision: number): Promise<void> {
    return this.#enqueue(async () => {
      await this.#state.write(100, () => {
        writeNumberRow(this.#tables.meta, 'compacted', revision);
        writeNumberRow(this.#tables.meta, 'pruned', revision);
      });
      this.#pruned = revision;
      this.#state.compacted = revision;
    });
  }

  #enqueue(run: () => Promise<void>): Promise<void> {
    const done = this.#last.then(run);
    this.#last = done.catch(() => {});
    return done;
  }

  async #prune(revision: number, time: number): Promise<void> {
    while (this.#pruned < revision) {
      if (this.#state.stopped) throw new StoreUnavailable('the store was closed; its history is forgotten at the next start');
      const { removals, reached } = this.#step(revision, time);
      if (reached === this.#pruned) return;
      this.#state.compacted = Math.max(this.#state.compacted, reached);
      const { compacted } = this.#state;
      await this.#state.write(removals.length * 100, () => {
        for (const { position, key } of removals) this.#remove(position, key);
        writeNumberRow(this.#tables.meta, 'compacted', compacted);
        writeNumberRow(this.#tables.meta, 'pruned', reached);
      });
      this.#pruned = reached;
    }
  }

  /** The rows that the next records make obsolete, and the revision of the last whole commit among them. */
  #step(revision: number, time: number): { removals: { position: Position; key: string }[]; reached: number } {
    const removals: { position: Position; key: string }[] = [];
    const bounds = { start: { revision: this.#pruned + 1, index: 0 }, end: { revision: revision + 1, index: 0 } };
    let records = 0;
    let current = this.#pruned;
    for (const { key: position, value } of this.#tables.recordFacts.getRange(bounds)) {
      if (position.revision !== current && (records >= STEP || (!('damage' in value) && value.time > time)))
        return { removals, reached: current };
      current = position.revision;
      records++;
      collect(removals, position, value);
    }
    // Beyond the last record there are only deletions that are compacted already.
    return { removals, reached: revision };
  }

  #remove(position: Position, name: string): void {
    this.#tables.records.remove(position);
    this.#tables.versions.remove({ name, revision: position.revision });
  }
}

/** The rows that a damaged or misplaced record makes obsolete are not known: they stay. */
function collect(removals: { position: Position; key: string }[], position: Position, record: StoredFacts | DamagedRecord): void {
  if ('damage' in record || record.revision !== position.revision || record.index !== position.index) return;
  const { deleted, previous, key } = record;
  if (previous.revision > 0) removals.push({ position: previous, key });
  if (deleted) removals.push({ position, key });
}

/**
 * Forgets history. The log is walked from where the last compaction ended: a record names the version that it superseded,
 * which can go, and a record of a deletion can go itself. Each step is a small transaction that also notes how far it
 * got, so that a crash loses nothing and the next start goes on.
 */
import { StoreUnavailable } from '../../engine.ts';
import type { DamagedRecord, Position, StoredFacts } from './format.ts';
import { readNumberRow, writeNumberRow } from './meta.ts';
import type { Tables } from './tables.ts';

/** Records that one step looks at: a step takes a millisecond or two of the event loop and delays other writes no longer than they delay each other. */
const STEP = 256;

export interface CompactionState {
  /** The newest visible revision. */
  readonly revision: number;
  /** Oldest revision that can be read; raised here before anything is removed. */
  compacted: number;
  readonly stopped: boolean;
  /** How far history may be forgotten, of what is asked: not beyond a revision that someone holds. */
  bound(revision: number): number;
  /** Makes writes in some transaction; resolves when they are durable. */
  write(bytes: number, fill: () => void): Promise<void>;
}

export class Compactor {
  readonly #tables: Tables;
  readonly #state: CompactionState;
  /** Up to this revision everything that can go is gone. */
  #pruned: number;
  #last: Promise<void> = Promise.resolve();

  constructor(tables: Tables, state: CompactionState) {
    this.#tables = tables;
    this.#state = state;
    this.#pruned = readNumberRow(tables.meta, 'pruned') ?? 0;
  }

  /** Goes on where the process ended before it was done. */
  resume(): Promise<void> {
    return this.#enqueue(() => this.#prune(this.#state.compacted, Number.POSITIVE_INFINITY));
  }

  /** Forgets what was before a revision. */
  async toRevision(revision: number): Promise<void> {
    const bound = this.#state.bound(revision);
    if (bound <= this.#state.compacted) return;
    this.#state.compacted = bound;
    await this.#enqueue(() => this.#prune(bound, Number.POSITIVE_INFINITY));
  }

  /** Forgets what was superseded before a time. */
  toTime(time: number): Promise<void> {
    return this.#enqueue(() => this.#prune(this.#state.bound(this.#state.revision), time));
  }

  /** Leaves the revisions up to this one out. Everything before must be pruned. */
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

  /** What the next records make superfluous, and the revision of the last whole commit among them. */
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
    // Beyond the last record there are only deletions that are forgotten already.
    return { removals, reached: revision };
  }

  #remove(position: Position, name: string): void {
    this.#tables.records.remove(position);
    this.#tables.versions.remove({ name, revision: position.revision });
  }
}

/** What a record that is damaged, or stands in the wrong place, makes superfluous is not known: it stays. */
function collect(removals: { position: Position; key: string }[], position: Position, record: StoredFacts | DamagedRecord): void {
  if ('damage' in record || record.revision !== position.revision || record.index !== position.index) return;
  const { deleted, previous, key } = record;
  if (previous.revision > 0) removals.push({ position: previous, key });
  if (deleted) removals.push({ position, key });
}

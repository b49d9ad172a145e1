/**
 * Changes that are durable in the journal and visible, but not in the tables yet. They are written a few times a second, in
 * large transactions, or at once before a read of the tables. The backlog itself is held in memory.
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { ChangeRecord } from '../../engine.ts';
import { type PendingChange, writeChange } from './change.ts';
import type { Tables } from './table.ts';

/** Interval at which new commits are replayed into the tables. */
const PAUSE_MS = 100;
/** Changes of one transaction: their writing takes about a millisecond of the event loop. */
const STEP_CHANGES = 256;
/** A backlog above this does not wait for the interval. */
const URGENT_BYTES = 4 * 2 ** 20;
/** A backlog above this makes new commits wait. */
const FULL_BYTES = 32 * 2 ** 20;
/** Maximum changes that are passed to a subscriber in one turn of the loop. */
const SLICE_CHANGES = 500;

export interface BacklogState {
  /** Runs writes in a transaction of the tables; resolves when they are durable. */
  write(bytes: number, fill: () => void): Promise<void>;
}

export class Backlog {
  readonly #tables: Tables;
  readonly #state: BacklogState;
  readonly #clock: Clock;
  /** Oldest first. Those before `#start` are in the tables. */
  #changes: PendingChange[] = [];
  #start = 0;
  #bytes = 0;
  #applied: number;
  #running: Promise<void> | undefined;
  #cancel: Cancel | undefined;
  #stopped = false;

  constructor(tables: Tables, revision: number, state: BacklogState, clock: Clock) {
    this.#clock = clock;
    this.#tables = tables;
    this.#applied = revision;
    this.#state = state;
  }

  /** The tables have everything up to this revision. */
  get applied(): number {
    return this.#applied;
  }
  get count(): number {
    return this.#changes.length - this.#start;
  }
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds changes that have become durable. */
  add(changes: readonly PendingChange[]): void {
    for (const change of changes) {
      this.#changes.push(change);
      this.#bytes += change.record.length;
    }
    if (this.#bytes > URGENT_BYTES) this.#run().catch(() => {});
    else this.#runSoon();
  }

  /** Writes to the tables on request only: they are about to be closed. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#bytes > FULL_BYTES) await this.#run();
  }

  /** Resolves when the tables have everything up to a durable revision. */
  async applyTo(revision: number): Promise<void> {
    while (this.#applied < revision) await this.#run();
  }

  /** The revisions up to here are skipped: nothing waits. */
  skipTo(revision: number): void {
    if (this.count > 0) throw new Error('changes wait for the tables');
    this.#applied = revision;
  }

  /** A bounded number of the changes after a revision in the tables, and the last of their revisions. */
  slice(after: number): { changes: ChangeRecord[]; revision: number } {
    const changes: ChangeRecord[] = [];
    let reached = after;
    for (let i = this.#start; i < this.#changes.length; i++) {
      const { change } = this.#changes[i] as PendingChange;
      if (change.revision <= after) continue;
      if (change.revision !== reached && changes.length >= SLICE_CHANGES) break;
      reached = change.revision;
      changes.push(change);
    }
    return { changes, revision: reached };
  }

  /** Writes the current backlog to the tables. */
  #run(): Promise<void> {
    this.#running ??= this.#drain(this.#changes.length).finally(() => {
      this.#running = undefined;
      if (this.#start < this.#changes.length) this.#runSoon();
    });
    return this.#running;
  }

  readonly #pauseOver = (): void => {
    this.#cancel = undefined;
    this.#run().catch(() => {});
  };

  /** A failure is retried in the same way: the disk may have room by then. */
  #runSoon(): void {
    if (this.#stopped) return;
    this.#cancel ??= this.#clock.after(PAUSE_MS, this.#pauseOver, true);
  }

  async #drain(until: number): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    while (this.#start < until) {
      const step = this.#step();
      let bytes = 0;
      for (const { record } of step) bytes += record.length;
      await this.#state.write(bytes, () => {
        for (const change of step) writeChange(this.#tables, change);
      });
      this.#applied = (step[step.length - 1] as PendingChange).version.revision;
      this.#start += step.length;
      this.#bytes -= bytes;
    }
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }

  /** The next changes, whole commits. */
  #step(): PendingChange[] {
    let end = Math.min(this.#start + STEP_CHANGES, this.#changes.length);
    const revisionAt = (i: number) => this.#changes[i]?.version.revision;
    while (end < this.#changes.length && revisionAt(end) === revisionAt(end - 1)) end++;
    return this.#changes.slice(this.#start, end);
  }
}

/**
 * Compacts history that is older than the retention. Several servers may run on one etcd: only the
 * one that wins the conditional write of a record compacts, once per interval. The record's value is the revision, for the others.
 *
 * A server notes the newest revision it has seen at each interval, and compacts to the newest note that is old enough. So
 * history is kept for the retention, up to one interval longer.
 */
import type { Clock } from '@plat-dev/lib/clock';
import type { Connection } from './connection.ts';
import { encodePutAtVersion, transaction } from './transactions.ts';

export interface CompactionContext {
  readonly connection: Connection;
  readonly clock: Clock;
  /** The record with the precondition. */
  readonly record: string;
  readonly retentionMs: number;
  newestSeen(): number;
  /** The revision that may be compacted to, at most the requested one: not beyond a revision that some server holds. */
  bound(revision: number): Promise<number>;
  compact(revision: number): Promise<void>;
  notice(message: string): void;
}

/** Intervals of a retention, and with that the number of notes. */
const PARTS = 5;
const SHORTEST_INTERVAL_MS = 1_000;
const LONGEST_INTERVAL_MS = 60_000;

export class Compaction {
  readonly #context: CompactionContext;
  readonly #intervalMs: number;
  /** Oldest first. */
  #notes: { readonly time: number; readonly revision: number }[] = [];
  /** How often the record was written, as far as this server knows, and at which revision last. */
  #version = 0;
  #recorded = 0;
  /** The revision that this server last tried to compact to. */
  #target = 0;
  #cancel: () => void = () => {};
  #stopped = false;

  constructor(context: CompactionContext) {
    this.#context = context;
    this.#intervalMs = Math.min(LONGEST_INTERVAL_MS, Math.max(SHORTEST_INTERVAL_MS, context.retentionMs / PARTS));
    this.#note();
    this.#wait();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #wait(): void {
    if (this.#stopped) return;
    this.#cancel = this.#context.clock.after(this.#intervalMs, () => {
      void this.#compact()
        .catch((error: Error) => this.#context.notice(`etcd was not compacted: ${error.message}`))
        .finally(() => this.#wait());
    });
  }

  #note(): void {
    const newest = this.#context.newestSeen();
    // Writes of the record do not count as history: a store without other writes is not compacted again.
    const revision = newest === this.#recorded ? (this.#notes.at(-1)?.revision ?? this.#target) : newest;
    this.#notes.push({ time: this.#context.clock.monotonic(), revision });
  }

  /** The newest noted revision that is old enough. Older notes are dropped. */
  #due(): number {
    const until = this.#context.clock.monotonic() - this.#context.retentionMs;
    let due = 0;
    while (this.#notes[0] !== undefined && this.#notes[0].time <= until) due = this.#notes.shift()?.revision ?? due;
    return due;
  }

  async #compact(): Promise<void> {
    this.#note();
    const due = this.#due();
    if (due <= this.#target) return;
    const { connection, record } = this.#context;
    const target = await this.#context.bound(due);
    // A revision that is due and still held is due again as soon as it is released.
    if (target < due) this.#notes.unshift({ time: Number.NEGATIVE_INFINITY, revision: due });
    if (target <= this.#target) return;
    this.#target = target;
    const answer = await connection.write(transaction, encodePutAtVersion(record, this.#version, Buffer.from(String(target))));
    if (!answer.succeeded) {
      const keyState = answer.reads[0];
      this.#version = keyState?.version ?? 0;
      this.#recorded = keyState?.revision ?? 0;
      return;
    }
    this.#version++;
    this.#recorded = answer.revision;
    await this.#context.compact(target);
  }
}

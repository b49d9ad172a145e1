/**
 * Group commit. One transaction is under way at a time; what arrives meanwhile goes together into the next one. The
 * library writes and waits for the disk on a thread of its own.
 */
import type { Tables } from './tables.ts';

/** Something to write within one transaction, together with others. */
export interface Job {
  /** Makes its writes. Must not throw. */
  write(): void;
  /** Roughly how much that is. */
  readonly bytes: number;
}

/** A group takes jobs up to about this size, so that one transaction stays short; a larger job goes alone. */
const GROUP_BYTES = 8 * 2 ** 20;

export interface WriterEvents<J extends Job> {
  /** These jobs are durable. */
  durable(jobs: readonly J[]): void;
  /** Nothing of these jobs was written: those of the failed transaction and all that waited behind it. */
  failed(jobs: readonly J[], error: unknown): void;
  /** Milliseconds that only go forward. */
  monotonic(): number;
}

export class GroupWriter<J extends Job> {
  readonly #tables: Tables;
  readonly #events: WriterEvents<J>;
  #waiting: J[] = [];
  #scheduled = false;
  #startedAt: number | undefined;
  #idle: (() => void)[] = [];
  /** Set when a transaction failed; the database is asked whether it can go on before the next. */
  #doubtful = false;

  constructor(tables: Tables, events: WriterEvents<J>) {
    this.#tables = tables;
    this.#events = events;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** How long the transaction under way has taken so far, in milliseconds; 0 when there is none. */
  get busyFor(): number {
    return this.#startedAt === undefined ? 0 : this.#events.monotonic() - this.#startedAt;
  }

  add(job: J): void {
    this.#waiting.push(job);
    this.#schedule();
  }

  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void> {
    if (this.#startedAt === undefined && !this.#scheduled) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Starts a transaction in the next turn of the event loop: what else is written in this turn goes along. */
  #schedule(): void {
    if (this.#startedAt !== undefined || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    const group = this.#takeGroup();
    this.#startedAt = this.#events.monotonic();
    let failure: { error: unknown } | undefined;
    try {
      if (this.#doubtful) this.#tables.checkWritable();
      await this.#tables.write(() => {
        for (const job of group) job.write();
      });
    } catch (error) {
      failure = { error };
    }
    this.#doubtful = failure !== undefined;
    this.#startedAt = undefined;
    if (failure === undefined) this.#events.durable(group);
    else this.#events.failed(group.concat(this.#waiting.splice(0)), failure.error);
    if (this.#waiting.length > 0) this.#schedule();
    else for (const resolve of this.#idle.splice(0)) resolve();
  }

  #takeGroup(): J[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || bytes < GROUP_BYTES)) bytes += (this.#waiting[count++] as J).bytes;
    return this.#waiting.splice(0, count);
  }
}

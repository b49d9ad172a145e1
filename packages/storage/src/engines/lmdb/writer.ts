/**
 * Groups of writes, for the journal and for the tables. One group is in progress at a time; jobs that arrive meanwhile form
 * the next one. Writing and waiting for the disk happen on other threads.
 */
import { inNextTurn } from '@plat-dev/lib/next-turn';

/** A write that can be grouped with others. */
export interface Job {
  /** Its approximate size in bytes. */
  readonly bytes: number;
}

/** A group takes jobs up to about this size, so that it stays short; a larger job is alone. */
const GROUP_BYTES = 8 * 2 ** 20;
/** How long a group gathers while jobs keep arriving. */
const GATHER_MS = 2;

export interface WriterEvents<J extends Job> {
  /** Throws when there is no room for a group of this size. */
  admit(bytes: number): void;
  /** Writes a group; resolves when it is durable. */
  write(jobs: readonly J[]): Promise<void>;
  /** Whether a failed write has changed nothing, so that the next group may be written. */
  canRetry?(error: unknown): boolean;
  /** These jobs are durable. */
  durable(jobs: readonly J[]): void;
  /** Nothing of these jobs was written: those of the failed group and all that waited behind it. */
  failed(jobs: readonly J[], error: unknown): void;
  /** Milliseconds of a monotonic clock. */
  monotonic(): number;
}

export class GroupWriter<J extends Job> {
  readonly #events: WriterEvents<J>;
  #waiting: J[] = [];
  #scheduled = false;
  #startedAt: number | undefined;
  #idle: (() => void)[] = [];
  /** Why a group failed. None is begun after that: the database library or the disk may be in an undefined state. */
  #broken: { readonly error: unknown } | undefined;

  constructor(events: WriterEvents<J>) {
    this.#events = events;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** How long the current group has taken so far, in milliseconds; 0 when there is none. */
  get busyFor(): number {
    return this.#startedAt === undefined ? 0 : this.#events.monotonic() - this.#startedAt;
  }

  /** Why nothing can be written any more; undefined if there was no failure. */
  get broken(): { readonly error: unknown } | undefined {
    return this.#broken;
  }

  /** Nothing is written from now on, for this reason. */
  stop(error: unknown): void {
    this.#broken ??= { error };
  }

  add(job: J): void {
    this.#waiting.push(job);
    this.#schedule();
  }

  /** Resolves when nothing is waiting or in progress. */
  idle(): Promise<void> {
    if (this.#startedAt === undefined && !this.#scheduled) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /**
   * Starts a group as soon as a turn of the event loop adds nothing more to it: waking another thread costs more than
   * the turn that a single writer waits, and concurrent writes are grouped.
   */
  #schedule(): void {
    if (this.#startedAt !== undefined || this.#scheduled) return;
    this.#scheduled = true;
    this.#gather(0, this.#events.monotonic() + GATHER_MS);
  }

  #gather(countBefore: number, until: number): void {
    inNextTurn(() => {
      if (this.#waiting.length > countBefore && this.#events.monotonic() < until) {
        this.#gather(this.#waiting.length, until);
        return;
      }
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    const { group, bytes } = this.#takeGroup();
    this.#startedAt = this.#events.monotonic();
    const failure = this.#broken ?? this.#refusal(bytes) ?? (await this.#write(group));
    this.#startedAt = undefined;
    if (failure === undefined) this.#events.durable(group);
    else this.#events.failed(group.concat(this.#waiting.splice(0)), failure.error);
    if (this.#waiting.length > 0) this.#schedule();
    else for (const resolve of this.#idle.splice(0)) resolve();
  }

  #refusal(bytes: number): { error: unknown } | undefined {
    try {
      this.#events.admit(bytes);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  async #write(group: readonly J[]): Promise<{ error: unknown } | undefined> {
    try {
      await this.#events.write(group);
    } catch (error) {
      if (this.#events.canRetry?.(error)) return { error };
      this.#broken = { error };
    }
    return this.#broken;
  }

  #takeGroup(): { group: J[]; bytes: number } {
    let bytes = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || bytes < GROUP_BYTES)) bytes += (this.#waiting[count++] as J).bytes;
    return { group: this.#waiting.splice(0, count), bytes };
  }
}

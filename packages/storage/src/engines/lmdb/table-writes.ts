/** Writes to the tables of the embedded store: those that come together are one transaction. */
import type { Clock } from '@plat-dev/lib/clock';
import { checkRoom, fullError, isFullWrite, writeError } from './errors.ts';
import type { Tables } from './table.ts';
import { GroupWriter, type Job } from './writer.ts';

interface WaitingWrite extends Job {
  fill(): void;
  resolve(): void;
  reject(error: Error): void;
}

export interface TableWritesDeps {
  readonly dataDir: string;
  /** Free bytes of the disk. */
  readonly free: () => number;
  readonly clock: Clock;
  /** A transaction is durable: the file has changed. */
  readonly onWritten: () => void;
}

export class TableWrites {
  readonly #groups: GroupWriter<WaitingWrite>;

  constructor(tables: Tables, { dataDir, free, clock, onWritten }: TableWritesDeps) {
    const hasNoRoom = (error: unknown): boolean => isFullWrite(error, free);
    this.#groups = new GroupWriter<WaitingWrite>({
      admit: (bytes) => checkRoom(dataDir, free(), bytes),
      write: (jobs) =>
        tables.write(() => {
          for (const job of jobs) job.fill();
        }),
      durable: (jobs) => {
        for (const job of jobs) job.resolve();
        onWritten();
      },
      failed: (jobs, error) => {
        const reported = hasNoRoom(error) ? fullError(dataDir, error) : writeError(dataDir, error);
        for (const job of jobs) job.reject(reported);
      },
      canRetry: hasNoRoom,
      monotonic: () => clock.monotonic(),
    });
  }

  get busyFor(): number {
    return this.#groups.busyFor;
  }
  get broken(): { readonly error: unknown } | undefined {
    return this.#groups.broken;
  }
  stop(error: unknown): void {
    this.#groups.stop(error);
  }
  /** Resolves when nothing is waiting or in progress. */
  idle(): Promise<void> {
    return this.#groups.idle();
  }

  /** Runs the writes of `fill` in a transaction; resolves when that is durable. `fill` must not throw. */
  write(bytes: number, fill: () => void): Promise<void> {
    return new Promise((resolve, reject) => this.#groups.add({ bytes, fill, resolve, reject }));
  }
}

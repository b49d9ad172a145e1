/**
 * Keeps `store.running` (`clean-end.ts`) true: it is written a moment after the last write to the store file. The moment must be longer
 * than times of files are coarse, since a record counts only if it is later than the file.
 *
 * The file is overwritten in place, on another thread: to truncate it can take milliseconds while the journal waits for the same disk.
 */
import { closeSync, constants, openSync, rmSync, write } from 'node:fs';
import { join } from 'node:path';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { RUNNING_FILE, runningRecord } from './journal/clean-end.ts';

export const RECORD_AFTER_MS = 25;

export class RunningRecord {
  readonly #directory: string;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #boot: string | undefined;
  readonly #isChecked: () => boolean;
  #descriptor: number | undefined;
  #cancel: Cancel | undefined;
  #writing: Promise<void> | undefined;
  #isStopped = false;

  /** `boot`: names this start of the machine; nothing is recorded without it. `isChecked`: all pages and keys were checked since the start. */
  constructor(directory: string, clock: Clock, boot: string | undefined, isChecked: () => boolean) {
    this.#directory = directory;
    this.#path = join(directory, RUNNING_FILE);
    this.#clock = clock;
    this.#boot = boot;
    this.#isChecked = isChecked;
  }

  /** The file was written to, or its pages were checked. */
  changed(): void {
    if (this.#boot === undefined || this.#isStopped) return;
    this.#cancel?.();
    this.#cancel = this.#clock.after(RECORD_AFTER_MS, this.#due);
  }
  readonly #due = (): void => {
    this.#cancel = undefined;
    if (!this.#isChecked()) return;
    if (this.#writing !== undefined) {
      this.changed();
      return;
    }
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
  };
  /** Without the record a start after a crash takes longer, so that a failure is harmless. */
  #write(): Promise<void> {
    return new Promise((resolve) => {
      try {
        const record = runningRecord(this.#directory, this.#boot as string);
        this.#descriptor ??= openSync(this.#path, constants.O_WRONLY | constants.O_CREAT, 0o600);
        write(this.#descriptor, record, 0, record.length, 0, () => resolve());
      } catch {
        resolve();
      }
    });
  }

  /** Nothing is recorded from now on. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    rmSync(this.#path, { force: true });
  }
  async close(): Promise<void> {
    this.stop();
    await this.#writing;
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

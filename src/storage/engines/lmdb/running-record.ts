/**
 * Keeps `store.running` (`clean-end.ts`) true: it is written a moment after the last write to the store file. The moment must be longer
 * than times of files are coarse, since a record counts only if it is later than the file.
 */
import type { Cancel, Clock } from '../../../lib/clock.ts';
import { leaveRunning, removeRunning } from './clean-end.ts';

export const RECORD_AFTER_MS = 25;

export class RunningRecord {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #boot: string | undefined;
  readonly #isChecked: () => boolean;
  #cancel: Cancel | undefined;
  #isStopped = false;

  /** `boot`: names this start of the machine; nothing is recorded without it. `isChecked`: all pages and keys were checked since the start. */
  constructor(directory: string, clock: Clock, boot: string | undefined, isChecked: () => boolean) {
    this.#directory = directory;
    this.#clock = clock;
    this.#boot = boot;
    this.#isChecked = isChecked;
  }

  /** The file was written to, or its pages were checked. */
  changed(): void {
    if (this.#boot === undefined || this.#isStopped) return;
    this.#cancel?.();
    this.#cancel = this.#clock.after(RECORD_AFTER_MS, this.#write);
  }
  readonly #write = (): void => {
    this.#cancel = undefined;
    if (this.#isChecked()) leaveRunning(this.#directory, this.#boot as string);
  };

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    removeRunning(this.#directory);
  }
}

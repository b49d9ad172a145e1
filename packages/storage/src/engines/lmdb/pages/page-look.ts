/**
 * A file that was closed cleanly is opened without a check of its pages (`clean-end.ts`); they are checked here, while
 * the store is open. Damage stops all writes: the library trusts its pages, and would spread it.
 */
import { join } from 'node:path';
import type { Clock } from '@plat-dev/lib/clock';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { StoreUnavailable } from '../../../engine.ts';
import type { Tables } from '../table.ts';
import { FILE, pageProblem } from '../tables.ts';
import { walkPagesInUse } from './pages.ts';

/** Delay after a start, which has more important work. */
export const LOOK_AFTER_MS = 10_000;
/** After so many steps, of 32 pages each at most, comes a pause: at most 160 MiB are read per second. */
const STEPS_AT_ONCE = 64;
export const REST_MS = 50;

/** The result of a check of all pages. */
export interface PageCheck {
  readonly bytes: number;
  readonly damagedPages: number;
  readonly seconds: number;
}
export interface PageLookEvents {
  damaged(error: StoreUnavailable): void;
  checked(result: PageCheck): void;
}

export class PageLook {
  readonly #tables: Tables;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #events: PageLookEvents;
  /** Damaged pages that were found; 0 before the check is complete. */
  damagedPages = 0;
  #cancel: () => void;
  /** Ends the current pause. */
  #wake: (() => void) | undefined;
  #uncheckedStarts: number;
  #looking: Promise<void> | undefined;
  #stopped = false;

  constructor(tables: Tables, directory: string, clock: Clock, events: PageLookEvents) {
    this.#tables = tables;
    this.#directory = directory;
    this.#clock = clock;
    this.#events = events;
    this.#uncheckedStarts = tables.uncheckedStarts === undefined ? 0 : tables.uncheckedStarts + 1;
    this.#cancel = this.#uncheckedStarts === 0 ? () => {} : this.#later();
  }

  #later(): () => void {
    return this.#clock.after(LOOK_AFTER_MS, () => {
      this.#looking = this.#look();
    });
  }

  /** Starts since all pages were checked, including this one. */
  get uncheckedStarts(): number {
    return this.#uncheckedStarts;
  }

  /** Resolves when the file is not read any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    this.#wake?.();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const began = this.#clock.monotonic();
    let release = (): boolean => true;
    try {
      release = this.#tables.hold();
      let steps = 0;
      const { problems, problemCount } = await walkPagesInUse(join(this.#directory, FILE), async () => {
        if (++steps % STEPS_AT_ONCE === 0) await this.#rest();
        else await nextTurn();
        if (this.#stopped) throw new StoreUnavailable('the store is closed');
      });
      if (!release()) {
        // The file was reopened meanwhile, and pages may have changed while they were checked.
        if (!this.#stopped) this.#cancel = this.#later();
        return;
      }
      this.damagedPages = problemCount;
      const { used_bytes: bytes } = this.#tables.stats();
      this.#events.checked({ bytes, damagedPages: problemCount, seconds: (this.#clock.monotonic() - began) / 1000 });
      if (problems[0] === undefined) this.#uncheckedStarts = 0;
      else this.#events.damaged(new StoreUnavailable(damagedInUse(this.#directory, pageProblem(problems[0]))));
    } catch {
      // The store is closed, or the file could not be read: the pages are checked later, or after another start.
      if (!this.#stopped && !this.#tables.isReadable) this.#cancel = this.#later();
    } finally {
      release();
    }
  }

  #rest(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#clock.after(REST_MS, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

/** The message for damage that is found while the store is open. */
export const damagedInUse = (directory: string, damage: string): string =>
  `the store file ${join(directory, FILE)} is damaged: ${damage}. Nothing is written any more. Stop the server, then restore the directory from a ` +
  `backup, or see "plat store verify --data-dir ${directory}" and "plat store repair --data-dir ${directory}"`;

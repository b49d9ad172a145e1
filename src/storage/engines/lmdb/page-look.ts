/**
 * A file that a server left in order is opened without a look at its pages (`clean-end.ts`); that is made up for here, while
 * the store is in use. Damage ends all writing: the library trusts its pages, and would spread it.
 */
import { join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { nextTurn } from '../../../lib/next-turn.ts';
import { StoreUnavailable } from '../../engine.ts';
import { walkPagesInUse } from './pages.ts';
import { FILE, pageProblem, type Tables } from './tables.ts';

/** A start has better things to do. */
export const LOOK_AFTER_MS = 10_000;
/** After so many steps, of 32 pages each at most, comes a rest: no more than 160 MiB are read in a second. */
export const STEPS_AT_ONCE = 64;
export const REST_MS = 50;

/** What a look at all pages found. */
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
  /** Pages in which the look found damage; 0 before it has ended. */
  damagedPages = 0;
  #cancel: () => void;
  /** Ends the rest that is under way. */
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

  /** Starts since all pages were looked at, this one included. */
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
        // The file was opened again meanwhile, and pages may have changed while they were looked at.
        if (!this.#stopped) this.#cancel = this.#later();
        return;
      }
      this.damagedPages = problemCount;
      const { used_bytes: bytes } = this.#tables.stats();
      this.#events.checked({ bytes, damagedPages: problemCount, seconds: (this.#clock.monotonic() - began) / 1000 });
      if (problems[0] === undefined) this.#uncheckedStarts = 0;
      else this.#events.damaged(new StoreUnavailable(damagedInUse(this.#directory, pageProblem(problems[0]))));
    } catch {
      // The store is closed, or the file could not be read just now: the pages are looked at later, or after another start.
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

const damagedInUse = (directory: string, damage: string): string =>
  `the store file ${join(directory, FILE)} is damaged: ${damage}. Nothing is written any more. Stop the server, then restore the directory from a ` +
  `backup, or see "plat store verify --data-dir ${directory}" and "plat store repair --data-dir ${directory}"`;

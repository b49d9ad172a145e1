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

export class PageLook {
  readonly #tables: Tables;
  readonly #directory: string;
  readonly #damaged: (error: StoreUnavailable) => void;
  readonly #cancel: () => void;
  #uncheckedStarts: number;
  #looking: Promise<void> | undefined;
  #stopped = false;

  constructor(tables: Tables, directory: string, clock: Clock, damaged: (error: StoreUnavailable) => void) {
    this.#tables = tables;
    this.#directory = directory;
    this.#damaged = damaged;
    this.#uncheckedStarts = tables.uncheckedStarts === undefined ? 0 : tables.uncheckedStarts + 1;
    const begin = (): void => {
      this.#looking = this.#look();
    };
    this.#cancel = this.#uncheckedStarts === 0 ? () => {} : clock.after(LOOK_AFTER_MS, begin);
  }

  /** Starts since all pages were looked at, this one included. */
  get uncheckedStarts(): number {
    return this.#uncheckedStarts;
  }

  /** Resolves when the file is not read any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const release = this.#tables.hold();
    try {
      const { problems } = await walkPagesInUse(join(this.#directory, FILE), async () => {
        await nextTurn();
        if (this.#stopped) throw new StoreUnavailable('the store is closed');
      });
      if (problems[0] === undefined) this.#uncheckedStarts = 0;
      else this.#damaged(new StoreUnavailable(damagedInUse(this.#directory, pageProblem(problems[0]))));
    } catch {
      // The store is closed, or the file could not be read just now: the pages are looked at after another start.
    } finally {
      release();
    }
  }
}

const damagedInUse = (directory: string, damage: string): string =>
  `the store file ${join(directory, FILE)} is damaged: ${damage}. Nothing is written any more. Stop the server, then restore the directory from a ` +
  `backup, or see "plat store verify --data-dir ${directory}" and "plat store repair --data-dir ${directory}"`;

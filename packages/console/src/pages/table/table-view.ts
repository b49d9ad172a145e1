/** What a table shows of a collection. It is arranged anew after changes, in slices, and never twice at the same time. */

import type { Clock } from '@plat-dev/lib/clock';
import { effect, type Signal, signal, untracked } from '@preact/signals';
import type { Collection, Row } from '../../api/collection.ts';
import { arrange, type Order } from './arrange.ts';
import { runInSlices } from './steps.ts';

/** Between two times that rows are arranged, the page has this many times as long for other work. */
const REST = 3;

export class TableView {
  readonly rows: Signal<readonly Row[]> = signal<readonly Row[]>([]);
  /** Whether what is shown is not yet what was asked for. */
  readonly isArranging: Signal<boolean> = signal(false);
  readonly #collection: Collection;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #stop: () => void;
  #filter = '';
  #order: Order = { column: undefined, isDescending: false };
  #isDirty = false;
  #isRunning = false;

  constructor(collection: Collection, clock: Clock) {
    this.#collection = collection;
    this.#clock = clock;
    this.#stop = effect(() => {
      collection.changes.value;
      untracked(() => this.#changed());
    });
  }

  show(filter: string, order: Order): void {
    this.#filter = filter;
    this.#order = order;
    this.#changed();
  }

  close(): void {
    this.#stop();
    this.#abort.abort();
    this.#collection.close();
  }

  #changed(): void {
    this.#isDirty = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    this.isArranging.value = true;
    while (this.#isDirty && !this.#abort.signal.aborted) {
      this.#isDirty = false;
      const startedAt = this.#clock.monotonic();
      const { rows, columns } = this.#collection;
      const steps = arrange(rows.values(), columns.peek(), this.#filter, this.#order);
      const result = await runInSlices(steps, this.#clock, this.#abort.signal);
      if (result === undefined) break;
      this.rows.value = result;
      await this.#clock.sleep(Math.max(16, REST * (this.#clock.monotonic() - startedAt)));
    }
    this.#isRunning = false;
    this.isArranging.value = false;
  }
}

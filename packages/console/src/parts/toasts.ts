/** Short messages about what was done, at the edge of the page. */

import type { Clock } from '@plat-dev/lib/clock';
import { type Signal, signal } from '@preact/signals';

export interface Toast {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly text: string;
}

const SHOWN_MILLIS = 6000;
/** The oldest go first. */
const MAX_TOASTS = 5;

export class Toasts {
  readonly list: Signal<readonly Toast[]> = signal<readonly Toast[]>([]);
  readonly #clock: Pick<Clock, 'after'>;
  #lastId = 0;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  done(text: string): void {
    const id = this.#add('done', text);
    this.#clock.after(SHOWN_MILLIS, () => this.dismiss(id));
  }

  /** Stays until it is dismissed. */
  failed(text: string): void {
    this.#add('failed', text);
  }

  dismiss(id: number): void {
    this.list.value = this.list.peek().filter((toast) => toast.id !== id);
  }

  #add(kind: Toast['kind'], text: string): number {
    const id = ++this.#lastId;
    this.list.value = [...this.list.peek(), { id, kind, text }].slice(-MAX_TOASTS);
    return id;
  }
}

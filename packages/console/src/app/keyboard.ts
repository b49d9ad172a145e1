/**
 * Keys of the page. What is shown adds its own for as long as it is there; the last one that was added for a key wins.
 *
 *   keys.add([{ key: 'd', label: 'Delete', run }])      keys.add([{ key: 'g p', label: 'Pods', run }])
 */

import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { type Signal, signal } from '@preact/signals';

export interface KeyBinding {
  /** As `KeyboardEvent.key` has it; two that follow each other have a space between them. */
  readonly key: string;
  /** What the help dialog says of it. */
  readonly label: string;
  run(): void;
}

/** How long the second key of a pair is waited for. */
const PAIR_MILLIS = 1500;

export class Keyboard {
  readonly bindings: Signal<readonly KeyBinding[]> = signal<readonly KeyBinding[]>([]);
  readonly #clock: Pick<Clock, 'after'>;
  #first: string | undefined;
  #cancelFirst: Cancel | undefined;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Adds keys until the function that it returns is called. */
  add(bindings: readonly KeyBinding[]): () => void {
    this.bindings.value = [...this.bindings.peek(), ...bindings];
    return () => {
      this.bindings.value = this.bindings.peek().filter((one) => !bindings.includes(one));
    };
  }

  /** Whether the key had a meaning. */
  press(key: string): boolean {
    const pressed = this.#first === undefined ? key : `${this.#first} ${key}`;
    this.#forget();
    const bindings = this.bindings.peek();
    const binding = bindings.findLast((one) => one.key === pressed) ?? bindings.findLast((one) => one.key === key);
    if (binding !== undefined) {
      binding.run();
      return true;
    }
    if (!bindings.some((one) => one.key.startsWith(`${key} `))) return false;
    this.#first = key;
    this.#cancelFirst = this.#clock.after(PAIR_MILLIS, () => this.#forget());
    return true;
  }

  #forget(): void {
    this.#cancelFirst?.();
    this.#first = undefined;
    this.#cancelFirst = undefined;
  }
}

/** Takes the keys of a document that are not meant for a field or a dialog. */
export function listenForKeys(keyboard: Keyboard, page: Document): void {
  page.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target as HTMLElement | null;
    const isField = target?.closest?.('input, textarea, select, [contenteditable="true"], [data-own-keys]') !== null;
    if (page.querySelector('dialog[open]') !== null || (isField && event.key !== 'Escape')) return;
    if (isField) target?.blur();
    else if (keyboard.press(event.key)) event.preventDefault();
  });
}

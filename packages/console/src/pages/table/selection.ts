/** Which rows are selected, and which one is active: the one that keys are about. */
import { type Signal, signal } from '@preact/signals';
import type { Row } from '../../api/collection.ts';

export class Selection {
  readonly keys: Signal<ReadonlySet<string>> = signal<ReadonlySet<string>>(new Set());
  /** The key of the active row. It stays with its row when rows move. */
  readonly active: Signal<string | undefined> = signal<string | undefined>(undefined);
  #anchor: string | undefined;

  toggle(row: Row): void {
    const keys = new Set(this.keys.peek());
    if (!keys.delete(row.key)) keys.add(row.key);
    this.keys.value = keys;
    this.#anchor = row.key;
  }

  /** Selects all rows from the last one that was chosen to this one. */
  extendTo(row: Row, rows: readonly Row[]): void {
    const from = Math.max(
      0,
      rows.findIndex(({ key }) => key === (this.#anchor ?? this.active.peek())),
    );
    const to = rows.indexOf(row);
    const between = rows.slice(Math.min(from, to), Math.max(from, to) + 1);
    this.keys.value = new Set([...this.keys.peek(), ...between.map(({ key }) => key)]);
  }

  all(rows: readonly Row[]): void {
    this.keys.value = new Set(rows.map(({ key }) => key));
  }

  clear(): void {
    this.keys.value = new Set();
    this.#anchor = undefined;
  }

  /** The selected rows that exist and are shown, or else the active one. */
  targets(rows: readonly Row[]): Row[] {
    const keys = this.keys.peek();
    if (keys.size > 0) return rows.filter(({ key }) => keys.has(key));
    return rows.filter(({ key }) => key === this.active.peek());
  }

  /** Where a key of the keyboard leads from the active row; undefined: the key does not move. */
  moved(key: string, rows: readonly Row[], pageLength: number): number | undefined {
    const at = rows.findIndex((row) => row.key === this.active.peek());
    const last = rows.length - 1;
    const target = new Map([
      ['ArrowDown', at + 1],
      ['ArrowUp', at < 0 ? 0 : at - 1],
      ['PageDown', at + pageLength],
      ['PageUp', at - pageLength],
      ['Home', 0],
      ['End', last],
    ]).get(key);
    return target === undefined || last < 0 ? undefined : Math.max(0, Math.min(last, target));
  }
}

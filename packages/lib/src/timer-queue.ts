/** Calls by their due time: a heap, so that the next one is found without visiting all. */

/** Cancels a call that has not been made yet. */
export type Cancel = () => void;

export interface Timer {
  readonly call: () => void;
  readonly cancelled: boolean;
}
interface Entry extends Timer {
  at: number;
  /** Calls of the same time are made in the order in which they were added. */
  readonly order: number;
  readonly period: number | undefined;
  cancelled: boolean;
  /** False once it was taken for the last time. */
  waiting: boolean;
}

/** Cancelled calls stay until their time; when they outnumber the others, and this, they are removed. */
const FEW_CANCELLED = 64;

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export class TimerQueue {
  private heap: Entry[] = [];
  private addedCount = 0;
  private live = 0;

  /** Number of pending calls. */
  get size(): number {
    return this.live;
  }
  /** Number of entries, including cancelled calls. */
  get kept(): number {
    return this.heap.length;
  }
  /** When the next call is due; Infinity if there is none. */
  get next(): number {
    while (this.heap[0]?.cancelled) this.pop();
    return this.heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }
  /** `period`: called repeatedly. */
  add(at: number, period: number | undefined, call: () => void): Cancel {
    const entry: Entry = { at, order: this.addedCount++, period, call, cancelled: false, waiting: true };
    this.push(entry);
    this.live++;
    return () => {
      if (entry.cancelled) return;
      entry.cancelled = true;
      if (entry.waiting) this.live--;
      if (this.heap.length > 2 * this.live + FEW_CANCELLED) this.rebuild();
    };
  }
  /** The calls that are due at this time, in order. Periodic ones are due again after their period. */
  take(at: number): Timer[] {
    const due: Entry[] = [];
    while (this.next === at) due.push(this.pop());
    for (const entry of due) {
      if (entry.period === undefined) {
        entry.waiting = false;
        this.live--;
      } else {
        entry.at += Math.max(entry.period, 1);
        this.push(entry);
      }
    }
    return due;
  }
  /** Calls that are due before this time become due then. */
  delayTo(time: number): void {
    for (const entry of this.heap) if (entry.at < time) entry.at = time;
    this.rebuild();
  }
  private rebuild(): void {
    // A sorted list is a heap.
    this.heap = this.heap.filter((entry) => !entry.cancelled).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }
  private push(entry: Entry): void {
    const { heap } = this;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }
  private pop(): Entry {
    const { heap } = this;
    const first = heap[0] as Entry;
    const last = heap.pop() as Entry;
    if (heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      if (!isBefore(heap[child] as Entry, last)) break;
      heap[index] = heap[child] as Entry;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

/**
 * Events of a watch that come faster than the event loop has time for: a part of them is handled in each turn, in order. Beyond its
 * limits the watch fails, and goes on from the last event that was handled.
 */
import { nextTurn, TurnBudget } from '../lib/next-turn.ts';
import { BoundedQueue } from '../lib/queue.ts';
import type { StreamEvent } from './http.ts';

/** Bytes of events that are handled in one turn, by all watches of the process together. */
export const TURN_BYTES = 128 * 1024;
const ofProcess = new TurnBudget(TURN_BYTES);
/** Events that wait, and their bytes. */
const MOST_EVENTS = 20_000;
const MOST_BYTES = 64 * 1024 * 1024;

export class EventBacklog {
  private readonly handle: (event: StreamEvent) => void;
  private readonly turn: TurnBudget;
  private readonly waiting = new BoundedQueue<StreamEvent>(MOST_EVENTS);
  private bytes = 0;

  constructor(handle: (event: StreamEvent) => void, turn = ofProcess) {
    this.handle = handle;
    this.turn = turn;
  }
  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }
  /** Throws when too much waits. */
  push(event: StreamEvent): void {
    if (this.isEmpty && this.turn.take(event.source.length)) {
      this.handle(event);
      return;
    }
    this.bytes += event.source.length;
    if (this.bytes > MOST_BYTES || !this.waiting.push(event)) throw new Error('the watch is too far behind');
    if (this.waiting.length === 1) this.goOn();
  }
  clear(): void {
    this.waiting.clear();
    this.bytes = 0;
  }

  private goOn(): void {
    void nextTurn(this).then(() => {
      // The first in a turn that was waited for is always handled.
      for (let isFirst = true; !this.isEmpty; isFirst = false) {
        const { length } = (this.waiting.peek() as StreamEvent).source;
        if (!this.turn.take(length) && !isFirst) return this.goOn();
        this.bytes -= length;
        this.handle(this.waiting.shift() as StreamEvent);
      }
    });
  }
}

/**
 * Events of a watch that come faster than the event loop has time for: a part of them is handled in each turn, in order. Beyond its
 * limits the watch fails, and goes on from the last event that was handled.
 */
import { nextTurn, TurnBudget } from '@plat-dev/lib/next-turn';
import { BoundedQueue } from '@plat-dev/lib/queue';
import { atOnce, inSlices, Slices, type Work } from '@plat-dev/lib/slices';
import type { StreamEvent } from './http.ts';

/** Bytes of events that are handled in one turn, by all watches of the process together. */
export const TURN_BYTES = 128 * 1024;
const ofProcess = new TurnBudget(TURN_BYTES);
/** Events that wait, and their bytes. */
const MOST_EVENTS = 20_000;
const MOST_BYTES = 64 * 1024 * 1024;

export class EventBacklog {
  private readonly read: (event: StreamEvent) => Work<(() => void) | undefined>;
  private readonly turn: TurnBudget;
  private readonly waiting = new BoundedQueue<StreamEvent>(MOST_EVENTS);
  private bytes = 0;

  /** `read` parses an event, and returns what hands it on. */
  constructor(read: (event: StreamEvent) => Work<(() => void) | undefined>, turn = ofProcess) {
    this.read = read;
    this.turn = turn;
  }
  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }
  /** Throws when too much waits. */
  push(event: StreamEvent): void {
    if (this.isEmpty && !isLarge(event) && this.turn.take(event.source.length)) {
      atOnce(this.read(event))?.();
      return;
    }
    this.bytes += event.source.length;
    if (this.bytes > MOST_BYTES || !this.waiting.push(event)) throw new Error('the watch is too far behind');
    if (this.waiting.length === 1) void this.goOn();
  }
  clear(): void {
    this.waiting.clear();
    this.bytes = 0;
  }

  private async goOn(): Promise<void> {
    // The first in a turn that was waited for is always handled.
    for (let isFirst = true; !this.isEmpty; isFirst = false) {
      if (isFirst) await nextTurn(this);
      const event = this.waiting.peek();
      if (event === undefined) return;
      const { length } = event.source;
      if (!this.turn.take(length) && !isFirst) return this.goOn();
      const handOn = isLarge(event) ? await this.readInSlices(event) : atOnce(this.read(event));
      if (this.waiting.peek() !== event) return;
      this.bytes -= length;
      this.waiting.shift();
      handOn?.();
      if (isLarge(event)) return this.goOn();
    }
  }
  private async readInSlices(event: StreamEvent): Promise<(() => void) | undefined> {
    const handOn = await inSlices(this.read(event), new Slices(undefined, undefined, this));
    await nextTurn(this);
    return handOn;
  }
}

/** It is parsed in turns of its own and handed on in another, and in none with the work of its writer or with other events. */
const isLarge = ({ source }: StreamEvent): boolean => source.length > TURN_BYTES;

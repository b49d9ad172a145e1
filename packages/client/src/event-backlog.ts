/**
 * Events of a watch that come faster than the event loop has time for: a part of them is handled in each turn, in order. Beyond its
 * limits the watch fails, and goes on from the last event that was handled.
 */
import { nextTurn, TurnBudget } from '@plat-dev/lib/next-turn';
import { BoundedQueue } from '@plat-dev/lib/queue';
import { atOnce, inSlices, Slices, type Work } from '@plat-dev/lib/slices';
import type { StreamEvent } from './http.ts';

/** Bytes of events that are handled in one turn, by all watches of the process together. */
const TURN_BYTES = 128 * 1024;
/** Events of one watch that wait, and their bytes. */
const MOST_EVENTS = 20_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** Watches whose events wait: a turn serves as many of them as it has room for, an event of each in turn. */
export class EventTurns {
  private readonly budget = new TurnBudget(TURN_BYTES);
  private readonly behind = new Set<EventBacklog>();
  private isServing = false;

  /** Whether an event fits into this turn, and counts it. */
  take({ source }: StreamEvent): boolean {
    return this.budget.take(source.length);
  }
  add(backlog: EventBacklog): void {
    this.behind.add(backlog);
    if (!this.isServing) void this.serve();
  }

  private async serve(): Promise<void> {
    this.isServing = true;
    try {
      while (this.behind.size > 0) {
        await nextTurn(this);
        this.serveTurn();
      }
    } finally {
      this.isServing = false;
    }
  }
  /** The first event of a turn is always handled, and a large one has its turns for itself. */
  private serveTurn(): void {
    let isFirst = true;
    for (const backlog of this.behind) {
      const event = backlog.next;
      if (event !== undefined) {
        if ((!this.take(event) || isLarge(event)) && !isFirst) return;
        isFirst = false;
      }
      this.behind.delete(backlog);
      if (event === undefined) continue;
      if (isLarge(event)) return void backlog.handleLarge(event).then(() => this.addIfBehind(backlog));
      backlog.handle(event);
      this.addIfBehind(backlog);
    }
  }
  private addIfBehind(backlog: EventBacklog): void {
    if (!backlog.isEmpty) this.add(backlog);
  }
}
const turnsOfProcess = new EventTurns();

export class EventBacklog {
  private readonly read: (event: StreamEvent) => Work<(() => void) | undefined>;
  private readonly turns: EventTurns;
  private readonly waiting = new BoundedQueue<StreamEvent>(MOST_EVENTS);
  private bytes = 0;
  private isReadingLarge = false;

  /** `read` parses an event, and returns what hands it on. */
  constructor(read: (event: StreamEvent) => Work<(() => void) | undefined>, turns = turnsOfProcess) {
    this.read = read;
    this.turns = turns;
  }
  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }
  get next(): StreamEvent | undefined {
    return this.waiting.peek();
  }
  /** Throws when too much waits. */
  push(event: StreamEvent): void {
    if (this.isEmpty && !isLarge(event) && this.turns.take(event)) {
      atOnce(this.read(event))?.();
      return;
    }
    this.bytes += event.source.length;
    if (this.bytes > MOST_BYTES || !this.waiting.push(event)) throw new Error('the watch is too far behind');
    if (!this.isReadingLarge) this.turns.add(this);
  }
  clear(): void {
    this.waiting.clear();
    this.bytes = 0;
  }
  /** Handles the next event. */
  handle(event: StreamEvent): void {
    const handOn = atOnce(this.read(event));
    this.remove(event);
    handOn?.();
  }
  /** The same in turns of its own: the event is handed on in another than those in which it is parsed, unless it is forgotten meanwhile. */
  async handleLarge(event: StreamEvent): Promise<void> {
    this.isReadingLarge = true;
    const handOn = await inSlices(this.read(event), new Slices(undefined, undefined, this));
    await nextTurn(this);
    this.isReadingLarge = false;
    if (this.next !== event) return;
    this.remove(event);
    handOn?.();
  }
  private remove({ source }: StreamEvent): void {
    this.bytes -= source.length;
    this.waiting.shift();
  }
}

/** It is handled in none of the turns in which its writer works or other events are handled. */
const isLarge = ({ source }: StreamEvent): boolean => source.length > TURN_BYTES;

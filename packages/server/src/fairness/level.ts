/**
 * The seats of one priority level, and its queues. Times are milliseconds of a monotonic
 * clock, work is seats × seconds.
 *
 * A level has a virtual time: how much work each queue could have done by now if all busy queues
 * shared the seats evenly:
 *
 *   limit 2, queues a and b busy         virtual time grows by 2 seats / 2 queues = 1 seat-second a second
 *   only a is busy                       2 a second
 *
 * A queue knows the virtual time at which its next request may start, `next`: it grows by the work of every request that
 * is started, as estimated, and is corrected when the request ends. The queue whose first request would end first in
 * virtual time is served first, so that a queue that had less than its share comes before one that had more:
 *
 *   a: next 5, first needs 1 → 6         b: next 2, first needs 3 → 5         b is served
 *
 * A queue that was idle starts at the present, and none starts before its first request arrived: no queue saves up, not even
 * one that always had requests waiting and could not use its share, because the free seats were too few for it.
 *
 * A request that does not fit waits for seats, and does not block the others from free ones. A stock server lets all
 * others wait with it. Here others go first as long as those that went first leave enough for it when everything else has
 * ended, so that it is never starved:
 *
 *   limit 49, four lists of 10 run       a fifth waits: 9 are free, 39 are for others in the end, so a get starts at once
 *   limit 10, a list of 8 waits          of the later requests two may run
 */

import {
  bound,
  ESTIMATED_SECONDS,
  estimated,
  FairQueue,
  type Holder,
  isDueBefore,
  occupied,
  shortest,
  type Waiter,
  type Width,
} from './queue.ts';

export { ESTIMATED_SECONDS, FairQueue, type Holder, type Waiter, type Width } from './queue.ts';

/** Maximum requests that wait at one level, whatever its queue lengths; more are rejected. */
export const WAITING_LIMIT = 10_000;

export interface LevelConfig {
  readonly uid: string;
  readonly exempt: boolean;
  /** Seats of a level that is not exempt. */
  readonly limit: number;
  /** 0: requests without a seat are rejected. */
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

export class Level {
  readonly name: string;
  config: LevelConfig;
  exempt: boolean;
  limit: number;
  seatsInUse = 0;
  executing = 0;
  waiting = 0;
  waitingSeats = 0;
  /** Seats of requests that started before a wider one that waits. */
  overtaking = 0;
  dispatched = 0;
  rejected = 0;
  timedOut = 0;
  cancelled = 0;
  /** The object is deleted: no new requests arrive, the existing ones are finished. */
  quiescing = false;
  virtual = 0;
  /** Incomplete bodies of requests for this level, and bytes of bodies that wait (`bodies.ts`). */
  bodies = 0;
  bodyBytes = 0;
  readonly busy: FairQueue[] = [];
  /** The request that has held its seats longest. */
  oldest: Holder | undefined;
  private newest: Holder | undefined;
  private syncedAt = 0;
  private turn = 0;
  private queuesByIndex = new Map<number, FairQueue>();

  constructor(name: string, config: LevelConfig) {
    this.name = name;
    this.config = config;
    this.exempt = config.exempt;
    this.limit = config.limit;
  }

  /** Changes the configuration; queued requests start if there are seats for them now. */
  configure(config: LevelConfig, now: number): void {
    this.sync(now);
    if (config.queues !== this.config.queues) this.forgetQueues();
    this.config = config;
    this.exempt = config.exempt;
    this.limit = config.limit;
    this.quiescing = false;
    this.dispatch(now);
  }

  /** Queues are made when they are dealt. Removed ones serve their remaining requests, and are not dealt again. */
  queue(index: number): FairQueue {
    let queue = this.queuesByIndex.get(index);
    if (queue === undefined) {
      queue = new FairQueue(index);
      this.queuesByIndex.set(index, queue);
    }
    return queue;
  }
  forgetQueues(): void {
    this.queuesByIndex = new Map(this.busy.map((queue) => [queue.index, queue]));
  }

  get idle(): boolean {
    return this.executing === 0 && this.waiting === 0 && this.seatsInUse === 0;
  }

  /** Takes seats if they are free and no request waits. False: `wait`, or be rejected. */
  enter(holder: Holder, hand: readonly FairQueue[], width: Width, now: number): boolean {
    if (this.exempt) {
      this.begin(holder, undefined, width, now);
      return true;
    }
    if (this.waiting > 0 || !this.fits(occupied(width))) return false;
    this.start(holder, hand.length === 0 ? undefined : shortest(hand), width, now);
    return true;
  }

  /** Takes seats though none are free. For requests of the server itself, which must not wait for others. */
  force(holder: Holder, width: Width, now: number): void {
    this.begin(holder, undefined, width, now);
  }

  /** Puts a request into a queue of its hand; returns the queue length, 0 if it was rejected because that is full. */
  wait(waiter: Waiter, hand: readonly FairQueue[], now: number): number {
    const queue = shortest(hand);
    if (queue.waiting.length >= this.config.queueLengthLimit || this.waiting >= WAITING_LIMIT) return 0;
    this.sync(now);
    this.activate(queue);
    waiter.queue = queue;
    waiter.virtual = this.virtual;
    queue.waiting.push(waiter);
    bound(queue);
    queue.waitingWork += estimated(waiter.width);
    this.waiting++;
    this.waitingSeats += occupied(waiter.width);
    const length = queue.waiting.length;
    this.dispatch(now);
    return length;
  }

  /** Removes a request from its queue. False if it does not wait any more. */
  leaveQueue(waiter: Waiter, now: number): boolean {
    const { queue } = waiter;
    const at = queue?.waiting.indexOf(waiter) ?? -1;
    if (queue === undefined || at < 0) return false;
    this.sync(now);
    this.unqueue(queue, at);
    bound(queue);
    this.rest(queue);
    // It may have been wide, and first.
    this.dispatch(now);
    return true;
  }

  /** Ends a request that holds seats. `keep`: they stay taken until `release`. */
  finish(holder: Holder, now: number, keep = false): void {
    const { seats, seatQueue: queue, seatOvertook } = holder;
    if (seats === 0) return;
    holder.seats = 0;
    holder.seatQueue = undefined;
    this.executing--;
    this.unlink(holder);
    if (queue !== undefined) {
      this.sync(now);
      queue.executing--;
      queue.next += holder.runningSeats * ((now - holder.seatSince) / 1000 - ESTIMATED_SECONDS);
      bound(queue);
    }
    if (!keep) this.release(queue, seats, seatOvertook, now);
  }
  /** Frees the seats of a finished request. */
  release(queue: FairQueue | undefined, seats: number, overtook: boolean, now: number): void {
    this.sync(now);
    this.seatsInUse -= seats;
    if (overtook) this.overtaking -= seats;
    if (queue !== undefined) {
      queue.seatsInUse -= seats;
      this.rest(queue);
    }
    if (this.waiting > 0) this.dispatch(now);
  }

  /** A request that needs more seats than the level has starts when it is alone. */
  private fits(seats: number): boolean {
    return this.seatsInUse === 0 || this.seatsInUse + seats <= this.limit;
  }

  private start(holder: Holder, queue: FairQueue | undefined, width: Width, now: number): void {
    if (queue !== undefined) {
      this.sync(now);
      this.activate(queue);
      queue.next += estimated(width);
      queue.executing++;
      queue.seatsInUse += occupied(width);
      queue.turn = ++this.turn;
    }
    this.begin(holder, queue, width, now);
  }
  private begin(holder: Holder, queue: FairQueue | undefined, width: Width, now: number): void {
    const seats = occupied(width);
    holder.seats = seats;
    holder.runningSeats = width.seats;
    holder.seatQueue = queue;
    holder.seatSince = now;
    holder.seatFinalMs = width.finalMs;
    holder.seatOvertook = false;
    this.link(holder);
    this.seatsInUse += seats;
    this.executing++;
    this.dispatched++;
  }

  private link(holder: Holder): void {
    holder.olderSeat = this.newest;
    holder.newerSeat = undefined;
    if (this.newest === undefined) this.oldest = holder;
    else this.newest.newerSeat = holder;
    this.newest = holder;
  }
  private unlink(holder: Holder): void {
    const { olderSeat: older, newerSeat: newer } = holder;
    if (older === undefined) this.oldest = newer;
    else older.newerSeat = newer;
    if (newer === undefined) this.newest = older;
    else newer.olderSeat = older;
    holder.olderSeat = undefined;
    holder.newerSeat = undefined;
  }

  /** Starts as many waiting requests as there are seats for, in the order of virtual time. */
  private dispatch(now: number): void {
    while (this.waiting > 0) {
      const queue = this.nextQueue(Number.POSITIVE_INFINITY);
      if (queue === undefined) return;
      const { width } = queue.waiting[0] as Waiter;
      if (this.exempt || this.fits(occupied(width))) this.startFirst(queue, now);
      else if (!this.overtake(occupied(width), now)) return;
    }
  }
  /** Starts a request that fits before the first one, which needs more seats than are free. */
  private overtake(neededSeats: number, now: number): boolean {
    const room = this.limit - Math.max(this.seatsInUse, this.overtaking + neededSeats);
    const queue = room > 0 ? this.nextQueue(room) : undefined;
    if (queue === undefined) return false;
    const holder = this.startFirst(queue, now);
    holder.seatOvertook = true;
    this.overtaking += holder.seats;
    return true;
  }
  private startFirst(queue: FairQueue, now: number): Holder {
    const waiter = queue.waiting[0] as Waiter;
    this.unqueue(queue, 0);
    this.start(waiter.holder, queue, waiter.width, now);
    bound(queue);
    waiter.start(now);
    return waiter.holder;
  }
  /** The queue to serve next, of those whose first request needs no more than so many seats. */
  private nextQueue(most: number): FairQueue | undefined {
    let best: FairQueue | undefined;
    let earliest = 0;
    for (const queue of this.busy) {
      const [first] = queue.waiting;
      if (first === undefined || occupied(first.width) > most) continue;
      const end = queue.next + estimated(first.width);
      if (best === undefined || end < earliest || (end === earliest && isDueBefore(queue, best))) [best, earliest] = [queue, end];
    }
    return best;
  }
  private unqueue(queue: FairQueue, at: number): void {
    const [waiter] = queue.waiting.splice(at, 1) as [Waiter];
    waiter.queue = undefined;
    queue.waitingWork = queue.waiting.length === 0 ? 0 : queue.waitingWork - estimated(waiter.width);
    this.waiting--;
    this.waitingSeats -= occupied(waiter.width);
  }

  private activate(queue: FairQueue): void {
    if (queue.place >= 0) return;
    queue.next = this.virtual;
    queue.place = this.busy.length;
    this.busy.push(queue);
  }
  private rest(queue: FairQueue): void {
    if (queue.place < 0 || queue.executing > 0 || queue.seatsInUse > 0 || queue.waiting.length > 0) return;
    const last = this.busy.pop() as FairQueue;
    if (last !== queue) {
      this.busy[queue.place] = last;
      last.place = queue.place;
    }
    queue.place = -1;
  }

  /** Brings the virtual time up to now. Called before anything changes that its rate depends on. */
  sync(now: number): void {
    const passed = now - this.syncedAt;
    if (passed <= 0) return;
    this.syncedAt = now;
    if (this.busy.length > 0)
      this.virtual += (passed / 1000) * (Math.min(this.seatsInUse + this.waitingSeats, this.limit) / this.busy.length);
  }
}

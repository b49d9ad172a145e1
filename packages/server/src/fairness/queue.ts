/** A queue of a priority level, and the state of its requests. How queues share the seats is described in `level.ts`. */

/** Estimated duration of a request before it has run, in seconds for each of its seats. */
export const ESTIMATED_SECONDS = 0.003;

/** The state of a request that holds seats. */
export interface Holder {
  /** Seats that are taken; 0: none. */
  seats: number;
  /** Seats while the request runs; the others count for the time after it. */
  runningSeats: number;
  seatQueue: FairQueue | undefined;
  seatSince: number;
  /** How long the seats stay taken after the request. */
  seatFinalMs: number;
  /** It started before a wider request that waited. */
  seatOvertook: boolean;
  /** The requests of a level that hold seats, oldest first. */
  olderSeat: Holder | undefined;
  newerSeat: Holder | undefined;
}

/** The width of a request. */
export interface Width {
  /** While it runs. */
  readonly seats: number;
  /** For so many milliseconds after it has run, for its watch events. */
  readonly finalSeats: number;
  readonly finalMs: number;
}

export interface Waiter<H extends Holder = Holder> {
  readonly holder: H;
  readonly width: Width;
  readonly arrived: number;
  /** Virtual time of its arrival; set by the level. */
  virtual: number;
  /** The seats are taken. Must not call the level. */
  readonly start: (now: number) => void;
  queue: FairQueue | undefined;
}

export const occupied = (width: Width): number => Math.max(width.seats, width.finalSeats);
export const estimated = (width: Width): number => width.seats * ESTIMATED_SECONDS + (width.finalSeats * width.finalMs) / 1000;

export class FairQueue {
  readonly index: number;
  readonly waiting: Waiter[] = [];
  /** Work of the queued requests. */
  waitingWork = 0;
  executing = 0;
  seatsInUse = 0;
  /** Virtual time at which the next request may start. */
  next = 0;
  /** When it was last served, in a count of all starts: of equal queues the one that waited longer is served. */
  turn = 0;
  /** Index among the busy queues; -1: idle. */
  place = -1;

  constructor(index: number) {
    this.index = index;
  }
}

/** No queue starts its first request, in virtual time, before that arrived. */
export function bound(queue: FairQueue): void {
  const first = queue.waiting[0];
  if (first !== undefined && queue.next < first.virtual) queue.next = first.virtual;
}

export const isDueBefore = (a: FairQueue, b: FairQueue): boolean => a.turn < b.turn || (a.turn === b.turn && a.index < b.index);

/** The queue of a hand with the least queued work. */
export function shortest(hand: readonly FairQueue[]): FairQueue {
  let best = hand[0] as FairQueue;
  for (let i = 1; i < hand.length; i++) {
    const queue = hand[i] as FairQueue;
    if (queue.waitingWork < best.waitingWork || (queue.waitingWork === best.waitingWork && queue.seatsInUse < best.seatsInUse))
      best = queue;
  }
  return best;
}

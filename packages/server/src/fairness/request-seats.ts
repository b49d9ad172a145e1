/** The seats of a request, and its place in a queue while it waits for them. */
import type { FairQueue, Holder, Waiter } from './queue.ts';

/** `Request`: whose seats they are. */
export class RequestSeats<Request> implements Holder {
  readonly request: Request;
  /** The request while it waits in a queue. */
  waiter: Waiter | undefined;
  /** Gives the seats of a watch back when it has begun. */
  leave: ((request: Request) => void) | undefined;
  seats = 0;
  runningSeats = 0;
  seatQueue: FairQueue | undefined;
  seatSince = 0;
  seatFinalMs = 0;
  seatOvertook = false;
  olderSeat: Holder | undefined;
  newerSeat: Holder | undefined;

  constructor(request: Request) {
    this.request = request;
  }
}

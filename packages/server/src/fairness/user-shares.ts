/**
 * The share of one turn of the event loop that a user's requests may take. Seats limit the requests in flight; all
 * requests that arrived together would still run in the same turn, and all others would wait for the last of
 * them. So many requests of a user begin in several turns, and requests of others are read and answered in
 * between:
 *
 *   128 gets of one user and one of another come together
 *   turn 1   TURN_WORK gets of the first, the get of the second
 *   turn 2   TURN_WORK gets of the first, and whatever has come meanwhile
 *
 * A request within its user's share of the turn, as nearly all are, costs a comparison and an addition. Turns are
 * counted only while a user has used half of a share.
 */

import { inNextTurn } from '@plat-dev/lib/next-turn';
import { BoundedQueue } from '@plat-dev/lib/queue';

/** Work of one user that begins in one turn of the loop; 1 is a get, some tens of microseconds. */
export const TURN_WORK = 16;
/** Work of all waiting users that begins in one turn. */
export const TURN_TOTAL = 32;
/** Maximum requests of one user that wait for a turn. */
export const WAITING_LIMIT = 10_000;

/** The share of one user. Also the owner of the user's long work (`lib/next-turn.ts`). */
export class UserShare {
  /** The turn that `used` belongs to. */
  turn = 0;
  used = 0;
  /** Made when the first request has to wait. */
  waiting: BoundedQueue<Waiting> | undefined;
  inLine = false;

  /** No more may wait. */
  get full(): boolean {
    return this.waiting?.full === true;
  }
}

interface Waiting {
  readonly work: number;
  /** The request is finished. */
  readonly request: { readonly finished: boolean };
  readonly go: () => void;
}

export class UserShares {
  private readonly schedule: (call: () => void) => void;
  private turn = 1;
  private scheduled = false;
  /** Users whose requests wait, in the order of their next share. */
  private line: UserShare[] = [];

  /** `schedule` calls at the end of a turn of the loop. */
  constructor(schedule: (call: () => void) => void = inNextTurn) {
    this.schedule = schedule;
  }

  /** Takes a share of this turn. False: `wait` for another one. */
  take(user: UserShare, work: number): boolean {
    if (user.turn !== this.turn) {
      user.turn = this.turn;
      user.used = 0;
    }
    if (user.used >= TURN_WORK || user.inLine) return false;
    user.used += work;
    if (user.used >= TURN_WORK / 2 && !this.scheduled) this.next();
    return true;
  }

  /** Calls in a later turn, unless the request is finished by then. Rejected if the queue is full. */
  wait(user: UserShare, work: number, request: Waiting['request'], go: () => void): void {
    user.waiting ??= new BoundedQueue(WAITING_LIMIT);
    user.waiting.push({ work, request, go });
    if (!user.inLine) {
      user.inLine = true;
      this.line.push(user);
    }
    if (!this.scheduled) this.next();
  }

  private next(): void {
    this.scheduled = true;
    this.schedule(this.begin);
  }
  private readonly begin = (): void => {
    this.scheduled = false;
    this.turn++;
    const { line } = this;
    if (line.length === 0) return;
    let total = 0;
    let served = 0;
    this.line = [];
    while (served < line.length && total < TURN_TOTAL) {
      const user = line[served++] as UserShare;
      total += this.serve(user);
      user.inLine = user.waiting !== undefined && user.waiting.length > 0;
      if (user.inLine) this.line.push(user);
    }
    // Users without a share of this turn are the first in the next one.
    if (served < line.length) this.line = line.slice(served).concat(this.line);
    if (this.line.length > 0) this.next();
  };
  private serve(user: UserShare): number {
    user.turn = this.turn;
    user.used = 0;
    const { waiting } = user;
    while (waiting !== undefined && user.used < TURN_WORK) {
      const first = waiting.shift();
      if (first === undefined) break;
      if (first.request.finished) continue;
      user.used += first.work;
      first.go();
    }
    return user.used;
  }
}

/**
 * Requests of one HTTP/2 connection are handled one in each turn of the event loop, as those of an HTTP/1.1 connection are: a burst of
 * streams does not delay others. A request whose stream is reset before its turn is not handled.
 *
 *   one turn         streams 1, 3 and 5 begin        1 is handled
 *   the next         3 is reset, 7 begins            5 is handled
 *   the one after                                    7 is handled
 *
 * A client that resets streams as fast as it opens them keeps within the limit of open streams, and each costs as much as a request
 * that is answered. More in one turn than may be open at once can only be such, and end the connection.
 */
import { inNextTurn } from '@plat-dev/lib/next-turn';

/** Streams that a connection may have open: as many as stock servers allow. */
export const OPEN_STREAMS = 250;

/** A request that waits: `handle` is called in its turn unless the stream is closed by then. */
export interface WaitingRequest {
  readonly stream: { readonly destroyed: boolean; readonly aborted: boolean };
  handle(): void;
}

export class SessionTurns {
  private readonly giveUp: () => void;
  private waiting: WaitingRequest[] = [];
  /** Streams that began in this turn of the loop; undefined if none did and none was handled. */
  private startedAt: number | undefined;

  /** `giveUp` ends the connection. */
  constructor(giveUp: () => void) {
    this.giveUp = giveUp;
  }

  add(request: WaitingRequest): void {
    if (this.startedAt === undefined) this.take(request);
    else if (this.startedAt < OPEN_STREAMS) {
      this.startedAt++;
      this.waiting.push(request);
    } else {
      this.waiting = [];
      this.giveUp();
    }
  }
  private take({ handle }: WaitingRequest): void {
    this.startedAt = 1;
    inNextTurn(() => this.next());
    handle();
  }
  private next(): void {
    this.startedAt = undefined;
    const at = this.waiting.findIndex(({ stream }) => !stream.destroyed && !stream.aborted);
    const [request] = at < 0 ? [] : this.waiting.slice(at, at + 1);
    this.waiting.splice(0, at < 0 ? this.waiting.length : at + 1);
    if (request !== undefined) this.take(request);
  }
}

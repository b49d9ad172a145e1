/** The body of one request on its way to the handler that reads it, and the seats that the request takes when it is there. */
import type { ApiError } from '../../meta/errors.ts';
import type { Context } from '../context.ts';
import type { Bodies, UnfinishedBody } from './bodies.ts';

export class AwaitedBody {
  private readonly bodies: Bodies;
  private readonly body: UnfinishedBody;
  private readonly takeSeats: (ctx: Context) => void | Promise<void>;

  constructor(bodies: Bodies, body: UnfinishedBody, takeSeats: (ctx: Context) => void | Promise<void>) {
    this.bodies = bodies;
    this.body = body;
    this.takeSeats = takeSeats;
  }

  /** Someone reads it: `fail` is called when it must end. Throws where that is so already. */
  reading(fail: (error: ApiError) => void): void {
    if (this.body.refused !== undefined) throw this.body.refused;
    this.body.fail = fail;
  }
  /** It is passed on as it comes, and nothing of it is kept: only its number and its speed are bounded. */
  passedOn(ctx: Context): void {
    this.reading(() => ctx.res.destroy());
    ctx.req.on('data', (chunk: Buffer) => {
      this.body.came += chunk.length;
    });
    ctx.req.once('end', () => this.bodies.complete(this.body));
  }
  /** False where these bytes are too many. */
  received(bytes: number): boolean {
    return this.bodies.received(this.body, bytes);
  }
  /** All of it is there. Returns when the request may go on; throws, or rejects, where it is rejected. */
  whole(ctx: Context): void | Promise<void> {
    this.bodies.complete(this.body);
    const waiting = this.takeSeats(ctx);
    if (!(waiting instanceof Promise)) {
      this.bodies.end(this.body);
      return;
    }
    return waiting.finally(() => this.bodies.end(this.body));
  }
  /** The request is over, whether the body was read or not. */
  end(): void {
    this.bodies.end(this.body);
  }
}

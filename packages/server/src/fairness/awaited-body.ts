/** The body of one request on its way to the handler that reads it, and the seats that the request takes when it is complete. */
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import type { ApiError } from '@plat-dev/meta/errors';
import type { Incoming, Outgoing } from '../exchange.ts';
import type { Bodies, UnfinishedBody } from './bodies.ts';

/** `Request`: what the seats are taken for. */
export class AwaitedBody<Request extends { readonly req: Incoming; readonly res: Outgoing }> {
  private readonly bodies: Bodies;
  private readonly body: UnfinishedBody;
  private readonly takeSeats: (ctx: Request) => MaybePromise<void>;

  constructor(bodies: Bodies, body: UnfinishedBody, takeSeats: (ctx: Request) => MaybePromise<void>) {
    this.bodies = bodies;
    this.body = body;
    this.takeSeats = takeSeats;
  }

  /** A handler reads it: `fail` is called when it must end. Throws if that is so already. */
  reading(fail: (error: ApiError) => void): void {
    if (this.body.refused !== undefined) throw this.body.refused;
    this.body.fail = fail;
  }
  /** It is passed on as it arrives, and nothing of it is kept: only its count and its rate are limited. */
  passedOn(ctx: Request): void {
    this.reading(() => ctx.res.destroy());
    ctx.req.on('data', (chunk: Buffer) => {
      this.body.came += chunk.length;
    });
    ctx.req.once('end', () => this.bodies.complete(this.body));
  }
  /** False if these bytes exceed a limit. */
  received(bytes: number): boolean {
    return this.bodies.received(this.body, bytes);
  }
  /** The body is complete. Resolves when the request may proceed; rejects if it is rejected. */
  async whole(ctx: Request): Promise<void> {
    this.bodies.complete(this.body);
    try {
      await this.takeSeats(ctx);
    } finally {
      this.bodies.end(this.body);
    }
  }
  /** The request is finished, whether the body was read or not. */
  end(): void {
    this.bodies.end(this.body);
  }
}

/** From a connection's request to the pipeline, with the timeout and the clean-up of every request. */
import type { IncomingMessage } from 'node:http';
import { constants, type Http2ServerRequest } from 'node:http2';
import type { Clock } from '../lib/clock.ts';
import { timeout } from '../meta/errors.ts';
import { Context } from './context.ts';
import { hasBody } from './has-body.ts';
import { run, type Step } from './pipeline.ts';
import { sendError } from './respond.ts';
import { noteGivenUp } from './session-memory.ts';
import type { Handle } from './tunnels/upgrade.ts';

export interface HandlerOptions {
  readonly steps: readonly Step[];
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  /** Called with errors that are not the client's fault. */
  readonly report: (error: unknown, ctx: Context) => void;
  /** Called when a response is finished or its connection is closed. */
  readonly finished: (ctx: Context) => void;
}

export function requestHandler(options: HandlerOptions): Handle {
  const { steps, finished, clock } = options;
  return (req, res, upgrade) => {
    const ctx = new Context(req, res, clock.monotonic());
    ctx.upgrade = upgrade;
    const stream = ctx.http2 ? (req as Http2ServerRequest).stream : undefined;
    const session = stream?.session;
    // Not `once`, which wraps the listener a second time.
    res.on('close', () => {
      if (ctx.finished) return;
      ctx.finished = true;
      ctx.timeLimit?.();
      finished(ctx);
      if (ctx.onFinished !== undefined) for (const done of ctx.onFinished) done(ctx);
      if (stream !== undefined && session !== undefined && stream.writableLength > 0) noteGivenUp(session, stream.writableLength);
      if ((req as IncomingMessage).complete === false && !ctx.http2 && upgrade === undefined) drain(clock, ctx);
    });
    if (ctx.http2 && hasBody(ctx))
      res.once('finish', () => {
        if (!(req as Http2ServerRequest).complete) drain(clock, ctx);
      });
    try {
      const answer = run(steps, ctx);
      if (answer instanceof Promise) guard(options, ctx, answer);
      else if (untaken(ctx)) timeLimit(options, ctx);
    } catch (error) {
      sendError(ctx, error, (fault) => options.report(fault, ctx));
    }
  };
}

/** How long the remaining body is read after the response, which the client may still be sending. */
const DRAIN_MS = 2000;

/** The remaining body is read and dropped after the response, for a short time: then the connection, or stream, ends. */
function drain(clock: Clock, { req, http2 }: Context): void {
  const end = clock.after(DRAIN_MS, () => {
    if (http2) (req as Http2ServerRequest).stream.close(constants.NGHTTP2_NO_ERROR);
    else if (!req.complete) req.socket.destroy();
  });
  req.once('close', end);
  req.resume();
}

/** Renders the error of an asynchronous request, and ends one that times out. */
function guard(options: HandlerOptions, ctx: Context, answer: Promise<void>): void {
  timeLimit(options, ctx);
  answer.then(
    () => {
      if (!untaken(ctx)) ctx.timeLimit?.();
    },
    (error: unknown) => {
      ctx.timeLimit?.();
      sendError(ctx, error, (fault) => options.report(fault, ctx));
    },
  );
}

/** Sets the timer that ends a request which takes too long to make or to read. */
function timeLimit(options: HandlerOptions, ctx: Context): void {
  limitIn(Math.min(ctx.timeoutMs ?? options.requestTimeoutMs, options.requestTimeoutMs), options, ctx);
}

function limitIn(milliseconds: number, options: HandlerOptions, ctx: Context): void {
  const { res } = ctx;
  ctx.timeLimit = options.clock.after(milliseconds, () => {
    if (ctx.longRunning || res.destroyed || res.writableFinished) return;
    if (res.headersSent) {
      // The timeout of the client is for the start of a response; reading it may take as long as the server allows.
      const left = options.requestTimeoutMs - (options.clock.monotonic() - ctx.started);
      if (left > 0 && milliseconds < options.requestTimeoutMs) limitIn(left, options, ctx);
      else res.destroy(new Error('the client did not take the answer in time'));
      return;
    }
    // The remaining body would be parsed as the next request.
    if (!ctx.http2) ctx.headers.push('Connection', 'close');
    const late = timeout('Timeout: request did not complete within the allotted timeout');
    sendError(ctx, late, (fault) => options.report(fault, ctx));
  });
}

/** Maximum bytes that the system buffers without the client reading them, approximately. */
const UNTAKEN_BYTES = 256 * 1024;

/** Whether much of a response still waits for the client. */
function untaken({ res }: Context): boolean {
  // An HTTP/2 client controls how much it reads, and may read nothing at all.
  return 'stream' in res ? !res.writableFinished && !res.destroyed : res.writableLength > UNTAKEN_BYTES;
}

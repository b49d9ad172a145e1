/** From a connection's request to the pipeline, with the timeout and the clean-up of every request. */

import { constants } from 'node:http2';
import type { Clock } from '@plat-dev/lib/clock';
import { isPending } from '@plat-dev/lib/when-ready';
import { timeout } from '@plat-dev/meta/errors';
import { watchGivenUp } from './connections/http2-memory.ts';
import type { TimeLimits } from './connections/time-limits.ts';
import { Context } from './context.ts';
import type { Incoming, Outgoing } from './exchange.ts';
import { run, type Step } from './pipeline.ts';
import { hasBody } from './request/has-body.ts';
import type { Routes } from './request/route.ts';
import { sendError } from './response/respond.ts';
import type { Handle } from './tunnels/upgrade.ts';

export interface HandlerOptions {
  readonly steps: readonly Step[];
  readonly routes: Routes;
  /** How long a request may take. */
  readonly limits: TimeLimits<Context>;
  readonly clock: Clock;
  /** Called with errors that are not the client's fault. */
  readonly report: (error: unknown, ctx: Context) => void;
  /** Called when a response is finished or its connection is closed. */
  readonly finished: (ctx: Context) => void;
}

export function requestHandler(options: HandlerOptions): Handle {
  const { steps, finished, clock, routes } = options;
  const onTimeout = lateAfter(options, options.limits.millis);
  return (req, res, upgrade) => {
    const ctx = new Context(req, res, clock.monotonic(), routes);
    ctx.upgrade = upgrade;
    const { stream } = req;
    if (stream?.session !== undefined) watchGivenUp(stream.session, stream);
    // Not `once`, which wraps the listener a second time.
    res.on('close', () => {
      if (ctx.finished) return;
      ctx.finished = true;
      ctx.timeLimit?.cancel();
      finished(ctx);
      if (ctx.onFinished !== undefined) for (const done of ctx.onFinished) done(ctx);
      if (!req.complete && !ctx.http2 && !ctx.inProcess && !req.socket.destroyed) drain(clock, req);
    });
    if (ctx.http2 && hasBody(ctx))
      res.once('finish', () => {
        if (!req.complete) drain(clock, req);
      });
    try {
      const answer = run(steps, ctx);
      if (isPending(answer)) guard(options, ctx, answer, onTimeout);
      else {
        ctx.timing.answeredAt = clock.monotonic();
        if (untaken(ctx)) timeLimit(options, ctx, onTimeout);
      }
    } catch (error) {
      sendError(ctx, error, (fault) => options.report(fault, ctx));
    }
  };
}

/** How long the remaining body is read after the response, which the client may still be sending. */
const DRAIN_MS = 2000;

/** The remaining body is read and dropped after the response, for a short time: then the connection, or stream, ends. */
function drain(clock: Clock, req: Incoming): void {
  const end = clock.after(DRAIN_MS, () => {
    if (req.stream !== undefined) req.stream.close(constants.NGHTTP2_NO_ERROR);
    else if (!req.complete) req.socket.destroy();
  });
  req.once('close', end);
  req.resume();
}

/** The same for requests that no pipeline answers. */
export function drainAfter(clock: Clock, req: Incoming, res: Outgoing): void {
  res.once(req.stream === undefined ? 'close' : 'finish', () => {
    if (!req.complete && !req.socket.destroyed) drain(clock, req);
  });
}

/** What is done with a request that has taken too long. */
type OnTimeout = (ctx: Context) => void;

/** Renders the error of an asynchronous request, and ends one that times out. */
function guard(options: HandlerOptions, ctx: Context, answer: Promise<void>, onTimeout: OnTimeout): void {
  timeLimit(options, ctx, onTimeout);
  answer.then(
    () => {
      ctx.timing.answeredAt = options.clock.monotonic();
      if (!untaken(ctx)) ctx.timeLimit?.cancel();
    },
    (error: unknown) => {
      ctx.timeLimit?.cancel();
      sendError(ctx, error, (fault) => options.report(fault, ctx));
    },
  );
}

/** Ends a request which takes too long to make or to read. */
function timeLimit(options: HandlerOptions, ctx: Context, onTimeout: OnTimeout): void {
  const { timeoutMs } = ctx;
  if (timeoutMs !== undefined && timeoutMs < options.limits.millis) limitIn(timeoutMs, options, ctx);
  else ctx.timeLimit = options.limits.add(ctx, onTimeout);
}

/** The same for a time that the client has named, or what is left of the server's. */
function limitIn(milliseconds: number, options: HandlerOptions, ctx: Context): void {
  const onTimeout = lateAfter(options, milliseconds);
  ctx.timeLimit = { cancel: options.clock.after(milliseconds, () => onTimeout(ctx)) };
}

function lateAfter(options: HandlerOptions, milliseconds: number): OnTimeout {
  const longest = options.limits.millis;
  return (ctx) => {
    const { res } = ctx;
    if (ctx.longRunning || res.destroyed || res.writableFinished) return;
    if (res.headersSent) {
      // The timeout of the client is for the start of a response; reading it may take as long as the server allows.
      const remainingMs = longest - (options.clock.monotonic() - ctx.started);
      if (remainingMs > 0 && milliseconds < longest) limitIn(remainingMs, options, ctx);
      else res.destroy(new Error('the client did not take the answer in time'));
      return;
    }
    // The remaining body would be parsed as the next request.
    if (!ctx.http2) ctx.headers.push('Connection', 'close');
    const error = timeout('Timeout: request did not complete within the allotted timeout');
    sendError(ctx, error, (fault) => options.report(fault, ctx));
  };
}

/** Maximum bytes that the system buffers without the client reading them, approximately. */
const UNTAKEN_BYTES = 256 * 1024;

/** Whether much of a response still waits for the client. */
function untaken({ res, http2 }: Context): boolean {
  // An HTTP/2 client controls how much it reads, and may read nothing at all.
  return http2 ? !res.writableFinished && !res.destroyed : res.writableLength > UNTAKEN_BYTES;
}

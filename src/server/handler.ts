/** From a connection's request to the pipeline, with the time limit and the clean-up of every request. */
import { performance } from 'node:perf_hooks';
import { timeout } from '../meta/errors.ts';
import { Context } from './context.ts';
import { run, type Step } from './pipeline.ts';
import { sendError } from './respond.ts';
import type { Handle } from './tunnels/upgrade.ts';

export interface HandlerOptions {
  readonly steps: readonly Step[];
  readonly requestTimeoutMs: number;
  /** Told of faults that are not the client's. */
  readonly report: (error: unknown, ctx: Context) => void;
  /** Called when an answer is finished or its connection is gone. */
  readonly finished: (ctx: Context) => void;
}

export function requestHandler(options: HandlerOptions): Handle {
  const { steps, finished } = options;
  return (req, res, upgrade) => {
    const ctx = new Context(req, res, performance.now());
    ctx.upgrade = upgrade;
    res.once('close', () => {
      finished(ctx);
      for (const done of ctx.onFinished ?? []) done();
    });
    try {
      const answer = run(steps, ctx);
      if (answer instanceof Promise) guard(options, ctx, answer);
    } catch (error) {
      sendError(ctx, error, (fault) => options.report(fault, ctx));
    }
  };
}

/** Renders what a request that takes its time throws, and ends one that takes too long. */
function guard(options: HandlerOptions, ctx: Context, answer: Promise<void>): void {
  const report = (fault: unknown) => options.report(fault, ctx);
  const timer = setTimeout(
    () => {
      if (ctx.longRunning || ctx.res.headersSent) return;
      sendError(ctx, timeout('Timeout: request did not complete within the allotted timeout'), report);
    },
    Math.min(ctx.timeoutMs ?? options.requestTimeoutMs, options.requestTimeoutMs),
  );
  answer.then(
    () => clearTimeout(timer),
    (error: unknown) => {
      clearTimeout(timer);
      sendError(ctx, error, report);
    },
  );
}

/** The first steps: an id for the audit trail, headers of every answer, and what the path asks for. */
import type { Random } from '@plat-dev/lib/random';
import { badRequest } from '@plat-dev/meta/errors';
import { parseDuration } from '@plat-dev/meta/time';
import type { Context } from '../context.ts';
import { isLongRunning } from '../fairness/in-flight.ts';
import type { Step } from '../pipeline.ts';

export const auditId =
  (random: Random): Step =>
  (ctx) => {
    ctx.auditId = ctx.head.auditId ?? random.uuid();
    ctx.headers = ['Audit-Id', ctx.auditId, 'Cache-Control', 'no-cache, private'];
  };

/** Further headers of every answer, names and values in turn. */
export const answerWith =
  (headers: readonly string[]): Step =>
  (ctx) => {
    ctx.headers.push(...headers);
  };

/** How long the client is willing to wait, where it says so; the server's own limit holds in any case. */
export const checkTimeout: Step = (ctx: Context) => {
  // Requests that last have no such limit; what is proxied may mean something else by the word.
  if (ctx.search === '' || isLongRunning(ctx.info)) return;
  const timeoutText = ctx.param('timeout');
  if (timeoutText === undefined || timeoutText === '') return;
  try {
    const nanoseconds = parseDuration(timeoutText);
    // No time at all means that the client sets no limit of its own.
    if (nanoseconds > 0n) ctx.timeoutMs = Math.max(1, Number(nanoseconds / 1_000_000n));
  } catch (error) {
    throw badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`);
  }
};

export const findInfo: Step = (ctx: Context) => {
  ctx.info = ctx.route.info;
};

/** Runs where the feature APIResponseCompression is off. */
export const sendUncompressed: Step = (ctx: Context) => {
  ctx.uncompressed = true;
};

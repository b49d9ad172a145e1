/**
 * A request runs through one array; each step sets its own field of the context, or throws. Synchronous steps are
 * not awaited.
 *
 *   audit id → request info → authenticate → audit → impersonate → flow and seats → authorize → dispatch
 */
import { isPending, type MaybePromise } from '@plat-dev/lib/when-ready';
import type { Context } from './context.ts';

export type Step = (ctx: Context) => MaybePromise<void>;

export function run(steps: readonly Step[], ctx: Context, start = 0): MaybePromise<void> {
  for (let i = start; i < steps.length; i++) {
    const answer = (steps[i] as Step)(ctx);
    if (isPending(answer)) return answer.then(() => run(steps, ctx, i + 1));
  }
}

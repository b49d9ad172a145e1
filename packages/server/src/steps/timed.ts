/** Steps of the pipeline in which a request may wait, for a call to another program or for its turn. */
import { isPending } from '@plat-dev/lib/when-ready';
import { run, type Step } from '../pipeline.ts';
import type { StepName } from '../request-timing.ts';

export function timed(name: StepName, now: () => number, ...steps: readonly Step[]): Step {
  return (ctx) => {
    const answer = run(steps, ctx);
    return isPending(answer) ? ctx.timing.during(name, now, answer) : answer;
  };
}

/** Marks in the pipeline, between which the time of a request is spent. */
import type { Clock } from '@plat-dev/lib/clock';
import type { Step } from '../pipeline.ts';

export function reached(mark: 'authenticatedAt' | 'seatedAt' | 'authorizedAt', clock: Clock): Step {
  return (ctx) => {
    ctx.timing[mark] = clock.monotonic();
  };
}

/** What explanations ask the scheduler, whether it runs in this process or in another one of the same store. */
import { inSlices } from '@plat-dev/lib/slices';
import type { Identity } from '@plat-dev/meta/identity';
import type { Scheduling } from '@plat-dev/server/explain/scheduling';
import type { ServerOptions } from '../config/server-options.ts';

export const scheduling = ({ workloads }: ServerOptions, identity: Identity): Scheduling => ({
  isOn: workloads.includes('scheduler'),
  async refusals(pod, objects, slices) {
    const { nodeRefusals } = await import('@plat-dev/workloads/scheduler/refusals');
    return inSlices(nodeRefusals(identity, pod, objects), slices);
  },
});

/** Controllers of workloads, the scheduler and the simulated nodes: what `--workloads` adds, by the names of the stock ones. */
import type { Controller } from '../runtime/controller.ts';
import { schedulerController } from '../scheduler/controller.ts';

/** The parts of `--workloads`. */
export type WorkloadPart = 'controllers' | 'scheduler' | 'nodes';

export interface WorkloadSettings {
  readonly parts: ReadonlySet<WorkloadPart>;
  /** Whether a feature is on. */
  readonly feature: (name: string) => boolean;
}

export function workloadControllers({ parts }: WorkloadSettings): readonly Controller[] {
  return [
    ...(parts.has('controllers') ? controllers : []),
    ...(parts.has('scheduler') ? scheduler : []),
    ...(parts.has('nodes') ? nodes : []),
  ];
}

const controllers: readonly Controller[] = [];
const scheduler: readonly Controller[] = [schedulerController()];
const nodes: readonly Controller[] = [];

/** Controllers of workloads, the scheduler and the simulated nodes: what `--workloads` adds, by the names of the stock ones. */
import type { Controller } from '../runtime/controller.ts';
import { schedulerController } from '../scheduler/controller.ts';
import { autoscalerController } from './autoscaler/controller.ts';
import { cronJobController } from './cronjob/controller.ts';
import { jobController } from './job/controller.ts';

/** The parts of `--workloads`. */
export type WorkloadPart = 'controllers' | 'scheduler' | 'nodes';

export interface WorkloadSettings {
  readonly parts: ReadonlySet<WorkloadPart>;
  /** Whether a feature is on. */
  readonly feature: (name: string) => boolean;
}

export function workloadControllers({ parts, feature }: WorkloadSettings): readonly Controller[] {
  return [
    ...(parts.has('controllers') ? controllers(feature) : []),
    ...(parts.has('scheduler') ? scheduler : []),
    ...(parts.has('nodes') ? nodes : []),
  ];
}

const controllers = (feature: WorkloadSettings['feature']): readonly Controller[] => [
  jobController({ tracking: feature('JobTrackingWithFinalizers'), readyPods: feature('JobReadyPods') }),
  cronJobController({ timeZones: feature('CronJobTimeZone') }),
  autoscalerController,
];
const scheduler: readonly Controller[] = [schedulerController()];
const nodes: readonly Controller[] = [];

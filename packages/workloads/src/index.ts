/** Controllers of workloads, the scheduler and the simulated nodes: what `--workloads` adds. */

import type { Controller } from '@plat-dev/controllers/runtime/controller';
import { type ApiRelease, apiRelease, isAtLeast } from '@plat-dev/lib/version';
import { autoscalerController } from './autoscaler/controller.ts';
import { cronJobController } from './cronjob/controller.ts';
import { daemonSetController } from './daemonset/controller.ts';
import { deploymentController } from './deployment/controller.ts';
import { jobController } from './job/controller.ts';
import { nodeLifecycleController } from './nodelife/controller.ts';
import type { ContainerFiles } from './nodes/container-files.ts';
import { simulatedNodes } from './nodes/index.ts';
import { loadBalancers } from './nodes/load-balancer/controller.ts';
import { podCollector } from './podgc/controller.ts';
import { type ReplicaSettings, replicaController } from './replicaset/controller.ts';
import { replicaSets, replicationControllers } from './replicaset/kinds.ts';
import { schedulerController } from './scheduler/controller.ts';
import { statefulSetController } from './statefulset/controller.ts';
import { attachDetach, simulatedAttacher } from './volumes/attachment.ts';
import { volumeBinder } from './volumes/binder.ts';
import { ephemeralVolumes } from './volumes/ephemeral.ts';
import { simulatedProvisioner } from './volumes/provisioner.ts';

export interface WorkloadSettings {
  readonly parts: ReadonlySet<'controllers' | 'scheduler' | 'nodes'>;
  /** How many nodes are simulated from the start. */
  readonly simulatedNodes: number;
  /** Ranges of the addresses of load balancers. Empty: services get none. */
  readonly loadBalancerRange: readonly string[];
  /** The address that names of services are looked up at. */
  readonly nameserver?: string;
  /** What commands wrote in simulated containers. */
  readonly disks?: ContainerFiles;
  /** Whether a feature is on. */
  readonly feature: (name: string) => boolean;
  /** Of the API; 1.24 where it is left out. */
  readonly release?: ApiRelease;
}

export interface Workloads {
  /** Those of the stock controller manager, by its names: `--controllers` selects among them. */
  readonly controllers: readonly Controller[];
  /** The scheduler, the nodes, and the storage that is simulated. */
  readonly others: readonly Controller[];
}

export function workloadControllers(settings: WorkloadSettings): Workloads {
  const { parts } = settings;
  return {
    controllers: parts.has('controllers') ? controllers(settings) : [],
    others: [
      ...(parts.has('scheduler') ? [schedulerController()] : []),
      ...(parts.has('controllers') || parts.has('nodes') ? storage(settings) : []),
      ...(parts.has('nodes') ? nodes(settings) : []),
    ],
  };
}

/** Finished pods that are kept. */
const FINISHED_PODS = 12_500;

const replicaSettings = (feature: WorkloadSettings['feature']): ReplicaSettings => ({
  deletionCost: feature('PodDeletionCost'),
  logarithmic: feature('LogarithmicScaleDown'),
});
const controllers = ({ feature, parts, release = apiRelease }: WorkloadSettings): readonly Controller[] => [
  deploymentController,
  replicaController(replicaSets, replicaSettings(feature)),
  replicaController(replicationControllers, replicaSettings(feature)),
  jobController({
    tracking: feature('JobTrackingWithFinalizers'),
    readyPods: feature('JobReadyPods'),
    tracksAll: isAtLeast(release, '1.28'),
    announcesEnd: isAtLeast(release, '1.31') && (feature('JobManagedBy') || feature('JobPodReplacementPolicy')),
    managers: feature('JobManagedBy'),
  }),
  cronJobController({ timeZones: feature('CronJobTimeZone') }),
  autoscalerController,
  nodeLifecycleController,
  podCollector({ finishedLimit: FINISHED_PODS }),
  volumeBinder({ deletesAny: parts.has('nodes') }),
  attachDetach,
  ephemeralVolumes,
  statefulSetController(feature),
  daemonSetController(feature),
];
/** Nodes that are simulated have any storage; without them only classes of the simulated provisioner have. */
const storage = ({ parts, simulatedNodes }: WorkloadSettings): readonly Controller[] => {
  const any = parts.has('nodes');
  return [simulatedProvisioner({ any, defaultClass: any && simulatedNodes > 0 }), simulatedAttacher({ any })];
};
const nodes = ({ simulatedNodes: count, loadBalancerRange, nameserver, disks }: WorkloadSettings): readonly Controller[] => [
  simulatedNodes({ count, ...(nameserver !== undefined && { nameserver }), ...(disks !== undefined && { disks }) }),
  ...(loadBalancerRange.length > 0 ? [loadBalancers(loadBalancerRange)] : []),
];

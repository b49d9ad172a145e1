/** The resources that workload controllers use, by the names of an identity. */
import type { ResourceRef } from '@plat-dev/client/dynamic';
import { builtin, core } from '@plat-dev/controllers/runtime/controller';
import type { Identity } from '@plat-dev/meta/identity';

export interface WorkloadRefs {
  readonly deployments: ResourceRef;
  readonly replicaSets: ResourceRef;
  readonly replicationControllers: ResourceRef;
  readonly statefulSets: ResourceRef;
  readonly daemonSets: ResourceRef;
  readonly controllerRevisions: ResourceRef;
  readonly jobs: ResourceRef;
  readonly cronJobs: ResourceRef;
  readonly autoscalers: ResourceRef;
  readonly budgets: ResourceRef;
  readonly leases: ResourceRef;
  readonly priorityClasses: ResourceRef;
  readonly storageClasses: ResourceRef;
  readonly csiNodes: ResourceRef;
  readonly volumeAttachments: ResourceRef;
}

export function workloadRefs(identity: Identity): WorkloadRefs {
  const apps = (name: string): ResourceRef => builtin(identity, 'apps', 'v1', name);
  const storage = (name: string): ResourceRef => builtin(identity, 'storage', 'v1', name, false);
  return {
    deployments: apps('deployments'),
    replicaSets: apps('replicasets'),
    replicationControllers: core('replicationcontrollers'),
    statefulSets: apps('statefulsets'),
    daemonSets: apps('daemonsets'),
    controllerRevisions: apps('controllerrevisions'),
    jobs: builtin(identity, 'batch', 'v1', 'jobs'),
    cronJobs: builtin(identity, 'batch', 'v1', 'cronjobs'),
    autoscalers: builtin(identity, 'autoscaling', 'v2', 'horizontalpodautoscalers'),
    budgets: builtin(identity, 'policy', 'v1', 'poddisruptionbudgets'),
    leases: builtin(identity, 'coordination', 'v1', 'leases'),
    priorityClasses: builtin(identity, 'scheduling', 'v1', 'priorityclasses', false),
    storageClasses: storage('storageclasses'),
    csiNodes: storage('csinodes'),
    volumeAttachments: storage('volumeattachments'),
  };
}

import type { Kind } from '../../../api/kinds.ts';
import type { Value } from '../../../api/values.ts';
import type { Schema } from '../openapi/schema.ts';
import { anySummary } from './kinds/any.ts';
import { namespaceSummary, nodeSummary } from './kinds/cluster.ts';
import { claimSummary, configMapSummary, secretSummary } from './kinds/config.ts';
import { ingressSummary, serviceSummary } from './kinds/network.ts';
import { podSummary } from './kinds/pod.ts';
import {
  cronJobSummary,
  daemonSetSummary,
  deploymentSummary,
  jobSummary,
  replicaSetSummary,
  statefulSetSummary,
} from './kinds/workloads.ts';
import type { Summary } from './summary.ts';

const byKind = new Map<string, (object: Value) => Summary>([
  ['/Pod', podSummary],
  ['/Service', serviceSummary],
  ['/ConfigMap', configMapSummary],
  ['/Secret', secretSummary],
  ['/PersistentVolumeClaim', claimSummary],
  ['/Node', nodeSummary],
  ['/Namespace', namespaceSummary],
  ['apps/Deployment', deploymentSummary],
  ['apps/ReplicaSet', replicaSetSummary],
  ['apps/StatefulSet', statefulSetSummary],
  ['apps/DaemonSet', daemonSetSummary],
  ['batch/Job', jobSummary],
  ['batch/CronJob', cronJobSummary],
]);

/** Whether the summary needs the schema of the kind. */
export const hasOwnSummary = ({ group, kind }: Kind): boolean => summaryFunction(group, kind) !== undefined;

export function summaryOf({ group, kind }: Kind, object: Value, schema: Schema | undefined): Summary {
  return summaryFunction(group, kind)?.(object) ?? anySummary(object, schema);
}

/** The group of ingresses has the name of the server's identity. */
function summaryFunction(group: string, kind: string): ((object: Value) => Summary) | undefined {
  if (kind === 'Ingress' && group.startsWith('networking.')) return ingressSummary;
  return byKind.get(`${group}/${kind}`);
}

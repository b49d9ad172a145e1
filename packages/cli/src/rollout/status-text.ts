/** The progress of a rollout as a line of text. */
import type { Workload } from './workloads.ts';

export interface Progress {
  readonly text: string;
  readonly done: boolean;
}
const waiting = (text: string): Progress => ({ text: `${text}\n`, done: false });
const finished = (text: string): Progress => ({ text: `${text}\n`, done: true });

/** The progress of a workload by its kind; undefined for kinds without rollouts. Throws when the rollout has failed. */
export function progressOf(kind: string, workload: Workload, revision: number, revisionNow: () => number): Progress | undefined {
  if (kind === 'Deployment') return ofDeployment(workload, revision, revisionNow);
  if (kind === 'DaemonSet') return ofDaemonSet(workload);
  return kind === 'StatefulSet' ? ofStatefulSet(workload) : undefined;
}

function ofDeployment({ metadata, spec, status = {} }: Workload, revision: number, revisionNow: () => number): Progress {
  const name = JSON.stringify(metadata.name);
  if (revision > 0 && revisionNow() !== revision)
    throw new Error(`desired revision (${revision}) is different from the running revision (${revisionNow()})`);
  if ((metadata.generation ?? 0) > (status.observedGeneration ?? 0)) return waiting('Waiting for deployment spec update to be observed...');
  if (status.conditions?.find(({ type }) => type === 'Progressing')?.reason === 'ProgressDeadlineExceeded')
    throw new Error(`deployment ${name} exceeded its progress deadline`);
  const { replicas = 0, updatedReplicas: updated = 0, availableReplicas: available = 0 } = status;
  const begin = `Waiting for deployment ${name} rollout to finish:`;
  if (spec.replicas !== undefined && updated < spec.replicas)
    return waiting(`${begin} ${updated} out of ${spec.replicas} new replicas have been updated...`);
  if (replicas > updated) return waiting(`${begin} ${replicas - updated} old replicas are pending termination...`);
  if (available < updated) return waiting(`${begin} ${available} of ${updated} updated replicas are available...`);
  return finished(`deployment ${name} successfully rolled out`);
}

function needRollingUpdate({ spec }: Workload): void {
  if (spec.updateStrategy?.type !== 'RollingUpdate') throw new Error('rollout status is only available for RollingUpdate strategy type');
}

function ofDaemonSet(workload: Workload): Progress {
  needRollingUpdate(workload);
  const { metadata, status = {} } = workload;
  const name = JSON.stringify(metadata.name);
  if ((metadata.generation ?? 0) > (status.observedGeneration ?? 0)) return waiting('Waiting for daemon set spec update to be observed...');
  const { desiredNumberScheduled: desired = 0, updatedNumberScheduled: updated = 0, numberAvailable: available = 0 } = status;
  const begin = `Waiting for daemon set ${name} rollout to finish:`;
  if (updated < desired) return waiting(`${begin} ${updated} out of ${desired} new pods have been updated...`);
  if (available < desired) return waiting(`${begin} ${available} of ${desired} updated pods are available...`);
  return finished(`daemon set ${name} successfully rolled out`);
}

function ofStatefulSet(workload: Workload): Progress {
  needRollingUpdate(workload);
  const { metadata, spec, status = {} } = workload;
  const { observedGeneration = 0, readyReplicas = 0, updatedReplicas: updated = 0, currentReplicas = 0 } = status;
  const { currentRevision = '', updateRevision = '' } = status;
  if (observedGeneration === 0 || (metadata.generation ?? 0) > observedGeneration)
    return waiting('Waiting for statefulset spec update to be observed...');
  const { replicas } = spec;
  if (replicas !== undefined && readyReplicas < replicas) return waiting(`Waiting for ${replicas - readyReplicas} pods to be ready...`);
  const rolling = spec.updateStrategy?.rollingUpdate;
  if (rolling !== undefined) {
    const partitionReplicas = (replicas ?? 0) - (rolling.partition ?? 0);
    if (replicas !== undefined && rolling.partition !== undefined && updated < partitionReplicas)
      return waiting(`Waiting for partitioned roll out to finish: ${updated} out of ${partitionReplicas} new pods have been updated...`);
    return finished(`partitioned roll out complete: ${updated} new pods have been updated...`);
  }
  if (updateRevision !== currentRevision)
    return waiting(`waiting for statefulset rolling update to complete ${updated} pods at revision ${updateRevision}...`);
  return finished(`statefulset rolling update complete ${currentReplicas} pods at revision ${currentRevision}...`);
}

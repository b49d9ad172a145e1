/**
 * Workloads of the versions before apps/v1. Their fields have the same tags as in version 1; they differ in a selector that may be
 * left out, and in `rollbackTo` and `templateGeneration`, which version 1 does not have.
 */
import { always, bool, type Infer, int32, int64, list, map, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { PodTemplateSpec } from '../../core/schema/pods/pod.ts';
import { PersistentVolumeClaim } from '../../core/schema/volumes/persistent-volume-claims.ts';
import { LabelSelector, ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import { DaemonSetStatus, DaemonSetUpdateStrategy } from './daemon-set.ts';
import { DeploymentStatus, DeploymentStrategy } from './deployment.ts';
import { ReplicaSetStatus } from './replica-set.ts';
import { StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetStatus, StatefulSetUpdateStrategy } from './stateful-set.ts';

/** `version` is the prefix of the names of messages: `apps.v1beta1`. */
export function deploymentSchemas(version: string) {
  const RollbackConfig = message(`${version}.RollbackConfig`, { revision: opt(1, int64) });
  const DeploymentSpec = message(`${version}.DeploymentSpec`, {
    replicas: ptr(1, int32),
    selector: ptr(2, LabelSelector),
    template: req(3, PodTemplateSpec),
    strategy: always(4, inVersion(DeploymentStrategy, version), { patch: 'retainKeys' }),
    minReadySeconds: opt(5, int32),
    revisionHistoryLimit: ptr(6, int32),
    paused: opt(7, bool),
    rollbackTo: ptr(8, RollbackConfig),
    progressDeadlineSeconds: ptr(9, int32),
  });
  const Deployment = object(`${version}.Deployment`, {
    metadata: always(1, ObjectMeta),
    spec: always(2, DeploymentSpec),
    status: always(3, inVersion(DeploymentStatus, version)),
  });
  const DeploymentRollback = object(`${version}.DeploymentRollback`, {
    name: req(1, string),
    updatedAnnotations: opt(2, map(string)),
    rollbackTo: req(3, RollbackConfig),
  });
  return { Deployment, DeploymentRollback };
}
export type OlderDeployment = Infer<ReturnType<typeof deploymentSchemas>['Deployment']>;
export type DeploymentRollback = Infer<ReturnType<typeof deploymentSchemas>['DeploymentRollback']>;

export function daemonSetSchema(version: string) {
  const DaemonSetSpec = message(`${version}.DaemonSetSpec`, {
    selector: ptr(1, LabelSelector),
    template: req(2, PodTemplateSpec),
    updateStrategy: always(3, inVersion(DaemonSetUpdateStrategy, version)),
    minReadySeconds: opt(4, int32),
    templateGeneration: opt(5, int64),
    revisionHistoryLimit: ptr(6, int32),
  });
  return object(`${version}.DaemonSet`, {
    metadata: always(1, ObjectMeta),
    spec: always(2, DaemonSetSpec),
    status: always(3, inVersion(DaemonSetStatus, version)),
  });
}
export type OlderDaemonSet = Infer<ReturnType<typeof daemonSetSchema>>;

export function replicaSetSchema(version: string) {
  const ReplicaSetSpec = message(`${version}.ReplicaSetSpec`, {
    replicas: ptr(1, int32),
    minReadySeconds: opt(4, int32),
    selector: ptr(2, LabelSelector),
    template: always(3, PodTemplateSpec),
  });
  return object(`${version}.ReplicaSet`, {
    metadata: always(1, ObjectMeta),
    spec: always(2, ReplicaSetSpec),
    status: always(3, inVersion(ReplicaSetStatus, version)),
  });
}

export function statefulSetSchema(version: string) {
  const StatefulSetSpec = message(`${version}.StatefulSetSpec`, {
    replicas: ptr(1, int32),
    selector: ptr(2, LabelSelector),
    template: req(3, PodTemplateSpec),
    volumeClaimTemplates: opt(4, list(PersistentVolumeClaim)),
    serviceName: req(5, string),
    podManagementPolicy: opt(6, string),
    updateStrategy: always(7, inVersion(StatefulSetUpdateStrategy, version)),
    revisionHistoryLimit: ptr(8, int32),
    minReadySeconds: opt(9, int32),
    persistentVolumeClaimRetentionPolicy: ptr(10, inVersion(StatefulSetPersistentVolumeClaimRetentionPolicy, version)),
  });
  return object(`${version}.StatefulSet`, {
    metadata: always(1, ObjectMeta),
    spec: always(2, StatefulSetSpec),
    status: always(3, inVersion(StatefulSetStatus, version)),
  });
}

/** A scale with its selector as labels where that is possible, and always as text. */
export function scaleSchema(version: string) {
  const ScaleSpec = message(`${version}.ScaleSpec`, { replicas: opt(1, int32) });
  const ScaleStatus = message(`${version}.ScaleStatus`, {
    replicas: req(1, int32),
    selector: opt(2, map(string)),
    targetSelector: opt(3, string),
  });
  return object(`${version}.Scale`, {
    metadata: always(1, ObjectMeta),
    spec: always(2, ScaleSpec),
    status: always(3, ScaleStatus),
  });
}
export type OlderScale = Infer<ReturnType<typeof scaleSchema>>;

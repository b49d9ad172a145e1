/** Deployments. */
import {
  always,
  bool,
  type Infer,
  int32,
  int64,
  intOrString,
  list,
  message,
  object,
  opt,
  ptr,
  req,
  string,
  time,
} from '@plat-dev/schema/types';
import { PodTemplateSpec } from '../../core/schema/pods/pod.ts';
import { LabelSelector, ObjectMeta } from '../../meta.ts';

export const RollingUpdateDeployment = message('apps.v1.RollingUpdateDeployment', {
  maxUnavailable: ptr(1, intOrString),
  maxSurge: ptr(2, intOrString),
});
export type RollingUpdateDeployment = Infer<typeof RollingUpdateDeployment>;

export const DeploymentStrategy = message('apps.v1.DeploymentStrategy', {
  type: opt(1, string, { enum: ['Recreate', 'RollingUpdate'] }),
  rollingUpdate: ptr(2, RollingUpdateDeployment),
});
export type DeploymentStrategy = Infer<typeof DeploymentStrategy>;

const DeploymentSpec = message('apps.v1.DeploymentSpec', {
  replicas: ptr(1, int32),
  selector: req(2, LabelSelector, { nullable: true }),
  template: req(3, PodTemplateSpec),
  strategy: always(4, DeploymentStrategy, { patch: 'retainKeys' }),
  minReadySeconds: opt(5, int32),
  revisionHistoryLimit: ptr(6, int32),
  paused: opt(7, bool),
  progressDeadlineSeconds: ptr(9, int32),
});

const DeploymentCondition = message('apps.v1.DeploymentCondition', {
  type: req(1, string),
  status: req(2, string),
  lastUpdateTime: always(6, time),
  lastTransitionTime: always(7, time),
  reason: opt(4, string),
  message: opt(5, string),
});

export const DeploymentStatus = message('apps.v1.DeploymentStatus', {
  observedGeneration: opt(1, int64),
  replicas: opt(2, int32),
  updatedReplicas: opt(3, int32),
  readyReplicas: opt(7, int32),
  availableReplicas: opt(4, int32),
  unavailableReplicas: opt(5, int32),
  conditions: opt(6, list(DeploymentCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  collisionCount: ptr(8, int32),
  terminatingReplicas: ptr(9, int32, { since: '1.33', gate: 'DeploymentReplicaSetTerminatingReplicas' }),
});
export type DeploymentStatus = Infer<typeof DeploymentStatus>;

export const Deployment = object('apps.v1.Deployment', {
  metadata: always(1, ObjectMeta),
  spec: always(2, DeploymentSpec),
  status: always(3, DeploymentStatus),
});
export type Deployment = Infer<typeof Deployment>;

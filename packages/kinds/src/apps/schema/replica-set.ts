/** Replica sets. */
import { always, type Infer, int32, int64, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { PodTemplateSpec } from '../../core/schema/pods/pod.ts';
import { LabelSelector, ObjectMeta } from '../../meta.ts';

const ReplicaSetSpec = message('apps.v1.ReplicaSetSpec', {
  replicas: ptr(1, int32),
  minReadySeconds: opt(4, int32),
  selector: req(2, LabelSelector, { nullable: true }),
  template: always(3, PodTemplateSpec),
});

const ReplicaSetCondition = message('apps.v1.ReplicaSetCondition', {
  type: req(1, string),
  status: req(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});

export const ReplicaSetStatus = message('apps.v1.ReplicaSetStatus', {
  replicas: req(1, int32),
  fullyLabeledReplicas: opt(2, int32),
  readyReplicas: opt(4, int32),
  availableReplicas: opt(5, int32),
  observedGeneration: opt(3, int64),
  conditions: opt(6, list(ReplicaSetCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  terminatingReplicas: ptr(7, int32, { since: '1.33', gate: 'DeploymentReplicaSetTerminatingReplicas' }),
});
export type ReplicaSetStatus = Infer<typeof ReplicaSetStatus>;

export const ReplicaSet = object('apps.v1.ReplicaSet', {
  metadata: always(1, ObjectMeta),
  spec: always(2, ReplicaSetSpec),
  status: always(3, ReplicaSetStatus),
});
export type ReplicaSet = Infer<typeof ReplicaSet>;

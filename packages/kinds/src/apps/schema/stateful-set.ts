/** Stateful sets. */
import { always, type Infer, int32, int64, intOrString, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { PodTemplateSpec } from '../../core/schema/pods/pod.ts';
import { PersistentVolumeClaim } from '../../core/schema/volumes/persistent-volume-claims.ts';
import { LabelSelector, ObjectMeta } from '../../meta.ts';

export const RollingUpdateStatefulSetStrategy = message('apps.v1.RollingUpdateStatefulSetStrategy', {
  partition: ptr(1, int32),
  maxUnavailable: ptr(2, intOrString, { gate: 'MaxUnavailableStatefulSet' }),
});
export type RollingUpdateStatefulSetStrategy = Infer<typeof RollingUpdateStatefulSetStrategy>;

export const StatefulSetUpdateStrategy = message('apps.v1.StatefulSetUpdateStrategy', {
  type: opt(1, string, { enum: ['OnDelete', 'RollingUpdate'] }),
  rollingUpdate: ptr(2, RollingUpdateStatefulSetStrategy),
});
export type StatefulSetUpdateStrategy = Infer<typeof StatefulSetUpdateStrategy>;

export const StatefulSetPersistentVolumeClaimRetentionPolicy = message('apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy', {
  whenDeleted: opt(1, string),
  whenScaled: opt(2, string),
});
export type StatefulSetPersistentVolumeClaimRetentionPolicy = Infer<typeof StatefulSetPersistentVolumeClaimRetentionPolicy>;

const StatefulSetOrdinals = message('apps.v1.StatefulSetOrdinals', {
  start: always(1, int32),
});

const StatefulSetSpec = message('apps.v1.StatefulSetSpec', {
  replicas: ptr(1, int32),
  selector: req(2, LabelSelector, { nullable: true }),
  template: req(3, PodTemplateSpec),
  volumeClaimTemplates: opt(4, list(PersistentVolumeClaim)),
  serviceName: req(5, string, { from: { '1.33': { required: false } } }),
  podManagementPolicy: opt(6, string, { enum: ['OrderedReady', 'Parallel'] }),
  updateStrategy: always(7, StatefulSetUpdateStrategy),
  revisionHistoryLimit: ptr(8, int32),
  minReadySeconds: opt(9, int32, { gate: { name: 'StatefulSetMinReadySeconds', createOnly: true } }),
  persistentVolumeClaimRetentionPolicy: ptr(10, StatefulSetPersistentVolumeClaimRetentionPolicy, { gate: 'StatefulSetAutoDeletePVC' }),
  ordinals: ptr(11, StatefulSetOrdinals, { since: '1.26', gate: 'StatefulSetStartOrdinal' }),
});

const StatefulSetCondition = message('apps.v1.StatefulSetCondition', {
  type: req(1, string),
  status: req(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});

export const StatefulSetStatus = message('apps.v1.StatefulSetStatus', {
  observedGeneration: opt(1, int64),
  replicas: req(2, int32),
  readyReplicas: opt(3, int32),
  currentReplicas: opt(4, int32),
  updatedReplicas: opt(5, int32),
  currentRevision: opt(6, string),
  updateRevision: opt(7, string),
  collisionCount: ptr(9, int32),
  conditions: opt(10, list(StatefulSetCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  availableReplicas: always(11, int32),
});
export type StatefulSetStatus = Infer<typeof StatefulSetStatus>;

export const StatefulSet = object('apps.v1.StatefulSet', {
  metadata: always(1, ObjectMeta),
  spec: always(2, StatefulSetSpec),
  status: always(3, StatefulSetStatus),
});
export type StatefulSet = Infer<typeof StatefulSet>;

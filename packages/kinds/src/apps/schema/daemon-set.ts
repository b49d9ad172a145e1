/** Daemon sets. */
import { always, type Infer, int32, int64, intOrString, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { PodTemplateSpec } from '../../core/schema/pods/pod.ts';
import { LabelSelector, ObjectMeta } from '../../meta.ts';

export const RollingUpdateDaemonSet = message('apps.v1.RollingUpdateDaemonSet', {
  maxUnavailable: ptr(1, intOrString),
  maxSurge: ptr(2, intOrString, { gate: { name: 'DaemonSetUpdateSurge', off: 0 } }),
});
export type RollingUpdateDaemonSet = Infer<typeof RollingUpdateDaemonSet>;

export const DaemonSetUpdateStrategy = message('apps.v1.DaemonSetUpdateStrategy', {
  type: opt(1, string, { enum: ['OnDelete', 'RollingUpdate'] }),
  rollingUpdate: ptr(2, RollingUpdateDaemonSet),
});
export type DaemonSetUpdateStrategy = Infer<typeof DaemonSetUpdateStrategy>;

const DaemonSetSpec = message('apps.v1.DaemonSetSpec', {
  selector: req(1, LabelSelector, { nullable: true }),
  template: req(2, PodTemplateSpec),
  updateStrategy: always(3, DaemonSetUpdateStrategy),
  minReadySeconds: opt(4, int32),
  revisionHistoryLimit: ptr(6, int32),
});

const DaemonSetCondition = message('apps.v1.DaemonSetCondition', {
  type: req(1, string),
  status: req(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});

export const DaemonSetStatus = message('apps.v1.DaemonSetStatus', {
  currentNumberScheduled: req(1, int32),
  numberMisscheduled: req(2, int32),
  desiredNumberScheduled: req(3, int32),
  numberReady: req(4, int32),
  observedGeneration: opt(5, int64),
  updatedNumberScheduled: opt(6, int32),
  numberAvailable: opt(7, int32),
  numberUnavailable: opt(8, int32),
  collisionCount: ptr(9, int32),
  conditions: opt(10, list(DaemonSetCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});
export type DaemonSetStatus = Infer<typeof DaemonSetStatus>;

export const DaemonSet = object('apps.v1.DaemonSet', {
  metadata: always(1, ObjectMeta),
  spec: always(2, DaemonSetSpec),
  status: always(3, DaemonSetStatus),
});
export type DaemonSet = Infer<typeof DaemonSet>;

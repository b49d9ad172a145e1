/** Replication controllers. */
import { always, type Infer, int32, int64, list, map, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { PodTemplateSpec } from './pods/pod.ts';

const ReplicationControllerSpec = message('core.v1.ReplicationControllerSpec', {
  replicas: ptr(1, int32, { from: { '1.33': { default: 1 } } }),
  minReadySeconds: opt(4, int32),
  selector: opt(2, map(string, { atomic: true })),
  template: ptr(3, PodTemplateSpec),
});

const ReplicationControllerCondition = message('core.v1.ReplicationControllerCondition', {
  type: req(1, string),
  status: req(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});

const ReplicationControllerStatus = message('core.v1.ReplicationControllerStatus', {
  replicas: req(1, int32),
  fullyLabeledReplicas: opt(2, int32),
  readyReplicas: opt(4, int32),
  availableReplicas: opt(5, int32),
  observedGeneration: opt(3, int64),
  conditions: opt(6, list(ReplicationControllerCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});

export const ReplicationController = object('core.v1.ReplicationController', {
  metadata: always(1, ObjectMeta),
  spec: always(2, ReplicationControllerSpec),
  status: always(3, ReplicationControllerStatus),
});
export type ReplicationController = Infer<typeof ReplicationController>;

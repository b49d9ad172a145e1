/** Horizontal pod autoscalers as version 2beta2 shows them. */
import { always, type Infer, int32, int64, list, message, object, ptr, req, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v2 from './v2.ts';

const MetricStatus = inVersion(v2.MetricStatus, 'autoscaling.v2beta2');

const HorizontalPodAutoscalerCondition = inVersion(v2.HorizontalPodAutoscalerCondition, 'autoscaling.v2beta2');

const HorizontalPodAutoscalerSpec = inVersion(v2.HorizontalPodAutoscalerSpec, 'autoscaling.v2beta2');

const HorizontalPodAutoscalerStatus = message('autoscaling.v2beta2.HorizontalPodAutoscalerStatus', {
  observedGeneration: ptr(1, int64),
  lastScaleTime: ptr(2, time),
  currentReplicas: req(3, int32),
  desiredReplicas: req(4, int32),
  currentMetrics: always(5, list(MetricStatus)),
  conditions: always(6, list(HorizontalPodAutoscalerCondition)),
});

export const HorizontalPodAutoscaler = object('autoscaling.v2beta2.HorizontalPodAutoscaler', {
  metadata: always(1, ObjectMeta),
  spec: always(2, HorizontalPodAutoscalerSpec),
  status: always(3, HorizontalPodAutoscalerStatus),
});
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;

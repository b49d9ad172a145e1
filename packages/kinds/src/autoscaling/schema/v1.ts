/** Horizontal pod autoscalers as version 1 shows them. */
import { always, type Infer, int32, int64, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

export const CrossVersionObjectReference = message(
  'autoscaling.v1.CrossVersionObjectReference',
  {
    kind: req(1, string),
    name: req(2, string),
    apiVersion: opt(3, string),
  },
  { atomic: true },
);
export type CrossVersionObjectReference = Infer<typeof CrossVersionObjectReference>;

const HorizontalPodAutoscalerSpec = message('autoscaling.v1.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: req(1, CrossVersionObjectReference),
  minReplicas: ptr(2, int32, { default: 1 }),
  maxReplicas: req(3, int32),
  targetCPUUtilizationPercentage: ptr(4, int32),
});

const HorizontalPodAutoscalerStatus = message('autoscaling.v1.HorizontalPodAutoscalerStatus', {
  observedGeneration: ptr(1, int64),
  lastScaleTime: ptr(2, time),
  currentReplicas: req(3, int32),
  desiredReplicas: req(4, int32),
  currentCPUUtilizationPercentage: ptr(5, int32),
});

export const HorizontalPodAutoscaler = object('autoscaling.v1.HorizontalPodAutoscaler', {
  metadata: always(1, ObjectMeta),
  spec: always(2, HorizontalPodAutoscalerSpec, { from: { '1.36': { required: true } } }),
  status: always(3, HorizontalPodAutoscalerStatus),
});
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;

/** Defaults of metrics and of scaling behavior. */
import { compact } from '../compact.ts';
import type { KindEnv } from '../kind.ts';
import { dropIdleNotes, dropNotes, readNotes } from './annotations.ts';
import type * as v1 from './schema/v1.ts';
import type * as v2 from './schema/v2.ts';
import type * as v2beta1 from './schema/v2beta1.ts';

/** Target CPU utilization, in percent of the requests of the pods. */
const CPU_UTILIZATION = 80;

const scaleUp = (): v2.HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
});
const scaleDown = (): v2.HPAScalingRules => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
});

const filled = (rules: v2.HPAScalingRules | undefined, usual: v2.HPAScalingRules): v2.HPAScalingRules =>
  compact({
    stabilizationWindowSeconds: rules?.stabilizationWindowSeconds ?? usual.stabilizationWindowSeconds,
    selectPolicy: rules?.selectPolicy ?? usual.selectPolicy,
    policies: rules?.policies ?? usual.policies,
    tolerance: rules?.tolerance,
  });

/** Version 2, and 2beta2, which has the same fields. */
export function defaults({ metadata, spec }: v2.HorizontalPodAutoscaler, env: KindEnv): void {
  dropNotes(metadata, env.identity);
  if ((spec.metrics ?? []).length === 0)
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_UTILIZATION } } }];
  if (spec.behavior === undefined) return;
  spec.behavior = { scaleUp: filled(spec.behavior.scaleUp, scaleUp()), scaleDown: filled(spec.behavior.scaleDown, scaleDown()) };
}

export function defaults2beta1({ metadata, spec }: v2beta1.HorizontalPodAutoscaler, env: KindEnv): void {
  dropIdleNotes(metadata, env.identity);
  if ((spec.metrics ?? []).length === 0)
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: CPU_UTILIZATION } }];
}

export function defaults1({ metadata, spec }: v1.HorizontalPodAutoscaler, env: KindEnv): void {
  dropIdleNotes(metadata, env.identity);
  if (spec.targetCPUUtilizationPercentage !== undefined) return;
  const { metrics = [] } = readNotes(metadata, env.identity);
  if (metrics.length === 0) spec.targetCPUUtilizationPercentage = CPU_UTILIZATION;
}

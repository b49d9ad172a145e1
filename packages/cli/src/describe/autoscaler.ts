/** Horizontal pod autoscalers, of version 2 and before. */
import type { HorizontalPodAutoscaler as V1 } from '@plat-dev/kinds/autoscaling/schema/v1';
import type {
  HorizontalPodAutoscaler,
  HPAScalingRules,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '@plat-dev/kinds/autoscaling/schema/v2';
import type { Describer } from './describer.ts';
import type { Page } from './page.ts';
import { type Described, longTime, orUnset, type ReadForm } from './values.ts';

export const describeAutoscaler: Describer<HorizontalPodAutoscaler | V1> = {
  versions: ['v2', 'v2beta2', 'v1'],
  async write(page, autoscaler, _, version) {
    const { metadata } = autoscaler;
    const { scaleTargetRef: target = {}, minReplicas, maxReplicas = 0 } = autoscaler.spec ?? {};
    const { currentReplicas = 0, desiredReplicas = 0 } = autoscaler.status ?? {};
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('CreationTimestamp', longTime(metadata.creationTimestamp)).field('Reference', `${target.kind ?? ''}/${target.name ?? ''}`);
    const isV1 = version === 'v1';
    if (isV1) writeUtilization(page, autoscaler as Described<V1>);
    else writeMetrics(page, autoscaler as Described<HorizontalPodAutoscaler>);
    page.field('Min replicas', orUnset(minReplicas)).field('Max replicas', maxReplicas);
    if (!isV1) writeBehavior(page, autoscaler as Described<HorizontalPodAutoscaler>);
    page.field(`${target.kind ?? ''} pods`, `${currentReplicas} current / ${desiredReplicas} desired`);
    const { conditions = [] } = ((isV1 ? {} : autoscaler.status) ?? {}) as ReadForm<HorizontalPodAutoscaler['status']>;
    if (conditions.length === 0) return;
    const rows = conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
    page.heading('Conditions').at(1).table(['Type', 'Status', 'Reason', 'Message'], rows);
  },
};

function writeUtilization(page: Page, { spec = {}, status = {} }: Described<V1>): void {
  if (spec.targetCPUUtilizationPercentage === undefined) return;
  page.field('Target CPU utilization', `${spec.targetCPUUtilizationPercentage}%`);
  page.field('Current CPU utilization', `${status.currentCPUUtilizationPercentage ?? '<unknown>'}%`);
}

// ---- metrics -----------------------------------------------------------------------------------------------------

function writeMetrics(page: Page, { spec = {}, status = {} }: Described<HorizontalPodAutoscaler>): void {
  page.field('Metrics', '( current / target )');
  (spec.metrics ?? []).forEach((metric, i) => {
    page.at(1).line(...metricCells(metric, status.currentMetrics?.[i] ?? {}));
  });
}

/** What is measured, and `current / target`. */
function metricCells(metric: ReadForm<MetricSpec>, status: ReadForm<MetricStatus>): string[] {
  const { external, pods, object, resource, containerResource } = metric;
  if (metric.type === 'External' && external !== undefined) {
    const name = JSON.stringify(external.metric?.name ?? '');
    if (external.target?.averageValue !== undefined)
      return [
        `${name} (target average value):`,
        `${status.external?.current?.averageValue ?? '<unknown>'} / ${external.target.averageValue}`,
      ];
    return [`${name} (target value):`, amounts('value', status.external?.current, external.target)];
  }
  if (metric.type === 'Pods' && pods !== undefined)
    return [`${JSON.stringify(pods.metric?.name ?? '')} on pods:`, amounts('averageValue', status.pods?.current, pods.target)];
  if (metric.type === 'Object' && object !== undefined) {
    const what = `"${object.metric?.name ?? ''}" on ${object.describedObject?.kind ?? ''}/${object.describedObject?.name ?? ''}`;
    const average = object.target?.type === 'AverageValue';
    const values = amounts(average ? 'averageValue' : 'value', status.object?.current, object.target);
    return [`${what} (target ${average ? 'average ' : ''}value):`, values];
  }
  if (metric.type === 'Resource' && resource !== undefined)
    return utilization(`resource ${resource.name ?? ''} on pods`, status.resource?.current, resource.target);
  if (metric.type === 'ContainerResource' && containerResource !== undefined) {
    const what = `resource ${containerResource.name ?? ''} of container "${containerResource.container ?? ''}" on pods`;
    return utilization(what, status.containerResource?.current, containerResource.target);
  }
  return [`<unknown metric type ${JSON.stringify(metric.type ?? '')}>`];
}
/** A status that has come without the value shows none of it, as the stock client does. */
const amounts = (
  field: 'value' | 'averageValue',
  current: ReadForm<MetricValueStatus> | undefined,
  target: ReadForm<MetricTarget> = {},
): string => `${current === undefined ? '<unknown>' : (current[field] ?? '<nil>')} / ${target[field] ?? '<nil>'}`;

/** An amount, or a share of what the pods request. */
function utilization(what: string, current: ReadForm<MetricValueStatus> | undefined, target: ReadForm<MetricTarget> = {}): string[] {
  if (target.averageValue !== undefined) return [`${what}:`, amounts('averageValue', current, target)];
  const used = current?.averageUtilization;
  const now = used === undefined ? '<unknown>' : `${used}% (${current?.averageValue ?? '<nil>'})`;
  const targetText = target.averageUtilization === undefined ? '<auto>' : `${target.averageUtilization}%`;
  return [`${what}  (as a percentage of request):`, `${now} / ${targetText}`];
}

// ---- behavior ----------------------------------------------------------------------------------------------------

function writeBehavior(page: Page, { spec = {} }: Described<HorizontalPodAutoscaler>): void {
  if (spec.behavior === undefined) return;
  page.heading('Behavior');
  writeRules(page.at(1), 'Scale Up', spec.behavior.scaleUp);
  writeRules(page.at(1), 'Scale Down', spec.behavior.scaleDown);
}
function writeRules(page: Page, direction: string, rules: ReadForm<HPAScalingRules> | undefined): void {
  if (rules === undefined) return;
  const { stabilizationWindowSeconds, selectPolicy = 'Max', policies = [] } = rules;
  const below = page.heading(direction).at(1);
  if (stabilizationWindowSeconds !== undefined) below.line(`Stabilization Window: ${stabilizationWindowSeconds} seconds`);
  if (policies.length === 0) return;
  below.line(`Select Policy: ${selectPolicy}`).line('Policies:');
  for (const { type, value = 0, periodSeconds = 0 } of policies)
    below.at(1).line(`- Type: ${type}`, `Value: ${value}`, `Period: ${periodSeconds} seconds`);
}

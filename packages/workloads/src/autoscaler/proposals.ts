/** What each metric of an autoscaler proposes, and what the status shows of it. */

import { own } from '@plat-dev/lib/own';
import { turnWithTime } from '@plat-dev/lib/slices';
import type { LabelSelectorObject } from '@plat-dev/meta/labels';
import { milliQuantity, parseQuantity } from '@plat-dev/meta/quantity';
import { messageOf } from '../shared/pod-control.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import type { Metric, MetricStatus } from './autoscaler.ts';
import type { Metrics } from './metrics-client.ts';
import { byAverage, byUtilization, byValue, byValuePerPod, type PodsInput, type Proposal, type Tolerances } from './replicas.ts';

export interface Situation {
  readonly namespace: string;
  /** Replicas that the target asks for, and those that it has. */
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly tolerances: Tolerances;
  /** The label selector of the target as text. */
  readonly selector: string;
  readonly pods: readonly WorkloadPod[];
  readonly now: number;
  readonly metrics: Metrics;
}

export interface MetricProposal {
  readonly replicas: number;
  /** What the metric is called in events and conditions. */
  readonly name: string;
  readonly status: MetricStatus;
}

/** A metric that could not be read or used, with the reason of the event about it. */
export class MetricFailure extends Error {
  readonly reason: string;
  constructor(reason: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

const reasons: Readonly<Record<string, string>> = {
  Resource: 'FailedGetResourceMetric',
  ContainerResource: 'FailedGetContainerResourceMetric',
  Pods: 'FailedGetPodsMetric',
  Object: 'FailedGetObjectMetric',
  External: 'FailedGetExternalMetric',
};

/** What all metrics propose, one after another: an autoscaler may have thousands. */
export async function proposeAll(
  metrics: readonly Metric[],
  situation: Situation,
): Promise<{ readonly proposals: MetricProposal[]; readonly failed: MetricFailure[] }> {
  const proposals: MetricProposal[] = [];
  const failed: MetricFailure[] = [];
  for (const metric of metrics) {
    await turnWithTime();
    try {
      proposals.push(await propose(metric, situation));
    } catch (error) {
      failed.push(error as MetricFailure);
    }
  }
  return { proposals, failed };
}

/** Throws MetricFailure. */
async function propose(metric: Metric, situation: Situation): Promise<MetricProposal> {
  const reason = own(reasons, metric.type);
  if (reason === undefined) throw new MetricFailure('InvalidMetricSourceType', `unknown metric source type ${JSON.stringify(metric.type)}`);
  try {
    if (metric.type === 'Resource' || metric.type === 'ContainerResource') return await proposeResource(metric, situation);
    if (metric.type === 'Pods') return await proposePods(metric, situation);
    return metric.type === 'Object' ? await proposeObject(metric, situation) : await proposeExternal(metric, situation);
  } catch (error) {
    throw new MetricFailure(reason, messageOf(error), error);
  }
}

const quantityText = (millis: number): string => milliQuantity(Math.round(millis)).toString();
const target = (quantity: string | null | undefined): number | undefined =>
  quantity == null ? undefined : Number(parseQuantity(String(quantity)).millis());

/** Adds what was being done to an error. */
async function during<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
  }
}

async function proposeResource(metric: Metric, situation: Situation): Promise<MetricProposal> {
  const source = metric.type === 'Resource' ? metric.resource : metric.containerResource;
  const container = metric.type === 'Resource' ? undefined : metric.containerResource?.container;
  const resource = source?.name ?? '';
  const words = container === undefined ? `${resource} resource` : `${resource} container resource`;
  const { averageUtilization, averageValue } = source?.target ?? {};
  const targetValue = target(averageValue as string | undefined);
  if (targetValue === undefined && averageUtilization == null)
    throw new Error('invalid resource metric source: neither a utilization target nor a value target was set');
  const { namespace, selector, specReplicas, pods, now, metrics, tolerances } = situation;
  const podMetrics = await during(`failed to get ${resource} utilization: unable to get metrics for resource ${resource}`, () =>
    metrics.ofResource(resource, namespace, selector, container),
  );
  const input = {
    current: specReplicas,
    pods,
    metrics: podMetrics,
    resource,
    now,
    tolerances,
    ...(container !== undefined && { container }),
  };
  const { replicas, utilization, value } = await during(`failed to get ${resource} utilization`, async () =>
    targetValue !== undefined ? byAverage(input, targetValue) : byUtilization(input, averageUtilization as number),
  );
  const current = { ...(utilization !== undefined && { averageUtilization: utilization }), averageValue: quantityText(value) };
  const status =
    container === undefined
      ? { type: metric.type, resource: { name: resource, current } }
      : { type: metric.type, containerResource: { name: resource, container, current } };
  const name = targetValue !== undefined ? words : `${words} utilization (percentage of request)`;
  return { replicas, name, status: status as MetricStatus };
}

async function proposePods({ pods: source }: Metric, situation: Situation): Promise<MetricProposal> {
  const metric = source?.metric?.name ?? '';
  const { namespace, selector, specReplicas, pods, now, metrics, tolerances } = situation;
  const { replicas, value } = await during('failed to get pods metric value', async () => {
    const podMetrics = await during(`unable to get metric ${metric}`, () =>
      metrics.ofPods(metric, namespace, selector, selectorOf(source?.metric)),
    );
    const input: PodsInput = { current: specReplicas, pods, metrics: podMetrics, now, tolerances };
    return byAverage(input, target(source?.target?.averageValue as string | undefined) ?? 1);
  });
  const status = { type: 'Pods', pods: { metric: source?.metric, current: { averageValue: quantityText(value) } } };
  return { replicas, name: `pods metric ${metric}`, status: status as MetricStatus };
}

async function proposeObject({ object: source }: Metric, situation: Situation): Promise<MetricProposal> {
  const metric = source?.metric?.name ?? '';
  const described = { apiVersion: source?.describedObject?.apiVersion ?? '', kind: '', name: '', ...source?.describedObject };
  const { namespace, metrics } = situation;
  const { proposal, current } = await during('failed to get object metric value', async () => {
    const measuredValue = await during(`unable to get metric ${metric}: ${described.kind} on ${namespace} ${described.name}`, () =>
      metrics.ofObject(metric, namespace, described, selectorOf(source?.metric)),
    );
    return byTarget(source?.target, measuredValue, situation, 'object');
  });
  const status = { type: 'Object', object: { metric: source?.metric, describedObject: source?.describedObject, current } };
  return { replicas: proposal.replicas, name: `${described.kind} metric ${metric}`, status: status as MetricStatus };
}

async function proposeExternal({ external: source }: Metric, situation: Situation): Promise<MetricProposal> {
  const metric = source?.metric?.name ?? '';
  const selector = selectorOf(source?.metric);
  const { namespace, metrics } = situation;
  const words = selector === undefined ? 'nil' : JSON.stringify(selector);
  const { proposal, current } = await during(`failed to get ${metric} external metric`, async () => {
    const measuredValue = await during(`unable to get external metric ${namespace}/${metric}/${words}`, () =>
      metrics.ofExternal(metric, namespace, selector),
    );
    return byTarget(source?.target, measuredValue, situation, 'external');
  });
  const status = { type: 'External', external: { metric: source?.metric, current } };
  return { replicas: proposal.replicas, name: `external metric ${metric}(${words})`, status: status as MetricStatus };
}

type Target = NonNullable<NonNullable<Metric['external']>['target']>;

function byTarget(
  targetSpec: Target | undefined,
  value: number,
  { specReplicas, statusReplicas, pods, tolerances }: Situation,
  what: string,
): { proposal: Proposal; current: object } {
  const average = target(targetSpec?.averageValue as string | undefined);
  const whole = target(targetSpec?.value as string | undefined);
  if (targetSpec?.type === 'AverageValue' && average !== undefined) {
    const proposal = byValuePerPod(statusReplicas, value, average, tolerances);
    return { proposal, current: { averageValue: quantityText(proposal.value) } };
  }
  if (whole === undefined) throw new Error(`invalid ${what} metric source: neither a value target nor an average value target was set`);
  const proposal = byValue(specReplicas, pods, value, whole, tolerances);
  return { proposal, current: { value: quantityText(value) } };
}

const selectorOf = (identifier: { selector?: unknown } | undefined): LabelSelectorObject | undefined =>
  (identifier?.selector as LabelSelectorObject | null | undefined) ?? undefined;

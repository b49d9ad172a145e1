/** Autoscalers of older versions, to and from version 2. */
import type { Identity } from '../../identity.ts';
import { compact } from '../../lib/compact.ts';
import { equal } from '../../lib/equal.ts';
import { dropNotes, type Exact, type Notes, readNotes, writeNotes } from './annotations.ts';
import { deepMetric, deepStatus, flatMetric, flatStatus } from './metric-forms.ts';
import type * as v1 from './schema/v1.ts';
import type * as v2 from './schema/v2.ts';
import type * as v2beta1 from './schema/v2beta1.ts';

type Hub = v2.HorizontalPodAutoscaler;
const same = <T>(a: readonly T[] | undefined, b: readonly T[] | undefined): boolean => equal(a ?? [], b ?? []);
const filled = <T>(list: T[]): T[] | undefined => (list.length === 0 ? undefined : list);

/** The hub's own metrics, where the way through an older form would change them. */
function exactly(hub: Hub, metrics: v2.MetricSpec[], currentMetrics: v2.MetricStatus[]): Exact | undefined {
  const exact: Exact = {};
  if (!same(metrics, hub.spec?.metrics)) exact.metrics = hub.spec?.metrics ?? [];
  if (!same(currentMetrics, hub.status?.currentMetrics)) exact.currentMetrics = hub.status?.currentMetrics ?? [];
  return Object.keys(exact).length === 0 ? undefined : exact;
}

// ---- version 1 ---------------------------------------------------------------------------------------------------

/** The one metric that version 1 has a field for. */
export function isCpuUtilization({ type, resource }: v2.MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target.averageUtilization !== undefined;
}
const cpuMetric = (averageUtilization: number): v2.MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const cpuStatus = (averageUtilization: number): v2.MetricStatus => ({
  type: 'Resource',
  resource: { name: 'cpu', current: { averageUtilization } },
});
const measuredCpu = (metrics: readonly v2.MetricStatus[] | undefined): number | undefined =>
  metrics?.findLast(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu')?.resource?.current.averageUtilization;

interface OldMetrics {
  cpu?: number | undefined;
  others: v2beta1.MetricSpec[];
}
function oldMetrics(metrics: readonly v2.MetricSpec[] | undefined): OldMetrics {
  const cpu = metrics?.find(isCpuUtilization)?.resource?.target.averageUtilization;
  return { cpu, others: (metrics ?? []).filter((metric) => !isCpuUtilization(metric)).map(flatMetric) };
}
function newMetrics({ cpu, others }: OldMetrics): v2.MetricSpec[] {
  const metrics = others.map(deepMetric);
  if (cpu !== undefined) metrics.push(cpuMetric(cpu));
  return metrics;
}

export function toVersion1(hub: Hub, identity: Identity): v1.HorizontalPodAutoscaler {
  const { spec, status, metadata, ...rest } = hub;
  const metrics = oldMetrics(spec?.metrics);
  const currentMetrics = status?.currentMetrics?.map(flatStatus);
  writeNotes(metadata, identity, {
    metrics: metrics.others,
    currentMetrics,
    conditions: status?.conditions,
    behavior: spec?.behavior,
    exact: exactly(hub, newMetrics(metrics), currentMetrics?.map(deepStatus) ?? []),
  });
  const { scaleTargetRef, minReplicas, maxReplicas } = spec ?? {};
  return compact({
    ...rest,
    metadata,
    spec: spec && compact({ scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: metrics.cpu }),
    status:
      status &&
      compact({
        observedGeneration: status.observedGeneration,
        lastScaleTime: status.lastScaleTime,
        currentReplicas: status.currentReplicas ?? 0,
        desiredReplicas: status.desiredReplicas,
        currentCPUUtilizationPercentage: measuredCpu(status.currentMetrics),
      }),
  }) as v1.HorizontalPodAutoscaler;
}

export function fromVersion1(old: v1.HorizontalPodAutoscaler, identity: Identity): Hub {
  const { spec, status, metadata, ...rest } = old;
  const notes = readNotes(metadata, identity);
  dropNotes(metadata, identity);
  const { scaleTargetRef, minReplicas, maxReplicas } = spec ?? {};
  const metrics = filled(metricsOf(old, notes));
  return compact({
    ...rest,
    metadata,
    spec: spec && compact({ scaleTargetRef, minReplicas, maxReplicas, metrics, behavior: notes.behavior }),
    status:
      status &&
      compact({
        observedGeneration: status.observedGeneration,
        lastScaleTime: status.lastScaleTime,
        currentReplicas: status.currentReplicas || undefined,
        desiredReplicas: status.desiredReplicas,
        currentMetrics: filled(measuredOf(status.currentCPUUtilizationPercentage, notes)),
        conditions: filled(notes.conditions ?? []),
      }),
  }) as Hub;
}

/** Metrics of version 1: those of the annotation, then the processor's; the exact ones if they look the same in version 1. */
function metricsOf({ spec }: v1.HorizontalPodAutoscaler, notes: Notes): v2.MetricSpec[] {
  const given: OldMetrics = { cpu: spec?.targetCPUUtilizationPercentage, others: notes.metrics ?? [] };
  const exact = notes.exact?.metrics;
  return exact !== undefined && equal(oldMetrics(exact), given) ? exact : newMetrics(given);
}

function measuredOf(cpu: number | undefined, { currentMetrics, exact }: Notes): v2.MetricStatus[] {
  if (exact?.currentMetrics !== undefined && same(exact.currentMetrics.map(flatStatus), currentMetrics)) return exact.currentMetrics;
  if (currentMetrics !== undefined && currentMetrics.length > 0) return currentMetrics.map(deepStatus);
  return cpu === undefined ? [] : [cpuStatus(cpu)];
}

// ---- version 2beta1 ----------------------------------------------------------------------------------------------

export function toVersion2beta1(hub: Hub, identity: Identity): v2beta1.HorizontalPodAutoscaler {
  const { spec, status, metadata, ...rest } = hub;
  const metrics = spec?.metrics?.map(flatMetric);
  const currentMetrics = status?.currentMetrics?.map(flatStatus);
  const exact = exactly(hub, metrics?.map(deepMetric) ?? [], currentMetrics?.map(deepStatus) ?? []);
  writeNotes(metadata, identity, { behavior: spec?.behavior, exact });
  const { behavior: _behavior, ...fields } = spec ?? {};
  return compact({
    ...rest,
    metadata,
    spec: spec && compact({ ...fields, metrics }),
    status: status && compact({ ...status, currentReplicas: status.currentReplicas ?? 0, currentMetrics }),
  }) as v2beta1.HorizontalPodAutoscaler;
}

export function fromVersion2beta1(old: v2beta1.HorizontalPodAutoscaler, identity: Identity): Hub {
  const { spec, status, metadata, ...rest } = old;
  const { exact, behavior } = readNotes(metadata, identity);
  dropNotes(metadata, identity);
  const metrics = exact?.metrics && same(exact.metrics.map(flatMetric), spec?.metrics) ? exact.metrics : spec?.metrics?.map(deepMetric);
  const currentMetrics =
    exact?.currentMetrics && same(exact.currentMetrics.map(flatStatus), status?.currentMetrics)
      ? exact.currentMetrics
      : status?.currentMetrics?.map(deepStatus);
  return compact({
    ...rest,
    metadata,
    spec: spec && compact({ ...spec, metrics, behavior }),
    status: status && compact({ ...status, currentReplicas: status.currentReplicas || undefined, currentMetrics }),
  }) as Hub;
}

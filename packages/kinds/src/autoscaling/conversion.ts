/** Autoscalers of older versions, to and from version 2. */

import type { Work } from '@plat-dev/lib/slices';
import type { Identity } from '@plat-dev/meta/identity';
import { compact } from '../compact.ts';
import { dropNotes, type Notes, readNotes, writeNotes } from './annotations.ts';
import { deepMetric, deepStatus, flatMetric, flatStatus } from './metric-forms.ts';
import type * as v1 from './schema/v1.ts';
import type * as v2 from './schema/v2.ts';
import type * as v2beta1 from './schema/v2beta1.ts';

type Hub = v2.HorizontalPodAutoscaler;
const filled = <T>(list: T[]): T[] | undefined => (list.length === 0 ? undefined : list);

// ---- version 1 ---------------------------------------------------------------------------------------------------

/** The one metric that version 1 has a field for. */
function isCpuUtilization({ type, resource }: v2.MetricSpec): boolean {
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

/** Metrics of version 1: those of the annotation, then the processor's. */
const metricsOf = ({ spec }: v1.HorizontalPodAutoscaler, { metrics = [] }: Notes): v2.MetricSpec[] =>
  newMetrics({ cpu: spec?.targetCPUUtilizationPercentage, others: metrics });

function measuredOf(cpu: number | undefined, { currentMetrics }: Notes): v2.MetricStatus[] {
  if (currentMetrics !== undefined) return currentMetrics.map(deepStatus);
  return cpu === undefined ? [] : [cpuStatus(cpu)];
}

/**
 * An autoscaler in the form that is stored and returned: only what version 1 and its annotations can express, so that it is the
 * same in every version. Of several metrics of CPU use the first is kept, as the last of the list; the type of a target follows
 * from its values; an amount that version 1 cannot leave out is 0.
 */
export function* asVersion1Keeps({ spec }: Hub): Work<void> {
  if (spec.metrics === undefined) return;
  const metrics = oldMetrics(spec.metrics);
  yield;
  spec.metrics = newMetrics(metrics);
}

export function statusAsVersion1Keeps({ status }: Hub): void {
  if (status.currentMetrics != null) status.currentMetrics = status.currentMetrics.map((metric) => deepStatus(flatStatus(metric)));
}

// ---- version 2beta1 ----------------------------------------------------------------------------------------------

export function toVersion2beta1(hub: Hub, identity: Identity): v2beta1.HorizontalPodAutoscaler {
  const { spec, status, metadata, ...rest } = hub;
  const metrics = spec?.metrics?.map(flatMetric);
  const currentMetrics = status?.currentMetrics?.map(flatStatus);
  writeNotes(metadata, identity, { behavior: spec?.behavior });
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
  const { behavior } = readNotes(metadata, identity);
  dropNotes(metadata, identity);
  const metrics = spec?.metrics?.map(deepMetric);
  const currentMetrics = status?.currentMetrics?.map(deepStatus);
  return compact({
    ...rest,
    metadata,
    spec: spec && compact({ ...spec, metrics, behavior }),
    status: status && compact({ ...status, currentReplicas: status.currentReplicas || undefined, currentMetrics }),
  }) as Hub;
}

/**
 * The number of pods that brings a metric to its target. All amounts are in thousandths. Pods whose metrics cannot be used are taken
 * for what makes the change smaller:
 *
 *   no metrics     as if they met the target when pods are removed, and as if they did nothing when pods are added
 *   not ready      as if they did nothing when pods are added, else they do not count
 *   being deleted  or failed: they do not count
 */

import { own } from '@plat-dev/lib/own';
import { parseQuantity } from '@plat-dev/meta/quantity';
import { timeMillis } from '@plat-dev/meta/time';
import { isReady, isTerminating, phaseOf, podCondition } from '../shared/pod-state.ts';
import type { WorkloadPod } from '../shared/pods.ts';

export interface PodMetric {
  readonly value: number;
  /** When it was taken, and over which time, in milliseconds. */
  readonly at: number;
  readonly window: number;
}

/** A ratio this near to 1 changes nothing, unless the behavior of the autoscaler says another. */
const TOLERANCE = 0.1;
export interface Tolerances {
  readonly up: number;
  readonly down: number;
}
const usual: Tolerances = { up: TOLERANCE, down: TOLERANCE };
interface Rules {
  readonly tolerance?: unknown;
}
export function tolerancesOf(
  behavior: { readonly scaleUp?: Rules | null; readonly scaleDown?: Rules | null } | null | undefined,
): Tolerances {
  const read = (rules: Rules | null | undefined): number =>
    rules?.tolerance == null ? TOLERANCE : Number(parseQuantity(String(rules.tolerance)).millis()) / 1000;
  return { up: read(behavior?.scaleUp), down: read(behavior?.scaleDown) };
}
/** After its start a pod may use more CPU than it will later. */
const CPU_INITIALIZATION_MS = 5 * 60_000;
/** A pod that was not ready within this time after its start was never ready. */
const INITIAL_READINESS_MS = 30_000;

const isNear = (ratio: number, { up, down }: Tolerances): boolean => (ratio < 1 ? 1 - ratio <= down : ratio - 1 <= up);

export interface Grouped {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  readonly ignored: readonly string[];
}

const nameOf = ({ metadata }: WorkloadPod): string => metadata.name ?? '';

export function groupPods(
  pods: readonly WorkloadPod[],
  metrics: ReadonlyMap<string, PodMetric>,
  resource: string | undefined,
  now: number,
): Grouped {
  let ready = 0;
  const unready: string[] = [];
  const missing: string[] = [];
  const ignored: string[] = [];
  for (const pod of pods) {
    const metric = metrics.get(nameOf(pod));
    if (isTerminating(pod) || phaseOf(pod) === 'Failed') ignored.push(nameOf(pod));
    else if (phaseOf(pod) === 'Pending') unready.push(nameOf(pod));
    else if (metric === undefined) missing.push(nameOf(pod));
    else if (resource === 'cpu' && !isCpuUsable(pod, metric, now)) unready.push(nameOf(pod));
    else ready++;
  }
  return { ready, unready, missing, ignored };
}

function isCpuUsable(pod: WorkloadPod, metric: PodMetric, now: number): boolean {
  const condition = podCondition(pod, 'Ready');
  const startTime = pod.status?.startTime;
  if (condition === undefined || startTime == null) return false;
  const started = timeMillis(startTime);
  const changed = condition.lastTransitionTime == null ? 0 : timeMillis(condition.lastTransitionTime);
  const isUnready = condition.status === 'False';
  if (started + CPU_INITIALIZATION_MS > now) return !isUnready && metric.at >= changed + metric.window;
  return !(isUnready && started + INITIAL_READINESS_MS > changed);
}

/** Requests of a resource by pod, of one container or of all. Throws where one is missing. */
function requestsOf(pods: readonly WorkloadPod[], resource: string, container?: string): Map<string, number> {
  const requests = new Map<string, number>();
  for (const pod of pods) {
    let sum = 0;
    for (const { name, resources } of pod.spec?.containers ?? []) {
      if (container !== undefined && name !== container) continue;
      const request = own(resources?.requests, resource);
      if (request === undefined) throw new Error(`missing request for ${resource}`);
      sum += Number(parseQuantity(String(request)).millis());
    }
    requests.set(nameOf(pod), sum);
  }
  return requests;
}

export interface Proposal {
  readonly replicas: number;
  /** Percent of the requests, where the target is one. */
  readonly utilization?: number;
  /** Usage of a pod on average, or the value of the metric. */
  readonly value: number;
}

interface Ratio {
  readonly ratio: number;
  readonly utilization?: number;
  readonly value: number;
}

/** How a metric of pods compares with its target. */
interface Measure {
  ratio(metrics: ReadonlyMap<string, PodMetric>): Ratio;
  /** What a pod without metrics is taken for when pods are removed. */
  fallback(pod: string): number;
}

function utilizationOf(requests: ReadonlyMap<string, number>, target: number): Measure {
  return {
    ratio(metrics) {
      let [used, requested, count] = [0, 0, 0];
      for (const [pod, { value }] of metrics) {
        const request = requests.get(pod);
        if (request === undefined) continue;
        used += value;
        requested += request;
        count++;
      }
      if (requested === 0) throw new Error('no metrics returned matched known pods');
      const utilization = Math.trunc((used * 100) / requested);
      return { ratio: utilization / target, utilization, value: Math.trunc(used / count) };
    },
    fallback: (pod) => ((requests.get(pod) ?? 0) * Math.max(100, target)) / 100,
  };
}

const averageOf = (target: number): Measure => ({
  ratio(metrics) {
    let sum = 0;
    for (const { value } of metrics.values()) sum += value;
    const value = Math.trunc(sum / metrics.size);
    return { ratio: value / target, value };
  },
  fallback: () => target,
});

export interface PodsInput {
  /** Replicas that the target asks for now. */
  readonly current: number;
  readonly pods: readonly WorkloadPod[];
  readonly metrics: ReadonlyMap<string, PodMetric>;
  readonly resource?: string;
  readonly now: number;
  readonly tolerances?: Tolerances;
}

/** For a target in percent of the requests. */
export function byUtilization(input: PodsInput & { resource: string; container?: string }, target: number): Proposal {
  return byPods(input, () => utilizationOf(requestsOf(input.pods, input.resource, input.container), target));
}
/** For a target of an average value. */
export const byAverage = (input: PodsInput, target: number): Proposal => byPods(input, () => averageOf(target));

function byPods({ current, pods, metrics, resource, now, tolerances = usual }: PodsInput, makeMeasure: () => Measure): Proposal {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const { ready, unready, missing, ignored } = groupPods(pods, metrics, resource, now);
  const used = new Map(metrics);
  for (const name of [...ignored, ...unready]) used.delete(name);
  if (used.size === 0) throw new Error('did not receive metrics for any ready pods');
  const measure = makeMeasure();
  const { ratio, ...average } = measure.ratio(used);
  const withUnready = unready.length > 0 && ratio > 1;
  if (!withUnready && missing.length === 0) return { ...average, replicas: isNear(ratio, tolerances) ? current : Math.ceil(ratio * ready) };
  const add = (name: string, value: number): unknown => used.set(name, { value, at: now, window: 0 });
  if (ratio < 1) for (const name of missing) add(name, measure.fallback(name));
  if (ratio > 1) for (const name of missing) add(name, 0);
  if (withUnready) for (const name of unready) add(name, 0);
  const { ratio: next } = measure.ratio(used);
  // Assumptions about pods never turn the direction.
  if (isNear(next, tolerances) || (ratio < 1 && next > 1) || (ratio > 1 && next < 1)) return { ...average, replicas: current };
  const replicas = Math.ceil(next * used.size);
  const turns = (next < 1 && replicas > current) || (next > 1 && replicas < current);
  return { ...average, replicas: turns ? current : replicas };
}

/** For a metric of one object or of something outside, with a target for its value. */
export function byValue(
  current: number,
  pods: readonly WorkloadPod[],
  value: number,
  target: number,
  tolerances: Tolerances = usual,
): Proposal {
  const ratio = value / target;
  if (current === 0) return { replicas: Math.ceil(ratio), value };
  if (isNear(ratio, tolerances)) return { replicas: current, value };
  const ready = pods.filter((pod) => phaseOf(pod) === 'Running' && isReady(pod)).length;
  return { replicas: Math.ceil(ratio * ready), value };
}

/** The same with a target for each pod. `replicas` is the number of pods that there are. */
export function byValuePerPod(replicas: number, value: number, target: number, tolerances: Tolerances = usual): Proposal {
  const isRight = replicas > 0 && isNear(value / (target * replicas), tolerances);
  return { replicas: isRight ? replicas : Math.ceil(value / target), value: replicas === 0 ? value : Math.ceil(value / replicas) };
}

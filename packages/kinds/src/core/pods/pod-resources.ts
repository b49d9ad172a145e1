/** Resource amounts of pods: their precision, default requests from limits, and the QoS class. */
import { own, setOwn } from '@plat-dev/lib/own';
import type { Quantity } from '@plat-dev/meta/quantity';
import { amount } from '../../validation/resources.ts';
import type { Container } from '../schema/pods/containers.ts';
import type { PodSpec } from '../schema/pods/pod.ts';
import type { ResourceRequirements } from '../schema/resources.ts';

type Amounts = Record<string, string> | undefined;

/** Amounts have a precision of a thousandth, and are rounded up. */
export function roundedAmounts(amounts: Amounts): void {
  for (const name in amounts) {
    const text = amounts[name] as string;
    if (isFine(text)) amounts[name] = amount(text).roundUp(-3).toString();
  }
}
const isFine = (text: string): boolean => text.endsWith('n') || text.endsWith('u') || text.includes('e-');

export function roundedResources(resources: ResourceRequirements): void {
  roundedAmounts(resources.limits);
  roundedAmounts(resources.requests);
}

/** The default request of a container is its limit. */
export function requestsFromLimits({ resources }: Pick<Container, 'resources'>): void {
  const { limits } = resources;
  if (limits === undefined) return;
  resources.requests ??= {};
  const { requests } = resources;
  for (const name in limits) if (own(requests, name) === undefined) setOwn(requests, name, limits[name] as string);
}

// ---- resizes -----------------------------------------------------------------------------------------------------

const resizable = ['cpu', 'memory'];

/** The resources with the cpu and memory of others: what is compared is all that a resize may not change. */
export function withComputeOf(resources: ResourceRequirements, others: ResourceRequirements): ResourceRequirements {
  const masked: ResourceRequirements = { ...resources };
  for (const which of ['requests', 'limits'] as const) {
    if (resources[which] === undefined && others[which] === undefined) continue;
    const amounts = Object.fromEntries(Object.entries(resources[which] ?? {}).filter(([name]) => !resizable.includes(name)));
    for (const name of resizable) {
      const text = own(others[which], name);
      if (text !== undefined) setOwn(amounts, name, text);
    }
    if (Object.keys(amounts).length === 0 && others[which] === undefined) delete masked[which];
    else masked[which] = amounts;
  }
  return masked;
}

// ---- quality of service ------------------------------------------------------------------------------------------

const computeResources = ['cpu', 'memory'] as const;

/**
 * Guaranteed: every container has limits of cpu and memory, and requests that equal them. BestEffort: no requests and no
 * limits. Burstable: all others. Amounts that the pod states for itself count rather than those of its containers.
 */
export function qosClass(spec: PodSpec): 'Guaranteed' | 'BestEffort' | 'Burstable' {
  let bounded = true;
  const requests: Sums = {};
  const limits: Sums = {};
  const holders = spec.resources === undefined ? [spec.containers, spec.initContainers] : [[spec as Required<Pick<PodSpec, 'resources'>>]];
  for (const list of holders) {
    for (const { resources } of list ?? []) {
      if (resources.limits === undefined && resources.requests === undefined) {
        bounded = false;
        continue;
      }
      for (const name of computeResources) {
        add(requests, name, resources.requests?.[name]);
        if (!add(limits, name, resources.limits?.[name])) bounded = false;
      }
    }
  }
  if (Object.keys(requests).length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  return bounded && computeResources.every((name) => sameSum(requests[name], limits[name])) ? 'Guaranteed' : 'Burstable';
}

type Sums = { [name in (typeof computeResources)[number]]?: Quantity };

/** Adds a positive amount to a sum. */
function add(sums: Sums, name: (typeof computeResources)[number], text: string | undefined): boolean {
  if (text === undefined) return false;
  const quantity = amount(text);
  if (quantity.sign <= 0) return false;
  const sum = sums[name];
  sums[name] = sum === undefined ? quantity : sum.add(quantity);
  return true;
}
const sameSum = (a: Quantity | undefined, b: Quantity | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a === b || a.equals(b);

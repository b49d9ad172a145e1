/** The rules of a limit range: how requests and limits compare with its values. Each returns its error, if any. */
import { containerAmounts, isSidecar } from '@plat-dev/kinds/core/pods/pod-amounts';
import type { PodSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import { amount } from '@plat-dev/kinds/validation/resources';
import { own, setOwn } from '@plat-dev/lib/own';
import { milliQuantity, quantityOf } from '@plat-dev/meta/quantity';

export type Amounts = Record<string, string>;
type Rule = (type: string, resource: string, bound: string, requests: Amounts, limits: Amounts) => string | undefined;

const get = (amounts: Amounts, name: string): string | undefined => own(amounts, name) as string | undefined;
const more = (a: string, b: string): boolean => amount(a).compare(amount(b)) > 0;

export const below: Rule = (type, resource, bound, requests, limits) => {
  const request = get(requests, resource);
  const limit = get(limits, resource);
  const rule = `minimum ${resource} usage per ${type} is ${bound}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (more(bound, request)) return `${rule}, but request is ${request}`;
  if (limit !== undefined && more(bound, limit)) return `${rule}, but limit is ${limit}`;
  return undefined;
};

export const beyond: Rule = (type, resource, bound, requests, limits) => {
  const request = get(requests, resource);
  const limit = get(limits, resource);
  const rule = `maximum ${resource} usage per ${type} is ${bound}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (more(limit, bound)) return `${rule}, but limit is ${limit}`;
  if (request !== undefined && more(request, bound)) return `${rule}, but request is ${request}`;
  return undefined;
};

/** For claims, which have only requests. */
export const beyondRequest: Rule = (type, resource, bound, requests) => {
  const request = get(requests, resource);
  const rule = `maximum ${resource} usage per ${type} is ${bound}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  return more(request, bound) ? `${rule}, but request is ${request}` : undefined;
};

export const beyondRatio: Rule = (type, resource, bound, requests, limits) => {
  const request = get(requests, resource);
  const limit = get(limits, resource);
  const rule = `${resource} max limit to request ratio per ${type} is ${bound}`;
  if (request === undefined || amount(request).isZero) return `${rule}, but no request is specified or request is 0`;
  if (limit === undefined || amount(limit).isZero) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = amount(limit).toNumber() / amount(request).toNumber();
  return ratio > amount(bound).toNumber() ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
};

/**
 * The usage of a pod as a whole: the sum over its containers and sidecars, if each has a value, or that of a single init
 * container beside the sidecars if that is greater. What the pod states for itself counts instead.
 */
export function podTotals(spec: PodSpec, which: 'requests' | 'limits'): Amounts {
  const sidecars = (spec.initContainers ?? []).filter(isSidecar);
  const lists = [...(spec.containers ?? []), ...sidecars].map(({ resources }) => resources[which] ?? {});
  const total: Amounts = {};
  for (const name of new Set(lists.flatMap((list) => Object.keys(list)))) {
    const givenAmounts = lists.map((list) => get(list, name));
    if (givenAmounts.includes(undefined)) continue;
    const sum = (unit: 'millis' | 'value'): bigint => (givenAmounts as string[]).reduce((all, text) => all + amount(text)[unit](), 0n);
    setOwn(total, name, (name === 'cpu' ? milliQuantity(sum('millis')) : quantityOf(sum('value'))).toString());
  }
  const { initContainers } = spec;
  for (const [name, quantity] of containerAmounts({ ...(initContainers && { initContainers }) }, which)) {
    const totalAmount = get(total, name);
    if (totalAmount === undefined || quantity.compare(amount(totalAmount)) > 0) setOwn(total, name, quantity.toString());
  }
  for (const [name, text] of Object.entries(spec.resources?.[which] ?? {}))
    if (name === 'cpu' || name === 'memory') setOwn(total, name, text);
  return total;
}

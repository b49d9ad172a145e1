/** Amounts that pods request and nodes have, as numbers: thousandths of cpu, bytes of memory and storage, counts of others. */
import { containerAmounts, isPodResource } from '@plat-dev/kinds/core/pods/pod-amounts';
import type { Container } from '@plat-dev/kinds/core/schema/pods/containers';
import { amount } from '@plat-dev/kinds/validation/resources';
import { own, setOwn } from '@plat-dev/lib/own';
import type { Quantity } from '@plat-dev/meta/quantity';
import type { WorkloadPod } from '../shared/pods.ts';

export interface Requests {
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
  /** Extended resources, huge pages and the like; none of them is zero. */
  readonly others: readonly (readonly [name: string, amount: number])[];
  /** The same with a default for containers that request none: scores use these, so that such pods are spread too. */
  readonly scoredCpu: number;
  readonly scoredMemory: number;
}

export interface Allocatable {
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
  readonly pods: number;
  readonly others: ReadonlyMap<string, number>;
}

type Amounts = Readonly<Record<string, string>> | undefined;
const numberOf = (name: string, text: string): number => Number(name === 'cpu' ? amount(text).millis() : amount(text).value());

/**
 * What a pod takes of its node: the most that its containers need together, or what it states for itself, and its overhead. While a
 * resize is not done, what containers have counts where it is more than what they are to have.
 */
export function podRequests(pod: RequestingPod): Requests {
  const { containers, initContainers, overhead, resources } = pod.spec ?? {};
  const lists = { ...(containers && { containers }), ...(initContainers && { initContainers }) } as Containers;
  const effective = effectiveRequests(pod);
  const sums = numbers(containerAmounts(lists, 'requests', effective));
  const withDefaults = (container: Container): Record<string, string> => ({ ...missingRequests, ...effective(container) });
  const scored = numbers(containerAmounts(lists, 'requests', withDefaults));
  const stated: Amounts = resources?.requests;
  for (const name in stated) {
    if (!isPodResource(name)) continue;
    const value = numberOf(name, stated[name] as string);
    sums.set(name, value);
    scored.set(name, value);
  }
  addAll(sums, overhead);
  addAll(scored, overhead);
  const common = { cpu: take(sums, 'cpu'), memory: take(sums, 'memory'), storage: take(sums, 'ephemeral-storage') };
  const others = [...sums].filter(([, value]) => value > 0);
  return { ...common, others, scoredCpu: take(scored, 'cpu'), scoredMemory: take(scored, 'memory') };
}
/** What a container without a request counts as in scores. */
const missingRequests = { cpu: '100m', memory: '200Mi' };

type RequestingPod = Pick<WorkloadPod, 'spec' | 'status'>;
type Containers = Parameters<typeof containerAmounts>[0];

/** What containers request or already have, whichever is more. A resize that the node cannot do does not count. */
export function effectiveRequests({ status }: RequestingPod): (container: Container) => Amounts {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].filter(
    ({ resources }) => resources != null,
  );
  if (statuses.length === 0) return ({ resources }) => resources?.requests;
  const byName = new Map(statuses.map((one) => [one.name, one]));
  const isInfeasible = status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') === true;
  return ({ name, resources }) => {
    const current = byName.get(name);
    const wanted: Amounts = resources?.requests;
    if (current === undefined) return wanted;
    const has = larger(current.resources?.requests, current.allocatedResources);
    return isInfeasible ? has : larger(wanted, has);
  };
}
function larger(one: Amounts, other: Amounts): Amounts {
  if (other === undefined || one === undefined) return one ?? other;
  const amounts: Record<string, string> = { ...one };
  for (const name in other) {
    const text = own(amounts, name);
    if (text === undefined || amount(other[name] as string).compare(amount(text)) > 0) setOwn(amounts, name, other[name] as string);
  }
  return amounts;
}

const numbers = (sums: ReadonlyMap<string, Quantity>): Map<string, number> =>
  new Map([...sums].map(([name, quantity]) => [name, Number(name === 'cpu' ? quantity.millis() : quantity.value())]));

function addAll(sums: Map<string, number>, amounts: Amounts): void {
  for (const name in amounts) sums.set(name, (sums.get(name) ?? 0) + numberOf(name, amounts[name] as string));
}
function take(sums: Map<string, number>, name: string): number {
  const value = sums.get(name) ?? 0;
  sums.delete(name);
  return value;
}

/** What a node has for pods. */
export function nodeAllocatable(amounts: Amounts): Allocatable {
  const all = new Map<string, number>();
  addAll(all, amounts);
  return {
    cpu: take(all, 'cpu'),
    memory: take(all, 'memory'),
    storage: take(all, 'ephemeral-storage'),
    pods: take(all, 'pods'),
    others: all,
  };
}

/** Amounts that pods request and nodes have, as numbers: thousandths of cpu, bytes of memory and storage, counts of others. */
import { amount } from '@plat-dev/kinds/validation/resources';
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
type Spec = NonNullable<WorkloadPod['spec']>;

/** What a container without a request counts as in scores. */
const DEFAULT_CPU = 100;
const DEFAULT_MEMORY = 200 * 1024 * 1024;

const numberOf = (name: string, text: string): number => Number(name === 'cpu' ? amount(text).millis() : amount(text).value());

/**
 * Containers run together and init containers one after another before them, so a pod needs the sum of the former or the
 * largest of the latter, whichever is more, and its overhead.
 */
export function podRequests({ containers, initContainers, overhead }: Pick<Spec, 'containers' | 'initContainers' | 'overhead'>): Requests {
  const sums = new Map<string, number>();
  let [scoredCpu, scoredMemory] = [0, 0];
  for (const { resources } of containers ?? []) {
    addAll(sums, resources?.requests);
    scoredCpu += scored(resources?.requests, 'cpu', DEFAULT_CPU);
    scoredMemory += scored(resources?.requests, 'memory', DEFAULT_MEMORY);
  }
  for (const { resources } of initContainers ?? []) {
    const requests: Amounts = resources?.requests;
    for (const name in requests) sums.set(name, Math.max(sums.get(name) ?? 0, numberOf(name, requests[name] as string)));
    scoredCpu = Math.max(scoredCpu, scored(requests, 'cpu', DEFAULT_CPU));
    scoredMemory = Math.max(scoredMemory, scored(requests, 'memory', DEFAULT_MEMORY));
  }
  addAll(sums, overhead);
  const common = { cpu: take(sums, 'cpu'), memory: take(sums, 'memory'), storage: take(sums, 'ephemeral-storage') };
  const more: Amounts = overhead;
  return {
    ...common,
    others: [...sums].filter(([, value]) => value > 0),
    scoredCpu: scoredCpu + (more?.cpu === undefined ? 0 : numberOf('cpu', more.cpu)),
    scoredMemory: scoredMemory + (more?.memory === undefined ? 0 : numberOf('memory', more.memory)),
  };
}

function addAll(sums: Map<string, number>, amounts: Amounts): void {
  for (const name in amounts) sums.set(name, (sums.get(name) ?? 0) + numberOf(name, amounts[name] as string));
}
function take(sums: Map<string, number>, name: string): number {
  const value = sums.get(name) ?? 0;
  sums.delete(name);
  return value;
}
const scored = (requests: Amounts, name: 'cpu' | 'memory', missing: number): number => {
  const text = requests?.[name];
  return text === undefined ? missing : numberOf(name, text);
};

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

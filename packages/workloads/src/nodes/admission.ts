/**
 * Whether a node takes a pod that no scheduler has bound to it, as pods that name their node themselves. What does not fit fails,
 * for the first of these reasons: resources, node selector and affinity, ports of the node, taints that evict.
 *
 *   Failed   NodePorts: Pod Predicate NodePorts failed
 *   Failed   OutOfcpu: Pod Node didn't have enough resource: cpu, requested: 4000, used: 30000, capacity: 32000
 */
import { hostPorts, UsedPorts } from '../scheduler/host-ports.ts';
import { requiredNodes, untoleratedTaint } from '../scheduler/node-match.ts';
import { nodeAllocatable, podRequests, type Requests } from '../scheduler/requests.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import type { NodeObject } from './node-object.ts';

export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

/** Schedulers have made sure that the pods fit which they bind. */
export const isScheduled = ({ status }: WorkloadPod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'PodScheduled' && value === 'True') === true;

/** Undefined: the pod fits. `others`: the pods that the node has taken and that are not over. */
export function rejection(pod: WorkloadPod, node: NodeObject, others: readonly WorkloadPod[]): Rejection | undefined {
  const { spec } = pod;
  if (spec == null) return undefined;
  const failed = (name: string): Rejection => ({ reason: name, message: `Predicate ${name} failed` });
  const lacking = lackOf(pod, node, others);
  if (lacking !== undefined) return lacking;
  const { name = '', labels } = node.metadata;
  if (requiredNodes(spec)?.({ name, labels: labels ?? {} }) === false) return failed('NodeAffinity');
  const wantedPorts = hostPorts(spec);
  if (wantedPorts.length > 0) {
    const used = new UsedPorts();
    for (const other of others) for (const port of hostPorts(other.spec ?? {})) used.add(port);
    if (wantedPorts.some((port) => used.conflicts(port))) return failed('NodePorts');
  }
  const evicting = node.spec?.taints?.filter(({ effect }) => effect === 'NoExecute');
  return untoleratedTaint(spec.tolerations ?? [], evicting) === undefined ? undefined : failed('TaintToleration');
}

/** What a node does not have for a pod beside others. */
export const lackOf = (
  pod: Pick<WorkloadPod, 'spec' | 'status'>,
  node: NodeObject,
  others: readonly WorkloadPod[],
): Rejection | undefined => outOf(podRequests(pod), node, others);

function outOf(wantedRequests: Requests, { status }: NodeObject, others: readonly WorkloadPod[]): Rejection | undefined {
  const has = nodeAllocatable(status?.allocatable ?? undefined);
  const lacking = (name: string, requested: number, used: number, capacity: number): Rejection | undefined =>
    requested === 0 || used + requested <= capacity
      ? undefined
      : {
          reason: `OutOf${name}`,
          message: `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
        };
  const tooMany = lacking('pods', 1, others.length, has.pods);
  if (tooMany !== undefined) return tooMany;
  if (wantedRequests.cpu === 0 && wantedRequests.memory === 0 && wantedRequests.storage === 0 && wantedRequests.others.length === 0)
    return undefined;
  const used = others.map(podRequests);
  const sum = (of: (requests: Requests) => number): number => used.reduce((total, requests) => total + of(requests), 0);
  const more = wantedRequests.others.flatMap(([name, requested]) => {
    const capacity = has.others.get(name);
    // Resources that the node does not know are those of the cluster.
    if (capacity === undefined) return [];
    return [
      lacking(
        name,
        requested,
        sum(({ others: all }) => all.find(([other]) => other === name)?.[1] ?? 0),
        capacity,
      ),
    ];
  });
  return [
    lacking(
      'cpu',
      wantedRequests.cpu,
      sum(({ cpu }) => cpu),
      has.cpu,
    ),
    lacking(
      'memory',
      wantedRequests.memory,
      sum(({ memory }) => memory),
      has.memory,
    ),
    lacking(
      'ephemeral-storage',
      wantedRequests.storage,
      sum(({ storage }) => storage),
      has.storage,
    ),
    ...more,
  ].find((one) => one !== undefined);
}

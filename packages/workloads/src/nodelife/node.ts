/** Nodes as received, their conditions, and the taints that follow from them. */
import type { Node, NodeCondition } from '@plat-dev/kinds/core/schema/node';
import type { Taint } from '@plat-dev/kinds/core/schema/pods/scheduling';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import { domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import type { About } from '../shared/events.ts';

export type NodeObject = Wire<Node>;
export type WireTaint = Part<Taint>;
type Condition = Part<NodeCondition>;

export const aboutNode = ({ metadata }: NodeObject): About => ({ apiVersion: 'v1', kind: 'Node', metadata });
export const nodeCondition = ({ status }: NodeObject, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);
export const isNodeReady = (node: NodeObject): boolean => nodeCondition(node, 'Ready')?.status === 'True';

export interface TaintNames {
  readonly notReady: string;
  readonly unreachable: string;
  readonly unschedulable: string;
  /** By the type of the condition that adds it while it is true. */
  readonly byCondition: Readonly<Record<string, string>>;
}
export function taintNames(identity: Identity): TaintNames {
  const name = (word: string): QualifiedName => domainName(identity, word, 'node');
  return {
    notReady: name('not-ready'),
    unreachable: name('unreachable'),
    unschedulable: name('unschedulable'),
    byCondition: {
      MemoryPressure: name('memory-pressure'),
      DiskPressure: name('disk-pressure'),
      PIDPressure: name('pid-pressure'),
      NetworkUnavailable: name('network-unavailable'),
    },
  };
}

/** Conditions that a node which no longer reports is unknown in. */
const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The conditions of a node that no longer reports. */
export function unknownConditions(node: NodeObject, now: number): Condition[] {
  const time = formatTime(now);
  const oldConditions = node.status?.conditions ?? [];
  const changed = oldConditions.map((condition) =>
    reported.includes(condition.type) && condition.status !== 'Unknown'
      ? {
          ...condition,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          lastTransitionTime: time,
        }
      : condition,
  );
  const absent = reported.filter((type) => !oldConditions.some((condition) => condition.type === type));
  const never = absent.map((type) => ({
    type,
    status: 'Unknown',
    reason: 'NodeStatusNeverUpdated',
    message: 'Kubelet never posted node status.',
    lastHeartbeatTime: node.metadata.creationTimestamp ?? time,
    lastTransitionTime: time,
  }));
  return [...changed, ...never] as Condition[];
}

/** The taint of a node that is not ready: `not-ready` where it says so, `unreachable` where it is no longer heard of. */
export function readinessTaint(node: NodeObject, names: TaintNames): string | undefined {
  const status = nodeCondition(node, 'Ready')?.status;
  if (status === 'Unknown') return names.unreachable;
  return status === 'False' ? names.notReady : undefined;
}

/** Keys of taints that keep new pods away from a node as it is. */
export function schedulingTaints(node: NodeObject, names: TaintNames): string[] {
  const keys: string[] = [];
  const readiness = readinessTaint(node, names);
  if (readiness !== undefined) keys.push(readiness);
  // A new node keeps the taint that it was admitted with until it reports.
  else if (nodeCondition(node, 'Ready') === undefined && (node.spec?.taints ?? []).some(({ key }) => key === names.notReady))
    keys.push(names.notReady);
  for (const [type, key] of Object.entries(names.byCondition)) if (nodeCondition(node, type)?.status === 'True') keys.push(key);
  if (node.spec?.unschedulable === true) keys.push(names.unschedulable);
  return keys;
}

/**
 * The taints of a node with those that are managed as they should be; the others stay. Undefined where nothing changes.
 *
 *   `evict`: the key of the taint that evicts pods; undefined: there is none.
 */
export function withTaints(node: NodeObject, names: TaintNames, evict: string | undefined, now: number): WireTaint[] | undefined {
  const oldTaints = node.spec?.taints ?? [];
  const managed = new Set([names.notReady, names.unreachable, names.unschedulable, ...Object.values(names.byCondition)]);
  const wantedTaints = schedulingTaints(node, names).map((key) => ({ key, effect: 'NoSchedule' }));
  if (evict !== undefined) wantedTaints.push({ key: evict, effect: 'NoExecute' });
  const isWanted = ({ key, effect }: WireTaint): boolean => wantedTaints.some((one) => one.key === key && one.effect === effect);
  const isManaged = ({ key, effect }: WireTaint): boolean =>
    effect === 'NoSchedule' ? managed.has(key) : effect === 'NoExecute' && (key === names.notReady || key === names.unreachable);
  const keptTaints = oldTaints.filter((taint) => !isManaged(taint) || isWanted(taint));
  const addedTaints = wantedTaints.filter(({ key, effect }) => !oldTaints.some((taint) => taint.key === key && taint.effect === effect));
  if (keptTaints.length === oldTaints.length && addedTaints.length === 0) return undefined;
  return [...keptTaints, ...addedTaints.map((taint) => ({ ...taint, timeAdded: formatTime(now) }))] as WireTaint[];
}

/** The taint of a node by which its pods are evicted because it is not ready. */
export function evictingTaint(node: NodeObject, names: TaintNames): string | undefined {
  return (node.spec?.taints ?? []).find(
    ({ key, effect }) => effect === 'NoExecute' && (key === names.notReady || key === names.unreachable),
  )?.key;
}

/** Region and zone of a node, as text. */
export function zoneOf({ metadata }: NodeObject, identity: Identity): string {
  const label = (word: string): string =>
    metadata.labels?.[domainName(identity, word, 'topology')] ?? metadata.labels?.[domainName(identity, word, 'failure-domain.beta')] ?? '';
  return `${label('region')}:${label('zone')}`;
}

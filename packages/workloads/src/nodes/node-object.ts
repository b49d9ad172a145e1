/** Node objects of simulated nodes: what a node agent registers and reports. */

import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { Wire } from '@plat-dev/kinds/wire';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { stockRelease } from '@plat-dev/lib/version';
import { domainName, type Identity, type QualifiedName, simulationName } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import { nodeAddress } from './addresses.ts';
import { type NodePoolSpec, usualCapacity } from './settings.ts';

export type NodeObject = Wire<Node>;
export type NodeStatus = NonNullable<NodeObject['status']>;
type Condition = NonNullable<NodeStatus['conditions']>[number];

/** The port of the agent. Nothing listens on it: the server answers for simulated nodes itself. */
const AGENT_PORT = 10250;

export const isSimulated = (identity: Identity, { metadata }: { metadata: { annotations?: Record<string, string> } }): boolean =>
  metadata.annotations?.[simulationName(identity, 'node')] === 'true';
/** A node that an annotation makes fail: its leases are not renewed, and nothing happens to its pods. */
export const isDown = (identity: Identity, { metadata }: { metadata: { annotations?: Record<string, string> } }): boolean =>
  metadata.annotations?.[simulationName(identity, 'down')] === 'true';
export const poolLabel = (identity: Identity): QualifiedName => simulationName(identity, 'pool');

/** A node of a pool, as it is registered. */
export function nodeObject(
  identity: Identity,
  name: string,
  pool: NodePoolSpec & { readonly name: string; readonly index: number },
  cidr: string,
  now: number,
): NodeObject {
  const { zones = [], region, labels = {}, taints = [] } = pool;
  const zone = zones.length === 0 ? undefined : zones[pool.index % zones.length];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        ...usualLabels(identity, name),
        ...(zone !== undefined && { [domainName(identity, 'zone', 'topology')]: zone }),
        ...(region !== undefined && { [domainName(identity, 'region', 'topology')]: region }),
        ...labels,
        [poolLabel(identity)]: pool.name,
      },
      annotations: { [simulationName(identity, 'node')]: 'true' },
    },
    spec: { podCIDR: cidr, podCIDRs: [cidr], ...(taints.length > 0 && { taints: taints.map((taint) => ({ ...taint })) }) },
    status: statusOf(identity, { name, cidr, capacity: { ...usualCapacity, ...pool.capacity }, now, old: undefined }),
  } as NodeObject;
}

export const usualLabels = (identity: Identity, name: string): Record<string, string> => ({
  [domainName(identity, 'arch')]: 'amd64',
  [domainName(identity, 'hostname')]: name,
  [domainName(identity, 'os')]: 'linux',
});

interface StatusParts {
  readonly name: string;
  readonly cidr: string;
  readonly capacity: Readonly<Record<string, string>>;
  readonly now: number;
  readonly old: NodeStatus | undefined;
}

/** The whole status of a node. What it has already stays, but for the conditions. */
export function statusOf(_identity: Identity, { name, cidr, capacity, now, old }: StatusParts): NodeStatus {
  const id = fakeId(name);
  const totals = { ...capacity, ...old?.capacity };
  return {
    ...old,
    capacity: totals,
    allocatable: { ...totals, ...old?.allocatable },
    conditions: conditionsOf(old, now),
    addresses:
      old?.addresses != null && old.addresses.length > 0
        ? old.addresses
        : [
            { type: 'InternalIP', address: nodeAddress(cidr) },
            { type: 'Hostname', address: name },
          ],
    daemonEndpoints: { kubeletEndpoint: { Port: AGENT_PORT } },
    nodeInfo: {
      machineID: id,
      systemUUID: id,
      bootID: id,
      kernelVersion: '5.15.0',
      osImage: 'simulated',
      containerRuntimeVersion: 'containerd://1.6.0',
      kubeletVersion: `v${stockRelease}`,
      kubeProxyVersion: `v${stockRelease}`,
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  } as NodeStatus;
}

/**
 * What pods may use of a node, after its capacity has changed: extended resources as they are, others unless it says otherwise.
 * Undefined if nothing changes.
 */
export function allocatableOf({ status }: NodeObject): Record<string, string> | undefined {
  const { capacity = {}, allocatable = {} } = status ?? {};
  const usable = (name: string, amount: string): string => (name.includes('/') ? amount : (own(allocatable, name) ?? amount));
  const next = Object.fromEntries(Object.entries(capacity).map(([name, amount]) => [name, usable(name, amount)]));
  return equal(next, allocatable) ? undefined : next;
}

const healthy: readonly (readonly [type: string, status: string, reason: string, message: string])[] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
];

/** Conditions of a node that works, with a new heartbeat; others are kept. */
export function conditionsOf(old: NodeStatus | undefined, now: number): Condition[] {
  const time = formatTime(now);
  const oldConditions = old?.conditions ?? [];
  const own = healthy.map(([type, status, reason, message]) => {
    const oldCondition = oldConditions.find((condition) => condition.type === type);
    const lastTransitionTime = oldCondition?.status === status ? oldCondition.lastTransitionTime : time;
    return { type, status, lastHeartbeatTime: time, lastTransitionTime, reason, message } as Condition;
  });
  return [...own, ...oldConditions.filter(({ type }) => !healthy.some(([name]) => name === type))];
}

/** Whether the status says that the node works. */
export const isReadyNode = ({ status }: NodeObject): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') === true && status.addresses != null;

/** 32 digits that follow from a name. */
function fakeId(name: string): string {
  let text = '';
  for (let part = 0; part < 4; part++) {
    let hash = 0x811c9dc5 ^ part;
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
    text += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return text;
}

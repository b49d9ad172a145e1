/** What simulated nodes are made of: the settings of a server, and the specs of NodePool objects. */
import type { ContainerFiles } from './container-files.ts';

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}
/** Nodes that are alike. */
export interface NodePoolSpec {
  readonly count: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  /** What differs from the usual capacity, by the name of the resource. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** Nodes are spread over these. */
  readonly zones?: readonly string[];
  readonly region?: string;
}
export interface SimulatedNodesSettings extends NodePoolSpec {
  /** False: pods get no events about images and containers, as for tests of load. */
  readonly events?: boolean;
  /** False: no metrics API is registered. */
  readonly metrics?: boolean;
  /** False: there are no kinds to configure nodes and life cycles with. */
  readonly kinds?: boolean;
  /** The address that names of services are looked up at. */
  readonly nameserver?: string;
  /** What commands write in containers. */
  readonly disks?: ContainerFiles;
}

/** Containers and volumes whose written files are kept; the oldest are forgotten. */
export const KEPT_DISKS = 1000;
/** Most nodes of a pool. */
export const MAX_NODES = 10_000;
/** Most nodes of all pools together; further ones wait until others go. */
export const MOST_NODES = 30_000;
/** The pool of the settings; its nodes are called `node-0`, `node-1`, … */
export const DEFAULT_POOL = 'node';

export const usualCapacity: Readonly<Record<string, string>> = {
  cpu: '32',
  memory: '256Gi',
  'ephemeral-storage': '1Ti',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  pods: '110',
};

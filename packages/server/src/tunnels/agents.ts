/** Node agents: their addresses and TLS settings. */

import type { Duplex } from 'node:stream';
import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import { notFound, serviceUnavailable } from '@plat-dev/meta/errors';
import type { Guard } from './guard.ts';
import type { Target, TargetTls } from './target.ts';

/** Nodes that are simulated within this process: their agents and pods have no addresses that lead anywhere. */
export interface SimulatedTargets {
  isSimulated(node: Node): boolean;
  /** A connection to the agent of a simulated node. */
  agent(node: string): Duplex;
  /** A connection to a port of a pod of such a node. */
  pod(namespace: string, name: string, port: number): Duplex;
}

/** Default port of an agent. */
const USUAL_PORT = 10250;

export interface AgentOptions {
  /** The address types of a node to try, most preferred first: `InternalIP`, `Hostname` … */
  readonly addressTypes: readonly string[];
  readonly tls: TargetTls;
  readonly guard: Guard;
  readonly simulated?: SimulatedTargets | undefined;
}

export class NodeAgents {
  private readonly nodes: LiveView<Node>;
  private readonly options: AgentOptions;

  constructor(live: LiveSource, options: AgentOptions) {
    this.nodes = live<Node>('', 'nodes');
    this.options = options;
  }

  /** The agent of a node. Throws if there is no such node, or it has no address. */
  find(name: string): Target & { readonly tls: TargetTls } {
    const node = this.nodes.get('', name);
    if (node === undefined) throw notFound({ group: '', resource: 'nodes' }, name);
    const { simulated } = this.options;
    if (simulated?.isSimulated(node) === true)
      return { host: name, port: USUAL_PORT, tls: this.options.tls, guard: this.options.guard, connect: () => simulated.agent(name) };
    const addresses = node.status?.addresses ?? [];
    for (const type of this.options.addressTypes) {
      const host = addresses.find((address) => address.type === type)?.address;
      if (host !== undefined && host !== '') {
        const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
        const { tls, guard } = this.options;
        return { host, port: port > 0 ? port : USUAL_PORT, tls, guard };
      }
    }
    const addressTexts = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
    throw serviceUnavailable(`no preferred addresses found; known addresses: [${addressTexts}]`);
  }
  /** How to connect to a pod of a simulated node; undefined for others. */
  podOf(nodeName: string, namespace: string, name: string, port: number): (() => Duplex) | undefined {
    const { simulated } = this.options;
    if (simulated === undefined || nodeName === '') return undefined;
    const node = this.nodes.get('', nodeName);
    return node !== undefined && simulated.isSimulated(node) ? () => simulated.pod(namespace, name, port) : undefined;
  }
}

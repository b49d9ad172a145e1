/** What answers for simulated nodes within the process of a server: their agents, and the ports of their pods. */

import { errorFrom } from '@plat-dev/client/http';
import { clientFor } from '@plat-dev/controllers/runtime/manager';
import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { Endpoints } from '@plat-dev/kinds/core/schema/service';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import { LocalSocket } from '@plat-dev/lib/files/local-socket';
import { groupName, type Identity, simulationName } from '@plat-dev/meta/identity';
import { addressRange } from '@plat-dev/meta/ranges';
import { formatTime } from '@plat-dev/meta/time';
import { wellKnown } from '@plat-dev/server/auth/types';
import type { LocalServers } from '@plat-dev/server/extension/aggregation/backends';
import type { Registered } from '@plat-dev/server/extension/aggregation/order';
import { HttpClient } from '@plat-dev/server/http-client/client';
import { inProcess, OpenAnswers } from '@plat-dev/server/in-process';
import type { NewObject, SystemWriter } from '@plat-dev/server/registry/system';
import type { SimulatedTargets } from '@plat-dev/server/tunnels/agents';
import type { Handle } from '@plat-dev/server/tunnels/upgrade';
import type { SimulatedAgent } from '@plat-dev/workloads/nodes/agent/index';
import type { MetricsServer } from '@plat-dev/workloads/nodes/metrics/server';
import type { Base } from '../base.ts';
import type { ServerOptions } from '../config/server-options.ts';

/** The user that simulated nodes act as. */
export const simulatedNodesUser = { name: 'system:simulated-nodes', groups: [wellKnown.masters, wellKnown.authenticated] };

/** The address of the name server in clusters: the tenth of the range of services. */
export function nameserverOf({ serviceClusterIpRange }: Pick<ServerOptions, 'serviceClusterIpRange'>): string {
  const range = addressRange(serviceClusterIpRange[0] as string);
  return range.at(Math.min(9, range.size - 1));
}

export interface ComposedSimulation extends SimulatedTargets {
  /** The metrics API, and what answers for API servers in simulated pods. */
  readonly local: (live: LiveSource) => LocalServers;
  /** Loads the agent; connections from now on are answered. */
  start(handle: Handle): Promise<void>;
  close(): void;
}

/**
 * Creates the definitions of NodePool and PodLifecycle where nodes are simulated, before definitions are served: clients of a
 * server that is ready can use them. Returns how many were new; the controller brings those of an older release up to date.
 */
export async function defineSimulation({ options, identity, objectClock }: Base, writer: SystemWriter): Promise<number> {
  if (!options.workloads.includes('nodes')) return 0;
  const { definitionsOf } = await import('@plat-dev/workloads/nodes/definitions');
  const definitions = definitionsOf(identity) as readonly NewObject[];
  return writer.ensureAll('apiextensions', 'customresourcedefinitions', definitions, formatTime(objectClock.now()));
}

/** The group version of the metrics API, with the priorities that a metrics server gives it. */
const metricsVersion = (identity: Identity): Registered => {
  const [group, version] = [groupName(identity, 'metrics'), 'v1beta1'];
  return { metadata: { name: `${version}.${group}` }, spec: { group, version, groupPriorityMinimum: 100, versionPriority: 100 } };
};

/** Undefined where no nodes are simulated. */
export function composeSimulation({ options, identity, objectClock, random, disks }: Base): ComposedSimulation | undefined {
  if (!options.workloads.includes('nodes')) return undefined;
  const answers = new OpenAnswers();
  const annotation = simulationName(identity, 'node');
  let agent: SimulatedAgent | undefined;
  let metrics: MetricsServer | undefined;
  const isSimulated = ({ metadata }: Node): boolean => metadata.annotations?.[annotation] === 'true';
  const connect = () => metrics?.connect() ?? closed();
  /** A connection that is closed at once: the server is about to start or to stop. */
  const closed = () => {
    const [client, server] = LocalSocket.pair();
    server.destroy();
    return client;
  };
  return {
    isSimulated,
    agent: (node) => agent?.connect(node) ?? closed(),
    pod: (namespace, name, port) => agent?.connectToPod(namespace, name, port) ?? closed(),
    local: (live) => {
      const endpoints = live<Endpoints>('', 'endpoints');
      const nodes = live<Node>('', 'nodes');
      const isOnSimulated = ({ nodeName = '' }: { readonly nodeName?: string }): boolean => {
        const node = nodes.get('', nodeName);
        return node !== undefined && isSimulated(node);
      };
      return {
        versions: [{ ...metricsVersion(identity), connect }],
        inPlaceOf: (namespace, name) => {
          const ready = endpoints.get(namespace, name)?.subsets?.flatMap(({ addresses }) => addresses ?? []) ?? [];
          return ready.length > 0 && ready.every(isOnSimulated) ? connect : undefined;
        },
      };
    },
    async start(handle) {
      // The metrics server is called soon after the start, when requests are served already.
      HttpClient.prepare();
      const { SimulatedAgent } = await import('@plat-dev/workloads/nodes/agent/index');
      const { MetricsServer } = await import('@plat-dev/workloads/nodes/metrics/server');
      const client = clientFor(identity, inProcess(handle, simulatedNodesUser, errorFrom, answers));
      const forwardLocal = options.simulatedNodesForwardLocal;
      agent = new SimulatedAgent({ identity, client, clock: objectClock, random, nameserver: nameserverOf(options), forwardLocal, disks });
      metrics = new MetricsServer({ identity, client, clock: objectClock });
    },
    close() {
      agent?.close();
      agent = undefined;
      metrics?.close();
      metrics = undefined;
      answers.end();
    },
  };
}

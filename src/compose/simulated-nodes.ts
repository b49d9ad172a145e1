/** What answers for simulated nodes within the process of a server: their agents, and the ports of their pods. */
import { wellKnown } from '../auth/types.ts';
import { errorFrom } from '../client/http.ts';
import type { SimulatedAgent } from '../controllers/nodes/agent/index.ts';
import type { MetricsServer } from '../controllers/nodes/metrics/server.ts';
import { clientFor } from '../controllers/runtime/manager.ts';
import type { LocalServices } from '../extension/aggregation/backends.ts';
import { LocalSocket } from '../lib/local-socket.ts';
import { metricsService, simulationName } from '../meta/identity.ts';
import { formatTime } from '../meta/time.ts';
import type { NewObject, SystemWriter } from '../registry/system.ts';
import { inProcess, OpenAnswers } from '../server/in-process.ts';
import type { SimulatedTargets } from '../server/tunnels/agents.ts';
import type { Handle } from '../server/tunnels/upgrade.ts';
import type { Base } from './base.ts';

/** The user that simulated nodes act as. */
export const simulatedNodesUser = { name: 'system:simulated-nodes', groups: [wellKnown.masters, wellKnown.authenticated] };

export interface ComposedSimulation extends SimulatedTargets {
  /** Connects to the metrics API. */
  readonly local: LocalServices;
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
  const { definitionsOf } = await import('../controllers/nodes/definitions.ts');
  const definitions = definitionsOf(identity) as readonly NewObject[];
  return writer.ensureAll('apiextensions', 'customresourcedefinitions', definitions, formatTime(objectClock.now()));
}

/** Undefined where no nodes are simulated. */
export function composeSimulation({ options, identity, objectClock, random, disks }: Base): ComposedSimulation | undefined {
  if (!options.workloads.includes('nodes')) return undefined;
  const answers = new OpenAnswers();
  const annotation = simulationName(identity, 'node');
  let agent: SimulatedAgent | undefined;
  let metrics: MetricsServer | undefined;
  const service = metricsService(identity);
  const connectToMetrics = () => metrics?.connect() ?? closed();
  /** A connection that is closed at once: the server is about to start or to stop. */
  const closed = () => {
    const [client, server] = LocalSocket.pair();
    server.destroy();
    return client;
  };
  return {
    isSimulated: ({ metadata }) => metadata.annotations?.[annotation] === 'true',
    agent: (node) => agent?.connect(node) ?? closed(),
    pod: (namespace, name, port) => agent?.connectToPod(namespace, name, port) ?? closed(),
    local: (namespace, name) => (namespace === service.namespace && name === service.name ? connectToMetrics : undefined),
    async start(handle) {
      const { SimulatedAgent } = await import('../controllers/nodes/agent/index.ts');
      const { MetricsServer } = await import('../controllers/nodes/metrics/server.ts');
      const client = clientFor(identity, inProcess(handle, simulatedNodesUser, errorFrom, answers));
      const forwardLocal = options.simulatedNodesForwardLocal;
      agent = new SimulatedAgent({ identity, client, clock: objectClock, random, forwardLocal, disks });
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

/** The subresources that connect a client to what runs in the cluster. */
import { lookup } from 'node:dns/promises';
import type { LiveSource } from '../../kinds/live.ts';
import type { RegistryDeps } from '../../registry/context.ts';
import type { Action } from '../services.ts';
import { type AgentOptions, NodeAgents } from '../tunnels/agents.ts';
import type { ConnectDeps } from '../tunnels/connect.ts';
import { credentialHeaders } from '../tunnels/headers.ts';
import { proxyAddress } from '../tunnels/target.ts';
import { podLog } from './pod-log.ts';
import { podAttach, podExec, podPortForward } from './pod-streams.ts';
import { nodeProxy, podProxy, serviceProxy } from './proxy.ts';

export interface ConnectOptions {
  readonly registry: RegistryDeps;
  readonly live: LiveSource;
  readonly agents: AgentOptions;
  /** Headers in which an authenticating proxy names users, and their prefixes. */
  readonly identityHeaders: readonly string[];
  /** Let clients reach this machine's own loopback and link: for tests and servers that stand alone. */
  readonly allowLocal: boolean;
}

export interface Connections {
  readonly actions: readonly (readonly [string, Action])[];
  /** Ends all connections, those that answer after a short while. */
  close(): void;
}

export function connectActions(options: ConnectOptions): Connections {
  const deps: ConnectDeps = {
    registry: options.registry,
    live: options.live,
    agents: new NodeAgents(options.live, options.agents),
    isCredential: credentialHeaders(options.identityHeaders),
    allowed: (address) => proxyAddress(address, options.allowLocal),
    lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    randomBelow: options.registry.randomBelow,
    open: new Set(),
  };
  const actions = [
    ['core/pods/log', podLog(deps)],
    ['core/pods/exec', podExec(deps)],
    ['core/pods/attach', podAttach(deps)],
    ['core/pods/portforward', podPortForward(deps)],
    ['core/pods/proxy', podProxy(deps)],
    ['core/services/proxy', serviceProxy(deps)],
    ['core/nodes/proxy', nodeProxy(deps)],
  ] as const;
  return {
    actions,
    close: () => {
      for (const connection of [...deps.open]) connection.end();
    },
  };
}

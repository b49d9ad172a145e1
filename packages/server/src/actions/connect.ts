/** The subresources that connect a client to pods, services and nodes. */
import type { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { RegistryDeps } from '../registry/context.ts';
import type { Action } from '../services.ts';
import { type AgentOptions, NodeAgents } from '../tunnels/agents.ts';
import type { ConnectDeps } from '../tunnels/connect.ts';
import type { AnswerLimits } from '../tunnels/dial.ts';
import { credentialHeaders } from '../tunnels/headers.ts';
import { proxyAddress } from '../tunnels/target.ts';
import { podLog } from './pod-log.ts';
import { podAttach, podExec, podPortForward } from './pod-streams.ts';
import { nodeProxy, podProxy, serviceProxy } from './proxy.ts';

export interface ConnectOptions {
  readonly registry: RegistryDeps;
  readonly live: LiveSource;
  readonly agents: Pick<AgentOptions, 'addressTypes' | 'tls' | 'simulated'>;
  /** Whether a certificate is this server's own. */
  readonly isOwn: (certificate: X509Certificate) => boolean;
  /** Whether a certificate is of an API server, this one or a peer: no node agent has such a certificate. */
  readonly isServer: (certificate: X509Certificate) => boolean;
  /** Headers of an authenticating proxy, and their prefixes. */
  readonly identityHeaders: readonly string[];
  /** Allow connections to loopback and link-local addresses of this machine: for tests and standalone servers. */
  readonly allowLocal: boolean;
  /** Timeouts of targets. */
  readonly limits: AnswerLimits;
}

export interface Connections {
  readonly actions: readonly (readonly [string, Action])[];
  /** Ends all connections; responses in progress get a short grace period. */
  close(): void;
}

export function connectActions(options: ConnectOptions): Connections {
  const allowed = (address: string): string | undefined => proxyAddress(address, options.allowLocal);
  const guard = {
    allowed: (address: string) => allowed(address) !== undefined,
    lookup: async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address),
    refused: options.isOwn,
  };
  const deps: ConnectDeps = {
    registry: options.registry,
    live: options.live,
    agents: new NodeAgents(options.live, { ...options.agents, guard: { ...guard, refused: options.isServer } }),
    isCredential: credentialHeaders(options.identityHeaders),
    allowed,
    guard,
    randomBelow: options.registry.randomBelow,
    open: new Set(),
    limits: options.limits,
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

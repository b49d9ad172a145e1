/** Keep-alive connections to one server, for each client certificate. */
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions, type AgentOptions as SecureOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
import { type ConnectLimits, limited } from './connect-limits.ts';
import type { Connection } from './connection-settings.ts';
import type { Credential } from './credentials.ts';
import { tunnel } from './proxy.ts';

type Agent = HttpAgent | HttpsAgent;

export interface AgentsOptions {
  readonly maxSockets: number;
  readonly limits: ConnectLimits;
}
/**
 * A connection sends its certificate once, in the handshake. With another certificate new connections are made; requests
 * in progress on the old ones continue.
 */
export class Agents {
  readonly connection: Connection;
  readonly options: AgentsOptions;
  private agent: Agent | undefined;
  private sentCredential: Credential = {};
  /** Agents of earlier certificates with requests in progress. */
  private retired: Agent[] = [];

  constructor(connection: Connection, options: AgentsOptions) {
    this.connection = connection;
    this.options = options;
  }
  agentFor(credential: Credential): Agent {
    const certificate = credential.certificate ?? this.connection.certificate;
    const key = credential.key ?? this.connection.key;
    if (this.agent !== undefined && certificate === this.sentCredential.certificate && key === this.sentCredential.key) return this.agent;
    this.retire();
    this.sentCredential = { certificate, key };
    this.agent = this.make(this.sentCredential);
    return this.agent;
  }
  close(): void {
    for (const agent of this.retired) agent.destroy();
    this.retired = [];
    this.agent?.destroy();
    this.agent = undefined;
  }

  private retire(): void {
    const { agent } = this;
    if (agent === undefined) return;
    agent.maxFreeSockets = 0;
    for (const socket of Object.values(agent.freeSockets).flatMap((list) => list ?? [])) socket.destroy();
    this.retired = [...this.retired, agent].filter((one) => Object.keys(one.sockets).length > 0);
  }
  private make({ certificate, key }: Credential): Agent {
    const { server, ca, serverName, insecure, proxy } = this.connection;
    const { maxSockets, limits } = this.options;
    const pool: AgentOptions = { keepAlive: true, maxSockets };
    if (server.startsWith('http:')) return proxy === undefined ? new PlainAgent(limits, pool) : new PlainTunnels(proxy, pool);
    const secured = {
      ...pool,
      ...(certificate !== undefined && { cert: certificate }),
      ...(key !== undefined && { key }),
      ...(serverName !== undefined && { servername: serverName }),
      rejectUnauthorized: !insecure,
      minVersion: 'TLSv1.2' as const,
    };
    const verified = { ...secured, ...(ca !== undefined && { ca }) };
    return proxy === undefined ? new SecureAgent(limits, verified) : new SecureTunnels(proxy, verified);
  }
}

/** Transports whose connections are kept at most; those of others are closed. */
const MAX_KEPT = 64;

/**
 * Connections that outlast a transport: the next one to the same server with the same trust and certificate continues with them.
 * For many short commands in one process, where a new connection is most of the work of each. While a transport is open its connections
 * are its own.
 */
export class KeptAgents {
  private readonly idle = new Map<string, Agents[]>();
  private readonly mostSockets: number;
  private count = 0;
  private closed = false;

  /** `mostSockets`: of one transport. */
  constructor(mostSockets = Number.POSITIVE_INFINITY) {
    this.mostSockets = mostSockets;
  }
  take(connection: Connection, givenOptions: AgentsOptions): Agents {
    const options = { ...givenOptions, maxSockets: Math.min(givenOptions.maxSockets, this.mostSockets) };
    const idleAgents = this.idle.get(keyOf(connection, options))?.pop();
    if (idleAgents === undefined) return new Agents(connection, options);
    this.count--;
    return idleAgents;
  }
  /** Called after its last request is complete or destroyed. */
  giveBack(agents: Agents): void {
    if (this.closed || this.count >= MAX_KEPT) {
      agents.close();
      return;
    }
    const key = keyOf(agents.connection, agents.options);
    this.idle.set(key, [...(this.idle.get(key) ?? []), agents]);
    this.count++;
  }
  /** Closes all connections, and those in use when they are given back. */
  close(): void {
    this.closed = true;
    for (const agents of [...this.idle.values()].flat()) agents.close();
    this.idle.clear();
    this.count = 0;
  }
}
const keyOf = (connection: Connection, { maxSockets, limits }: AgentsOptions): string => {
  const { server, ca, serverName, insecure, proxy, certificate, key } = connection;
  return JSON.stringify([server, ca, serverName, insecure, proxy, certificate, key, maxSockets, limits]);
};

class PlainAgent extends HttpAgent {
  private readonly limits: ConnectLimits;
  constructor(limits: ConnectLimits, options: AgentOptions) {
    super(options);
    this.limits = limits;
  }
  override createConnection(target: ClientRequestArgs, onConnection?: OnConnection): Duplex | null | undefined {
    return limited(super.createConnection(target, onConnection) as Socket, this.limits, false);
  }
}
class SecureAgent extends HttpsAgent {
  private readonly limits: ConnectLimits;
  private readonly shared: SharedContext;
  constructor(limits: ConnectLimits, options: SecureOptions) {
    super(options);
    this.limits = limits;
    this.shared = new SharedContext(options);
  }
  override createConnection(target: RequestOptions, onConnection?: OnConnection): Duplex | null | undefined {
    const secured = { ...target, secureContext: this.shared.context } as RequestOptions;
    return limited(super.createConnection(secured, onConnection) as Socket, this.limits, true);
  }
}

/** Keys and certificates are parsed for the first connection and shared by the later ones: that takes as long as a handshake. */
class SharedContext {
  private readonly options: SecureContextOptions;
  private sharedContext: SecureContext | undefined;
  constructor({ cert, key, ca, minVersion }: SecureContextOptions) {
    this.options = { cert, key, ca, minVersion };
  }
  get context(): SecureContext {
    this.sharedContext ??= createSecureContext(this.options);
    return this.sharedContext;
  }
}

type OnConnection = (error: Error | null, stream: Duplex) => void;
const fault =
  (onConnection: OnConnection | undefined) =>
  (error: Error): void =>
    // There is no stream where there is an error.
    onConnection?.(error, undefined as unknown as Duplex);

class PlainTunnels extends HttpAgent {
  private readonly proxy: string;
  constructor(proxy: string, options: AgentOptions) {
    super(options);
    this.proxy = proxy;
  }
  override createConnection(target: ClientRequestArgs, onConnection?: OnConnection): undefined {
    tunnel(this.proxy, target.host ?? '', Number(target.port || 80)).then((stream) => onConnection?.(null, stream), fault(onConnection));
  }
}
class SecureTunnels extends HttpsAgent {
  private readonly proxy: string;
  private readonly shared: SharedContext;
  constructor(proxy: string, options: SecureOptions) {
    super(options);
    this.proxy = proxy;
    this.shared = new SharedContext(options);
  }
  override createConnection(target: RequestOptions, onConnection?: OnConnection): undefined {
    const secured = (socket: Duplex): Duplex =>
      connectTls({ ...(target as ConnectionOptions), secureContext: this.shared.context, socket });
    tunnel(this.proxy, target.host ?? '', Number(target.port || 443)).then(
      (socket) => onConnection?.(null, secured(socket)),
      fault(onConnection),
    );
  }
}

/** Keep-alive connections to one server, for each client certificate. */
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions, type AgentOptions as SecureOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Connection } from './connection.ts';
import type { Credential } from './credentials.ts';
import { tunnel } from './proxy.ts';

type Agent = HttpAgent | HttpsAgent;

/**
 * A connection sends its certificate once, in the handshake. With another certificate new connections are made; requests
 * in progress on the old ones continue.
 */
export class Agents {
  private readonly connection: Connection;
  private readonly maxSockets: number;
  private agent: Agent | undefined;
  private shown: Credential = {};
  /** Agents of earlier certificates with requests in progress. */
  private retired: Agent[] = [];

  constructor(connection: Connection, maxSockets: number) {
    this.connection = connection;
    this.maxSockets = maxSockets;
  }
  agentFor(credential: Credential): Agent {
    const certificate = credential.certificate ?? this.connection.certificate;
    const key = credential.key ?? this.connection.key;
    if (this.agent !== undefined && certificate === this.shown.certificate && key === this.shown.key) return this.agent;
    this.retire();
    this.shown = { certificate, key };
    this.agent = this.make(this.shown);
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
    const pool: AgentOptions = { keepAlive: true, maxSockets: this.maxSockets };
    if (server.startsWith('http:')) return proxy === undefined ? new HttpAgent(pool) : new PlainTunnels(proxy, pool);
    const secured = {
      ...pool,
      ...(ca !== undefined && { ca }),
      ...(certificate !== undefined && { cert: certificate }),
      ...(key !== undefined && { key }),
      ...(serverName !== undefined && { servername: serverName }),
      rejectUnauthorized: !insecure,
      minVersion: 'TLSv1.2' as const,
    };
    return proxy === undefined ? new HttpsAgent(secured) : new SecureTunnels(proxy, secured);
  }
}

type Made = (error: Error | null, stream: Duplex) => void;
const fault =
  (made: Made | undefined) =>
  (error: Error): void =>
    // There is no stream where there is an error.
    made?.(error, undefined as unknown as Duplex);

class PlainTunnels extends HttpAgent {
  private readonly proxy: string;
  constructor(proxy: string, options: AgentOptions) {
    super(options);
    this.proxy = proxy;
  }
  override createConnection(target: ClientRequestArgs, made?: Made): undefined {
    tunnel(this.proxy, target.host ?? '', Number(target.port || 80)).then((stream) => made?.(null, stream), fault(made));
  }
}
class SecureTunnels extends HttpsAgent {
  private readonly proxy: string;
  constructor(proxy: string, options: SecureOptions) {
    super(options);
    this.proxy = proxy;
  }
  override createConnection(target: RequestOptions, made?: Made): undefined {
    const secured = (socket: Duplex): Duplex => connectTls({ ...(target as ConnectionOptions), socket });
    tunnel(this.proxy, target.host ?? '', Number(target.port || 443)).then((socket) => made?.(null, secured(socket)), fault(made));
  }
}

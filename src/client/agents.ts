/** Keep-alive connections to one server, for each client certificate. */
import type { X509Certificate } from 'node:crypto';
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions, type AgentOptions as SecureOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls, DEFAULT_CIPHERS, type TLSSocket } from 'node:tls';
import type { Clock } from '../lib/clock.ts';
import { directAuthorities, isTrustedDirectly } from '../lib/pki/direct-trust.ts';
import type { Connection } from './connection.ts';
import type { Credential } from './credentials.ts';
import { type Through, tunnel } from './proxy.ts';

type Agent = HttpAgent | HttpsAgent;

export interface AgentsOptions {
  readonly maxSockets: number;
  readonly clock: Clock;
  /** Whether the usual certificate of a server is verified without OpenSSL; direct-trust.ts says why. */
  readonly verifyDirectly: boolean;
  readonly limits: ConnectLimits;
}
/** How long a host may be silent, in milliseconds. */
export interface ConnectLimits {
  readonly connect: number;
  readonly handshake: number;
}
/** Those of the stock client. */
export const connectLimits: ConnectLimits = { connect: 30_000, handshake: 10_000 };

/** A server whose certificate is not of the usual form. Nothing was sent to it; OpenSSL must decide. */
export class UnverifiedServer extends Error {}
/** A server that showed another certificate on a connection in use. Requests were sent to it, which are not repeated. */
class ChangedServer extends Error {
  readonly code = 'ERR_TLS_CERT_CHANGED';
  constructor() {
    super('it changed its certificate within a connection');
  }
}

/**
 * A connection sends its certificate once, in the handshake. With another certificate new connections are made; requests
 * in progress on the old ones continue.
 */
export class Agents {
  readonly connection: Connection;
  readonly options: AgentsOptions;
  private agent: Agent | undefined;
  /** Undefined: OpenSSL verifies the server. */
  private authorities: readonly X509Certificate[] | undefined;
  private shown: Credential = {};
  /** Agents of earlier certificates with requests in progress. */
  private retired: Agent[] = [];

  constructor(connection: Connection, options: AgentsOptions) {
    this.connection = connection;
    this.options = options;
    const { server, ca, insecure, proxy } = connection;
    // A security level of ciphers is one of certificates, too.
    const isUsual = server.startsWith('https:') && !insecure && proxy === undefined && !DEFAULT_CIPHERS.includes('@');
    if (options.verifyDirectly && isUsual && ca !== undefined) this.authorities = directAuthorities(ca);
  }
  get verifiesDirectly(): boolean {
    return this.authorities !== undefined;
  }
  /** From now on OpenSSL verifies the server. */
  verifyByOpenSsl(): void {
    if (this.authorities === undefined) return;
    this.authorities = undefined;
    this.retire();
    this.agent = undefined;
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
    const { server, ca, serverName, insecure, proxy, roots } = this.connection;
    const { maxSockets, limits, clock } = this.options;
    const pool: AgentOptions = { keepAlive: true, maxSockets };
    if (server.startsWith('http:')) return proxy === undefined ? new PlainAgent(limits, pool) : new PlainTunnels({ proxy, roots }, pool);
    const secured = {
      ...pool,
      ...(certificate !== undefined && { cert: certificate }),
      ...(key !== undefined && { key }),
      ...(serverName !== undefined && { servername: serverName }),
      rejectUnauthorized: !insecure,
      minVersion: 'TLSv1.2' as const,
    };
    if (this.authorities !== undefined) return new DirectAgent(this.authorities, clock, limits, secured);
    const trusted = ca ?? (roots && [...roots]);
    const verified = { ...secured, ...(trusted !== undefined && { ca: trusted }) };
    return proxy === undefined ? new SecureAgent(limits, verified) : new SecureTunnels({ proxy, roots }, verified);
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
  private count = 0;
  private closed = false;

  take(connection: Connection, options: AgentsOptions): Agents {
    const found = this.idle.get(keyOf(connection, options))?.pop();
    if (found === undefined) return new Agents(connection, options);
    this.count--;
    return found;
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
const keyOf = (connection: Connection, { maxSockets, verifyDirectly, limits }: AgentsOptions): string => {
  const { server, ca, serverName, insecure, proxy, roots, certificate, key } = connection;
  return JSON.stringify([server, ca, serverName, insecure, proxy, roots, certificate, key, maxSockets, verifyDirectly, limits]);
};

/** Ends a connection to a host that is silent before it is there. */
function limited<S extends Socket>(socket: S, { connect, handshake }: ConnectLimits, isSecure: boolean): S {
  let phase = '';
  const limit = (millis: number, what: string): void => {
    socket.setTimeout(millis);
    phase = what;
  };
  const silent = (): void => void socket.destroy(Object.assign(new Error(`${phase} timed out`), { code: 'ETIMEDOUT' }));
  const ready = (): void => {
    socket.off('timeout', silent);
    socket.setTimeout(0);
  };
  socket.on('timeout', silent);
  limit(connect, 'the connection');
  socket.once('connect', isSecure ? () => limit(handshake, 'the TLS handshake') : ready);
  if (isSecure) socket.once('secureConnect', ready);
  return socket;
}

class PlainAgent extends HttpAgent {
  private readonly limits: ConnectLimits;
  constructor(limits: ConnectLimits, options: AgentOptions) {
    super(options);
    this.limits = limits;
  }
  override createConnection(target: ClientRequestArgs, made?: Made): Duplex | null | undefined {
    return limited(super.createConnection(target, made) as Socket, this.limits, false);
  }
}
class SecureAgent extends HttpsAgent {
  private readonly limits: ConnectLimits;
  constructor(limits: ConnectLimits, options: SecureOptions) {
    super(options);
    this.limits = limits;
  }
  override createConnection(target: RequestOptions, made?: Made): Duplex | null | undefined {
    return limited(super.createConnection(target, made) as Socket, this.limits, true);
  }
}

/**
 * Connections that are verified by direct-trust.ts. What is written to one is held back until the server is verified; one that is
 * not is closed with UnverifiedServer. No session is resumed, so that every connection shows its certificate.
 */
class DirectAgent extends HttpsAgent {
  private readonly authorities: readonly X509Certificate[];
  private readonly clock: Clock;
  private readonly limits: ConnectLimits;
  constructor(authorities: readonly X509Certificate[], clock: Clock, limits: ConnectLimits, options: SecureOptions) {
    super(options);
    this.authorities = authorities;
    this.clock = clock;
    this.limits = limits;
  }
  override createConnection(target: RequestOptions): Duplex {
    const options = target as ConnectionOptions;
    // Without any CA OpenSSL trusts nobody, and Node reads no root certificates.
    const socket = connectTls({ ...options, ca: [], rejectUnauthorized: false });
    socket.cork();
    let verified: Buffer | undefined;
    // Servers of TLS 1.2 may begin another handshake later.
    socket.on('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      if (verified !== undefined) {
        if (certificate?.raw.equals(verified) !== true) socket.destroy(new ChangedServer());
        return;
      }
      // The name that Node itself compares with.
      if (certificate === undefined || !this.trusts(socket, certificate, options.servername || options.host || 'localhost')) {
        socket.destroy(new UnverifiedServer());
        return;
      }
      verified = certificate.raw;
      socket.uncork();
    });
    return limited(socket, this.limits, true);
  }
  private trusts(socket: TLSSocket, certificate: X509Certificate, name: string): boolean {
    return !socket.isSessionReused() && isTrustedDirectly(certificate, this.authorities, name, this.clock.now());
  }
}

type Made = (error: Error | null, stream: Duplex) => void;
const fault =
  (made: Made | undefined) =>
  (error: Error): void =>
    // There is no stream where there is an error.
    made?.(error, undefined as unknown as Duplex);

class PlainTunnels extends HttpAgent {
  private readonly through: Through;
  constructor(through: Through, options: AgentOptions) {
    super(options);
    this.through = through;
  }
  override createConnection(target: ClientRequestArgs, made?: Made): undefined {
    tunnel(this.through, target.host ?? '', Number(target.port || 80)).then((stream) => made?.(null, stream), fault(made));
  }
}
class SecureTunnels extends HttpsAgent {
  private readonly through: Through;
  constructor(through: Through, options: SecureOptions) {
    super(options);
    this.through = through;
  }
  override createConnection(target: RequestOptions, made?: Made): undefined {
    const secured = (socket: Duplex): Duplex => connectTls({ ...(target as ConnectionOptions), socket });
    tunnel(this.through, target.host ?? '', Number(target.port || 443)).then((socket) => made?.(null, secured(socket)), fault(made));
  }
}

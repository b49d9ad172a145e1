/** An aggregated server: its address, its certificate, and calls to it. */

import type { X509Certificate } from 'node:crypto';
import type { Agent } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { ResolveService } from '../../admission/webhooks/service.ts';
import type { User } from '../../auth/types.ts';
import type { APIServiceSpec, ServiceReference } from '../../kinds/apiregistration/schema/v1.ts';
import { type Address, Connections } from '../../lib/calls/connections.ts';
import { callFault } from '../../lib/calls/fault.ts';
import { requestHead } from '../../lib/calls/head.ts';
import type { Reply } from '../../lib/calls/reply.ts';
import type { Clock } from '../../lib/clock.ts';
import { setOwn } from '../../lib/own.ts';
import { trustIn } from '../../lib/peer-trust.ts';
import { agentFor } from '../../lib/verifying-agent.ts';
import { identityHeaders } from './identity-headers.ts';

export interface RemoteOptions {
  readonly clock: Clock;
  readonly resolve: ResolveService;
  /** Client certificate for aggregated servers, which lets them trust the user headers. It may change. */
  readonly clientCertificate: () => { readonly certificate: string; readonly key: string } | undefined;
  readonly userAgent: string;
  /** Whether a certificate is this server's own: a server is not proxied to itself. */
  readonly isOwn: (certificate: X509Certificate) => boolean;
}

/** Limits of this server's own calls: connections per address, and bytes of a response. */
const MAX_CALLS = 8;
const MAX_BYTES = 16 * 1024 * 1024;
/** Limits of idle connections for proxied requests: number and time. */
const KEPT_CONNECTIONS = 32;
const KEPT_MS = 60_000;

export class RemoteServer {
  /** The name that its certificate must have. */
  readonly serverName: string;
  readonly port: number;
  readonly verify: boolean;
  /** PEM; absent: the roots of the host. */
  readonly ca: string | undefined;
  private readonly service: ServiceReference;
  private readonly options: RemoteOptions;
  private readonly connections = new Map<boolean, Connections>();
  private kept: Agent | undefined;
  /** The client certificate of the current connections. */
  private shown: string | undefined;

  constructor({ caBundle, insecureSkipTLSVerify }: APIServiceSpec, service: ServiceReference, options: RemoteOptions) {
    this.service = service;
    this.options = options;
    this.serverName = `${service.name}.${service.namespace}.svc`;
    this.port = service.port ?? 443;
    this.verify = insecureSkipTLSVerify !== true;
    this.ca = caBundle === undefined || caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString('utf8');
    this.shown = options.clientCertificate()?.certificate;
  }

  get certificate(): string | undefined {
    return this.options.clientCertificate()?.certificate;
  }
  get key(): string | undefined {
    return this.options.clientCertificate()?.key;
  }

  /** The address of a request. Throws if the service has none. */
  address(): Address {
    const { namespace = '', name = '' } = this.service;
    return this.options.resolve(namespace, name, this.port);
  }

  /** Keeps connections for proxied requests. Idle ones are closed after a while. */
  get agent(): Agent {
    this.checkShown();
    this.kept ??= agentFor(this, { keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS, timeout: KEPT_MS, scheduling: 'lifo' });
    return this.kept;
  }

  /**
   * Sends a GET request of this server itself. `verified: false` does not verify the certificate. Rejects with an Error whose
   * message is complete.
   */
  async get(path: string, user: User, options: { timeoutMs: number; verified: boolean; address?: Address }): Promise<Reply> {
    const address = options.address ?? this.address();
    const headers: Record<string, string> = {
      host: `${this.serverName}:${this.port}`,
      accept: 'application/json',
      'user-agent': this.options.userAgent,
    };
    const identity = identityHeaders(user);
    for (let i = 0; i < identity.length; i += 2) setOwn(headers, identity[i] as string, identity[i + 1] as string);
    try {
      const connections = this.connectionsFor(options.verified && this.verify);
      return await connections.call(address, requestHead('GET', path, headers), '', options.timeoutMs);
    } catch (error) {
      throw new Error(callFault(error as Error, address), { cause: error });
    }
  }

  /** Closes idle connections; requests in progress are completed. */
  retire(): void {
    for (const connections of this.connections.values()) connections.retire();
    this.connections.clear();
    for (const idle of Object.values(this.kept?.freeSockets ?? {})) for (const socket of idle ?? []) socket.destroy();
    this.kept = undefined;
  }
  /** The same, and this server's own calls fail from now on. */
  close(): void {
    for (const connections of this.connections.values()) connections.close();
    this.retire();
  }

  private checkShown(): void {
    const { certificate } = this;
    if (this.shown === certificate) return;
    this.retire();
    this.shown = certificate;
  }

  private connectionsFor(verified: boolean): Connections {
    this.checkShown();
    let found = this.connections.get(verified);
    if (found === undefined) {
      const { ca, certificate: cert, key, serverName } = this;
      const trust = trustIn(verified ? ca : undefined);
      const secureContext = createSecureContext({
        minVersion: 'TLSv1.2',
        ...trust.context,
        ...(cert !== undefined && { cert, key: key as string }),
      });
      found = new Connections({
        clock: this.options.clock,
        tls: { secureContext, serverName, insecure: !verified, authorities: trust.authorities, isOwn: this.options.isOwn },
        maxConnections: MAX_CALLS,
        maxBytes: MAX_BYTES,
      });
      this.connections.set(verified, found);
    }
    return found;
  }
}

/** An aggregated server: its address, its certificate, and calls to it. */

import type { X509Certificate } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { APIServiceSpec, ServiceReference } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Clock } from '@plat-dev/lib/clock';
import type { ResolveService } from '../../admission/webhooks/service.ts';
import type { User } from '../../auth/types.ts';
import { HttpClient } from '../../http-client/client.ts';
import type { Address } from '../../http-client/connect.ts';
import type { Reply } from '../../http-client/connection.ts';
import { callFault } from '../../http-client/errors.ts';
import { type ServiceTls, tlsSettings } from '../../http-client/tls.ts';
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

interface GetOptions {
  readonly timeoutMs: number;
  readonly verified: boolean;
  readonly address?: Address;
  readonly connect?: (() => Duplex) | undefined;
}

/** Limits of this server's own calls: connections, calls that are in progress or wait, and bytes of a response. */
const MAX_CONNECTIONS = 8;
const MAX_CALLS = 256;
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
  private readonly clients = new Map<boolean, HttpClient>();
  private passing: HttpClient | undefined;
  /** The client certificate of the current connections. */
  private certificateText: string | undefined;

  constructor({ caBundle, insecureSkipTLSVerify }: APIServiceSpec, service: ServiceReference, options: RemoteOptions) {
    this.service = service;
    this.options = options;
    this.serverName = `${service.name}.${service.namespace}.svc`;
    this.port = service.port ?? 443;
    this.verify = insecureSkipTLSVerify !== true;
    this.ca = caBundle === undefined || caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString('utf8');
    this.certificateText = options.clientCertificate()?.certificate;
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
  connectionsFor(lookup: LookupFunction): HttpClient {
    this.checkShown();
    this.passing ??= new HttpClient({
      clock: this.options.clock,
      tls: tlsSettings(this.tls(this.verify)),
      lookup,
      maxConnections: KEPT_CONNECTIONS,
      maxCalls: 0,
      idleMillis: KEPT_MS,
    });
    return this.passing;
  }

  /**
   * Sends a GET request of this server itself. `verified: false` does not verify the certificate; `connect` leads to what answers within
   * this process. Rejects with an Error whose message is complete.
   */
  async get(path: string, user: User, options: GetOptions): Promise<Reply> {
    const { connect } = options;
    const address = options.address ?? (connect === undefined ? this.address() : { host: this.serverName, port: this.port });
    const headers = [
      ...['host', `${this.serverName}:${this.port}`, 'accept', 'application/json', 'user-agent', this.options.userAgent],
      ...identityHeaders(user),
    ];
    const client = connect === undefined ? this.clientFor(options.verified && this.verify) : this.clientWithin(connect);
    try {
      return await client.call(address, { method: 'GET', path, headers }, options.timeoutMs);
    } catch (error) {
      throw new Error(callFault(error as Error, address), { cause: error });
    } finally {
      if (connect !== undefined) client.close();
    }
  }

  /** Closes idle connections; requests in progress are completed. */
  retire(): void {
    for (const client of this.clients.values()) client.retire();
    this.clients.clear();
    this.passing?.retire();
    this.passing = undefined;
  }
  /** The same, and this server's own calls fail from now on. */
  close(): void {
    for (const client of this.clients.values()) client.close();
    this.retire();
  }

  private checkShown(): void {
    const { certificate } = this;
    if (this.certificateText === certificate) return;
    this.retire();
    this.certificateText = certificate;
  }

  private tls(verified: boolean): ServiceTls {
    const { ca, certificate, key, serverName, options } = this;
    return { ca, certificate, key, serverName, insecure: !verified, isOwn: options.isOwn };
  }

  /** For one call. */
  private clientWithin(connectLocally: () => Duplex): HttpClient {
    return new HttpClient({ clock: this.options.clock, connectLocally, maxConnections: 1, maxCalls: 1, maxBytes: MAX_BYTES });
  }
  private clientFor(verified: boolean): HttpClient {
    this.checkShown();
    let client = this.clients.get(verified);
    if (client === undefined) {
      client = new HttpClient({
        clock: this.options.clock,
        tls: tlsSettings(this.tls(verified)),
        maxConnections: MAX_CONNECTIONS,
        maxCalls: MAX_CALLS,
        maxBytes: MAX_BYTES,
      });
      this.clients.set(verified, client);
    }
    return client;
  }
}

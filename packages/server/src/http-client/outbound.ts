/** Calls to remote services, with their own certificates: limited in time, in size and in number; no redirects. */

import type { Clock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { HttpClient } from './client.ts';
import type { TlsSettings } from './connect.ts';
import { CallTimeout } from './errors.ts';
import { type ServiceTls, tlsSettings } from './tls.ts';

/** The URL and TLS settings of a service. PEM texts, not paths. */
export interface Remote extends ServiceTls {
  readonly server: string;
  /** Value of the Authorization header. */
  readonly authorization?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The service did not respond, or not correctly. The text contains no secret. */
export class OutboundError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OutboundError';
  }
}

/** Limits of calls to one service. */
export interface OutboundLimits {
  readonly timeoutMillis: number;
  readonly maxBytes: number;
  /** Maximum concurrent calls; one more is refused. */
  readonly maxCalls: number;
}
const usualLimits: OutboundLimits = { timeoutMillis: 30_000, maxBytes: 4 << 20, maxCalls: 256 };
const MAX_CONNECTIONS = 32;

export class Outbound {
  private readonly remote: Remote;
  private readonly clock: Clock;
  private readonly limits: OutboundLimits;
  private readonly tls: TlsSettings;
  /** By origin: a provider may have its keys elsewhere than its configuration. */
  private readonly origins = new Map<string, HttpClient>();

  constructor(remote: Remote, clock: Clock, limits: Partial<OutboundLimits> = {}) {
    checkProtocol(new URL(remote.server));
    this.remote = remote;
    this.clock = clock;
    this.limits = { ...usualLimits, ...limits };
    this.tls = tlsSettings(remote);
    HttpClient.prepare();
  }

  get(url = this.remote.server): Promise<Answer> {
    return this.call('GET', url);
  }
  postJson(value: unknown, url = this.remote.server): Promise<Answer> {
    return this.call('POST', url, jsonText(value));
  }
  /** JSON that is text already. */
  postText(json: string, url = this.remote.server): Promise<Answer> {
    return this.call('POST', url, json);
  }
  /** Fields of a form, as `application/x-www-form-urlencoded`. */
  postForm(form: string, url = this.remote.server): Promise<Answer> {
    return this.call('POST', url, form, 'application/x-www-form-urlencoded');
  }
  close(): void {
    for (const client of this.origins.values()) client.close();
    this.origins.clear();
  }

  private async call(method: string, address: string, body?: string, type = 'application/json'): Promise<Answer> {
    try {
      const url = new URL(address);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443));
      const { authorization } = this.remote;
      const headers = ['host', url.host, 'accept', 'application/json'];
      if (body !== undefined) headers.push('content-type', type);
      if (authorization !== undefined) headers.push('authorization', authorization);
      const request = { method, path: `${url.pathname}${url.search}`, headers, body };
      const reply = await this.clientOf(url).call({ host, port }, request, this.limits.timeoutMillis);
      return { status: reply.status, text: reply.body.toString('utf8') };
    } catch (error) {
      throw new OutboundError(error instanceof CallTimeout ? 'no answer in time' : systemText(error as Error));
    }
  }

  private clientOf(url: URL): HttpClient {
    let client = this.origins.get(url.origin);
    if (client === undefined) {
      checkProtocol(url);
      client = new HttpClient({
        clock: this.clock,
        ...(url.protocol === 'https:' && { tls: this.tls }),
        maxConnections: MAX_CONNECTIONS,
        maxCalls: this.limits.maxCalls,
        maxBytes: this.limits.maxBytes,
      });
      this.origins.set(url.origin, client);
    }
    return client;
  }
}

function checkProtocol({ protocol }: URL): void {
  if (protocol !== 'https:' && protocol !== 'http:') throw new OutboundError(`cannot call ${protocol}//`);
}

/** A host with several addresses, none of which responds, fails with an error for each and no text of its own. */
function systemText(error: Error): string {
  return error instanceof AggregateError && error.message === '' ? String((error.errors[0] as Error | undefined)?.message) : error.message;
}

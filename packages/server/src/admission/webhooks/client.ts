/**
 * Calls to webhooks: HTTPS only, certificates verified with the bundle of the configuration, connections kept and shared
 * by all calls to the same host, limited in time, size and number.
 */
import type { X509Certificate } from 'node:crypto';
import { posix } from 'node:path';
import type { WebhookClientConfig } from '@plat-dev/kinds/admissionregistration/schema/v1';
import { bundleProblem } from '@plat-dev/kinds/admissionregistration/warnings';
import type { Clock } from '@plat-dev/lib/clock';
import { cut } from '@plat-dev/lib/message-values';
import { HttpClient } from '../../http-client/client.ts';
import type { Address } from '../../http-client/connect.ts';
import type { Reply } from '../../http-client/connection.ts';
import { CallTimeout, callFault } from '../../http-client/errors.ts';
import { tlsSettings } from '../../http-client/tls.ts';
import type { CredentialsFor } from './credentials.ts';
import type { ResolveService } from './service.ts';

export interface ClientOptions {
  readonly clock: Clock;
  readonly credentials: CredentialsFor;
  readonly resolve: ResolveService;
  readonly userAgent: string;
  /** Whether a certificate is this server's own, which is not a webhook. */
  readonly isOwn?: ((certificate: X509Certificate) => boolean) | undefined;
  /** Maximum connections to one host. */
  readonly maxSockets?: number;
  /** Maximum calls to one host that are in progress or wait for a connection; one more fails. */
  readonly maxCalls?: number;
  readonly maxBytes?: number;
}
const MAX_SOCKETS = 64;
const MAX_CALLS = 1000;
/** A response holds a patch at most, and objects are smaller than 3 MB. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Maximum redirects of one call. */
const MAX_REDIRECTS = 10;

/** A host to call, with the connections to it. */
interface Place {
  readonly key: string;
  /** The URL in errors. */
  readonly displayText: string;
  readonly path: string;
  readonly client: HttpClient;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  address(): Address;
}

export class WebhookClient {
  private readonly options: ClientOptions;
  private readonly places = new Map<string, Place>();
  private readonly byConfig = new WeakMap<WebhookClientConfig, Place>();

  constructor(options: ClientOptions) {
    this.options = options;
  }

  /** Posts JSON. Rejects with an Error that names the URL and the problem. */
  async post(config: WebhookClientConfig, text: string, timeoutMs: number, traceparent?: string): Promise<Reply> {
    const place = this.placeOf(config);
    const { client } = place;
    const headers = traceparent === undefined ? place.headers : [...place.headers, 'traceparent', traceparent];
    let path = `${place.path}?timeout=${Math.max(1, Math.round(timeoutMs / 1000))}s`;
    let address: Address | undefined;
    try {
      address = place.address();
      const { clock } = this.options;
      const started = clock.monotonic();
      let reply = await client.call(address, { method: 'POST', path, headers, body: text }, timeoutMs);
      for (let hops = 0; reply.location !== undefined && (reply.status === 307 || reply.status === 308); hops++) {
        if (hops >= MAX_REDIRECTS) throw new Error(`stopped after ${MAX_REDIRECTS} redirects`);
        const remainingMs = timeoutMs - (clock.monotonic() - started);
        if (remainingMs <= 0) throw new CallTimeout();
        path = redirectedPath(place, path, reply.location);
        reply = await client.call(address, { method: 'POST', path, headers, body: text }, remainingMs);
      }
      return reply;
    } catch (error) {
      throw new Error(`Post "${place.displayText}${path}": ${callFault(error as Error, address)}`);
    }
  }

  /** Prepares for calls of these webhooks, and closes the connections to hosts that none of them names; calls in progress end as they do. */
  keepOnly(configs: readonly WebhookClientConfig[]): void {
    if (configs.length > 0) HttpClient.prepare();
    const wantedKeys = new Set(configs.map((config) => this.keyOf(config)));
    for (const [key, place] of this.places) {
      if (wantedKeys.has(key)) continue;
      this.places.delete(key);
      place.client.retire();
    }
  }
  close(): void {
    for (const { client } of this.places.values()) client.close();
    this.places.clear();
  }

  private keyOf({ url, service, caBundle }: WebhookClientConfig): string {
    const where = service === undefined ? url : `${service.namespace}/${service.name}:${service.port ?? 443}${service.path ?? ''}`;
    return `${where}\n${caBundle ?? ''}`;
  }

  private placeOf(config: WebhookClientConfig): Place {
    const cachedPlace = this.byConfig.get(config);
    // A host that was dropped while another configuration named it no longer keeps connections.
    if (cachedPlace !== undefined && this.places.get(cachedPlace.key) === cachedPlace) return cachedPlace;
    const key = this.keyOf(config);
    let place = this.places.get(key);
    if (place === undefined) {
      place = this.open(key, config);
      this.places.set(key, place);
    }
    this.byConfig.set(config, place);
    return place;
  }

  private open(key: string, { url, service, caBundle }: WebhookClientConfig): Place {
    const problem = bundleProblem(caBundle);
    if (problem !== undefined) throw new Error(problem);
    const parsed = service === undefined ? new URL(url ?? '') : undefined;
    const hostname = parsed?.hostname.replace(/^\[|\]$/g, '') ?? `${service?.name}.${service?.namespace}.svc`;
    const port = parsed === undefined ? (service?.port ?? 443) : Number(parsed.port || 443);
    const { certificate, key: privateKey, authorization } = this.options.credentials(hostname, port);
    const client = new HttpClient({
      clock: this.options.clock,
      tls: tlsSettings({
        ca: caBundle === undefined || caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString('utf8'),
        certificate,
        key: privateKey,
        // A certificate is verified for the name of the service, wherever its endpoints are.
        serverName: hostname,
        isOwn: this.options.isOwn,
      }),
      maxConnections: this.options.maxSockets ?? MAX_SOCKETS,
      maxCalls: this.options.maxCalls ?? MAX_CALLS,
      maxBytes: this.options.maxBytes ?? MAX_BYTES,
    });
    const host = parsed?.host ?? `${hostname}:${port}`;
    return {
      key,
      displayText: `https://${host}`,
      path: cleanedPath(parsed?.pathname ?? service?.path ?? ''),
      client,
      headers: [
        ...['host', host, 'accept', 'application/json', 'content-type', 'application/json', 'user-agent', this.options.userAgent],
        ...(authorization === undefined ? [] : ['authorization', authorization]),
      ],
      address: () =>
        service === undefined ? { host: hostname, port } : this.options.resolve(service.namespace, service.name, service.port ?? 443),
    };
  }
}

/** Slashes that follow each other are one, `.` and `..` are gone, and none stands at the end. */
function cleanedPath(path: string): string {
  const clean = posix.normalize(`/${path}`);
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
}

/** The target of a redirect, which must be the same host: the request is not meant for any other. */
function redirectedPath({ displayText }: Place, from: string, location: string): string {
  let to: URL;
  try {
    to = new URL(location, displayText + from);
  } catch {
    throw new Error(`redirected to ${JSON.stringify(cut(location))}, which is no address`);
  }
  if (to.origin !== new URL(displayText).origin) throw new Error(`redirected to another host (${to.origin}), which is not followed`);
  return `${to.pathname}${to.search}`;
}

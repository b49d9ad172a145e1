/**
 * Calls to webhooks: HTTPS only, certificates checked against the bundle of the configuration, connections kept and shared
 * by all calls to the same place, bounded in time, size and number.
 */
import { Agent, request as httpsRequest } from 'node:https';
import type { WebhookClientConfig } from '../../kinds/admissionregistration/schema/v1.ts';
import type { CredentialsFor } from './credentials.ts';
import type { ResolveService } from './service.ts';

export interface WebhookReply {
  readonly status: number;
  readonly body: Buffer;
}

export interface ClientOptions {
  readonly credentials: CredentialsFor;
  readonly resolve: ResolveService;
  readonly userAgent: string;
  /** Connections to one place. */
  readonly maxSockets?: number;
  /** Calls to one place that are under way or wait for a connection; one more fails. */
  readonly maxCalls?: number;
  readonly maxBytes?: number;
}
const MAX_SOCKETS = 64;
const MAX_CALLS = 1000;
/** An answer holds a patch at most, and objects are smaller than 3 MB. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Connections to one place: what they have in common need not be spelt out to tell them apart. */
class PlaceAgent extends Agent {
  override getName(options?: { host?: string | undefined; port?: number | string | null | undefined }): string {
    return `${options?.host}:${options?.port}`;
  }
}

/** A place to call, with the connections to it. */
interface Place {
  readonly key: string;
  /** As the caller is told of it when a call fails. */
  readonly shown: string;
  readonly path: string;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  address(): { readonly host: string; readonly port: number };
  calls: number;
}

export class WebhookClient {
  private readonly options: ClientOptions;
  private readonly places = new Map<string, Place>();
  private readonly byConfig = new WeakMap<WebhookClientConfig, Place>();

  constructor(options: ClientOptions) {
    this.options = options;
  }

  /** Posts JSON. Throws an Error whose text names the address and what went wrong. */
  async post(config: WebhookClientConfig, text: string, timeoutMs: number): Promise<WebhookReply> {
    const place = this.placeOf(config);
    const path = `${place.path}?timeout=${Math.max(1, Math.round(timeoutMs / 1000))}s`;
    const failed = (why: string): Error => new Error(`Post "${place.shown}${path}": ${why}`);
    if (place.calls >= (this.options.maxCalls ?? MAX_CALLS)) throw failed('too many calls are under way');
    const deadline = performance.now() + timeoutMs;
    place.calls++;
    try {
      for (let attempt = 1; ; attempt++) {
        const outcome = await this.send(place, path, text, deadline - performance.now());
        if (!(outcome instanceof Error)) return outcome;
        // A kept connection may have been closed at the other end while it lay idle; nothing has been read on it then.
        if (attempt > 1 || !(outcome as StaleError).stale) throw failed(outcome.message);
      }
    } finally {
      place.calls--;
    }
  }

  /** Ends the connections to places that no webhook names any more. */
  keepOnly(configs: readonly WebhookClientConfig[]): void {
    const wanted = new Set(configs.map((config) => this.keyOf(config)));
    for (const [key, place] of this.places) {
      if (wanted.has(key)) continue;
      this.places.delete(key);
      place.agent.destroy();
    }
  }
  close(): void {
    this.keepOnly([]);
  }

  private keyOf({ url, service, caBundle }: WebhookClientConfig): string {
    const where = service === undefined ? url : `${service.namespace}/${service.name}:${service.port ?? 443}${service.path ?? ''}`;
    return `${where}\n${caBundle ?? ''}`;
  }

  private placeOf(config: WebhookClientConfig): Place {
    const known = this.byConfig.get(config);
    // A place that was given up while another configuration named it no longer has an agent.
    if (known !== undefined && this.places.get(known.key) === known) return known;
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
    const parsed = service === undefined ? new URL(url ?? '') : undefined;
    const hostname = parsed?.hostname.replace(/^\[|\]$/g, '') ?? `${service?.name}.${service?.namespace}.svc`;
    const port = parsed === undefined ? (service?.port ?? 443) : Number(parsed.port || 443);
    const { certificate, key: privateKey, authorization } = this.options.credentials(hostname, port);
    const agent = new PlaceAgent({
      keepAlive: true,
      maxSockets: this.options.maxSockets ?? MAX_SOCKETS,
      maxFreeSockets: this.options.maxSockets ?? MAX_SOCKETS,
      minVersion: 'TLSv1.2',
      ...(caBundle !== undefined && caBundle !== '' && { ca: Buffer.from(caBundle, 'base64') }),
      ...(certificate !== undefined && { cert: certificate, key: privateKey as string }),
      // A certificate is checked for the name of the service, wherever its endpoints are.
      ...(parsed === undefined && { servername: hostname }),
    });
    const host = parsed?.host ?? `${hostname}:${port}`;
    return {
      key,
      shown: `https://${host}`,
      path: parsed?.pathname ?? ((service?.path ?? '').startsWith('/') ? (service?.path as string) : `/${service?.path ?? ''}`),
      agent,
      headers: {
        host,
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': this.options.userAgent,
        ...(authorization !== undefined && { authorization }),
      },
      address: () =>
        service === undefined ? { host: hostname, port } : this.options.resolve(service.namespace, service.name, service.port ?? 443),
      calls: 0,
    };
  }

  /** Never rejects: an Error is an outcome that may be tried again. */
  private send(place: Place, path: string, text: string, timeoutMs: number): Promise<WebhookReply | Error> {
    return new Promise((resolve) => {
      let address: { host: string; port: number };
      try {
        address = place.address();
      } catch (error) {
        resolve(error as Error);
        return;
      }
      const request = httpsRequest({
        method: 'POST',
        ...address,
        path,
        agent: place.agent,
        headers: { ...place.headers, 'content-length': Buffer.byteLength(text) },
      });
      const timer = setTimeout(() => request.destroy(new Error('context deadline exceeded')), Math.max(1, timeoutMs));
      let answered = false;
      const finish = (outcome: WebhookReply | Error): void => {
        clearTimeout(timer);
        resolve(outcome);
      };
      request.on('error', (error: NodeJS.ErrnoException) => {
        const stale = request.reusedSocket && !answered && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        finish(new StaleError(goodText(error, address), stale));
      });
      request.on('response', (response) => {
        answered = true;
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > (this.options.maxBytes ?? MAX_BYTES)) request.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        response.on('error', (error) => finish(new StaleError(goodText(error, address), false)));
        response.on('close', () => {
          if (!response.complete) finish(new StaleError('the answer was cut off', false));
        });
        response.on('end', () => finish({ status: response.statusCode ?? 0, body: Buffer.concat(chunks, size) }));
      });
      // As text it goes out in one piece with the head.
      request.end(text);
    });
  }
}

class StaleError extends Error {
  readonly stale: boolean;
  constructor(message: string, stale: boolean) {
    super(message);
    this.stale = stale;
  }
}

/** Texts of the system in the words that clients know. */
function goodText(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return `dial tcp ${host}:${port}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${host}: no such host`;
    case 'ECONNRESET':
      return `read tcp ${host}:${port}: connection reset by peer`;
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'x509: certificate signed by unknown authority';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `x509: ${error.message}`;
    default:
      return error.message;
  }
}

/** A small client for tests, over HTTP/1.1 or HTTP/2: what was answered, whatever it was, and watches whose events one waits for. */

import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { parseExact } from '../../packages/schema/src/json/parse.ts';
import type { Handle } from '../../packages/server/src/tunnels/upgrade.ts';
import { DirectRequests } from './direct.ts';
import { type Watch, watchOf } from './watch.ts';

/** An API object, loosely: tests look where they like. */
// biome-ignore lint/suspicious/noExplicitAny: what a server answered has no type until a test has looked at it.
export type Loose = any;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; throws when it is something else. */
  readonly json: Loose;
}

export interface ClientOptions {
  readonly token?: string;
  /** PEM of a client certificate. */
  readonly certificate?: { readonly key: string; readonly cert: string };
  readonly http2?: boolean;
  /** What takes requests without a connection. Only of use to a client that does without a certificate and HTTP/2. */
  readonly direct?: Handle | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: unknown;
}

/** An answer whose body is still on its way. */
export interface OpenAnswer {
  readonly status: number;
  readonly headers: Answer['headers'];
  readonly body: Readable;
  /** Breaks the request off. */
  destroy(): void;
}

/** What a connection without a certificate begins with. It is made once: a new one for each costs more than the connection. */
let plainContext: SecureContext | undefined;

export class Client {
  private readonly base: string;
  private readonly options: ClientOptions;
  private readonly agent: http.Agent | undefined;
  private session: http2.ClientHttp2Session | undefined;
  private context: SecureContext | undefined;
  private readonly direct: DirectRequests | undefined;

  constructor(base: string, options: ClientOptions = {}) {
    this.base = base;
    this.options = options;
    const { direct, http2: needsHttp2, certificate } = options;
    if (direct !== undefined && !needsHttp2 && certificate === undefined) this.direct = new DirectRequests(direct);
    else if (!needsHttp2)
      this.agent = base.startsWith('https') ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  }

  /** The same caller on connections of its own. */
  clone(changes: ClientOptions = {}): Client {
    return new Client(this.base, { ...this.options, ...changes });
  }

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { status, headers, bytes } =
      this.direct === undefined
        ? await this.sendWhole(method, path, options)
        : await this.direct.send(this.requestOf(method, path, options));
    return {
      status,
      headers,
      bytes,
      get text() {
        return bytes.toString();
      },
      get json() {
        return parseExact(bytes.toString());
      },
    };
  }

  private async sendWhole(method: string, path: string, options: RequestOptions): Promise<Pick<Answer, 'status' | 'headers' | 'bytes'>> {
    const { status, headers, body } = await this.open(method, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk as Buffer);
    return { status, headers, bytes: Buffer.concat(chunks) };
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send('GET', path, { ...(headers && { headers }) });
  }
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.send('POST', path, { body, ...(headers && { headers }) });
  }
  put(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.send('PUT', path, { body, ...(headers && { headers }) });
  }
  /** `type` is the word before `+json`: merge-patch, json-patch, strategic-merge-patch; or apply-patch. */
  patch(path: string, body: unknown, type = 'merge-patch'): Promise<Answer> {
    const contentType = type === 'apply-patch' ? 'application/apply-patch+yaml' : `application/${type}+json`;
    return this.send('PATCH', path, { body, headers: { 'content-type': contentType } });
  }
  delete(path: string, body?: unknown): Promise<Answer> {
    return this.send('DELETE', path, { ...(body !== undefined && { body }) });
  }

  /** The JSON of an answer that must be good. */
  async ok(method: string, path: string, body?: unknown): Promise<Loose> {
    const answer = await this.send(method, path, { ...(body !== undefined && { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  /** Resolves when the server has begun to answer. A refusal is thrown. */
  async watch(path: string, headers: Record<string, string> = {}): Promise<Watch> {
    const answer = await this.open('GET', path, { headers });
    if (answer.status !== 200) {
      const chunks: Buffer[] = [];
      for await (const chunk of answer.body) chunks.push(chunk as Buffer);
      throw new Error(`GET ${path}: ${answer.status} ${Buffer.concat(chunks).toString()}`);
    }
    return watchOf(answer);
  }

  /** Sends a request; resolves with the head of the answer. */
  open(method: string, path: string, options: RequestOptions = {}): Promise<OpenAnswer> {
    const request = this.requestOf(method, path, options);
    if (this.direct !== undefined) return this.direct.open(request);
    const { headers, body } = request;
    return this.options.http2 ? this.openSecond(method, path, headers, body) : this.openFirst(method, path, headers, body);
  }

  private requestOf(method: string, path: string, { headers = {}, body }: RequestOptions) {
    const { token } = this.options;
    const data = body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : jsonText(body);
    const all: Record<string, string> = {
      'user-agent': 'test/1.0',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(data !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(data)) }),
      ...this.options.headers,
      ...headers,
    };
    return { method, path, headers: all, ...(data !== undefined && { body: data }) };
  }

  private openFirst(method: string, path: string, headers: Record<string, string>, data: string | Buffer | undefined): Promise<OpenAnswer> {
    return new Promise((resolve, reject) => {
      const library = this.base.startsWith('https') ? https : http;
      const options = { method, headers, agent: this.agent, ...this.secure() };
      const request = library.request(this.base + path, options, (response) =>
        resolve({
          status: response.statusCode as number,
          headers: response.headers,
          body: response,
          destroy: () => void request.destroy(),
        }),
      );
      request.on('error', reject);
      request.end(data);
    });
  }

  private secure(): { rejectUnauthorized: boolean; secureContext?: SecureContext } {
    if (!this.base.startsWith('https')) return { rejectUnauthorized: false };
    const { certificate } = this.options;
    if (this.context === undefined && certificate === undefined) {
      plainContext ??= createSecureContext();
      this.context = plainContext;
    }
    this.context ??= createSecureContext(certificate);
    return { rejectUnauthorized: false, secureContext: this.context };
  }

  private openSecond(
    method: string,
    path: string,
    headers: Record<string, string>,
    data: string | Buffer | undefined,
  ): Promise<OpenAnswer> {
    return new Promise((resolve, reject) => {
      const stream = this.openSession(reject).request({ ':method': method, ':path': path, ...headers });
      stream.on('response', (head) =>
        resolve({
          status: head[':status'] as number,
          headers: head as Answer['headers'],
          body: stream,
          destroy: () => stream.close(http2.constants.NGHTTP2_CANCEL),
        }),
      );
      stream.on('error', reject);
      stream.end(data);
    });
  }

  private openSession(failed: (error: Error) => void): http2.ClientHttp2Session {
    if (this.session === undefined || this.session.closed) {
      this.session = http2.connect(this.base, this.secure());
      this.session.on('error', failed);
    }
    return this.session;
  }

  /** Ends the client's connections. */
  close(): void {
    this.direct?.close();
    this.agent?.destroy();
    this.session?.destroy();
  }
}

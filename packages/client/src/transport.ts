/** HTTP to an API server: keep-alive connections, certificates, tokens, and Status errors. */

import { type Agent, type ClientRequest, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '@plat-dev/lib/clock';
import { ApiError, type Status } from '@plat-dev/meta/errors';
import { parseExact } from '@plat-dev/schema/json/parse';
import { Agents, type KeptAgents } from './agents.ts';
import { type ConnectLimits, connectLimits } from './connect-limits.ts';
import type { Connection } from './connection-settings.ts';
import type { Credential } from './credentials.ts';
import { TransportError } from './http.ts';
import type { RequestTrace, TracedExchange } from './trace.ts';

export interface RequestOptions {
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
  /** Milliseconds until the end of the response; none for watches. */
  readonly timeout?: number;
  /** Warnings of the response are dropped: the user did not name the resource that is read. */
  readonly ignoreWarnings?: boolean;
}
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The body as it arrives. It must be read or destroyed. */
  readonly body: Readable;
}

/** A connection after an upgrade to another protocol. */
export interface Upgraded {
  readonly headers: IncomingMessage['headers'];
  readonly socket: Duplex;
  /** The bytes of the new protocol that came with the response. */
  readonly head: Buffer;
}

/** A request that someone else sends to switch protocols, such as the library for WebSockets. */
export interface Handshake {
  readonly url: string;
  readonly agent: Agent;
  readonly headers: OutgoingHttpHeaders;
  /** Called with the request before it is sent: it ends with its signal, its timeout and the transport. */
  readonly follow: (request: ClientRequest) => void;
}

const isAnswer = (response: object): response is Answer => 'body' in response;

/** The connection was lost before the end of a response. */
export class AnswerLost extends TransportError {}

const maxErrorBytes = 1 << 20;
export const maxBodyBytes = 1 << 30;

export interface TransportOptions {
  /** Limits the connections; each watch takes one while it is open. */
  readonly maxSockets?: number;
  /** Called with the `Warning` header of every response that has one. */
  readonly onWarning?: ((header: string) => void) | undefined;
  /** Shows what is sent and answered. */
  readonly trace?: RequestTrace | undefined;
  /** Ends requests that have no signal of their own. */
  readonly signal?: AbortSignal | undefined;
  /** For requests without a timeout of their own whose response is read whole. */
  readonly timeout?: number | undefined;
  readonly limits?: ConnectLimits;
  /** Connections are taken from it and given back at the end. */
  readonly keptAgents?: KeptAgents | undefined;
}

export class Transport {
  readonly connection: Connection;
  /** Made when first used. */
  private agents: Agents | undefined;
  private readonly maxSockets: number;
  private readonly limits: ConnectLimits;
  private readonly keptAgents: KeptAgents | undefined;
  /** Requests without a complete response, where the connections are kept. */
  private readonly unfinished = new Set<ClientRequest>();
  private readonly base: URL;
  private readonly userAgent: string;
  private readonly clock: Clock;
  private readonly onWarning: TransportOptions['onWarning'];
  private readonly trace: RequestTrace | undefined;
  private readonly signal: AbortSignal | undefined;
  private readonly timeout: number | undefined;

  constructor(connection: Connection, userAgent: string, clock: Clock, options: TransportOptions = {}) {
    const { maxSockets = 16, onWarning, trace, signal, timeout, limits = connectLimits, keptAgents } = options;
    this.clock = clock;
    this.onWarning = onWarning;
    this.trace = trace;
    this.signal = signal;
    this.timeout = timeout;
    this.connection = connection;
    this.userAgent = userAgent;
    this.base = new URL(connection.server);
    this.maxSockets = maxSockets;
    this.limits = limits;
    this.keptAgents = keptAgents;
  }
  /** Sends a request and resolves as soon as the response head has arrived, whatever the status. Throws TransportError. */
  async open(options: RequestOptions): Promise<Answer> {
    const source = this.connection.credentials;
    if (source === undefined) return this.send(options, this.connection);
    const credential = await source.current();
    const answer = await this.send(options, credential);
    if (answer.status !== 401 || !(await source.refused(credential))) return answer;
    answer.body.destroy();
    return this.send(options, await source.current());
  }
  /** Requests an upgrade to another protocol on a new connection. Throws ApiError if the server does not switch. */
  upgrade(options: RequestOptions): Promise<Upgraded> {
    return this.switching((credential) => this.switched(options, credential));
  }
  /** The same where `send` sends the request. */
  handshake<T extends object>(options: RequestOptions, send: (handshake: Handshake) => Promise<T | Answer>): Promise<T> {
    return this.switching((credential) =>
      send({
        url: `${this.base.origin}${this.pathOf(options)}`,
        agent: this.madeAgents().agentFor(credential),
        headers: this.headers(options, credential) as OutgoingHttpHeaders,
        follow: (request) => {
          this.follow(request, options);
          this.limit(request, options);
        },
      }).catch((error: Error) => {
        throw this.failure(error, options);
      }),
    );
  }
  private async switching<T extends object>(attempt: (credential: Credential) => Promise<T | Answer>): Promise<T> {
    const source = this.connection.credentials;
    const credential = source === undefined ? this.connection : await source.current();
    const answer = await attempt(credential);
    if (!isAnswer(answer)) return answer;
    if (answer.status !== 401 || source === undefined || !(await source.refused(credential))) throw await errorOf(answer);
    answer.body.destroy();
    const again = await attempt(await source.current());
    if (!isAnswer(again)) return again;
    throw await errorOf(again);
  }
  private switched(options: RequestOptions, credential: Credential): Promise<Upgraded | Answer> {
    return new Promise((resolve, reject) => {
      const request = this.request(options, credential);
      request.on('error', (error) => reject(this.failure(error, options)));
      request.on('response', (response) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }));
      request.on('upgrade', (response, socket, head) => resolve({ headers: response.headers, socket, head }));
      request.end(options.body);
    });
  }
  private send(options: RequestOptions, credential: Credential): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = this.request(options, credential);
      const traced = this.traced(options, request);
      let arriving: IncomingMessage | undefined;
      const cancel =
        options.timeout === undefined
          ? undefined
          : this.clock.after(options.timeout, () => {
              const timeoutError = Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' });
              if (arriving === undefined) request.destroy(timeoutError);
              else arriving.destroy(this.explain(timeoutError));
            });
      request.on('error', (error) => {
        cancel?.();
        traced?.failed(error);
        reject(this.failure(error, options));
      });
      request.on('response', (response) => {
        if (cancel !== undefined) {
          arriving = response;
          response.once('close', cancel);
          // Readers of the body get the error; there may be none.
          response.on('error', () => {});
        }
        const { statusCode: status = 0, headers } = response;
        this.warn(headers.warning, options);
        resolve({ status, headers, body: traced?.answered({ status, headers, body: response }) ?? response });
      });
      request.end(options.body);
    });
  }
  private traced({ method = 'GET', path, body }: RequestOptions, request: ClientRequest): TracedExchange | undefined {
    return this.trace?.begin({ method, url: `${this.connection.server}${path}`, headers: request.getHeaders(), body });
  }
  private warn(header: string | undefined, { ignoreWarnings }: RequestOptions): void {
    if (header !== undefined && !ignoreWarnings) this.onWarning?.(header);
  }
  private pathOf({ path }: RequestOptions): string {
    return this.base.pathname === '/' ? path : `${this.base.pathname}${path}`;
  }
  private madeAgents(): Agents {
    const options = { maxSockets: this.maxSockets, limits: this.limits };
    this.agents ??= this.keptAgents?.take(this.connection, options) ?? new Agents(this.connection, options);
    return this.agents;
  }
  private request(options: RequestOptions, credential: Credential): ClientRequest {
    const send = this.base.protocol === 'http:' ? httpRequest : httpsRequest;
    const request = send({
      agent: this.madeAgents().agentFor(credential),
      hostname: this.base.hostname.replace(/^\[|\]$/g, ''),
      port: this.base.port,
      path: this.pathOf(options),
      method: options.method ?? 'GET',
      headers: this.headers(options, credential) as OutgoingHttpHeaders,
    });
    this.follow(request, options);
    return request;
  }
  private failure(error: Error, options: RequestOptions): unknown {
    const signal = options.signal ?? this.signal;
    return signal?.aborted ? signal.reason : this.explain(error);
  }
  /** Sends a request and reads the whole response. Throws ApiError for a response that is not a success. */
  async text(options: RequestOptions): Promise<string> {
    const answer = await this.open(this.timeout === undefined ? options : { timeout: this.timeout, ...options });
    // A redirect is not followed: it would carry the credentials to another server.
    if (answer.status >= 300) throw await errorOf(answer);
    return (await readAll(answer.body, maxBodyBytes)).toString();
  }
  async json<T>(options: RequestOptions): Promise<T> {
    return answerOf<T>(await this.text({ ...options, headers: { accept: 'application/json', ...options.headers } }));
  }
  /** An object of the API, which names its kind. */
  async object<T>(options: RequestOptions): Promise<T> {
    return objectOf<T>(await this.text({ ...options, headers: { accept: 'application/json', ...options.headers } }));
  }
  close(): void {
    for (const request of this.unfinished) request.destroy();
    const { agents } = this;
    this.agents = undefined;
    if (agents === undefined) return;
    if (this.keptAgents === undefined) agents.close();
    else this.keptAgents.giveBack(agents);
  }
  /** Ends a request with its signal and, where the connections are kept, with this transport. */
  private follow(request: ClientRequest, options: RequestOptions): void {
    const signal = options.signal ?? this.signal;
    if (signal !== undefined) endWith(signal, request);
    if (this.keptAgents === undefined) return;
    const finished = (): void => void this.unfinished.delete(request);
    this.unfinished.add(request);
    request.once('close', finished);
    // The request itself closes a moment later, and with it a connection would be closed that has nothing more to send.
    request.once('response', (response) => response.once('end', finished));
  }
  /** Ends a request whose protocol is not switched in time. */
  private limit(request: ClientRequest, { timeout }: RequestOptions): void {
    if (timeout === undefined) return;
    const timeoutError = Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' });
    request.once(
      'close',
      this.clock.after(timeout, () => request.destroy(timeoutError)),
    );
  }
  private headers(options: RequestOptions, { authorization }: Credential): Record<string, string | readonly string[]> {
    return {
      'user-agent': this.userAgent,
      ...(authorization !== undefined && { authorization }),
      ...this.connection.impersonation,
      ...(options.body !== undefined && { 'content-length': String(Buffer.byteLength(options.body)) }),
      ...options.headers,
    };
  }
  private explain(error: NodeJS.ErrnoException): TransportError {
    const code = error.code ?? '';
    const at = this.connection.server;
    if (code === 'ECONNREFUSED') return new TransportError(`no server answers at ${at}: is it running?`, code, error, at);
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return new TransportError(`the host of ${at} is not known`, code, error);
    if (code === 'EPROXY') return new TransportError(`${at} cannot be reached: ${error.message}`, code, error);
    if (code === 'ETIMEDOUT') return new TransportError(`the server at ${at} gave no answer in time`, code, error);
    if (/CERT|SIGNATURE|ISSUER|ALTNAME|TLS|SSL/.test(code)) {
      return new TransportError(`the server at ${at} cannot be trusted: ${error.message}`, code, error);
    }
    return new TransportError(`the connection to ${at} failed: ${error.message}`, code, error);
  }
}

/** As the option `signal` of a request does, for which Node loads more than a command needs otherwise. */
function endWith(signal: AbortSignal, request: ClientRequest): void {
  const end = (): void => {
    request.destroy(Object.assign(new Error('aborted'), { code: 'ABORT_ERR' }));
  };
  if (signal.aborted) {
    end();
    return;
  }
  signal.addEventListener('abort', end, { once: true });
  request.once('close', () => signal.removeEventListener('abort', end));
}

/** The body of a response. Throws TransportError if the connection is lost before its end. */
async function* arriving(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throwLost(error);
  }
}
function throwLost(error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException;
  // Node calls it aborted when the other side has gone.
  if (code !== 'ECONNRESET' && code !== 'EPIPE' && message !== 'terminated') throw error;
  throw new AnswerLost('the connection to the server was lost before the answer was complete', code ?? '', error);
}

/** The body of a response, up to a limit. */
export async function readAll(body: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limit) throw new Error(`the answer is larger than ${limit} bytes`);
    chunks.push(chunk);
  };
  for await (const chunk of arriving(body)) take(chunk);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

/** The JSON object that a response holds. Throws TransportError: a proxy or a page for signing in may answer instead of the server. */
function answerOf<T>(text: string): T {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch (error) {
    throw noAnswer(text, error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw noAnswer(text, undefined);
  return value as T;
}
/** The same for an object of the API, which names its kind. */
export function objectOf<T>(text: string): T {
  const value = answerOf<{ kind?: unknown }>(text);
  if (typeof value.kind !== 'string' || value.kind === '') throw noAnswer(text, undefined);
  return value as T;
}
function noAnswer(text: string, cause: unknown): TransportError {
  const begin = text.trim() === '' ? 'nothing' : JSON.stringify(text.slice(0, SHOWN_ANSWER));
  return new TransportError(`the answer is not that of an API server, is the address right? It begins with: ${begin}`, 'EBADMSG', cause);
}
/** Characters of a wrong answer in a message. */
const SHOWN_ANSWER = 60;

/** The Status of a response as an error; a plain text is wrapped. */
export async function errorOf(answer: Answer): Promise<ApiError> {
  const text = (await readAll(answer.body, maxErrorBytes)).toString();
  try {
    const status = JSON.parse(text) as Partial<Status>;
    if (status.kind === 'Status') {
      const { reason, message, code, details } = status;
      return new ApiError(
        typeof code === 'number' ? code : answer.status,
        typeof reason === 'string' ? reason : '',
        typeof message === 'string' ? message : 'the server gave no reason',
        typeof details === 'object' && details !== null ? details : undefined,
      );
    }
  } catch {
    // Not JSON: the response of a proxy, or a plain 404.
  }
  const first = text.split('\n')[0]?.slice(0, 500).trim();
  return new ApiError(answer.status, '', `the server answered ${answer.status}${first ? `: ${first}` : ''}`);
}

/** Lines of a streamed body, each a JSON value. */
export async function* jsonLines<T>(body: AsyncIterable<Buffer>): AsyncGenerator<T> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of arriving(body)) {
    rest += decoder.decode(chunk, { stream: true });
    let end = rest.indexOf('\n');
    while (end !== -1) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      if (line.trim() !== '') yield answerOf<T>(line);
      end = rest.indexOf('\n');
    }
    if (rest.length > maxBodyBytes) throw new Error('an event of the stream is too large');
  }
  if (rest.trim() !== '') yield answerOf<T>(rest);
}

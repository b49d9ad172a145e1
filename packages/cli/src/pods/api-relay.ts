/** Requests that others make on a port of this machine, sent on to the API with the credentials of this command. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import type { Connection } from '@plat-dev/client/connection-settings';
import { Transport, type Upgraded } from '@plat-dev/client/transport';
import type { Clock } from '@plat-dev/lib/clock';
import { requestTooLarge } from '@plat-dev/meta/errors';

/** Hop-by-hop headers and headers with credentials are not forwarded: the relay sets its own. */
const ownHeaders = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|authorization|content-length|x-remote-.*)$/i;
const impersonation = /^impersonate-/i;

/** A watch is long-lived and takes a connection. */
const MAX_SOCKETS = 256;
const BODY_LIMIT = 64 << 20;

export interface RelayOptions {
  readonly userAgent: string;
  readonly clock: Clock;
  /** Those who make requests may act as other users, where the credentials allow that. */
  readonly impersonates?: boolean;
}
export interface RelayedRequest {
  readonly path: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
}

export class ApiRelay {
  private readonly transport: Transport;
  private readonly impersonates: boolean;

  constructor(connection: Connection, { userAgent, clock, impersonates = false }: RelayOptions) {
    this.transport = new Transport(connection, userAgent, clock, { maxSockets: MAX_SOCKETS });
    // Whom the command itself acts as is not for others to change.
    this.impersonates = impersonates && connection.impersonation === undefined;
  }
  close(): void {
    this.transport.close();
  }
  /** Answers a request as the API does; `change` changes the headers of the answer. */
  async pass(
    request: IncomingMessage,
    response: ServerResponse,
    { path, headers }: RelayedRequest,
    change: (headers: IncomingHttpHeaders) => IncomingHttpHeaders = (all) => all,
  ): Promise<void> {
    const clientGone = new AbortController();
    response.once('close', () => clientGone.abort());
    const body = request.method === 'GET' || request.method === 'HEAD' ? undefined : await readBody(request);
    const answer = await this.transport.open({
      method: request.method ?? 'GET',
      path,
      headers: this.passed(headers),
      signal: clientGone.signal,
      ...(body !== undefined && { body }),
    });
    response.writeHead(answer.status, change(passedBack(answer.headers)));
    response.flushHeaders();
    pipeline(answer.body, response, () => {});
  }
  /** The connection of an upgrade to another protocol. Throws ApiError if the API does not switch. */
  upgrade(request: IncomingMessage, { path, headers }: RelayedRequest): Promise<Upgraded> {
    const protocol = { connection: 'Upgrade', upgrade: request.headers.upgrade ?? '' };
    return this.transport.upgrade({ method: request.method ?? 'GET', path, headers: { ...this.passed(headers), ...protocol } });
  }
  async stream(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ status: number; contentType: string; body: Readable }> {
    const { status, headers: answered, body } = await this.transport.open({ path, headers, signal });
    return { status, contentType: answered['content-type'] ?? '', body };
  }

  private passed(headers: Readonly<IncomingHttpHeaders>): Record<string, string> {
    const isPassed = (name: string): boolean => !ownHeaders.test(name) && (this.impersonates || !impersonation.test(name));
    const passedHeaders = Object.entries(headers).filter(([name, value]) => value !== undefined && isPassed(name));
    return Object.fromEntries(passedHeaders.map(([name, value]) => [name, [value as string | string[]].flat().join(', ')]));
  }
}

/** Joins a connection to that of an upgrade, after its answer. */
export function join(far: Upgraded, socket: Duplex, head: Buffer): void {
  const lines = Object.entries(far.headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one}\r\n`));
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
  if (far.head.length > 0) socket.write(far.head);
  if (head.length > 0) far.socket.write(head);
  far.socket.on('error', () => socket.destroy());
  socket.on('close', () => far.socket.destroy());
  far.socket.pipe(socket).pipe(far.socket);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT) throw requestTooLarge('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
const passedBack = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(connection|keep-alive|transfer-encoding)$/i.test(name)));

/**
 * HTTP through this server: a request is forwarded as it arrives, the response comes back as it is made. Both
 * bodies flow no faster than their reader reads, and nothing is buffered.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { type Context, whenLeft } from '../context.ts';
import { head } from '../respond.ts';
import { type AnswerLimits, dial, faultOf, type Unreachable } from './dial.ts';
import { answerHeaders } from './headers.ts';
import type { Target } from './target.ts';

/** A connection that can be ended. */
export interface Open {
  end(): void;
}
/** Open responses and tunnels of a server: counted, and ended at its shutdown. */
export type OpenConnections = Set<Open>;

/** How long a forwarded response may go on at a shutdown. */
const LAST_WORDS_MS = 2000;

export interface Forwarding {
  readonly target: Target;
  /** Including its query. */
  readonly path: string;
  /** Alternating names and values, without those of the body. */
  readonly headers: readonly string[];
  /** The client's error when the target is unreachable. */
  readonly unreachable: Unreachable;
  readonly changeHeader?: ((name: string, value: string) => string) | undefined;
}

/** Ends when the response has been sent, or its client has disconnected. */
export async function forward(open: OpenConnections, ctx: Context, limits: AnswerLimits, forwarding: Forwarding): Promise<void> {
  const { target } = forwarding;
  const body = bodyHeaders(ctx);
  const request = dial(target, { method: ctx.method, path: forwarding.path, headers: [...forwarding.headers, ...body], ...limits });
  const response = await answerOf(ctx, request, target, forwarding.unreachable, () => {
    if (body.length > 0 && body[1] !== '0') ctx.req.pipe(request);
    else request.end();
  });
  await sendAnswer({ open, clock: limits.clock }, ctx, request, response, answerHeaders(response.rawHeaders, forwarding.changeHeader));
}

/** The head of the response. Rejects if there is none; a client that disconnects ends the request. */
export function answerOf(
  ctx: Context,
  request: ClientRequest,
  target: Target,
  unreachable: Unreachable,
  send: () => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', (error) => reject(faultOf(target, error, unreachable)));
    // No upgrade was requested.
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      reject(unreachable('the answer switches protocols'));
    });
    if (ctx.res.destroyed) request.destroy();
    ctx.res.once('close', () => request.destroy());
    whenLeft(ctx, () => request.destroy());
    send();
  });
}

/** Forwards a response. One that breaks off is broken off for the client, too. */
export async function sendAnswer(
  { open, clock }: { readonly open: OpenConnections; readonly clock: Clock },
  ctx: Context,
  request: ClientRequest,
  response: IncomingMessage,
  headers: readonly string[],
): Promise<void> {
  const { res } = ctx;
  if (res.destroyed) {
    request.destroy();
    return;
  }
  head(ctx, response.statusCode ?? 502, headers);
  // The head of a chunked response is sent at once.
  res.flushHeaders?.();
  const connection: Open = { end: () => void clock.after(LAST_WORDS_MS, () => request.destroy()) };
  open.add(connection);
  await new Promise<void>((resolve) => {
    res.once('close', resolve);
    response.on('data', (chunk: Buffer) => {
      ctx.responseBytes += chunk.length;
    });
    const broken = (): void => {
      if (!response.complete) res.destroy(new Error('the answer broke off'));
    };
    response.once('error', broken);
    response.once('close', broken);
    response.once('end', () => {
      if (Object.keys(response.trailers).length > 0 && !ctx.http2) res.addTrailers(response.trailers as Record<string, string>);
    });
    response.pipe(res as unknown as NodeJS.WritableStream);
  });
  open.delete(connection);
}

/** How the body of the request is delimited, if it has one. */
export function bodyHeaders(ctx: Context): string[] {
  const { req } = ctx;
  const length = req.headers['content-length'];
  if (length !== undefined) return ['Content-Length', length];
  const open = ctx.http2 ? req.stream?.endAfterHeaders !== true : req.headers['transfer-encoding'] !== undefined;
  if (open) return ['Transfer-Encoding', 'chunked'];
  return ctx.method === 'GET' || ctx.method === 'HEAD' ? [] : ['Content-Length', '0'];
}

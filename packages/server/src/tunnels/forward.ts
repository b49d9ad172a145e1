/**
 * HTTP through this server: a request is forwarded as it arrives, the response comes back as it is made. Both
 * bodies flow no faster than their reader reads, and nothing is buffered.
 */
import { PassThrough, type Readable } from 'node:stream';
import type { Clock } from '@plat-dev/lib/clock';
import { withoutConsoleCookies } from '@plat-dev/meta/console-cookie';
import { type Context, whenLeft } from '../context.ts';
import { Answer, type Exchange } from '../http-client/exchange.ts';
import { head } from '../response/respond.ts';
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
  const { target, path } = forwarding;
  const headers = [...forwarding.headers, ...lengthHeaders(ctx)];
  const exchange = await dial(target, { method: ctx.method, path, headers, body: bodyOf(ctx), ...limits });
  const answer = await answerOf(ctx, exchange, target, forwarding.unreachable);
  await sendAnswer({ open, clock: limits.clock }, ctx, answer, answerHeaders(answer.rawHeaders, forwarding.changeHeader));
}

/** The response. Rejects if there is none; a client that disconnects ends the request. */
export async function answerOf(ctx: Context, exchange: Exchange, target: Target, unreachable: Unreachable): Promise<Answer> {
  const end = (): void => exchange.destroy();
  if (ctx.res.destroyed) end();
  ctx.res.once('close', end);
  whenLeft(ctx, end);
  const head = await exchange.head.catch((error: Error) => {
    throw faultOf(target, error, unreachable);
  });
  if (head instanceof Answer) return head;
  // No upgrade was requested.
  head.socket.destroy();
  throw unreachable('the answer switches protocols');
}

/** Forwards a response. One that breaks off is broken off for the client, too. */
export async function sendAnswer(
  { open, clock }: { readonly open: OpenConnections; readonly clock: Clock },
  ctx: Context,
  answer: Answer,
  headers: readonly string[],
): Promise<void> {
  const { res } = ctx;
  if (res.destroyed) {
    answer.destroy();
    return;
  }
  head(ctx, answer.status, mayHaveSession(ctx) ? [...headers, 'Content-Security-Policy', 'sandbox'] : headers);
  // The head of a chunked response is sent at once.
  res.flushHeaders?.();
  const connection: Open = { end: () => void clock.after(LAST_WORDS_MS, () => answer.destroy()) };
  open.add(connection);
  await new Promise<void>((resolve) => {
    res.once('close', resolve);
    answer.on('data', (chunk: Buffer) => {
      ctx.responseBytes += chunk.length;
    });
    const broken = (): void => {
      if (!answer.isComplete) res.destroy(new Error('the answer broke off'));
    };
    answer.once('error', broken);
    answer.once('close', broken);
    answer.once('end', () => {
      if (Object.keys(answer.trailers).length > 0 && !ctx.http2) res.addTrailers(answer.trailers as Record<string, string>);
    });
    answer.pipe(res as unknown as NodeJS.WritableStream);
  });
  open.delete(connection);
}

/**
 * A page of another server would have the origin of the console, whose session this browser may have: browsers leave its cookie out
 * where a link of another site leads here, but not of what the page does then.
 */
const mayHaveSession = ({ req: { headers } }: Context): boolean =>
  headers['sec-fetch-site'] === 'cross-site' || (headers.cookie !== undefined && withoutConsoleCookies(headers.cookie) !== headers.cookie);

/** Whether the request may have a body. */
export function hasBody(ctx: Context): boolean {
  const { req } = ctx;
  const length = req.headers['content-length'];
  if (length !== undefined) return length !== '0';
  return ctx.http2 ? req.stream?.endAfterHeaders !== true : req.headers['transfer-encoding'] !== undefined;
}

/** The body of the request, if it has one. The request itself is not destroyed when the target wants no more of it. */
export function bodyOf(ctx: Context): Readable | undefined {
  if (!hasBody(ctx)) return undefined;
  const body = new PassThrough();
  ctx.req.pipe(body);
  return body;
}

/** The length of the body of the request, where it is known; another body is sent in chunks. */
export function lengthHeaders(ctx: Context): string[] {
  const length = ctx.req.headers['content-length'];
  return length === undefined ? [] : ['Content-Length', length];
}

/**
 * Upgraded connections through this server (SPDY, WebSocket, any): once the target agrees to switch protocols, bytes
 * flow both ways untouched, no faster than their reader reads. Either side may close its half first.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { badRequest, plainError, tooManyRequests } from '../../meta/errors.ts';
import type { Context } from '../context.ts';
import { dial, faultOf, KEEP_ALIVE_MS, type Unreachable, UPGRADE_MS } from './dial.ts';
import { type Open, type OpenConnections, sendAnswer } from './forward.ts';
import { answerHeaders } from './headers.ts';
import type { Target } from './target.ts';

/** Maximum concurrent tunnels; one more gets 429. */
const TUNNEL_LIMIT = 8192;
/** How long a half-closed connection may be silent before it is closed. */
const HALF_CLOSED_MS = 30_000;

export interface Tunnelling {
  readonly target: Target;
  /** Including its query. */
  readonly path: string;
  /** Alternating names and values, including those of the upgrade. */
  readonly headers: readonly string[];
  readonly unreachable: Unreachable;
  readonly clock: Clock;
}

/** Ends when the tunnel is closed. */
export async function openTunnel(open: OpenConnections, ctx: Context, tunnelling: Tunnelling): Promise<void> {
  const { target, path, headers, unreachable, clock } = tunnelling;
  const { upgrade } = ctx;
  if (upgrade === undefined) throw badRequest('Upgrade request required');
  if (open.size >= TUNNEL_LIMIT) throw tooManyRequests('too many connections are tunnelled, please try again later', 1);
  const lengths = ctx.method === 'GET' || ctx.method === 'HEAD' ? [] : ['Content-Length', '0'];
  const request = dial(target, { method: ctx.method, path, headers: [...headers, ...lengths], clock, answerMs: UPGRADE_MS });
  const gone = (): void => {
    request.destroy();
  };
  ctx.res.once('close', gone);
  const answer = await new Promise<{ response: IncomingMessage; socket?: Socket; rest?: Buffer }>((resolve, reject) => {
    request.once('upgrade', (response, socket, rest) => resolve({ response, socket: socket as Socket, rest }));
    request.once('response', (response) => resolve({ response }));
    request.on('error', (error) => reject(faultOf(target, error, unreachable)));
    request.end();
  });
  const { response, socket, rest } = answer;
  if (socket === undefined) {
    if ((response.statusCode ?? 0) >= 400) return sendAnswer({ open, clock }, ctx, request, response, answerHeaders(response.rawHeaders));
    request.destroy();
    throw plainError(`invalid upgrade response: status code ${response.statusCode}`);
  }
  ctx.res.off('close', gone);
  const client = upgrade.take();
  if (client === undefined) {
    socket.destroy();
    return;
  }
  ctx.status = 101;
  ctx.audit?.started();
  client.write(switching(ctx, response));
  const tunnel = new Tunnel(client, upgrade.head, socket, rest as Buffer);
  open.add(tunnel);
  ctx.end = () => tunnel.cut();
  await tunnel.closed;
  open.delete(tunnel);
}

/** The head of the 101 response, as the target made it. */
function switching(ctx: Context, response: IncomingMessage): string {
  let text = `HTTP/1.1 101 ${response.statusMessage || 'Switching Protocols'}\r\n`;
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) text += `${response.rawHeaders[i]}: ${response.rawHeaders[i + 1]}\r\n`;
  return `${text}Audit-Id: ${ctx.auditId}\r\n\r\n`;
}

/** Two joined connections. `closed` resolves when both are closed. */
export class Tunnel implements Open {
  readonly closed: Promise<void>;
  private readonly client: Socket;
  private readonly target: Socket;

  /** Bytes that each side has sent already are forwarded first. */
  constructor(client: Socket, fromClient: Buffer, target: Socket, fromTarget: Buffer) {
    this.client = client;
    this.target = target;
    this.closed = Promise.all([gone(client), gone(target)]).then(() => {});
    for (const socket of [client, target]) {
      // The connection may outlive one of its directions; the side that closes last closes both.
      socket.allowHalfOpen = true;
      socket.setTimeout(0);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
    }
    if (fromClient.length > 0) target.write(fromClient);
    if (fromTarget.length > 0) client.write(fromTarget);
    this.join(client, target);
    this.join(target, client);
  }

  private join(from: Socket, to: Socket): void {
    from.pipe(to);
    from.once('end', () => {
      for (const socket of [from, to]) socket.setTimeout(HALF_CLOSED_MS, () => socket.destroy());
    });
    from.once('close', () => {
      // Its sent bytes are still delivered; bytes to it are dropped.
      if (from.readableEnded) to.destroySoon();
      else to.destroy();
    });
    if (from.destroyed) to.destroy();
  }

  /** Delivers bytes in transit, then closes both sides. */
  end(): void {
    this.client.destroySoon();
    this.target.destroySoon();
  }
  /** Closes both sides at once. */
  cut(): void {
    this.client.destroy();
    this.target.destroy();
  }
}

const gone = (socket: Socket): Promise<void> =>
  socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));

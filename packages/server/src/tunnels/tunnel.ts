/**
 * Upgraded connections through this server (SPDY, WebSocket, any): once the target agrees to switch protocols, bytes
 * flow both ways untouched, no faster than their reader reads. Either side may close its half first.
 */
import type { Socket } from 'node:net';
import type { Clock } from '@plat-dev/lib/clock';
import { badRequest, plainError, tooManyRequests } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';
import { KEEP_ALIVE_MILLIS } from '../http-client/connect.ts';
import { Answer, type Switched } from '../http-client/exchange.ts';
import { dial, faultOf, type Unreachable, UPGRADE_MS } from './dial.ts';
import { type Open, type OpenConnections, sendAnswer } from './forward.ts';
import { answerHeaders, setsConsoleCookie } from './headers.ts';
import type { Target } from './target.ts';

/** Maximum concurrent tunnels; one more gets 429. */
const TUNNEL_LIMIT = 8192;
/** How long a half-closed connection may be silent before it is closed. */
const HALF_CLOSED_MS = 30_000;

export interface Tunnelling {
  readonly target: Target;
  /** Including its query. */
  readonly path: string;
  /** Alternating names and values, without those of the upgrade. */
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
  const { method } = ctx;
  const exchange = await dial(target, { method, path, headers, upgrade: upgrade.protocol, clock, answerMs: UPGRADE_MS });
  const onClientGone = (): void => exchange.destroy();
  if (ctx.res.destroyed) onClientGone();
  ctx.res.once('close', onClientGone);
  const head = await exchange.head.catch((error: Error) => {
    throw faultOf(target, error, unreachable);
  });
  if (head instanceof Answer) {
    if (head.status >= 400) return sendAnswer({ open, clock }, ctx, head, answerHeaders(head.rawHeaders));
    head.destroy();
    throw plainError(`invalid upgrade response: status code ${head.status}`);
  }
  ctx.res.off('close', onClientGone);
  const socket = head.socket as Socket;
  const client = upgrade.take();
  if (client === undefined) {
    socket.destroy();
    return;
  }
  ctx.status = 101;
  ctx.audit?.started();
  client.write(switching(ctx, head));
  const tunnel = new Tunnel(client, upgrade.head, socket);
  open.add(tunnel);
  ctx.end = () => tunnel.cut();
  await tunnel.closed;
  open.delete(tunnel);
}

/** The head of the 101 response, as the target made it, but for cookies of the console. */
function switching(ctx: Context, { rawHeaders }: Switched): string {
  let text = 'HTTP/1.1 101 Switching Protocols\r\n';
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i] as string, rawHeaders[i + 1] as string];
    if (!setsConsoleCookie(name, value)) text += `${name}: ${value}\r\n`;
  }
  return `${text}Audit-Id: ${ctx.auditId}\r\n\r\n`;
}

/** Two joined connections. `closed` resolves when both are closed. */
class Tunnel implements Open {
  readonly closed: Promise<void>;
  private readonly client: Socket;
  private readonly target: Socket;

  /** Bytes that the client has sent already are forwarded first. */
  constructor(client: Socket, fromClient: Buffer, target: Socket) {
    this.client = client;
    this.target = target;
    this.closed = Promise.all([whenGone(client), whenGone(target)]).then(() => {});
    for (const socket of [client, target]) {
      // The connection may outlive one of its directions; the side that closes last closes both.
      socket.allowHalfOpen = true;
      socket.setTimeout(0);
      socket.setKeepAlive(true, KEEP_ALIVE_MILLIS);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
    }
    if (fromClient.length > 0) target.write(fromClient);
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

const whenGone = (socket: Socket): Promise<void> =>
  socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));

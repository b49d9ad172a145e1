/**
 * A response over a WebSocket, for clients such as browsers that follow a log: one message for each part of the body, after an empty
 * one, and the connection ends with the body.
 */

import { badRequest } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';
import type { Answer } from '../http-client/exchange.ts';
import type { Open, OpenConnections } from './forward.ts';

export const wantsSocket = (ctx: Context): boolean => ctx.upgrade?.protocol.toLowerCase() === 'websocket';

/** The protocols are `binary.<suffix>` and, for bytes as text, `base64.binary.<suffix>`. */
function protocolOf(ctx: Context, groupSuffix: string): { readonly name: string; readonly isText: boolean } {
  const offered = (ctx.header('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
  const protocols = [`binary.${groupSuffix}`, `base64.binary.${groupSuffix}`];
  const name = offered.find((one) => protocols.includes(one)) ?? '';
  if (name === '' && offered.some((one) => one !== ''))
    throw badRequest(`unsupported protocols: ${offered.join(', ')}; there are ${protocols.join(' and ')}`);
  return { name, isText: name.startsWith('base64.') };
}

/** Ends when the response has been sent, or its client has disconnected. */
export async function sendOverSocket(open: OpenConnections, groupSuffix: string, ctx: Context, response: Answer): Promise<void> {
  const { name, isText } = protocolOf(ctx, groupSuffix);
  const { acceptWebSocket } = await import('@plat-dev/streams/accept-websocket');
  const head = ctx.upgrade?.head ?? Buffer.alloc(0);
  const socket = ctx.upgrade?.take();
  const headers = [`Audit-Id: ${ctx.auditId}`];
  const webSocket = socket && acceptWebSocket(ctx.req, socket, head, { protocol: name, headers });
  if (socket === undefined || webSocket === undefined) {
    // What is wrong with the handshake has been answered.
    if (socket !== undefined) ctx.status = 400;
    response.destroy();
    return;
  }
  ctx.status = 101;
  ctx.audit?.started();
  const connection: Open = { end: () => socket.destroySoon() };
  open.add(connection);
  ctx.end = () => socket.destroy();
  await new Promise<void>((resolve) => {
    webSocket.once('close', () => {
      response.destroy();
      resolve();
    });
    webSocket.send(Buffer.alloc(0), { binary: !isText });
    response.on('data', (chunk: Buffer) => {
      ctx.responseBytes += chunk.length;
      response.pause();
      webSocket.send(isText ? chunk.toString('base64') : chunk, () => response.resume());
    });
    response.once('end', () => {
      webSocket.close(1000);
      // The end of the connection follows that of the body, as at a stock server: readers of a log wait for it.
      socket.end();
    });
    response.once('error', () => socket.destroy());
    response.once('close', () => {
      if (!response.isComplete) socket.destroy();
    });
  });
  open.delete(connection);
}

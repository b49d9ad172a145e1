/**
 * A response over a WebSocket, for clients such as browsers that follow a log: one message for each part of the body, after an empty
 * one, and the connection ends with the body.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { acceptKey, ServerWebSocket } from '../../lib/websocket/server.ts';
import { badRequest } from '../../meta/errors.ts';
import type { Context } from '../context.ts';
import type { Open, OpenConnections } from './forward.ts';

export const wantsSocket = (ctx: Context): boolean => ctx.upgrade?.protocol.toLowerCase() === 'websocket';

/** The protocols are `binary.<suffix>` and, for bytes as text, `base64.binary.<suffix>`. */
function protocolOf(ctx: Context, groupSuffix: string): { readonly name: string; readonly isText: boolean } {
  const offered = (ctx.header('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
  const known = [`binary.${groupSuffix}`, `base64.binary.${groupSuffix}`];
  const name = offered.find((one) => known.includes(one)) ?? '';
  if (name === '' && offered.some((one) => one !== ''))
    throw badRequest(`unsupported protocols: ${offered.join(', ')}; there are ${known.join(' and ')}`);
  return { name, isText: name.startsWith('base64.') };
}

/** Ends when the response has been sent, or its client has disconnected. */
export async function sendOverSocket(
  open: OpenConnections,
  groupSuffix: string,
  ctx: Context,
  request: ClientRequest,
  response: IncomingMessage,
): Promise<void> {
  const { name, isText } = protocolOf(ctx, groupSuffix);
  const socket = ctx.upgrade?.take();
  if (socket === undefined) {
    request.destroy();
    return;
  }
  ctx.status = 101;
  ctx.audit?.started();
  const headers = [
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptKey(ctx.header('sec-websocket-key') ?? '')}`,
    ...(name === '' ? [] : [`Sec-WebSocket-Protocol: ${name}`]),
    `Audit-Id: ${ctx.auditId}`,
  ];
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join('\r\n')}\r\n\r\n`);
  const connection: Open = { end: () => socket.destroySoon() };
  open.add(connection);
  ctx.end = () => socket.destroy();
  await new Promise<void>((resolve) => {
    const sink = new ServerWebSocket(socket, ctx.upgrade?.head ?? Buffer.alloc(0), {
      message: () => {},
      close: () => {
        request.destroy();
        resolve();
      },
    });
    sink.send(Buffer.alloc(0), isText);
    response.on('data', (chunk: Buffer) => {
      ctx.responseBytes += chunk.length;
      response.pause();
      sink.send(isText ? Buffer.from(chunk.toString('base64')) : chunk, isText, () => response.resume());
    });
    response.once('end', () => sink.close());
    response.once('error', () => socket.destroy());
    response.once('close', () => {
      if (!response.complete) socket.destroy();
    });
  });
  open.delete(connection);
}

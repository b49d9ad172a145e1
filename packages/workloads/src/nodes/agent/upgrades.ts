/** How connections to the agent are switched to WebSocket or SPDY. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type ChannelProtocol, channelProtocol } from './streams.ts';

/** An error for the client of the agent. */
export class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A request to switch protocols, with its connection and the bytes that came behind it. */
export interface UpgradeRequest {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The protocol of a WebSocket; undefined for other upgrades. */
export function webProtocol(req: IncomingMessage, suffixes: readonly string[]): ChannelProtocol | undefined {
  if (req.headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const protocol = channelProtocol(req.headers['sec-websocket-protocol'], suffixes);
  if (protocol === undefined) throw new Refused(403, `unsupported protocols: ${req.headers['sec-websocket-protocol']}`);
  return protocol;
}
/** Returns what `begin` makes of the WebSocket; undefined if the handshake is wrong, which has been answered then. */
export async function acceptSocket<T>(
  { req, socket, head }: UpgradeRequest,
  { name }: ChannelProtocol,
  begin: (webSocket: WebSocket) => T,
): Promise<T | undefined> {
  const { acceptWebSocket } = await import('@plat-dev/streams/accept-websocket');
  const webSocket = acceptWebSocket(req, socket, head, { protocol: name });
  return webSocket && begin(webSocket);
}
export function acceptSpdy(req: IncomingMessage, socket: Duplex, isKnown: (name: string) => boolean): void {
  if (req.headers.upgrade?.toLowerCase() !== 'spdy/3.1')
    throw new Refused(400, `unable to upgrade: unsupported protocol ${req.headers.upgrade}`);
  const offered = String(req.headers['x-stream-protocol-version'] ?? '')
    .split(',')
    .map((name) => name.trim());
  const name = offered.find(isKnown);
  if (name === undefined) throw new Refused(403, `unable to upgrade: unsupported stream protocols ${offered.join(', ')}`);
  switchTo(socket, 'SPDY/3.1', [`X-Stream-Protocol-Version: ${name}`]);
}
function switchTo(socket: Duplex, protocol: string, headers: readonly string[]): void {
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n${headers.join('\r\n')}\r\n\r\n`);
}

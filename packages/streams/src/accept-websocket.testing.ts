/** A WebSocket within this process whose client end is in the hands of a test, which writes bytes. */

import { LocalSocket } from '@plat-dev/lib/files/local-socket';
import type { WebSocket } from 'ws';
import { acceptWebSocket } from './accept-websocket.ts';

export const handshakeHeaders = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

export interface AcceptedFrom {
  readonly client: LocalSocket;
  readonly server: LocalSocket;
  readonly webSocket: WebSocket;
  /** The head of the answer. */
  readonly head: () => string;
  /** What came behind it so far. */
  readonly bytes: () => Buffer;
}

/** `reads`: whether the client reads. */
export function acceptedFrom(protocol = '', reads = true): AcceptedFrom {
  const [client, server] = LocalSocket.pair();
  const headers = { ...handshakeHeaders, ...(protocol !== '' && { 'sec-websocket-protocol': protocol }) };
  const webSocket = acceptWebSocket({ method: 'GET', headers }, server, Buffer.alloc(0), { protocol, headers: ['X-Extra: 1'] });
  if (webSocket === undefined) throw new Error('the handshake failed');
  const received: Buffer[] = [];
  client.on('error', () => {});
  if (reads) client.on('data', (chunk: Buffer) => void received.push(chunk));
  const answer = (): Buffer => Buffer.concat(received);
  const end = (): number => answer().indexOf('\r\n\r\n') + 4;
  return { client, server, webSocket, head: () => answer().toString('latin1', 0, end()), bytes: () => answer().subarray(end()) };
}

export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A frame of a client. `first` is its first byte, for frames that are not whole messages. */
export function masked(payload: Buffer, opcode: number = Opcode.binary, first = 0x80 | opcode): Buffer {
  const { length } = payload;
  const size = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const head = Buffer.alloc(size);
  head[0] = first;
  head[1] = 0x80 | (size === 2 ? length : size === 4 ? 126 : 127);
  if (size === 4) head.writeUInt16BE(length, 2);
  if (size === 10) head.writeBigUInt64BE(BigInt(length), 2);
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([head, mask, Buffer.from(payload.map((byte, i) => byte ^ (mask[i % 4] as number)))]);
}

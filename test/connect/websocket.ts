/** The other end of a WebSocket, as far as tests need it: a handshake, whole unfragmented frames. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

export interface Peer {
  send(payload: Buffer | string): void;
  onFrame: (payload: Buffer, opcode: number) => void;
  close(): void;
}

export function acceptWebSocket(req: IncomingMessage, socket: Socket, head: Buffer, protocol?: string): Peer {
  const accept = createHash('sha1').update(`${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const chosen = protocol === undefined ? '' : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${chosen}\r\n`,
  );
  const peer: Peer = {
    send: (payload) => void socket.write(frame(Buffer.from(payload as string), typeof payload === 'string' ? 1 : 2)),
    onFrame: () => {},
    close: () => {
      socket.write(frame(Buffer.from([3, 232]), 8));
      socket.end();
    },
  };
  let rest = head;
  const take = (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk]);
    for (let read = parse(rest); read !== undefined; read = parse(rest)) {
      rest = rest.subarray(read.size);
      if (read.opcode === 8) peer.close();
      else peer.onFrame(read.payload, read.opcode);
    }
  };
  socket.on('data', take);
  return peer;
}

function frame(payload: Buffer, opcode: number): Buffer {
  const { length } = payload;
  const start = length < 126 ? Buffer.from([0x80 | opcode, length]) : Buffer.from([0x80 | opcode, 126, length >> 8, length & 255]);
  return Buffer.concat([start, payload]);
}

function parse(bytes: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (bytes.length < 6) return undefined;
  let length = (bytes[1] as number) & 127;
  let at = 2;
  if (length === 126) {
    length = bytes.readUInt16BE(2);
    at = 4;
  }
  if (bytes.length < at + 4 + length) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, at + 4 + length)).map((byte, i) => byte ^ (mask[i % 4] as number));
  return { opcode: (bytes[0] as number) & 15, payload: Buffer.from(payload), size: at + 4 + length };
}

/** The client side of a WebSocket (RFC 6455) to an API server: binary messages in channels. */
import { createHash, randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Transport } from './transport.ts';

export interface SocketEvents {
  message(payload: Buffer): void;
  /** Called once, with the error of the connection, if any. */
  close(error?: Error): void;
}

const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
/** Maximum size of a message of this protocol. */
const MESSAGE_LIMIT = 16 << 20;
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export class ClientWebSocket {
  readonly protocol: string;
  private readonly socket: Duplex;
  private readonly events: SocketEvents;
  private rest: Buffer = Buffer.alloc(0);
  private parts: Buffer[] = [];
  private size = 0;
  private closed = false;

  private constructor(socket: Duplex, protocol: string, events: SocketEvents) {
    this.socket = socket;
    this.protocol = protocol;
    this.events = events;
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('error', (error) => this.finish(error));
    socket.on('end', () => this.finish());
    socket.on('close', () => this.finish());
  }
  /** Throws ApiError if the server refuses. */
  static async open(
    transport: Pick<Transport, 'upgrade'>,
    request: { readonly path: string; readonly protocols: readonly string[]; readonly signal?: AbortSignal },
    events: SocketEvents,
  ): Promise<ClientWebSocket> {
    const key = randomBytes(16).toString('base64');
    const { headers, socket, head } = await transport.upgrade({
      path: request.path,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
        'sec-websocket-protocol': request.protocols.join(', '),
      },
      ...(request.signal !== undefined && { signal: request.signal }),
    });
    const expected = createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64');
    const protocol = headers['sec-websocket-protocol'] ?? '';
    if (headers['sec-websocket-accept'] !== expected || !request.protocols.includes(protocol)) {
      socket.destroy();
      throw new Error(`the server speaks another protocol: it chose ${JSON.stringify(protocol)} of ${request.protocols.join(', ')}`);
    }
    const made = new ClientWebSocket(socket, protocol, events);
    if (head.length > 0) made.take(head);
    return made;
  }
  /** Returns false when the sender should wait for `drained`. */
  send(payload: Buffer): boolean {
    return this.closed || this.socket.write(frame(payload, Opcode.binary));
  }
  drained(call: () => void): void {
    this.socket.once('drain', call);
  }
  pause(): void {
    this.socket.pause();
  }
  resume(): void {
    this.socket.resume();
  }
  close(): void {
    if (this.closed) return;
    this.socket.write(frame(Buffer.from([3, 232]), Opcode.close));
    this.finish();
  }

  private finish(error?: Error): void {
    if (this.closed) return;
    this.closed = true;
    this.socket.end();
    this.events.close(error);
  }
  private take(chunk: Buffer): void {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    for (let read = parse(this.rest); read !== undefined && !this.closed; read = parse(this.rest)) {
      this.rest = this.rest.subarray(read.size);
      this.frame(read);
    }
    if (this.rest.length > MESSAGE_LIMIT) this.finish(new Error('a message of the server is too large'));
  }
  private frame({ opcode, last, payload }: Frame): void {
    if (opcode === Opcode.ping) this.socket.write(frame(payload, Opcode.pong));
    else if (opcode === Opcode.close) this.close();
    else if (opcode === Opcode.binary || opcode === Opcode.text || opcode === Opcode.continuation) {
      this.parts.push(payload);
      this.size += payload.length;
      if (this.size > MESSAGE_LIMIT) this.finish(new Error('a message of the server is too large'));
      if (!last || this.closed) return;
      const whole = this.parts.length === 1 ? payload : Buffer.concat(this.parts);
      this.parts = [];
      this.size = 0;
      this.events.message(whole);
    }
  }
}

interface Frame {
  readonly opcode: number;
  readonly last: boolean;
  readonly payload: Buffer;
  readonly size: number;
}
/** The first whole frame of some bytes; undefined while it is incomplete. */
function parse(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] as number) & 127;
  const at = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < at) return undefined;
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < at + length) return undefined;
  const first = bytes[0] as number;
  return { opcode: first & 15, last: (first & 128) !== 0, payload: bytes.subarray(at, at + length), size: at + length };
}
/** Clients must mask their frames, so that proxies do not misinterpret them. */
function frame(payload: Buffer, opcode: number): Buffer {
  const { length } = payload;
  const size = length < 126 ? 2 : length < 65536 ? 4 : 10;
  const bytes = Buffer.alloc(size + 4 + length);
  bytes[0] = 128 | opcode;
  bytes[1] = 128 | (size === 2 ? length : size === 4 ? 126 : 127);
  if (size === 4) bytes.writeUInt16BE(length, 2);
  if (size === 10) bytes.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  mask.copy(bytes, size);
  for (let i = 0; i < length; i++) bytes[size + 4 + i] = (payload[i] as number) ^ (mask[i & 3] as number);
  return bytes;
}

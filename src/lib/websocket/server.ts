/** The server side of a WebSocket (RFC 6455) on a connection that has been upgraded. */
import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';

const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
/** Largest message that is read: clients send parts of 32 KiB. */
const MESSAGE_LIMIT = 1 << 20;
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The answer to the key of a client's request. */
export const acceptKey = (key: string): string => createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64');

export interface ServerSocketEvents {
  message(payload: Buffer): void;
  /** Called once. */
  close(): void;
}

export class ServerWebSocket {
  private readonly socket: Duplex;
  private readonly events: ServerSocketEvents;
  private rest: Buffer;
  private parts: Buffer[] = [];
  private size = 0;
  private closed = false;

  constructor(socket: Duplex, head: Buffer, events: ServerSocketEvents) {
    this.socket = socket;
    this.events = events;
    this.rest = head;
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('error', () => this.finish());
    socket.on('end', () => this.finish());
    socket.on('close', () => this.finish());
    if (head.length > 0) this.take(Buffer.alloc(0));
  }
  /** `done` is called when it is written. */
  send(payload: Buffer, text = false, done?: () => void): void {
    if (this.closed) done?.();
    else this.socket.write(frame(payload, text ? Opcode.text : Opcode.binary), () => done?.());
  }
  pause(): void {
    this.socket.pause();
  }
  resume(): void {
    if (!this.closed) this.socket.resume();
  }
  close(code = 1000): void {
    if (this.closed) return;
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.socket.write(frame(payload, Opcode.close));
    this.finish();
  }

  private finish(): void {
    if (this.closed) return;
    this.closed = true;
    this.socket.end();
    this.events.close();
  }
  private take(chunk: Buffer): void {
    if (this.closed) return;
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    for (let read = parse(this.rest); read !== undefined && !this.closed; read = parse(this.rest)) {
      this.rest = this.rest.subarray(read.size);
      this.frame(read);
    }
    if (this.rest.length > MESSAGE_LIMIT + 14) this.close(1009);
  }
  private frame({ opcode, last, payload, masked }: ReadFrame): void {
    // A client that does not mask its frames is none.
    if (!masked) this.close(1002);
    else if (opcode === Opcode.ping) this.socket.write(frame(payload, Opcode.pong));
    else if (opcode === Opcode.close) this.close();
    else if (opcode === Opcode.binary || opcode === Opcode.text || opcode === Opcode.continuation) {
      this.parts.push(payload);
      this.size += payload.length;
      if (this.size > MESSAGE_LIMIT) this.close(1009);
      if (!last || this.closed) return;
      const whole = this.parts.length === 1 ? payload : Buffer.concat(this.parts);
      this.parts = [];
      this.size = 0;
      this.events.message(whole);
    }
  }
}

interface ReadFrame {
  readonly opcode: number;
  readonly last: boolean;
  readonly masked: boolean;
  readonly payload: Buffer;
  readonly size: number;
}

/** The first whole frame of some bytes, unmasked; undefined while it is incomplete. */
function parse(bytes: Buffer): ReadFrame | undefined {
  if (bytes.length < 2) return undefined;
  const second = bytes[1] as number;
  const masked = (second & 128) !== 0;
  const short = second & 127;
  const at = (short === 126 ? 4 : short === 127 ? 10 : 2) + (masked ? 4 : 0);
  if (bytes.length < at) return undefined;
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < at + length) return undefined;
  const payload = Buffer.from(bytes.subarray(at, at + length));
  if (masked) for (let i = 0; i < length; i++) payload[i] = (payload[i] as number) ^ (bytes[at - 4 + (i & 3)] as number);
  const first = bytes[0] as number;
  return { opcode: first & 15, last: (first & 128) !== 0, masked, payload, size: at + length };
}

function frame(payload: Buffer, opcode: number): Buffer {
  const { length } = payload;
  const size = length < 126 ? 2 : length < 65536 ? 4 : 10;
  const head = Buffer.alloc(size);
  head[0] = 128 | opcode;
  head[1] = size === 2 ? length : size === 4 ? 126 : 127;
  if (size === 4) head.writeUInt16BE(length, 2);
  if (size === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

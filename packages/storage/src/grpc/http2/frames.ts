/** Frames of HTTP/2 (RFC 9113): a head of nine bytes with length, type, flags and stream, then the payload. */
export const FRAME_HEAD_BYTES = 9;
/** Maximum payload, the default of the protocol: neither side of this client uses larger ones. */
export const LARGEST_FRAME = 16_384;

export const DATA = 0;
export const HEADERS = 1;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PUSH_PROMISE = 5;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;

export const ACK = 0x1;
export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const PRIORITY = 0x20;

export const HEADER_TABLE_SIZE = 1;
export const ENABLE_PUSH = 2;
export const MAX_CONCURRENT_STREAMS = 3;
export const INITIAL_WINDOW_SIZE = 4;

export const NO_ERROR = 0;
const PROTOCOL_ERROR = 1;
export const FLOW_CONTROL_ERROR = 3;
export const FRAME_SIZE_ERROR = 6;
export const REFUSED_STREAM = 7;
export const CANCEL = 8;
export const COMPRESSION_ERROR = 9;
export const ENHANCE_YOUR_CALM = 11;

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export function writeFrameHead(target: Buffer, at: number, length: number, type: number, flags: number, stream: number): number {
  target[at] = length >>> 16;
  target[at + 1] = (length >>> 8) & 0xff;
  target[at + 2] = length & 0xff;
  target[at + 3] = type;
  target[at + 4] = flags;
  return target.writeUInt32BE(stream, at + 5);
}

export function frame(type: number, flags: number, stream: number, payload?: Buffer): Buffer {
  const length = payload?.length ?? 0;
  const frameBytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + length);
  writeFrameHead(frameBytes, 0, length, type, flags, stream);
  payload?.copy(frameBytes, FRAME_HEAD_BYTES);
  return frameBytes;
}

/** A frame whose payload is one number of four bytes. */
export function numberFrame(type: number, stream: number, value: number): Buffer {
  const frameBytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + 4);
  frameBytes.writeUInt32BE(value, writeFrameHead(frameBytes, 0, 4, type, 0, stream));
  return frameBytes;
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * settings.length);
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, 6 * index);
    payload.writeUInt32BE(value, 6 * index + 2);
  }
  return frame(SETTINGS, 0, 0, payload);
}

/** A fault of the peer, which ends the connection. */
export class ProtocolFault extends Error {
  readonly code: number;
  constructor(message: string, code = PROTOCOL_ERROR) {
    super(message);
    this.name = 'ProtocolFault';
    this.code = code;
  }
}

/** Called with every whole frame. The payload is a part of what was read. */
export type FrameTaker = (type: number, flags: number, stream: number, payload: Buffer) => void;

/** Cuts what was read into frames. What it holds is bounded by the largest frame. */
export class FrameReader {
  readonly #take: FrameTaker;
  #rest: Buffer | undefined;

  constructor(take: FrameTaker) {
    this.#take = take;
  }

  /** Throws ProtocolFault for a frame that is too large. */
  push(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = 0;
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const length = bytes.readUIntBE(at, 3);
      if (length > LARGEST_FRAME) throw new ProtocolFault(`a frame of ${length} bytes is larger than ${LARGEST_FRAME}`, FRAME_SIZE_ERROR);
      const end = at + FRAME_HEAD_BYTES + length;
      if (end > bytes.length) break;
      const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
      this.#take(bytes[at + 3] as number, bytes[at + 4] as number, stream, bytes.subarray(at + FRAME_HEAD_BYTES, end));
      at = end;
    }
    if (at < bytes.length) this.#rest = at === 0 ? bytes : bytes.subarray(at);
  }
}

/** The payload of a frame without its padding, and without the priority of HEADERS. */
export function unpadded(flags: number, payload: Buffer, priority: boolean): Buffer {
  let from = 0;
  let to = payload.length;
  if ((flags & PADDED) !== 0) {
    to -= payload[0] ?? 0;
    from = 1;
  }
  if (priority) from += 5;
  if (from > to) throw new ProtocolFault('a frame is shorter than its padding');
  return from === 0 && to === payload.length ? payload : payload.subarray(from, to);
}

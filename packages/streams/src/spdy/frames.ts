/**
 * Frames of SPDY/3.1.
 *
 *   control   1 version(15) type(16) flags(8) length(24) …      data   0 stream(31) flags(8) length(24) …
 */
export const FrameType = { synStream: 1, synReply: 2, reset: 3, settings: 4, ping: 6, goAway: 7, headers: 8, windowUpdate: 9 } as const;
export const FIN = 1;
const VERSION = 3;

export type Frame =
  | { readonly kind: 'data'; readonly stream: number; readonly flags: number; readonly payload: Buffer }
  | { readonly kind: 'control'; readonly type: number; readonly flags: number; readonly payload: Buffer };

/** Largest frame that is read. Clients send 32 KiB at a time. */
export const FRAME_LIMIT = 1 << 20;

/** The first whole frame of some bytes, with its size; undefined while it is incomplete. Throws for one that is too large. */
export function parseFrame(bytes: Buffer): { frame: Frame; size: number } | undefined {
  const size = frameSize(bytes);
  if (bytes.length < size) return undefined;
  const first = bytes.readUInt32BE(0);
  const flags = bytes[4] as number;
  const payload = bytes.subarray(HEAD_BYTES, size);
  if (first < 0x80000000) return { frame: { kind: 'data', stream: first, flags, payload }, size };
  if (((first >>> 16) & 0x7fff) !== VERSION) throw new Error('a frame has another version than 3');
  return { frame: { kind: 'control', type: first & 0xffff, flags, payload }, size };
}
const HEAD_BYTES = 8;
/** The size of the first frame of some bytes; that of its head while that is incomplete. */
function frameSize(bytes: Buffer): number {
  if (bytes.length < HEAD_BYTES) return HEAD_BYTES;
  const length = bytes.readUIntBE(5, 3);
  if (length > FRAME_LIMIT) throw new Error(`a frame of ${length} bytes is too large`);
  return HEAD_BYTES + length;
}

/** Pieces of a frame that wait for the rest of it; more are joined. */
const PIECES_LIMIT = 1024;

/** Frames of bytes that arrive in pieces of any size. */
export class FrameReader {
  private pieces: Buffer[] = [];
  private size = 0;

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.pieces.length >= PIECES_LIMIT) this.pieces = [Buffer.concat(this.pieces)];
    this.pieces.push(piece);
    this.size += piece.length;
  }
  /** Undefined while the next frame is incomplete. Throws for one that is too large. */
  next(): Frame | undefined {
    for (let [first] = this.pieces; first !== undefined; [first] = this.pieces) {
      const neededBytes = frameSize(first);
      if (this.size < neededBytes) return undefined;
      const parsedFrame = parseFrame(first);
      if (parsedFrame === undefined) {
        this.join(neededBytes);
        continue;
      }
      this.size -= parsedFrame.size;
      if (parsedFrame.size === first.length) this.pieces.shift();
      else this.pieces[0] = first.subarray(parsedFrame.size);
      return parsedFrame.frame;
    }
    return undefined;
  }
  /** Makes one of the first pieces that have so many bytes together. */
  private join(bytes: number): void {
    let count = 0;
    for (let size = 0; size < bytes; count++) size += (this.pieces[count] as Buffer).length;
    this.pieces.unshift(Buffer.concat(this.pieces.splice(0, count)));
  }
}

export function dataFrame(stream: number, payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(stream, 0);
  head[4] = flags;
  head.writeUIntBE(payload.length, 5, 3);
  return payload.length === 0 ? head : Buffer.concat([head, payload]);
}

export function controlFrame(type: number, payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE((0x80000000 + VERSION * 0x10000 + type) >>> 0, 0);
  head[4] = flags;
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

export function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * i);
  return bytes;
}

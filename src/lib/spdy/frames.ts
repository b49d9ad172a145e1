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
  if (bytes.length < 8) return undefined;
  const length = bytes.readUIntBE(5, 3);
  if (length > FRAME_LIMIT) throw new Error(`a frame of ${length} bytes is too large`);
  const size = 8 + length;
  if (bytes.length < size) return undefined;
  const first = bytes.readUInt32BE(0);
  const flags = bytes[4] as number;
  const payload = bytes.subarray(8, size);
  if (first < 0x80000000) return { frame: { kind: 'data', stream: first, flags, payload }, size };
  if (((first >>> 16) & 0x7fff) !== VERSION) throw new Error('a frame has another version than 3');
  return { frame: { kind: 'control', type: first & 0xffff, flags, payload }, size };
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

/**
 * Frames of the journal: groups of commits, each written at once.
 *
 *   head     magic(4) length of the body(4) first revision(8) last revision(8) sum of the frame before(4)
 *            sum of the body(4) sum of the head up to here(4)
 *   body     changes: revision(8) index(2) expires(8) expires of the version before(8) length(4) record
 *
 * Sums are CRC-32. A head has one of its own, so that the length and the revisions of a frame are known even when its body
 * is damaged; each frame contains the sum of the one before it, whichever file that is in.
 */
import { createHash } from 'node:crypto';
import { crc32 } from '../../../crc32.ts';
import type { PendingChange } from '../change.ts';
import { encodeRecord, readNumber, readRecord, writeNumber } from '../format.ts';
import { readOldRecord } from '../repair/old-format.ts';

const MAGIC = 0x504a0002;
const HEAD = 36;
export const FRAME_HEAD = 40;
const CHANGE_HEAD = 30;
/** Frames before format 3: magic, length, eight bytes of SHA-1, body. */
const OLD_MAGIC = 0x504a0001;
const OLD_HEAD = 16;
/** The prefix of all magic numbers. No text of an object holds a zero byte, so that none can look like a frame. */
const MAGIC_START = Buffer.from([0x50, 0x4a, 0x00]);

/** The head of a frame, which describes the body. */
export interface Head {
  readonly file: string;
  readonly offset: number;
  /** Where the body ends. */
  readonly end: number;
  readonly first: number;
  readonly last: number;
  /** Sum of the frame before; undefined in frames of the old format. */
  readonly previous: number | undefined;
  readonly sum: number;
}
export interface Frame extends Head {
  readonly body: Buffer;
  readonly old: boolean;
}
/** The readable content of a file. */
export interface Scan {
  readonly file: string;
  readonly bytes: Buffer;
  readonly frames: readonly Frame[];
  /** Valid heads with invalid bodies. */
  readonly broken: readonly Head[];
  /** Where reading stopped because there was no frame: at the end, or before a part that is readable again. */
  readonly stops: readonly number[];
}

/** `room`: where the frame is made, if it fits there. */
export function encodeFrame(changes: readonly PendingChange[], previous: number, room?: Buffer): { frame: Buffer; sum: number } {
  let length = FRAME_HEAD;
  for (const { record } of changes) length += CHANGE_HEAD + record.length;
  const frame = room !== undefined && length <= room.length ? room.subarray(0, length) : Buffer.allocUnsafeSlow(length);
  let at = FRAME_HEAD;
  for (const { version, previous: previousVersion, record } of changes) {
    writeNumber(frame, version.revision, at);
    frame.writeUInt16BE(version.index, at + 8);
    writeNumber(frame, version.expires, at + 10);
    writeNumber(frame, previousVersion?.expires ?? 0, at + 18);
    frame.writeUInt32BE(record.length, at + 26);
    frame.set(record, at + CHANGE_HEAD);
    at += CHANGE_HEAD + record.length;
  }
  const sum = crc32(frame.subarray(FRAME_HEAD));
  frame.writeUInt32BE(MAGIC, 0);
  frame.writeUInt32BE(length - FRAME_HEAD, 4);
  writeNumber(frame, (changes[0] as PendingChange).version.revision, 8);
  writeNumber(frame, (changes[changes.length - 1] as PendingChange).version.revision, 16);
  frame.writeUInt32BE(previous, 24);
  frame.writeUInt32BE(sum, 28);
  frame.writeUInt32BE(0, 32);
  frame.writeUInt32BE(crc32(frame.subarray(0, HEAD)), HEAD);
  return { frame, sum };
}

/** Everything in a file that can be read, without damaged parts. */
export function scanFrames(file: string, bytes: Buffer): Scan {
  const frames: Frame[] = [];
  const broken: Head[] = [];
  const stops: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const frame = frameAt(file, bytes, at);
    if (frame !== undefined) {
      frames.push(frame);
      at = frame.end;
      continue;
    }
    const head = headAt(file, bytes, at);
    if (head !== undefined) broken.push(head);
    stops.push(at);
    const next = bytes.indexOf(MAGIC_START, at + 1);
    at = next < 0 ? bytes.length : next;
  }
  return { file, bytes, frames, broken, stops };
}

function frameAt(file: string, bytes: Buffer, at: number): Frame | undefined {
  const head = headAt(file, bytes, at);
  if (head === undefined) return oldFrameAt(file, bytes, at);
  const body = bytes.subarray(at + FRAME_HEAD, head.end);
  if (head.end > bytes.length || crc32(body) !== head.sum) return undefined;
  return { ...head, body, old: false };
}

/** The head at an offset, if its sum is right. */
export function headAt(file: string, bytes: Buffer, at: number): Head | undefined {
  if (at + FRAME_HEAD > bytes.length || bytes.readUInt32BE(at) !== MAGIC) return undefined;
  if (crc32(bytes.subarray(at, at + HEAD)) !== bytes.readUInt32BE(at + HEAD)) return undefined;
  return {
    file,
    offset: at,
    end: at + FRAME_HEAD + bytes.readUInt32BE(at + 4),
    first: readNumber(bytes, at + 8),
    last: readNumber(bytes, at + 16),
    previous: bytes.readUInt32BE(at + 24),
    sum: bytes.readUInt32BE(at + 28),
  };
}

/** The head at an offset with one bit changed; undefined if there is none. */
export function headWithFlippedBit(file: string, bytes: Buffer, at: number): Head | undefined {
  if (at + FRAME_HEAD > bytes.length) return undefined;
  const head = Buffer.from(bytes.subarray(at, at + FRAME_HEAD));
  for (let bit = 0; bit < FRAME_HEAD * 8; bit++) {
    const byte = bit >> 3;
    head[byte] = (head[byte] as number) ^ (1 << (bit & 7));
    const flippedHead = headAt(file, head, 0);
    if (flippedHead !== undefined) return { ...flippedHead, offset: at, end: at + flippedHead.end };
    head[byte] = (head[byte] as number) ^ (1 << (bit & 7));
  }
  return undefined;
}

function oldFrameAt(file: string, bytes: Buffer, at: number): Frame | undefined {
  if (at + OLD_HEAD > bytes.length || bytes.readUInt32BE(at) !== OLD_MAGIC) return undefined;
  const end = at + OLD_HEAD + bytes.readUInt32BE(at + 4);
  const body = bytes.subarray(at + OLD_HEAD, end);
  if (end > bytes.length || body.length === 0) return undefined;
  if (
    createHash('sha1')
      .update(body)
      .digest()
      .compare(bytes, at + 8, at + OLD_HEAD, 0, 8) !== 0
  )
    return undefined;
  let last = 0;
  for (let place = 0; place < body.length; place += CHANGE_HEAD + body.readUInt32BE(place + 26)) last = readNumber(body, place);
  return { file, offset: at, end, first: readNumber(body, 0), last, previous: undefined, sum: bytes.readUInt32BE(at + 8), body, old: true };
}

/** The changes of an intact frame. */
export function changesOf({ body, old, file, offset }: Frame): PendingChange[] {
  const changes: PendingChange[] = [];
  for (let at = 0; at < body.length; ) {
    const length = body.readUInt32BE(at + 26);
    const bytes = body.subarray(at + CHANGE_HEAD, at + CHANGE_HEAD + length);
    const [revision, index, expires] = [readNumber(body, at), body.readUInt16BE(at + 8), readNumber(body, at + 10)];
    const stored = old ? { ...readOldRecord(bytes), revision, index } : readRecord(bytes);
    if ('damage' in stored)
      throw new Error(`the journal file ${file} has a damaged record in the frame at byte ${offset}: ${stored.damage}`);
    const { deleted, key, created, previous, value } = stored;
    changes.push({
      change: { type: deleted ? 'delete' : 'put', key, value: deleted ? undefined : value, revision, created },
      version: { revision, index, created, deleted, expires },
      previous: previous.revision === 0 ? undefined : { ...previous, created, deleted: false, expires: readNumber(body, at + 18) },
      record: old ? encodeRecord(stored, deleted ? undefined : value) : bytes,
    });
    at += CHANGE_HEAD + length;
  }
  return changes;
}

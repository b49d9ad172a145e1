/**
 * Bytes of a backup file. docs/storage.md draws them; a change here needs a new FORMAT and a way to read the old ones.
 *
 *   file     magic(8) format(2) frame…           one header, any number of blocks, one trailer, nothing after it
 *   frame    kind(1) length of the body(4) body checksum(16)
 *   header   JSON: the source and time of the backup
 *   block    entries: key length(2) flags(1) created(8) revision(8) expires(8) value length(4) key value
 *   trailer  JSON: how many entries and blocks there are, and the SHA-256 of all bytes before it
 *
 * Entries are those of one revision, in the order of their keys, with their values as stored: encrypted values
 * stay encrypted. The checksum of a frame is the first half of the SHA-256 of its kind, length and body. Numbers are big-endian.
 */
import { createHash } from 'node:crypto';

export const MAGIC: Buffer = Buffer.from('platbkup', 'latin1');
/** Files of later formats are refused. */
export const FORMAT = 1;
export const PREAMBLE = MAGIC.length + 2;
export const FRAME_HEADER = 5;
export const CHECKSUM = 16;
/** A block is closed when it has this many bytes; a larger value has a block of its own. */
export const BLOCK_BYTES: number = 1024 * 1024;
/** Maximum length of a block's body. No server can store larger values. */
export const LONGEST_BLOCK: number = 256 * 1024 * 1024;
/** Maximum length of header and trailer. */
export const LONGEST_FACTS: number = 64 * 1024;

export const HEADER = 0x48;
export const BLOCK = 0x42;
export const TRAILER = 0x54;

export interface BackupHeader {
  /** Release that made the backup. */
  readonly productVersion: string;
  /** Identity of the store; absent if the store does not record it. */
  readonly identity?: string;
  readonly storeId?: string;
  readonly engine: string;
  /** Revision that was backed up. */
  readonly revision: number;
  /** Oldest revision that could be read at that time. */
  readonly compacted: number;
  /** When, as RFC 3339. */
  readonly createdAt: string;
}

export interface BackupEntry {
  readonly key: string;
  readonly created: number;
  readonly revision: number;
  /** When the entry expires, in milliseconds since 1970; 0: never. */
  readonly expires: number;
  readonly value: Buffer;
}

export interface BackupTrailer {
  readonly entries: number;
  readonly blocks: number;
  /** Entries with encrypted values: a restore needs their keys. */
  readonly encrypted: number;
  /** Keys that are not in the backup because their values cannot be read; at most MOST_NAMED of them. */
  readonly unreadable: readonly string[];
  readonly unreadableCount: number;
  /** SHA-256 of everything before the trailer, in hexadecimal. */
  readonly sha256: string;
}
/** Maximum keys that a trailer names. */
export const MOST_NAMED = 50;

/** A file that is not a backup, is damaged, or has an unknown format. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupError';
  }
}

const ENTRY_HEADER = 31;
const TWO_32 = 2 ** 32;

export function frameOf(kind: number, body: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER + body.length + CHECKSUM);
  frame[0] = kind;
  frame.writeUInt32BE(body.length, 1);
  body.copy(frame, FRAME_HEADER);
  checksum(frame.subarray(0, FRAME_HEADER + body.length)).copy(frame, FRAME_HEADER + body.length, 0, CHECKSUM);
  return frame;
}

export const checksum = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

export function preamble(): Buffer {
  const bytes = Buffer.alloc(PREAMBLE);
  MAGIC.copy(bytes);
  bytes.writeUInt16BE(FORMAT, MAGIC.length);
  return bytes;
}

export const entryBytes = ({ key, value }: BackupEntry): number => ENTRY_HEADER + key.length + value.length;

export function encodeBlock(entries: readonly BackupEntry[]): Buffer {
  const body = Buffer.allocUnsafe(entries.reduce((sum, entry) => sum + entryBytes(entry), 0));
  let at = 0;
  for (const { key, created, revision, expires, value } of entries) {
    body.writeUInt16BE(key.length, at);
    body[at + 2] = 0;
    writeNumber(body, created, at + 3);
    writeNumber(body, revision, at + 11);
    writeNumber(body, expires, at + 19);
    body.writeUInt32BE(value.length, at + 27);
    body.write(key, at + ENTRY_HEADER, 'latin1');
    value.copy(body, at + ENTRY_HEADER + key.length);
    at += ENTRY_HEADER + key.length + value.length;
  }
  return body;
}

/** Throws RangeError if the lengths are inconsistent. Values are slices of the body. */
export function decodeBlock(body: Buffer): BackupEntry[] {
  const entries: BackupEntry[] = [];
  for (let at = 0; at < body.length; ) {
    const keyEnd = at + ENTRY_HEADER + body.readUInt16BE(at);
    const end = keyEnd + body.readUInt32BE(at + 27);
    if (end > body.length || body[at + 2] !== 0) throw new RangeError('an entry does not fit into its block');
    entries.push({
      key: body.toString('latin1', at + ENTRY_HEADER, keyEnd),
      created: readNumber(body, at + 3),
      revision: readNumber(body, at + 11),
      expires: readNumber(body, at + 19),
      value: body.subarray(keyEnd, end),
    });
    at = end;
  }
  return entries;
}

function writeNumber(target: Buffer, value: number, at: number): void {
  target.writeUInt32BE(Math.floor(value / TWO_32), at);
  target.writeUInt32BE(value >>> 0, at + 4);
}
const readNumber = (source: Buffer, at: number): number => source.readUInt32BE(at) * TWO_32 + source.readUInt32BE(at + 4);

/**
 * Bytes of a backup file. docs/storage.md draws them; a change here needs a new FORMAT and a way to read the old ones.
 *
 *   file     magic(8) format(2) frame…           one header, any number of blocks, any number of histories, one trailer,
 *                                                nothing after it
 *   frame    kind(1) length of the body(4) body checksum(16)
 *   header   JSON: the source and time of the backup
 *   block    entries: key length(2) flags(1) created(8) revision(8) expires(8) value length(4) key value
 *   history  versions: key length(2) flags(1) created(8) revision(8) time(8) note length(4) value length(4) key note value
 *   trailer  JSON: how many entries and blocks there are, and the SHA-256 of all bytes before it
 *
 * Entries are those of one revision, in the order of their keys, with their values as stored: encrypted values
 * stay encrypted. Versions are those that history has up to that revision, newest first. Their flags: 1 a deletion, 2 without a
 * value, 4 the value is that of the entry. Format 1 has no history. The checksum of a frame is the first half of the SHA-256 of its kind, length and body. Numbers are big-endian.
 */
import { createHash } from 'node:crypto';
import type { KeptVersion } from '../history.ts';

export const MAGIC: Buffer = Buffer.from('platbkup', 'latin1');
/** Files of later formats are refused. */
export const FORMAT = 2;
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
export const HISTORY = 0x56;
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

/** A version of history. */
export interface BackupVersion extends Omit<KeptVersion, 'unreadable'> {
  /** Its value is that of the entry of its key. */
  readonly isEntry: boolean;
}

export interface BackupTrailer {
  readonly entries: number;
  /** Versions of history; absent in format 1. */
  readonly versions?: number;
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

const VERSION_HEADER = 35;
const DELETED = 1;
const WITHOUT_VALUE = 2;
const VALUE_OF_ENTRY = 4;

export const versionBytes = ({ key, note, value }: BackupVersion): number =>
  VERSION_HEADER + key.length + (note?.length ?? 0) + (value?.length ?? 0);

export function encodeHistory(versions: readonly BackupVersion[]): Buffer {
  const body = Buffer.allocUnsafe(versions.reduce((sum, version) => sum + versionBytes(version), 0));
  let at = 0;
  for (const { type, key, created, revision, time, note, value, isEntry } of versions) {
    const noteStart = at + VERSION_HEADER + key.length;
    const valueStart = noteStart + (note?.length ?? 0);
    body.writeUInt16BE(key.length, at);
    body[at + 2] = (type === 'delete' ? DELETED : 0) | (value === undefined ? WITHOUT_VALUE : 0) | (isEntry ? VALUE_OF_ENTRY : 0);
    writeNumber(body, created, at + 3);
    writeNumber(body, revision, at + 11);
    writeNumber(body, time, at + 19);
    body.writeUInt32BE(note?.length ?? 0, at + 27);
    body.writeUInt32BE(value?.length ?? 0, at + 31);
    body.write(key, at + VERSION_HEADER, 'latin1');
    note?.copy(body, noteStart);
    value?.copy(body, valueStart);
    at = valueStart + (value?.length ?? 0);
  }
  return body;
}

/** Throws RangeError if the lengths are inconsistent. Notes and values are slices of the body. */
export function decodeHistory(body: Buffer): BackupVersion[] {
  const versions: BackupVersion[] = [];
  for (let at = 0; at < body.length; ) {
    const noteStart = at + VERSION_HEADER + body.readUInt16BE(at);
    const valueStart = noteStart + body.readUInt32BE(at + 27);
    const end = valueStart + body.readUInt32BE(at + 31);
    const flags = body[at + 2] as number;
    if (end > body.length || flags > (DELETED | WITHOUT_VALUE | VALUE_OF_ENTRY))
      throw new RangeError('a version does not fit into its block');
    versions.push({
      type: (flags & DELETED) === 0 ? 'put' : 'delete',
      key: body.toString('latin1', at + VERSION_HEADER, noteStart),
      created: readNumber(body, at + 3),
      revision: readNumber(body, at + 11),
      time: readNumber(body, at + 19),
      note: noteStart === valueStart ? undefined : body.subarray(noteStart, valueStart),
      value: (flags & WITHOUT_VALUE) === 0 ? body.subarray(valueStart, end) : undefined,
      isEntry: (flags & VALUE_OF_ENTRY) !== 0,
    });
    at = end;
  }
  return versions;
}

function writeNumber(target: Buffer, value: number, at: number): void {
  target.writeUInt32BE(Math.floor(value / TWO_32), at);
  target.writeUInt32BE(value >>> 0, at + 4);
}
const readNumber = (source: Buffer, at: number): number => source.readUInt32BE(at) * TWO_32 + source.readUInt32BE(at + 4);

/**
 * Bytes of the store file. docs/storage.md draws them; a change here needs a new FORMAT and a way to read the old one
 * (`migrate.ts`).
 *
 *   versions   key 00 ~revision(8)          → flags(1) index(2) created(8) expires(8) check(4)
 *   records    revision(8) index(2)         → format(1) flags(1) key length(2) created(8) previous revision(8)
 *                                             previous index(2) time(8) revision(8) index(2) note length(4)
 *                                             key note value checksum(4)
 *   expiries   expires(8) revision(8) index(2) → key
 *   meta       name → text (meta.ts)
 *
 * Numbers are big-endian so that bytes are in the order of the numbers; `~` inverts the bits, so that the newest version
 * of a key comes first. The index counts the changes within a commit.
 *
 * A record contains its position and ends with a CRC-32 of all of it, the lowest byte first. The check of a version covers
 * its key as well (FNV-1a, which is faster than a call for so few bytes). An expiry is compared with its version.
 *
 * Flags of a record: 1 the key was deleted, 2 only the note of a put is kept, 4 a version of a backup, which never was current in
 * this store: its row of the index says that the key is deleted. Records of format 2 have no note and no length of it.
 */
import { crc32, WHOLE } from '../../crc32.ts';
import { Slab } from '../../slab.ts';

/** Format of the file as a whole. A file of a later one is not opened. */
export const FORMAT = 4;
/** Since this format all rows have checksums: files are opened as they are. */
export const FIRST_CHECKED_FORMAT = 3;
/** Format of one record. */
const RECORD_FORMAT = 3;
const RECORD_FORMAT_WITHOUT_NOTE = 2;

const DELETED = 1;
const DROPPED = 2;
const ADDED = 4;
const TWO_32 = 2 ** 32;
/** A key of the index ends with a zero byte and the revision. */
const REVISION_SUFFIX = 9;
const RECORD_HEADER = 44;
const RECORD_HEADER_WITHOUT_NOTE = 40;
const CHECKSUM = 4;
const VERSION_LENGTH = 23;

/** The position of a change in the log. */
export interface Position {
  readonly revision: number;
  readonly index: number;
}
export interface VersionKey {
  readonly name: string;
  readonly revision: number;
}
/** The index entry of a version, apart from its revision. */
export interface VersionFacts {
  readonly deleted: boolean;
  readonly index: number;
  readonly created: number;
  /** When the key is to be deleted, in milliseconds; 0: never. */
  readonly expires: number;
}
/** A row of the index, with its check; `isSound` verifies it. */
export type VersionRow = VersionFacts & { readonly check: number };
export type Version = VersionFacts & { readonly revision: number };

export interface RecordFacts {
  readonly deleted: boolean;
  readonly key: string;
  readonly created: number;
  /** The position of the superseded version; revision 0: the key did not exist. */
  readonly previous: Position;
  /** When the commit was made, in milliseconds. */
  readonly time: number;
  /** It is a version of a backup, which never was current in this store. */
  readonly added?: boolean;
}
/** The writer's note, and whether the value was dropped so that only the note is kept. */
interface NoteFacts {
  readonly note: Buffer | undefined;
  readonly dropped: boolean;
}
export type StoredFacts = RecordFacts & Position & { readonly bytes: number };
export type StoredRecord = RecordFacts & Position & NoteFacts & { readonly value: Buffer };
/** Only the position of a value, and the value. */
export type StoredValue = Position & { readonly value: Buffer };
/** Replaces a record whose bytes are wrong. */
export interface DamagedRecord {
  readonly damage: string;
}

export interface ExpiryKey extends Position {
  readonly expires: number;
}

/** Encodes and decodes the keys of a table. */
export interface KeyCodec<Key> {
  writeKey(key: Key, target: Buffer, start: number): number;
  readKey(source: Buffer, start: number, end: number): Key;
}
/** Decodes the values of a table. The bytes are overwritten by the next read, so that all must be copied. */
export interface ValueCodec<Value> {
  encode(value: Buffer): Buffer;
  decode(bytes: Buffer): Value;
}

/** Text is encoded as its own bytes (a bound of a range), a version key as one version. */
export const versionKeys: KeyCodec<VersionKey | string> = {
  writeKey(key, target, start) {
    if (typeof key === 'string') return start + target.write(key, start, 'latin1');
    const end = start + target.write(key.name, start, 'latin1');
    target[end] = 0;
    target.writeUInt32BE(~Math.floor(key.revision / TWO_32) >>> 0, end + 1);
    target.writeUInt32BE(~key.revision >>> 0, end + 5);
    return end + REVISION_SUFFIX;
  },
  readKey(source, start, end) {
    const revision = (~source.readUInt32BE(end - 8) >>> 0) * TWO_32 + (~source.readUInt32BE(end - 4) >>> 0);
    return { name: source.toString('latin1', start, end - REVISION_SUFFIX), revision };
  },
};

export const positionKeys: KeyCodec<Position> = {
  writeKey({ revision, index }, target, start) {
    writeNumber(target, revision, start);
    target.writeUInt16BE(index, start + 8);
    return start + 10;
  },
  readKey: (source, start) => ({ revision: readNumber(source, start), index: source.readUInt16BE(start + 8) }),
};

export const expiryKeys: KeyCodec<ExpiryKey> = {
  writeKey({ expires, revision, index }, target, start) {
    writeNumber(target, expires, start);
    writeNumber(target, revision, start + 8);
    target.writeUInt16BE(index, start + 16);
    return start + 18;
  },
  readKey: (source, start) => ({
    expires: readNumber(source, start),
    revision: readNumber(source, start + 8),
    index: source.readUInt16BE(start + 16),
  }),
};

export const textKeys: KeyCodec<string> = {
  writeKey: (key, target, start) => start + target.write(key, start, 'latin1'),
  readKey: (source, start, end) => source.toString('latin1', start, end),
};

const encode = (value: Buffer): Buffer => value;

export const textValues: ValueCodec<string> = {
  encode,
  decode: (bytes) => asBuffer(bytes).toString('latin1', 0, bytes.length),
};

/** Rows without decoding. */
export const rawValues: ValueCodec<Buffer> = { encode, decode: (bytes) => copy(asBuffer(bytes), bytes.length) };

export const versionValues: ValueCodec<VersionRow> = {
  encode,
  decode(bytes) {
    const source = asBuffer(bytes);
    const whole = bytes.length === VERSION_LENGTH;
    return {
      deleted: ((source[0] as number) & DELETED) !== 0,
      index: whole ? source.readUInt16BE(1) : 0,
      created: whole ? readNumber(source, 3) : 0,
      expires: whole ? readNumber(source, 11) : 0,
      // A row of another length cannot have a valid check.
      check: whole ? source.readUInt32BE(19) : -1,
    };
  },
};

/** Whole records. */
export const records: ValueCodec<StoredRecord | DamagedRecord> = {
  encode,
  decode(bytes) {
    const source = asBuffer(bytes);
    const damage = damageOf(source, bytes.length);
    if (damage !== undefined) return damage;
    return {
      deleted: ((source[1] as number) & DELETED) !== 0,
      key: keyOf(source),
      created: readNumber(source, 4),
      previous: { revision: readNumber(source, 12), index: source.readUInt16BE(20) },
      time: readNumber(source, 22),
      revision: readNumber(source, 30),
      index: source.readUInt16BE(38),
      added: ((source[1] as number) & ADDED) !== 0,
      dropped: ((source[1] as number) & DROPPED) !== 0,
      note: copyNote(source),
      value: copyValue(source, bytes.length),
    };
  },
};

/** Records without their values, for readers that only need what changed. */
export const recordFacts: ValueCodec<StoredFacts | DamagedRecord> = {
  encode,
  decode(bytes) {
    const source = asBuffer(bytes);
    const damage = damageOf(source, bytes.length);
    if (damage !== undefined) return damage;
    return {
      deleted: ((source[1] as number) & DELETED) !== 0,
      key: keyOf(source),
      created: readNumber(source, 4),
      previous: { revision: readNumber(source, 12), index: source.readUInt16BE(20) },
      time: readNumber(source, 22),
      revision: readNumber(source, 30),
      index: source.readUInt16BE(38),
      added: ((source[1] as number) & ADDED) !== 0,
      bytes: bytes.length,
    };
  },
};

/** Lengths of records. */
export const recordSizes: ValueCodec<number> = { encode, decode: (bytes) => bytes.length };

/** Values of records, for readers that have the rest. */
export const recordValues: ValueCodec<StoredValue | DamagedRecord> = {
  encode,
  decode(bytes) {
    const source = asBuffer(bytes);
    const damage = damageOf(source, bytes.length);
    if (damage !== undefined) return damage;
    return { revision: readNumber(source, 30), index: source.readUInt16BE(38), value: copyValue(source, bytes.length) };
  },
};

/** The problem with the bytes of a record. */
function damageOf(source: Buffer, length: number): DamagedRecord | undefined {
  if (length < RECORD_HEADER_WITHOUT_NOTE + CHECKSUM) return { damage: 'it is cut short' };
  if (crc32(viewOf(source, length)) !== WHOLE) return { damage: 'its checksum is wrong' };
  if (source[0] === RECORD_FORMAT || source[0] === RECORD_FORMAT_WITHOUT_NOTE) return undefined;
  return { damage: `its record has the format ${source[0]}, which this release does not know` };
}

/** The same for bytes that are not those of the database. */
export function readRecord(bytes: Buffer): StoredRecord | DamagedRecord {
  return records.decode(bytes);
}

export function encodeVersion(name: string, version: Version): Buffer {
  const { deleted, index, created, expires } = version;
  const bytes = Buffer.allocUnsafe(VERSION_LENGTH);
  bytes[0] = deleted ? DELETED : 0;
  bytes.writeUInt16BE(index, 1);
  writeNumber(bytes, created, 3);
  writeNumber(bytes, expires, 11);
  bytes.writeUInt32BE(checkOf(name, version, version.revision), 19);
  return bytes;
}

export const isSound = ({ name, revision }: VersionKey, row: VersionRow): boolean => checkOf(name, row, revision) === row.check;

const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a of a row of the index and its key. */
function checkOf(name: string, facts: VersionFacts, revision: number): number {
  let sum = FNV_START;
  for (let at = 0; at < name.length; at++) sum = Math.imul(sum ^ name.charCodeAt(at), FNV_PRIME);
  sum = mixNumber(sum, revision);
  sum = mix(sum, facts.index * 2 + (facts.deleted ? 1 : 0));
  sum = mixNumber(sum, facts.created);
  return mixNumber(sum, facts.expires) >>> 0;
}
const mixNumber = (sum: number, value: number): number => mix(mix(sum, Math.floor(value / TWO_32)), value >>> 0);
/** Four bytes, one after another. */
function mix(sum: number, word: number): number {
  let mixed = Math.imul(sum ^ (word & 0xff), FNV_PRIME);
  mixed = Math.imul(mixed ^ ((word >>> 8) & 0xff), FNV_PRIME);
  mixed = Math.imul(mixed ^ ((word >>> 16) & 0xff), FNV_PRIME);
  return Math.imul(mixed ^ (word >>> 24), FNV_PRIME);
}

/** Records are dropped together when they are in the tables. */
const recordSlab = new Slab(64 * 1024);

export function encodeRecord(facts: RecordFacts & Position & Partial<NoteFacts>, value?: Buffer): Buffer {
  const { deleted, key, created, previous, time, revision, index, note, dropped, added } = facts;
  const noteStart = RECORD_HEADER + key.length;
  const start = noteStart + (note?.length ?? 0);
  const end = start + (value?.length ?? 0);
  const bytes = recordSlab.take(end + CHECKSUM);
  bytes[0] = RECORD_FORMAT;
  bytes[1] = (deleted ? DELETED : 0) | (dropped ? DROPPED : 0) | (added ? ADDED : 0);
  bytes.writeUInt16BE(key.length, 2);
  writeNumber(bytes, created, 4);
  writeNumber(bytes, previous.revision, 12);
  bytes.writeUInt16BE(previous.index, 20);
  writeNumber(bytes, time, 22);
  writeNumber(bytes, revision, 30);
  bytes.writeUInt16BE(index, 38);
  writeWord(bytes, start - noteStart, 40);
  bytes.write(key, RECORD_HEADER, 'latin1');
  if (note !== undefined) bytes.set(note, noteStart);
  if (value !== undefined) bytes.set(value, start);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, end)), end);
  return bytes;
}

const hasNoteLength = (record: Buffer): boolean => record[0] !== RECORD_FORMAT_WITHOUT_NOTE;
const keyStart = (record: Buffer): number => (hasNoteLength(record) ? RECORD_HEADER : RECORD_HEADER_WITHOUT_NOTE);
const keyEnd = (record: Buffer): number => keyStart(record) + record.readUInt16BE(2);
const noteLength = (record: Buffer): number => (hasNoteLength(record) ? record.readUInt32BE(40) : 0);
const keyOf = (record: Buffer): string => record.toString('latin1', keyStart(record), keyEnd(record));
/** The database may return plain bytes for very large values. */
function asBuffer(bytes: Buffer | Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Values are sliced from slabs, since a buffer of its own for each makes loading a store half as fast. A value
 * that is kept for long keeps its slab, so that these are small.
 */
const SLAB = 65_536;
let slab = Buffer.allocUnsafeSlow(SLAB);
let slabUsed = 0;

/** Size of the next slab; `slabUsed` is the offset in it. */
function makeRoom(length: number): void {
  if (slabUsed + length <= SLAB) return;
  slab = Buffer.allocUnsafeSlow(SLAB);
  slabUsed = 0;
}

function copy(source: Buffer, length: number): Buffer {
  if (length > SLAB / 4) return Buffer.from(viewOf(source, length));
  makeRoom(length);
  const start = slabUsed;
  slab.set(viewOf(source, length), start);
  slabUsed += length;
  return slab.subarray(start, slabUsed);
}

/** A copy of the value of a record. A small record is copied as a whole, since a view of its value alone costs more. */
function copyValue(source: Buffer, length: number): Buffer {
  const start = keyEnd(source) + noteLength(source);
  if (length > SLAB / 4) return Buffer.from(viewOf(source, length).subarray(start, length - CHECKSUM));
  makeRoom(length);
  const at = slabUsed;
  slab.set(viewOf(source, length), at);
  slabUsed += length;
  return slab.subarray(at + start, slabUsed - CHECKSUM);
}

function copyNote(source: Buffer): Buffer | undefined {
  const length = noteLength(source);
  if (length === 0) return undefined;
  return Buffer.from(new Uint8Array(source.buffer, source.byteOffset + keyEnd(source), length));
}

/** Cached views of the library's buffer: one of each length, until another replaces it. */
const MOST_VIEWS = 4_096;
let viewed: Buffer | undefined;
let views: (Uint8Array | undefined)[] = [];

/**
 * The first bytes. The library reads into one buffer repeatedly, which is longer than its `length`: a
 * view of the whole buffer would include bytes of earlier reads.
 */
function viewOf(source: Buffer, length: number): Uint8Array {
  if (source.byteLength === length) return source;
  if (source !== viewed) {
    viewed = source;
    views = new Array(MOST_VIEWS);
  }
  const cachedView = views[length % MOST_VIEWS];
  if (cachedView !== undefined && cachedView.length === length) return cachedView;
  const view = new Uint8Array(source.buffer, source.byteOffset, length);
  views[length % MOST_VIEWS] = view;
  return view;
}

export function writeNumber(target: Buffer, value: number, at: number): void {
  writeWord(target, Math.floor(value / TWO_32), at);
  writeWord(target, value >>> 0, at + 4);
}

/** Four bytes. Byte by byte, since the methods of buffers check their arguments each time. */
function writeWord(target: Buffer, word: number, at: number): void {
  target[at] = word >>> 24;
  target[at + 1] = word >>> 16;
  target[at + 2] = word >>> 8;
  target[at + 3] = word;
}

export function readNumber(source: Buffer, at: number): number {
  return source.readUInt32BE(at) * TWO_32 + source.readUInt32BE(at + 4);
}

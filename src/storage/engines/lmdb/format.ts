/**
 * Bytes of the store file. docs/storage.md draws them; a change here needs a new FORMAT and a way to read the old one.
 *
 *   versions   key 00 ~revision(8)          → flags(1) index(2) created(8) expires(8)
 *   records    revision(8) index(2)         → format(1) flags(1) key length(2) created(8) previous revision(8)
 *                                             previous index(2) time(8) key value
 *   expiries   expires(8) revision(8) index(2) → key
 *   meta       name → decimal text
 *
 * Numbers are big-endian so that bytes are in the order of the numbers; `~` inverts the bits, so that the newest version
 * of a key comes first. The index counts the changes within a commit.
 */

/** Format of the file as a whole. A file of a later one is not opened. */
export const FORMAT = 2;
/** Format of one record. */
export const RECORD_FORMAT = 1;

const DELETED = 1;
const TWO_32 = 2 ** 32;
/** A key of the index ends with a zero byte and the revision. */
const REVISION_SUFFIX = 9;
const RECORD_HEADER = 30;
const VERSION_LENGTH = 19;

/** Where a change stands in the log. */
export interface Position {
  readonly revision: number;
  readonly index: number;
}
export interface VersionKey {
  readonly name: string;
  readonly revision: number;
}
/** What the index says of a version, apart from its revision. */
export interface VersionFacts {
  readonly deleted: boolean;
  readonly index: number;
  readonly created: number;
  /** When the key is to be deleted, in milliseconds; 0: never. */
  readonly expires: number;
}
export type Version = VersionFacts & { readonly revision: number };

export interface RecordFacts {
  readonly deleted: boolean;
  readonly key: string;
  readonly created: number;
  /** Where the version stands that this one supersedes; revision 0: the key did not exist. */
  readonly previous: Position;
  /** When the commit was made, in milliseconds. */
  readonly time: number;
}
export type StoredRecord = RecordFacts & { readonly value: Buffer };

export interface ExpiryKey extends Position {
  readonly expires: number;
}

/** How a table turns its keys into bytes and back. */
export interface KeyCodec<Key> {
  writeKey(key: Key, target: Buffer, start: number): number;
  readKey(source: Buffer, start: number, end: number): Key;
}
/** How a table turns bytes into values. The bytes are overwritten by the next read, so that all must be copied. */
export interface ValueCodec<Value> {
  encode(value: Buffer): Buffer;
  decode(bytes: Buffer): Value;
}

/** Text stands for its own bytes (a bound of a range), a version key for one version. */
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

export const versionValues: ValueCodec<VersionFacts> = {
  encode,
  decode(bytes) {
    const source = asBuffer(bytes);
    return {
      deleted: ((source[0] as number) & DELETED) !== 0,
      index: source.readUInt16BE(1),
      created: readNumber(source, 3),
      expires: readNumber(source, 11),
    };
  },
};

/** Records without their values, for those who only ask what changed. */
export const recordFacts: ValueCodec<RecordFacts> = { encode, decode: (bytes) => readFacts(asBuffer(bytes)) };

export const records: ValueCodec<StoredRecord> = {
  encode,
  decode(bytes) {
    const source = asBuffer(bytes);
    const facts = readFacts(source);
    return { ...facts, value: copy(source, RECORD_HEADER + facts.key.length, bytes.length) };
  },
};

/** Values of records, for those who know the rest. */
export const recordValues: ValueCodec<Buffer> = {
  encode,
  decode(bytes) {
    const source = asBuffer(bytes);
    checkRecordFormat(source);
    return copy(source, RECORD_HEADER + source.readUInt16BE(2), bytes.length);
  },
};

export function encodeVersion({ deleted, index, created, expires }: VersionFacts): Buffer {
  const bytes = Buffer.allocUnsafe(VERSION_LENGTH);
  bytes[0] = deleted ? DELETED : 0;
  bytes.writeUInt16BE(index, 1);
  writeNumber(bytes, created, 3);
  writeNumber(bytes, expires, 11);
  return bytes;
}

export function encodeRecord({ deleted, key, created, previous, time }: RecordFacts, value: Buffer | undefined): Buffer {
  const start = RECORD_HEADER + key.length;
  const bytes = Buffer.allocUnsafe(start + (value?.length ?? 0));
  bytes[0] = RECORD_FORMAT;
  bytes[1] = deleted ? DELETED : 0;
  bytes.writeUInt16BE(key.length, 2);
  writeNumber(bytes, created, 4);
  writeNumber(bytes, previous.revision, 12);
  bytes.writeUInt16BE(previous.index, 20);
  writeNumber(bytes, time, 22);
  bytes.write(key, RECORD_HEADER, 'latin1');
  if (value !== undefined) bytes.set(value, start);
  return bytes;
}

function readFacts(source: Buffer): RecordFacts {
  checkRecordFormat(source);
  return {
    deleted: ((source[1] as number) & DELETED) !== 0,
    key: source.toString('latin1', RECORD_HEADER, RECORD_HEADER + source.readUInt16BE(2)),
    created: readNumber(source, 4),
    previous: { revision: readNumber(source, 12), index: source.readUInt16BE(20) },
    time: readNumber(source, 22),
  };
}

function checkRecordFormat(source: Buffer): void {
  if (source[0] !== RECORD_FORMAT) {
    throw new Error(
      `a record of the store has the format ${source[0]}, of which this version knows nothing; use the version that wrote it`,
    );
  }
}

/** The database may hand out plain bytes for very large values. */
function asBuffer(bytes: Buffer | Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Values that are read are cut from slabs, since a buffer of its own for each makes loading a store half as fast. A value
 * that is kept for long keeps its slab, so that these are small.
 */
const SLAB = 65_536;
let slab = Buffer.allocUnsafeSlow(SLAB);
let slabUsed = 0;

function allocate(length: number): Buffer {
  if (length > SLAB / 4) return Buffer.allocUnsafeSlow(length);
  if (slabUsed + length > SLAB) {
    slab = Buffer.allocUnsafeSlow(SLAB);
    slabUsed = 0;
  }
  const start = slabUsed;
  slabUsed += length;
  return slab.subarray(start, slabUsed);
}

function copy(source: Buffer, start: number, end: number): Buffer {
  const target = allocate(end - start);
  source.copy(target, 0, start, end);
  return target;
}

export function writeNumber(target: Buffer, value: number, at: number): void {
  target.writeUInt32BE(Math.floor(value / TWO_32), at);
  target.writeUInt32BE(value >>> 0, at + 4);
}

export function readNumber(source: Buffer, at: number): number {
  return source.readUInt32BE(at) * TWO_32 + source.readUInt32BE(at + 4);
}

/**
 * The supported parts of formats 1 and 2: records, versions and expiries without checksums.
 *
 *   records    format = 1 (1) flags(1) key length(2) created(8) previous revision(8) previous index(2) time(8) key value
 *   versions   flags(1) index(2) created(8) expires(8)
 */
import { type RecordFacts, readNumber, type VersionFacts } from '../format.ts';

const OLD_RECORD_FORMAT = 1;
const OLD_RECORD_HEADER = 30;
const OLD_VERSION_LENGTH = 19;
const DELETED = 1;

export const isOldRecord = (bytes: Buffer): boolean => bytes[0] === OLD_RECORD_FORMAT && bytes.length >= OLD_RECORD_HEADER;
export const isOldVersion = (bytes: Buffer): boolean => bytes.length === OLD_VERSION_LENGTH;

export function readOldRecord(bytes: Buffer): RecordFacts & { readonly value: Buffer } {
  const end = OLD_RECORD_HEADER + bytes.readUInt16BE(2);
  return {
    deleted: ((bytes[1] as number) & DELETED) !== 0,
    key: bytes.toString('latin1', OLD_RECORD_HEADER, end),
    created: readNumber(bytes, 4),
    previous: { revision: readNumber(bytes, 12), index: bytes.readUInt16BE(20) },
    time: readNumber(bytes, 22),
    value: bytes.subarray(end),
  };
}

export function readOldVersion(bytes: Buffer): VersionFacts {
  return {
    deleted: ((bytes[0] as number) & DELETED) !== 0,
    index: bytes.readUInt16BE(1),
    created: readNumber(bytes, 3),
    expires: readNumber(bytes, 11),
  };
}

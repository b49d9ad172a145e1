/**
 * The envelope around an object in binary form: four bytes that distinguish it from other protobuf, then a message of the
 * object's kind and apiVersion (field 1), its own bytes (2), and two texts (3, 4) that stay empty unless those bytes are
 * something else than protobuf.
 */

import { atOnce, type Work } from '@plat-dev/lib/slices';
import { DecodeError } from '../errors.ts';
import { type Infer, type MessageType, message, opt, string } from '../types.ts';
import { decodeProtobuf, encodeProtobuf } from './index.ts';
import { ByteReader, illegalTag } from './reader.ts';
import { varintSize, writeVarint } from './varint.ts';

/** Spells `k8s` and a zero byte. It is part of the format, not of an identity: clients of every identity expect it. */
const prefix = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

export interface Envelope {
  readonly kind: string;
  readonly apiVersion: string;
  /** The object's own bytes. Those of a decoded envelope share memory with it. */
  readonly raw: Buffer;
  readonly contentEncoding: string;
  /** Empty for protobuf. */
  readonly contentType: string;
}

const TypeMeta = message('runtime.TypeMeta', { apiVersion: opt(1, string), kind: opt(2, string) });
const Ending = message('runtime.Unknown', { contentEncoding: opt(3, string), contentType: opt(4, string) });

export function encodeEnvelope(
  envelope: Pick<Envelope, 'kind' | 'apiVersion' | 'raw'> & Partial<Pick<Envelope, 'contentEncoding' | 'contentType'>>,
): Buffer {
  const typeMeta = encodeProtobuf(TypeMeta, envelope);
  const ending = encodeProtobuf(Ending, envelope);
  return Buffer.concat([
    prefix,
    lengthPrefix(0x0a, typeMeta.length),
    typeMeta,
    lengthPrefix(0x12, envelope.raw.length),
    envelope.raw,
    ending,
  ]);
}
/** The envelope of an object that is written in pieces: the bytes before and after its own. */
export function aroundRaw(kind: string, apiVersion: string, length: number): { before: Buffer; after: Buffer } {
  const typeMeta = encodeProtobuf(TypeMeta, { kind, apiVersion });
  const before = Buffer.concat([prefix, lengthPrefix(0x0a, typeMeta.length), typeMeta, lengthPrefix(0x12, length)]);
  return { before, after: encodeProtobuf(Ending, {}) };
}
/** A tag of one byte and a length. */
export function lengthPrefix(tag: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(1 + varintSize(length));
  bytes[0] = tag;
  writeVarint(bytes, 1, length);
  return bytes;
}

/** Whether bytes begin with the prefix of an envelope. */
export function isEnvelope(bytes: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

/** Opens an envelope. Throws DecodeError. */
export function decodeEnvelope(bytes: Buffer): Envelope {
  return atOnce(decodedEnvelope(bytes));
}
/** The same for bytes that may be many: each part may be repeated any number of times. */
export function* decodedEnvelope(bytes: Buffer): Work<Envelope> {
  if (bytes.length === 0) throw new DecodeError('empty data');
  if (!isEnvelope(bytes)) {
    throw new DecodeError(`provided data does not appear to be a protobuf message, expected prefix [${[...prefix].join(' ')}]`);
  }
  const reader = new ByteReader(bytes.subarray(prefix.length));
  let typeMeta: Buffer = Buffer.alloc(0);
  let raw: Buffer = typeMeta;
  let contentEncoding = '';
  let contentType = '';
  for (let parts = 1; reader.at < reader.end; parts++) {
    const key = reader.varint();
    if (key >>> 3 === 0 || reader.high !== 0) throw illegalTag(key);
    if (reader.groups > 0) reader.skip(key & 7);
    else if (key === 0x0a) typeMeta = reader.slice();
    else if (key === 0x12) raw = reader.slice();
    else if (key === 0x1a) contentEncoding = reader.text();
    else if (key === 0x22) contentType = reader.text();
    else reader.skip(key & 7);
    if (parts % PARTS_A_STEP === 0) yield;
  }
  const { kind = '', apiVersion = '' } = decodeProtobuf(TypeMeta, typeMeta);
  return { kind, apiVersion, raw, contentEncoding, contentType };
}
/** Parts of an envelope after which its reader yields. */
const PARTS_A_STEP = 1024;

/** An object in its envelope, which takes kind and apiVersion from it. */
export function encodeObject(type: MessageType, object: { readonly kind?: string; readonly apiVersion?: string }): Buffer {
  return encodeEnvelope({ kind: object.kind ?? '', apiVersion: object.apiVersion ?? '', raw: encodeProtobuf(type, object) });
}

/** The object in an opened envelope, with its kind and apiVersion. Throws DecodeError. */
export function decodeObject<T extends MessageType>(type: T, envelope: Envelope): Infer<T> {
  const content: object = decodeProtobuf(type as MessageType, envelope.raw);
  const { kind, apiVersion } = envelope;
  const named: unknown = type.object
    ? { ...(kind === '' ? {} : { kind }), ...(apiVersion === '' ? {} : { apiVersion }), ...content }
    : content;
  return named as Infer<T>;
}

/**
 * Protobuf by hand, for tests that speak the binary form. It shares nothing with the codec of the server, so that bytes
 * that both agree on prove something.
 */

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
/** A field that holds a number. */
export const number = (tag: number, value: number | bigint): Buffer => Buffer.concat([varint(tag * 8), varint(value)]);
/** A field that holds bytes: a text, a message. */
export const block = (tag: number, ...parts: readonly (Buffer | string)[]): Buffer => {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  return Buffer.concat([varint(tag * 8 + 2), varint(content.length), content]);
};

export interface WireEnvelope {
  readonly kind: string;
  readonly apiVersion: string;
  readonly raw: Buffer;
  readonly contentEncoding?: string;
  readonly contentType?: string;
}

const PREFIX = Buffer.from('6b387300', 'hex');

/** An object as clients post it: its kind and version around its own bytes. */
export function envelope({ kind, apiVersion, raw, contentEncoding = '', contentType = '' }: WireEnvelope): Buffer {
  const type = block(1, block(1, apiVersion), block(2, kind));
  return Buffer.concat([PREFIX, type, block(2, raw), block(3, contentEncoding), block(4, contentType)]);
}

export function openEnvelope(bytes: Buffer): WireEnvelope {
  if (!bytes.subarray(0, 4).equals(PREFIX)) throw new Error(`no envelope: ${bytes.subarray(0, 80).toString('latin1')}`);
  const fields = new Map(fieldsOf(bytes.subarray(4)).map(({ tag, value }) => [tag, value as Buffer]));
  const type = new Map(fieldsOf(fields.get(1) ?? Buffer.alloc(0)).map(({ tag, value }) => [tag, String(value)]));
  return {
    apiVersion: type.get(1) ?? '',
    kind: type.get(2) ?? '',
    raw: fields.get(2) ?? Buffer.alloc(0),
    contentEncoding: String(fields.get(3) ?? ''),
    contentType: String(fields.get(4) ?? ''),
  };
}

/** One field as it stands on the wire: a number, eight bytes, or a block. */
export interface WireField {
  readonly tag: number;
  readonly value: bigint | Buffer;
}

/** The fields of a message in their order. Throws for bytes that are none. */
export function fieldsOf(bytes: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const number = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('the message ends within a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('the message ends within a field');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(number());
    const wire = key & 7;
    if (wire === 0) fields.push({ tag: key >> 3, value: number() });
    else if (wire === 1) fields.push({ tag: key >> 3, value: take(8) });
    else if (wire === 2) fields.push({ tag: key >> 3, value: take(Number(number())) });
    else throw new Error(`wire type ${wire} of field ${key >> 3}`);
  }
  return fields;
}

export interface WireDeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: string;
  readonly dryRun?: readonly string[];
}

/** DeleteOptions, which clients send under the version of whatever group they talk to. */
export function deleteOptionsBytes(apiVersion: string, options: WireDeleteOptions): Buffer {
  const { gracePeriodSeconds, preconditions, propagationPolicy, dryRun = [] } = options;
  const raw = Buffer.concat([
    ...(gracePeriodSeconds === undefined ? [] : [number(1, gracePeriodSeconds)]),
    ...(preconditions === undefined
      ? []
      : [
          block(
            2,
            ...(preconditions.uid === undefined ? [] : [block(1, preconditions.uid)]),
            ...(preconditions.resourceVersion === undefined ? [] : [block(2, preconditions.resourceVersion)]),
          ),
        ]),
    ...(propagationPolicy === undefined ? [] : [block(4, propagationPolicy)]),
    ...dryRun.map((value) => block(5, value)),
  ]);
  return envelope({ kind: 'DeleteOptions', apiVersion, raw });
}

/** Spans in the protobuf form of OpenTelemetry (`ExportTraceServiceRequest` of OTLP). */
import { varintSize, writeVarint } from '@plat-dev/schema/protobuf/varint';

export interface SpanLink {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
}
/** One request that was served, or a step of it. */
export interface Span {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  /** The span that it is a step of. */
  readonly parent?: Buffer;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly failed: boolean;
  /** The span of the client that made the request, where it named one. */
  readonly link?: SpanLink | undefined;
}

const INTERNAL = 1;
const SERVER = 2;
const ERROR = 2;

function varint(value: number): Buffer {
  const bytes = Buffer.alloc(varintSize(value));
  writeVarint(bytes, 0, value);
  return bytes;
}
const number = (field: number, value: number): Buffer => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field: number, value: Buffer): Buffer => Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value));
const nested = (field: number, ...parts: readonly Buffer[]): Buffer => bytes(field, Buffer.concat(parts));
function nanoseconds(field: number, millis: number): Buffer {
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(BigInt(Math.round(millis * 1000)) * 1000n);
  return Buffer.concat([varint(field * 8 + 1), value]);
}

const attribute = (field: number, [key, value]: readonly [string, string | number]): Buffer =>
  nested(field, text(1, key), nested(2, typeof value === 'number' ? number(3, value) : text(1, value)));
const attributes = (field: number, all: Readonly<Record<string, string | number>>): Buffer[] =>
  Object.entries(all).map((one) => attribute(field, one));

function encodeSpan(span: Span): Buffer {
  return nested(
    2,
    bytes(1, span.traceId),
    bytes(2, span.spanId),
    ...(span.parent === undefined ? [] : [bytes(4, span.parent)]),
    text(5, span.name),
    number(6, span.parent === undefined ? SERVER : INTERNAL),
    nanoseconds(7, span.start),
    nanoseconds(8, span.end),
    ...attributes(9, span.attributes),
    ...(span.link === undefined ? [] : [nested(13, bytes(1, span.link.traceId), bytes(2, span.link.spanId))]),
    ...(span.failed ? [nested(15, number(3, ERROR))] : []),
  );
}

/** `resource`: attributes of the server; `scope`: name of the instrumentation scope. */
export function encodeSpans(spans: readonly Span[], resource: Readonly<Record<string, string>>, scope: string): Buffer {
  return nested(1, nested(1, ...attributes(1, resource)), nested(2, nested(1, text(1, scope)), ...spans.map(encodeSpan)));
}

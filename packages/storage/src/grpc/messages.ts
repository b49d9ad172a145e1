/**
 * Messages on a stream of gRPC: each has a header of five bytes, a flag for compression and the length, big-endian.
 *
 *   00 00000003 616263        the message `abc`
 */
import { GrpcError } from './status.ts';

const HEADER_BYTES = 5;
const COMPRESSED = 1;

const header = Buffer.alloc(HEADER_BYTES);

/** The header of a message; it is overwritten by the next call. Throws GrpcError `request-too-large`. */
export function headerOf({ length }: Buffer, mostBytes: number): Buffer {
  if (length > mostBytes)
    throw new GrpcError('request-too-large', 'RESOURCE_EXHAUSTED', `the request of ${length} bytes is larger than ${mostBytes}`);
  header.writeUInt32BE(length, 1);
  return header;
}

/** Throws GrpcError `request-too-large`. */
export function withHeader(message: Buffer, mostBytes: number): Buffer {
  return Buffer.concat([headerOf(message, mostBytes), message]);
}

/** Joins the chunks of a stream to messages. What it holds is bounded by the largest message. */
export class MessageReader {
  readonly #mostBytes: number;
  readonly #take: (message: Buffer) => void;
  /** Chunks of an incomplete message, its header included. */
  #chunks: Buffer[] = [];
  #byteCount = 0;
  /** Bytes that the message in progress needs, its header included; 0 before its header is complete. */
  #needed = 0;

  /** A message may be a part of a chunk that was given. */
  constructor(mostBytes: number, take: (message: Buffer) => void) {
    this.#mostBytes = mostBytes;
    this.#take = take;
  }

  /** Whether the stream ends in the middle of a message. */
  get incomplete(): boolean {
    return this.#byteCount > 0;
  }

  /** Throws GrpcError `answer-too-large`, or `invalid` for compressed messages and what is no message. */
  push(chunk: Buffer): void {
    let rest = chunk;
    if (this.#byteCount > 0) {
      this.#chunks.push(chunk);
      this.#byteCount += chunk.length;
      if (this.#byteCount < (this.#needed || HEADER_BYTES)) return;
      rest = this.#joined();
    }
    while (rest.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#lengthOf(rest);
      if (rest.length < end) {
        this.#hold(rest, end);
        return;
      }
      this.#take(rest.subarray(HEADER_BYTES, end));
      rest = rest.subarray(end);
    }
    if (rest.length > 0) this.#hold(rest, 0);
  }

  #hold(chunk: Buffer, neededBytes: number): void {
    this.#chunks = [chunk];
    this.#byteCount = chunk.length;
    this.#needed = neededBytes;
  }

  #joined(): Buffer {
    const joined = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#byteCount);
    this.#chunks = [];
    this.#byteCount = 0;
    this.#needed = 0;
    return joined;
  }

  #lengthOf(bytes: Buffer): number {
    const flag = bytes[0] as number;
    if (flag === COMPRESSED)
      throw new GrpcError('invalid', 'INTERNAL', 'the server sent a compressed message; compression is not supported');
    if (flag !== 0) throw new GrpcError('invalid', 'INTERNAL', `the response is no message of gRPC: it begins with the byte ${flag}`);
    const length = bytes.readUInt32BE(1);
    if (length > this.#mostBytes)
      throw new GrpcError('answer-too-large', 'RESOURCE_EXHAUSTED', `the response of ${length} bytes is larger than ${this.#mostBytes}`);
    return length;
  }
}

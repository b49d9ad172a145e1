/**
 * Reads a chunked body (RFC 9112, 7.1) from the bytes of a connection, wherever they are split.
 *
 *   5;name=value CRLF hello CRLF 0 CRLF Trailer: x CRLF CRLF
 *
 * Extensions and trailers are checked and dropped.
 */
import { BadRequest, readFields } from './head.ts';

/** Maximum bytes of the extensions of one body, and of its trailers. */
export const EXTENSION_BYTES = 16 * 1024;
export const TRAILER_BYTES = 16 * 1024;
/** Hexadecimal digits of a size that can be counted exactly. */
const SIZE_DIGITS = 13;

/** Names, each with a token or a quoted text. */
const name = "[\\w!#$%&'*+.^`|~-]+";
const extension = `${name}(?:=(?:${name}|"(?:[\\t !#-[\\]-~]|\\\\[\\t -~])*"))?`;
const extensions = new RegExp(`^${extension}(?:;${extension})*$`);

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;

type State = 'size' | 'extension' | 'size-end' | 'data' | 'data-return' | 'data-end' | 'trailer' | 'done';

export class ChunkedReader {
  private state: State = 'size';
  private digits = 0;
  /** Remaining bytes of the chunk. */
  private remaining = 0;
  /** Of the chunk, behind the first semicolon. */
  private extension = '';
  private extensionBytes = 0;
  private trailer = '';

  get done(): boolean {
    return this.state === 'done';
  }

  /** Passes the data on; returns where the bytes of the body end, which is the end of all unless it is done. Throws BadRequest. */
  read(bytes: Buffer, from: number, data: (piece: Buffer) => void): number {
    const to = bytes.length;
    let at = from;
    while (at < to && this.state !== 'done') {
      if (this.state === 'data') {
        const end = Math.min(to, at + this.remaining);
        data(bytes.subarray(at, end));
        this.remaining -= end - at;
        at = end;
        if (this.remaining === 0) this.state = 'data-return';
      } else if (this.state === 'trailer') at = this.readTrailer(bytes, at, to);
      else this.take(bytes[at++] as number);
    }
    return at;
  }

  private take(byte: number): void {
    switch (this.state) {
      case 'size':
        this.takeSize(byte);
        return;
      case 'extension':
        if (byte !== CR) {
          this.extension += String.fromCharCode(byte);
          if (byte === LF || ++this.extensionBytes > EXTENSION_BYTES) throw new BadRequest('invalid chunk extension');
          return;
        }
        if (!extensions.test(this.extension)) throw new BadRequest('invalid chunk extension');
        this.extension = '';
        this.state = 'size-end';
        return;
      case 'size-end':
        if (byte !== LF) throw new BadRequest('invalid end of a chunk size');
        this.state = this.remaining === 0 ? 'trailer' : 'data';
        this.digits = 0;
        return;
      case 'data-return':
        if (byte !== CR) throw new BadRequest('a chunk is longer than its size');
        this.state = 'data-end';
        return;
      default:
        if (byte !== LF) throw new BadRequest('invalid end of a chunk');
        this.state = 'size';
    }
  }

  private takeSize(byte: number): void {
    const digit = digitOf(byte);
    if (digit >= 0) {
      if (++this.digits > SIZE_DIGITS) throw new BadRequest('a chunk size is too large');
      this.remaining = this.remaining * 16 + digit;
    } else if (this.digits === 0) throw new BadRequest('invalid chunk size');
    else if (byte === SEMICOLON) this.state = 'extension';
    else if (byte === CR) this.state = 'size-end';
    else throw new BadRequest('invalid chunk size');
  }

  private readTrailer(bytes: Buffer, from: number, to: number): number {
    // One byte more than the limit is enough to know.
    const most = Math.min(to, from + TRAILER_BYTES + 1 - this.trailer.length);
    const lengthBefore = this.trailer.length;
    const text = this.trailer + bytes.toString('latin1', from, most);
    const isEmpty = text.startsWith('\r\n');
    const end = isEmpty ? 0 : text.indexOf('\r\n\r\n', Math.max(0, lengthBefore - 3));
    if (end >= 0) {
      if (!isEmpty) checkTrailers(text.slice(0, end));
      this.state = 'done';
      return from + end + (isEmpty ? 2 : 4) - lengthBefore;
    }
    if (text.length > TRAILER_BYTES) throw new BadRequest('the trailers are too large');
    this.trailer = text;
    return to;
  }
}

/** Headers about the message or the connection come before the body only (RFC 9110, 6.5.1). */
const forbidden: readonly string[] = ['connection', 'content-length', 'host', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade'];

function checkTrailers(text: string): void {
  const { headers } = readFields(text);
  if (forbidden.some((one) => headers[one] !== undefined)) throw new BadRequest('invalid trailer');
}

/** The value of a hexadecimal digit; -1 for other characters. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

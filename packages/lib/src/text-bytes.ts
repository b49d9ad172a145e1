/**
 * Bytes of UTF-8 text, in Node and in browsers: a Buffer is one, and `WebBytes` is where there are no Buffers.
 */
export interface TextBytes extends Uint8Array {
  toString(encoding?: 'utf8', start?: number, end?: number): string;
  includes(text: number | string | Uint8Array, start?: number): boolean;
}

/** Parts of it (`subarray`) are of the same class. */
export class WebBytes extends Uint8Array<ArrayBufferLike> implements TextBytes {
  override toString(_encoding?: 'utf8', start = 0, end = this.length): string {
    return decoder.decode(this.subarray(start, end));
  }
  override includes(text: number | string | Uint8Array, start = 0): boolean {
    if (typeof text === 'number') return super.includes(text, start);
    return this.toString('utf8', start).includes(typeof text === 'string' ? text : decoder.decode(text));
  }
}

/** The same bytes, not a copy. */
export function textBytes({ buffer, byteOffset, length }: Uint8Array): TextBytes {
  return typeof Buffer === 'function' ? Buffer.from(buffer, byteOffset, length) : new WebBytes(buffer, byteOffset, length);
}

/** One after the other. */
export function joined(parts: readonly Uint8Array[]): TextBytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return textBytes(whole);
}

/** As a Buffer has it, a mark at the beginning is a part of the text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

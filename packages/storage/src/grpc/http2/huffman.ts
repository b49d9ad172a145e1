/**
 * The Huffman code of header values in HTTP/2 (RFC 7541, appendix B). It is canonical, so that the lengths of the codes define it:
 * shorter codes come first, and codes of one length are counted up in the order of their symbols.
 *
 *   '0' 00000, '1' 00001, '2' 00010, 'a' 00011, …, ' ' 010100, '%' 010101, …
 */

/** By symbol: bytes 0 to 255, then the end of the string. */
const LENGTHS = [
  [13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28],
  [28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  [6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  [5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  [13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  [7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  [15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  [6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  [20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23],
  [24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  [22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23],
  [21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  [26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25],
  [19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  [20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23],
  [26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
].flat();
const END_LENGTH = 30;
const LONGEST = 30;
/** Bits after the last symbol: fewer than a byte, all of them 1. */
const MOST_PADDING = 7;

interface Code {
  /** By length: the first code, and where its symbol stands in `symbols`; a length without codes has none. */
  readonly first: readonly number[];
  readonly start: readonly number[];
  readonly count: readonly number[];
  readonly symbols: readonly number[];
}

const CODE: Code = canonical();

function canonical(): Code {
  const symbols: number[] = [];
  const first: number[] = [0];
  const start: number[] = [0];
  const count: number[] = [0];
  let next = 0;
  for (let length = 1; length <= LONGEST; length++) {
    next *= 2;
    first.push(next);
    start.push(symbols.length);
    for (const [symbol, its] of LENGTHS.entries()) if (its === length) symbols.push(symbol);
    count.push(symbols.length - (start[length] as number));
    next += count[length] as number;
  }
  return { first, start, count, symbols };
}

/** Throws RangeError for bits that are no text in this code. */
export function decodeHuffman(bytes: Buffer, from: number, to: number): string {
  const text = Buffer.allocUnsafe(Math.ceil(((to - from) * 8) / 5));
  let length = 0;
  let code = 0;
  let bits = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      bits++;
      const offset = code - (CODE.first[bits] as number);
      if (offset < (CODE.count[bits] as number)) {
        text[length++] = CODE.symbols[(CODE.start[bits] as number) + offset] as number;
        code = 0;
        bits = 0;
      } else if (bits === END_LENGTH) throw new RangeError('a header contains the end of its Huffman code');
    }
  }
  if (bits > MOST_PADDING || code !== 2 ** bits - 1) throw new RangeError('a header ends within a symbol of its Huffman code');
  return text.toString('latin1', 0, length);
}

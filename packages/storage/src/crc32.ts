/**
 * CRC-32 (the one of zip and Ethernet). It finds every error of one bit and every burst of up to 32, others all but once in
 * four thousand million; it is no protection against forgery.
 */
import * as zlib from 'node:zlib';

type Crc32 = (data: Uint8Array, start?: number) => number;

const POLYNOMIAL = 0xedb88320;
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
  return rest;
});

/** For releases of Node.js before 20.15, which have none of their own. */
export const crc32InScript: Crc32 = (data, start = 0) => {
  let rest = ~start;
  for (let at = 0; at < data.length; at++) rest = (rest >>> 8) ^ (table[(rest ^ (data[at] as number)) & 0xff] as number);
  return ~rest >>> 0;
};

const native = (zlib as { readonly crc32?: Crc32 }).crc32;

/** `start` is the sum of the bytes before. */
export const crc32: Crc32 = native ?? crc32InScript;

/** The sum of bytes that end with their own sum, the lowest byte first: the same for all. */
export const WHOLE = 0x2144df1c;

/**
 * The bit, counted from the first byte's lowest, whose flip explains the sum `actual` instead of `expected`;
 * undefined if no single one does.
 */
export function flippedBit(length: number, expected: number, actual: number): number | undefined {
  const difference = (expected ^ actual) >>> 0;
  if (difference === 0) return undefined;
  // What a flipped bit of the last byte does to the sum; one byte earlier is one step through the table further.
  const effects = Uint32Array.from({ length: 8 }, (_, bit) => table[1 << bit] as number);
  for (let byte = length - 1; byte >= 0; byte--) {
    for (let bit = 0; bit < 8; bit++) {
      const effect = effects[bit] as number;
      if (effect === difference) return byte * 8 + bit;
      effects[bit] = ((effect >>> 8) ^ (table[effect & 0xff] as number)) >>> 0;
    }
  }
  return undefined;
}

/** Whole numbers in protobuf: seven bits a byte, the lowest first; every byte but the last has its high bit set. */

/** Bytes that a number from 0 to 2^53 takes. */
export function varintSize(value: number): number {
  if (value < 0x10000000) return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : 4;
  let size = 5;
  for (let rest = Math.floor(value / 0x800000000); rest > 0; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

/** Writes a number from 0 to 2^53 at an offset that has room for it. Returns the offset after it. */
export function writeVarint(target: Uint8Array, place: number, value: number): number {
  let at = place;
  let large = value;
  for (; large > 0xffffffff; large = Math.floor(large / 0x80)) target[at++] = (large % 0x80) | 0x80;
  let rest = large >>> 0;
  for (; rest > 0x7f; rest >>>= 7) target[at++] = (rest & 0x7f) | 0x80;
  target[at++] = rest;
  return at;
}

/** Bytes of a number of 64 bits; a negative one takes ten. */
export function bigVarintBytes(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return bytes;
}

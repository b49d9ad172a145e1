/**
 * Poly1305, the one-time authenticator of RFC 8439, for `secretbox.ts`. Node has it only within ChaCha20-Poly1305, where
 * the key cannot be chosen.
 *
 * Numbers modulo 2^130 - 5 are six limbs of 22 bits: products of limbs and their sums stay below 2^53, so that plain
 * numbers hold them exactly. No branch and no index depends on the key or the message, but for its length.
 */
const LIMB = 0x3fffff;
const RADIX = 0x400000;
/** 2^-22, exactly: a product is quicker than a quotient. */
const INVERSE = 1 / RADIX;
const BLOCK = 16;

const word = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)) >>> 0;

/** Work areas, the same for every call: a call ends before another begins. */
const last = new Uint8Array(BLOCK);
const h = new Float64Array(6);
const g = new Float64Array(6);

/** Writes the 16 bytes that authenticate `data` from `from` up to `to` under a key of 32 bytes that is used once. */
export function poly1305(key: Uint8Array, data: Uint8Array, from: number, to: number, out: Uint8Array, outAt: number): void {
  const k0 = word(key, 0) & 0x0fffffff;
  const k1 = word(key, 4) & 0x0ffffffc;
  const k2 = word(key, 8) & 0x0ffffffc;
  const k3 = word(key, 12) & 0x0ffffffc;
  const r0 = k0 & LIMB;
  const r1 = ((k0 >>> 22) | (k1 << 10)) & LIMB;
  const r2 = ((k1 >>> 12) | (k2 << 20)) & LIMB;
  const r3 = (k2 >>> 2) & LIMB;
  const r4 = ((k2 >>> 24) | (k3 << 8)) & LIMB;
  const r5 = k3 >>> 14;
  // 2^132 is 4 × 2^130, which is 20.
  const s1 = 20 * r1;
  const s2 = 20 * r2;
  const s3 = 20 * r3;
  const s4 = 20 * r4;
  const s5 = 20 * r5;
  let h0 = 0;
  let h1 = 0;
  let h2 = 0;
  let h3 = 0;
  let h4 = 0;
  let h5 = 0;
  for (let at = from; at < to; at += BLOCK) {
    let block = data;
    let start = at;
    let end = 1 << 18;
    if (to - at < BLOCK) {
      // A short block ends with a one and zeros of its own.
      last.fill(0);
      for (let i = 0; i < to - at; i++) last[i] = data[at + i] as number;
      last[to - at] = 1;
      block = last;
      start = 0;
      end = 0;
    }
    const w0 = word(block, start);
    const w1 = word(block, start + 4);
    const w2 = word(block, start + 8);
    const w3 = word(block, start + 12);
    h0 += w0 & LIMB;
    h1 += ((w0 >>> 22) | (w1 << 10)) & LIMB;
    h2 += ((w1 >>> 12) | (w2 << 20)) & LIMB;
    h3 += (w2 >>> 2) & LIMB;
    h4 += ((w2 >>> 24) | (w3 << 8)) & LIMB;
    h5 += (w3 >>> 14) + end;

    const d0 = h0 * r0 + h1 * s5 + h2 * s4 + h3 * s3 + h4 * s2 + h5 * s1;
    let d1 = h0 * r1 + h1 * r0 + h2 * s5 + h3 * s4 + h4 * s3 + h5 * s2;
    let d2 = h0 * r2 + h1 * r1 + h2 * r0 + h3 * s5 + h4 * s4 + h5 * s3;
    let d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s5 + h5 * s4;
    let d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0 + h5 * s5;
    let d5 = h0 * r5 + h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1 + h5 * r0;
    let c = Math.floor(d0 * INVERSE);
    h0 = d0 - c * RADIX;
    d1 += c;
    c = Math.floor(d1 * INVERSE);
    h1 = d1 - c * RADIX;
    d2 += c;
    c = Math.floor(d2 * INVERSE);
    h2 = d2 - c * RADIX;
    d3 += c;
    c = Math.floor(d3 * INVERSE);
    h3 = d3 - c * RADIX;
    d4 += c;
    c = Math.floor(d4 * INVERSE);
    h4 = d4 - c * RADIX;
    d5 += c;
    c = Math.floor(d5 * INVERSE);
    h5 = d5 - c * RADIX;
    h0 += 20 * c;
    c = Math.floor(h0 * INVERSE);
    h0 -= c * RADIX;
    h1 += c;
  }
  h[0] = h0;
  h[1] = h1;
  h[2] = h2;
  h[3] = h3;
  h[4] = h4;
  h[5] = h5;
  reduce();
  finish(key, out, outAt);
}

/** The same, of a polynomial that was summed elsewhere: five limbs of 26 bits. The second may be one bit longer. */
export function poly1305Of(
  a0: number,
  a1: number,
  a2: number,
  a3: number,
  a4: number,
  key: Uint8Array,
  out: Uint8Array,
  outAt: number,
): void {
  h[0] = a0 & LIMB;
  h[1] = (a0 >>> 22) + (a1 & 0x3ffff) * 16;
  h[2] = (a1 >>> 18) + (a2 & 0x3fff) * 256;
  h[3] = (a2 >>> 14) + (a3 & 0x3ff) * 4096;
  h[4] = (a3 >>> 10) + (a4 & 0x3f) * 65536;
  h[5] = a4 >>> 6;
  reduce();
  finish(key, out, outAt);
}

/** Brings a number below 2^130, and then below 2^130 - 5. */
function reduce(): void {
  for (let round = 0; round < 3; round++) {
    carry(h);
    const top = Math.floor((h[5] as number) / 0x100000);
    h[5] = (h[5] as number) - top * 0x100000;
    h[0] = (h[0] as number) + 5 * top;
  }
  carry(h);
  g.set(h);
  g[0] = (g[0] as number) + 5;
  carry(g);
  // 1 where the number is 2^130 - 5 or more: then what is beyond 2^130 after five were added is the number sought.
  const over = Math.floor((g[5] as number) / 0x100000);
  g[5] = (g[5] as number) - over * 0x100000;
  for (let i = 0; i < 6; i++) h[i] = (h[i] as number) * (1 - over) + (g[i] as number) * over;
}
function carry(limbs: Float64Array): void {
  for (let i = 0; i < 5; i++) {
    const c = Math.floor((limbs[i] as number) / RADIX);
    limbs[i] = (limbs[i] as number) - c * RADIX;
    limbs[i + 1] = (limbs[i + 1] as number) + c;
  }
}

/** Adds the second half of the key modulo 2^128. */
function finish(key: Uint8Array, out: Uint8Array, outAt: number): void {
  const [h1, h2, h4] = [h[1] as number, h[2] as number, h[4] as number];
  let sum = (((h[0] as number) | (h1 << 22)) >>> 0) + word(key, 16);
  write(sum, out, outAt);
  sum = (((h1 >>> 10) | (h2 << 12)) >>> 0) + word(key, 20) + (sum > 0xffffffff ? 1 : 0);
  write(sum, out, outAt + 4);
  sum = (((h2 >>> 20) | ((h[3] as number) << 2) | (h4 << 24)) >>> 0) + word(key, 24) + (sum > 0xffffffff ? 1 : 0);
  write(sum, out, outAt + 8);
  sum = (((h4 >>> 8) | ((h[5] as number) << 14)) >>> 0) + word(key, 28) + (sum > 0xffffffff ? 1 : 0);
  write(sum, out, outAt + 12);
}
function write(sum: number, out: Uint8Array, at: number): void {
  const low = sum >>> 0;
  out[at] = low;
  out[at + 1] = low >>> 8;
  out[at + 2] = low >>> 16;
  out[at + 3] = low >>> 24;
}

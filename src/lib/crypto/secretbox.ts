/**
 * NaCl's secretbox: XSalsa20 for secrecy, Poly1305 for authenticity. Node's crypto has no Salsa20.
 *
 *   const box = new SecretBox(key);                  // 32 bytes
 *   const sealed = box.seal(message, nonce);         // nonce: 24 random bytes, never used twice; 16 bytes longer
 *   box.open(sealed, nonce) → message, or undefined if it was changed or the key is wrong
 */
import { timingSafeEqual } from 'node:crypto';
import { poly1305, poly1305Of } from './poly1305.ts';
import { LONGEST_MESSAGE, MESSAGE, type SecretBoxCode, STATE, STREAM, SUM, secretBoxCode } from './secretbox-code.ts';

export const SECRETBOX_KEY = 32;
export const SECRETBOX_NONCE = 24;
export const SECRETBOX_TAG = 16;
const BLOCK = 64;
/** Bytes of the first block that become the key of the authenticator. */
const AUTHENTICATOR_KEY = 32;

/** "expand 32-byte k" */
const [SIGMA0, SIGMA1, SIGMA2, SIGMA3] = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/** Work areas, the same for every call: a call ends before another begins. */
const input = new Uint32Array(16);
const block = new Uint32Array(16);
const first = new Uint32Array(16);
const authenticatorKey = new Uint8Array(AUTHENTICATOR_KEY);

export class SecretBox {
  readonly #key: Uint32Array;
  /** Made with the first message; null where assembled code cannot run. */
  #sealer: Sealer | null | undefined;

  constructor(key: Uint8Array) {
    if (key.length !== SECRETBOX_KEY) throw new RangeError(`a secretbox key has ${SECRETBOX_KEY} bytes, not ${key.length}`);
    this.#key = words(key, 0, 8);
  }

  seal(message: Uint8Array, nonce: Uint8Array): Buffer {
    const sealed = Buffer.allocUnsafe(SECRETBOX_TAG + message.length);
    this.sealInto(sealed, 0, message, nonce);
    return sealed;
  }

  /** Encrypts into a buffer at an offset. */
  sealInto(out: Uint8Array, at: number, message: Uint8Array, nonce: Uint8Array): void {
    begin(this.#key, nonce);
    if (message.length <= LONGEST_MESSAGE) {
      if (this.#sealer === undefined) this.#sealer = Sealer.make();
      if (this.#sealer !== null) {
        this.#sealer.sealInto(out, at, message);
        return;
      }
    }
    beginStream();
    const body = at + SECRETBOX_TAG;
    combine(message, 0, message.length, out, body);
    poly1305(authenticatorKey, out, body, body + message.length, out, at);
  }

  /** Undefined if the bytes were not encrypted under this key and nonce. */
  open(sealed: Uint8Array, nonce: Uint8Array): Buffer | undefined {
    if (sealed.length < SECRETBOX_TAG) return undefined;
    begin(this.#key, nonce);
    beginStream();
    const tag = new Uint8Array(SECRETBOX_TAG);
    poly1305(authenticatorKey, sealed, SECRETBOX_TAG, sealed.length, tag, 0);
    if (!timingSafeEqual(tag, sealed.subarray(0, SECRETBOX_TAG))) return undefined;
    const message = Buffer.allocUnsafe(sealed.length - SECRETBOX_TAG);
    combine(sealed, SECRETBOX_TAG, sealed.length, message, 0);
    return message;
  }
}

/** The order of words in the state of the assembled code. */
const DIAGONALS = [0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11] as const;

/** Short messages: the code that a server runs with every write of a secret. */
class Sealer {
  readonly #memory: Buffer;
  readonly #view: DataView;
  readonly #key: Buffer;
  readonly #call: SecretBoxCode['call'];

  static make(): Sealer | null {
    const code = secretBoxCode();
    return code === undefined ? null : new Sealer(code);
  }
  private constructor({ memory, call }: SecretBoxCode) {
    this.#memory = Buffer.from(memory.buffer);
    this.#view = new DataView(memory.buffer);
    this.#key = this.#memory.subarray(STREAM, STREAM + AUTHENTICATOR_KEY);
    this.#call = call;
  }

  /** Under the key and nonce in `input`. */
  sealInto(out: Uint8Array, at: number, message: Uint8Array): void {
    const memory = this.#memory;
    const view = this.#view;
    const { length } = message;
    const whole = length & ~15;
    const padded = (length + 15) & ~15;
    for (let i = 0; i < 16; i++) view.setUint32(STATE + 4 * i, input[DIAGONALS[i] as number] as number, true);
    memory.set(message, MESSAGE);
    this.#call.combine(STREAM + AUTHENTICATOR_KEY + padded, padded);
    out.set(memory.subarray(MESSAGE, MESSAGE + length), at + SECRETBOX_TAG);
    if (whole < padded) {
      memory[MESSAGE + length] = 1;
      for (let i = length + 1; i < padded; i++) memory[MESSAGE + i] = 0;
    }
    this.#call.authenticate(whole, padded);
    const limb = (i: number): number => view.getUint32(SUM + 8 * i, true);
    poly1305Of(limb(0), limb(1), limb(2), limb(3), limb(4), this.#key, out, at);
  }
}

/** The state of the key stream of a nonce (XSalsa20). */
function begin(key: Uint32Array, nonce: Uint8Array): void {
  if (nonce.length !== SECRETBOX_NONCE) throw new RangeError(`a secretbox nonce has ${SECRETBOX_NONCE} bytes, not ${nonce.length}`);
  input[0] = SIGMA0;
  input[5] = SIGMA1;
  input[10] = SIGMA2;
  input[15] = SIGMA3;
  for (let i = 0; i < 4; i++) {
    input[1 + i] = key[i] as number;
    input[6 + i] = word(nonce, 4 * i);
    input[11 + i] = key[4 + i] as number;
  }
  // HSalsa20: another key of the first part of the nonce.
  rounds(input, block);
  input[1] = block[0] as number;
  input[2] = block[5] as number;
  input[3] = block[10] as number;
  input[4] = block[15] as number;
  input[11] = block[6] as number;
  input[12] = block[7] as number;
  input[13] = block[8] as number;
  input[14] = block[9] as number;
  input[6] = word(nonce, 16);
  input[7] = word(nonce, 20);
  input[8] = 0;
  input[9] = 0;
}
/** The first 32 bytes are the key of the authenticator; messages begin after them. */
function beginStream(): void {
  fill(first, 0);
  for (let i = 0; i < AUTHENTICATOR_KEY; i++) authenticatorKey[i] = (first[i >> 2] as number) >>> (8 * (i & 3));
}

/** Combines bytes of a message, from its start, with the key stream. */
function combine(from: Uint8Array, start: number, end: number, to: Uint8Array, toAt: number): void {
  let stream = first;
  let within = AUTHENTICATOR_KEY;
  let counter = 0;
  let out = toAt;
  for (let at = start; at < end; ) {
    if (within === BLOCK) {
      stream = block;
      fill(stream, ++counter);
      within = 0;
    }
    const whole = Math.min(end - at, BLOCK - within) >> 2;
    const base = within >> 2;
    for (let i = 0; i < whole; i++) {
      const mask = stream[base + i] as number;
      to[out] = (from[at] as number) ^ mask;
      to[out + 1] = (from[at + 1] as number) ^ (mask >>> 8);
      to[out + 2] = (from[at + 2] as number) ^ (mask >>> 16);
      to[out + 3] = (from[at + 3] as number) ^ (mask >>> 24);
      at += 4;
      out += 4;
    }
    within += whole * 4;
    if (within === BLOCK) continue;
    for (; at < end; at++, within++) to[out++] = (from[at] as number) ^ ((stream[within >> 2] as number) >>> (8 * (within & 3)));
  }
}

/** Objects are far below 2^32 blocks, so that the upper half of the counter stays zero. */
function fill(out: Uint32Array, counter: number): void {
  input[8] = counter;
  rounds(input, out);
  for (let i = 0; i < 16; i++) out[i] = (out[i] as number) + (input[i] as number);
}

const word = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);

function words(bytes: Uint8Array, at: number, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => word(bytes, at + 4 * i));
}

/** The twenty rounds of Salsa20, without the addition at their end. */
function rounds(input: Uint32Array, out: Uint32Array): void {
  let x0 = (input[0] as number) | 0;
  let x1 = (input[1] as number) | 0;
  let x2 = (input[2] as number) | 0;
  let x3 = (input[3] as number) | 0;
  let x4 = (input[4] as number) | 0;
  let x5 = (input[5] as number) | 0;
  let x6 = (input[6] as number) | 0;
  let x7 = (input[7] as number) | 0;
  let x8 = (input[8] as number) | 0;
  let x9 = (input[9] as number) | 0;
  let xa = (input[10] as number) | 0;
  let xb = (input[11] as number) | 0;
  let xc = (input[12] as number) | 0;
  let xd = (input[13] as number) | 0;
  let xe = (input[14] as number) | 0;
  let xf = (input[15] as number) | 0;
  let u = 0;
  for (let round = 0; round < 10; round++) {
    // Columns.
    u = (x0 + xc) | 0;
    x4 ^= (u << 7) | (u >>> 25);
    u = (x4 + x0) | 0;
    x8 ^= (u << 9) | (u >>> 23);
    u = (x8 + x4) | 0;
    xc ^= (u << 13) | (u >>> 19);
    u = (xc + x8) | 0;
    x0 ^= (u << 18) | (u >>> 14);
    u = (x5 + x1) | 0;
    x9 ^= (u << 7) | (u >>> 25);
    u = (x9 + x5) | 0;
    xd ^= (u << 9) | (u >>> 23);
    u = (xd + x9) | 0;
    x1 ^= (u << 13) | (u >>> 19);
    u = (x1 + xd) | 0;
    x5 ^= (u << 18) | (u >>> 14);
    u = (xa + x6) | 0;
    xe ^= (u << 7) | (u >>> 25);
    u = (xe + xa) | 0;
    x2 ^= (u << 9) | (u >>> 23);
    u = (x2 + xe) | 0;
    x6 ^= (u << 13) | (u >>> 19);
    u = (x6 + x2) | 0;
    xa ^= (u << 18) | (u >>> 14);
    u = (xf + xb) | 0;
    x3 ^= (u << 7) | (u >>> 25);
    u = (x3 + xf) | 0;
    x7 ^= (u << 9) | (u >>> 23);
    u = (x7 + x3) | 0;
    xb ^= (u << 13) | (u >>> 19);
    u = (xb + x7) | 0;
    xf ^= (u << 18) | (u >>> 14);
    // Rows.
    u = (x0 + x3) | 0;
    x1 ^= (u << 7) | (u >>> 25);
    u = (x1 + x0) | 0;
    x2 ^= (u << 9) | (u >>> 23);
    u = (x2 + x1) | 0;
    x3 ^= (u << 13) | (u >>> 19);
    u = (x3 + x2) | 0;
    x0 ^= (u << 18) | (u >>> 14);
    u = (x5 + x4) | 0;
    x6 ^= (u << 7) | (u >>> 25);
    u = (x6 + x5) | 0;
    x7 ^= (u << 9) | (u >>> 23);
    u = (x7 + x6) | 0;
    x4 ^= (u << 13) | (u >>> 19);
    u = (x4 + x7) | 0;
    x5 ^= (u << 18) | (u >>> 14);
    u = (xa + x9) | 0;
    xb ^= (u << 7) | (u >>> 25);
    u = (xb + xa) | 0;
    x8 ^= (u << 9) | (u >>> 23);
    u = (x8 + xb) | 0;
    x9 ^= (u << 13) | (u >>> 19);
    u = (x9 + x8) | 0;
    xa ^= (u << 18) | (u >>> 14);
    u = (xf + xe) | 0;
    xc ^= (u << 7) | (u >>> 25);
    u = (xc + xf) | 0;
    xd ^= (u << 9) | (u >>> 23);
    u = (xd + xc) | 0;
    xe ^= (u << 13) | (u >>> 19);
    u = (xe + xd) | 0;
    xf ^= (u << 18) | (u >>> 14);
  }
  out[0] = x0;
  out[1] = x1;
  out[2] = x2;
  out[3] = x3;
  out[4] = x4;
  out[5] = x5;
  out[6] = x6;
  out[7] = x7;
  out[8] = x8;
  out[9] = x9;
  out[10] = xa;
  out[11] = xb;
  out[12] = xc;
  out[13] = xd;
  out[14] = xe;
  out[15] = xf;
}
